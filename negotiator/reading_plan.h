/* negotiator/reading_plan.h - caches the values of expressions for kinds of ads.
 *
 * There are two sides, slots and jobs (kinds_plan.h).  A *reading* is an expression that reads one
 * side only.  It has one value for each kind of that side, a *cell*.  A *pair* is an expression
 * that reads both sides.  Its value is kept for each combination of the values that it reads, not
 * for each pair of kinds.
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

/* Type of a cached value. */
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

struct cell_text { /* a string value; each spelling is stored once */
    const char *text;
    const void *folded; /* the same pointer for all strings that differ only in case */
};

/* A cached value. */
struct cell {
    uint32_t type; /* enum cell_type */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const struct cell_text *text;
    };
};

struct readings *readings_create(struct kinds *kinds); /* kinds must live longer */
void readings_destroy(struct readings *readings);      /* NULL is allowed */
/* Forgets all readings and pairs. */
void readings_reset(struct readings *readings);
/* Begins a cycle: context is used for all evaluations until the next call. */
void readings_begin(struct readings *readings, const struct ad_context *context);
/* Drops the cached values for this kind, because its number belongs to another kind now.
 * only_timely: drops only the values of expressions that read the clock. */
void readings_forget(struct readings *readings, enum kinds_side side, uint32_t kind,
                     bool only_timely);
/* Returns whether an evaluation for this kind has read the clock since the last readings_forget()
 * of the kind. */
bool readings_is_timely(const struct readings *readings, enum kinds_side side, uint32_t kind);
/* Returns the approximate number of all cached values. */
size_t readings_count(const struct readings *readings);
/* Returns the number of evaluations since readings_begin(). */
size_t readings_evaluated(const struct readings *readings);

/* These two return the number of a reading.  readings_name(): of the attribute `name` of side `of`;
 * readings_expr(): of an expression that stands in ads of side `stands` and reads attributes of
 * side `of` only. */
uint32_t readings_name(struct readings *readings, enum kinds_side of, const char *name);
uint32_t readings_expr(struct readings *readings, enum kinds_side of, enum kinds_side stands,
                       const struct ad_expr *expr);
/* Returns the value of a reading for a kind; evaluates it if it is not cached. */
const struct cell *readings_cell(struct readings *readings, uint32_t reading, uint32_t kind);
/* Returns the cells of a reading, an array of *count cells that is indexed by kind.  A cell of type
 * CELL_UNREAD has no value yet.  Valid until the next call of a function of this header. */
const struct cell *readings_cells(const struct readings *readings, uint32_t reading,
                                  uint32_t *count);

/* These two return the value, for this kind, of an expression and of an attribute of the kind that
 * reads only attributes of the kind itself.  The value is not cached. */
struct cell readings_own(struct readings *readings, enum kinds_side side, uint32_t kind,
                         const struct ad_expr *expr);
struct cell readings_own_name(struct readings *readings, enum kinds_side side, uint32_t kind,
                              const char *name);

bool cell_is_true(const struct cell *cell);
/* Returns the value of a cell as a rank: its number; 0 if the value is NaN or not a number. */
double cell_rank(const struct cell *cell);
/* Returns whether the comparison `a op b` is true. */
bool cell_compare(enum ad_compare op, const struct cell *a, const struct cell *b);

/* Returns the number of a pair: an expression that stands in ads of side `stands` and reads both
 * sides. */
uint32_t readings_pair(struct readings *readings, enum kinds_side stands,
                       const struct ad_expr *expr);
bool readings_pair_is_true(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
double readings_pair_rank(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
/* Returns whether expr, which stands in ads of side `stands`, is true for these two kinds.  The
 * value is not cached. */
bool readings_judge(struct readings *readings, enum kinds_side stands, const struct ad_expr *expr,
                    uint32_t job, uint32_t slot);

#endif
