/* negotiator/reading_plan.h - caches the values of expressions for kinds of ads.
 *
 * There are two sides, slots and jobs (kinds_plan.h).  An expression that reads attributes of one
 * side only has one value for each kind of that side.  Such an expression is called a *reading*,
 * and its cached value for one kind a *cell*.  An expression that reads attributes of both sides is
 * called a *pair*.  Its value is kept for each combination of the values that it reads, not for
 * each pair of kinds.  Readings and pairs have numbers, by which the callers name them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_READING_PLAN_H
#define NEGOTIATOR_READING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad_depends.h"
#include "negotiator/kinds_plan.h"

struct ad_context;
struct readings;

/* Type of an expression's value in struct cell.  CELL_UNREAD: the value was not computed yet. */
enum cell_type {
    CELL_UNREAD,
    CELL_UNDEFINED,
    CELL_ERROR,
    CELL_BOOL,
    CELL_INT,
    CELL_REAL,
    CELL_STRING,
    CELL_ODD, /* the value is a time, a list or an ad, which is not cached */
};

struct cell_text { /* a string, the value of an expression; each spelling is stored once */
    const char *text;
    const void *folded; /* strings that differ only in case have the same pointer here */
};

/* The value of an expression, in an ad of one kind of slots or jobs, as it is kept in the cache. */
struct cell {
    uint32_t type; /* an enum cell_type; it says which member of the union has the value */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const struct cell_text *text;
    };
};

/* Returns an empty cache of the values of expressions.  kinds must live longer than the cache. */
struct readings *readings_create(struct kinds *kinds);
void readings_destroy(struct readings *readings); /* frees the cache; NULL is allowed */
/* Forgets all expressions and their cached values.  Their numbers are then invalid. */
void readings_reset(struct readings *readings);
/* Begins a negotiation cycle: context is used for all evaluations until the next call. */
void readings_begin(struct readings *readings, const struct ad_context *context);
/* Drops all cached values for the kind with this number.  To be called when the number is used for
 * another kind.  only_timely: drops only the values of expressions that read the clock. */
void readings_forget(struct readings *readings, enum kinds_side side, uint32_t kind,
                     bool only_timely);
/* Returns whether some evaluation with this kind has read the clock since readings_forget() was
 * last called for the kind. */
bool readings_is_timely(const struct readings *readings, enum kinds_side side, uint32_t kind);
/* Returns approximately how many values are in the cache. */
size_t readings_count(const struct readings *readings);
/* Returns how many expressions were evaluated since the last readings_begin(). */
size_t readings_evaluated(const struct readings *readings);

/* These two enter an expression that reads attributes of side `of` only (a reading) into the cache,
 * unless it is there already, and return its number.  readings_name(): the expression is the
 * attribute `name` of the ads of that side; readings_expr(): the expression is expr, which stands
 * in ads of side `stands`. */
uint32_t readings_name(struct readings *readings, enum kinds_side of, const char *name);
uint32_t readings_expr(struct readings *readings, enum kinds_side of, enum kinds_side stands,
                       const struct ad_expr *expr);
/* Returns the value, for this kind, of the expression to which readings_name() or readings_expr()
 * gave the number `reading`.  Evaluates the expression if the value is not cached. */
const struct cell *readings_cell(struct readings *readings, uint32_t reading, uint32_t kind);
/* Returns the cached values of the expression to which readings_name() or readings_expr() gave the
 * number `reading`: an array of *count values that is indexed by kind.  Values of type CELL_UNREAD
 * were not computed yet.  Valid until the next call of a function of this header. */
const struct cell *readings_cells(const struct readings *readings, uint32_t reading,
                                  uint32_t *count);

/* These two evaluate an expression that reads only attributes of the kind itself, and return its
 * value, which is not cached.  readings_own(): the expression is expr; readings_own_name(): the
 * expression is the kind's attribute `name`. */
struct cell readings_own(struct readings *readings, enum kinds_side side, uint32_t kind,
                         const struct ad_expr *expr);
struct cell readings_own_name(struct readings *readings, enum kinds_side side, uint32_t kind,
                              const char *name);

/* Returns whether the value counts as true: it is the boolean true, or a number other than 0. */
bool cell_is_true(const struct cell *cell);
/* Returns the value as a rank: a number as it is, true as 1, and 0 for NaN or anything else. */
double cell_rank(const struct cell *cell);
/* Returns whether the comparison `a op b` of the values a and b is true. */
bool cell_compare(enum ad_compare op, const struct cell *a, const struct cell *b);

/* Enters expr, which stands in ads of side `stands` and reads attributes of both sides (a pair),
 * into the cache, unless it is there already, and returns its number. */
uint32_t readings_pair(struct readings *readings, enum kinds_side stands,
                       const struct ad_expr *expr);
/* These two evaluate, for these kinds of a job and a slot, the expression to which readings_pair()
 * gave the number `pair`.  readings_pair_is_true() returns whether the value is true,
 * readings_pair_rank() the value as a rank (see cell_rank()). */
bool readings_pair_is_true(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
double readings_pair_rank(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
/* Returns whether expr, which stands in ads of side `stands`, is true for these two kinds.  The
 * value is not cached. */
bool readings_judge(struct readings *readings, enum kinds_side stands, const struct ad_expr *expr,
                    uint32_t job, uint32_t slot);

#endif
