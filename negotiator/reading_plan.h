/* negotiator/reading_plan.h - caches the values of expressions for kinds of ads.
 *
 * A *reading* is an expression that reads one side only.  It has one value for each kind of that
 * side, a *cell*.  A *pair* is an expression that reads both sides.  Its value is kept for each
 * combination of the values that it reads, not for each pair of kinds.
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
    CELL_ODD, /* a time, a list or an ad: the value is not kept */
};

struct cell_text { /* a string value; each spelling is stored once */
    const char *text;
    const void *folded; /* equal for spellings that differ only in case */
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

struct readings *readings_create(struct kinds *kinds); /* borrowed */
void readings_destroy(struct readings *readings);      /* NULL is allowed */
/* Forgets all readings and pairs. */
void readings_reset(struct readings *readings);
/* Begins a cycle: context is used for all evaluations until the next call. */
void readings_begin(struct readings *readings, const struct ad_context *context);
/* Forgets the values of this kind, because its number belongs to another kind now.  only_timely:
 * forgets only the values of expressions that read the clock. */
void readings_forget(struct readings *readings, enum kinds_side side, uint32_t kind,
                     bool only_timely);
/* Returns whether an evaluation with this kind has read the clock, since it was last forgotten. */
bool readings_is_timely(const struct readings *readings, enum kinds_side side, uint32_t kind);
/* number of all cached values, approximately */
size_t readings_count(const struct readings *readings);
size_t readings_evaluated(const struct readings *readings); /* evaluations since readings_begin() */

/* Return the number of a reading: of the attribute `name` of side `of`; or of an expression of side
 * `stands` that reads only side `of`. */
uint32_t readings_name(struct readings *readings, enum kinds_side of, const char *name);
uint32_t readings_expr(struct readings *readings, enum kinds_side of, enum kinds_side stands,
                       const struct ad_expr *expr);
/* Returns the value of a reading for a kind; evaluates it if it is not cached. */
const struct cell *readings_cell(struct readings *readings, uint32_t reading, uint32_t kind);
/* Returns all cells of a reading, by kind, valid until the next call.  Cells of kinds below *count
 * whose type is not CELL_UNREAD have a value. */
const struct cell *readings_cells(const struct readings *readings, uint32_t reading,
                                  uint32_t *count);

/* Returns the value of an expression, or attribute, of this kind that reads only this kind. */
struct cell readings_own(struct readings *readings, enum kinds_side side, uint32_t kind,
                         const struct ad_expr *expr);
struct cell readings_own_name(struct readings *readings, enum kinds_side side, uint32_t kind,
                              const char *name);

bool cell_is_true(const struct cell *cell);
double cell_rank(const struct cell *cell); /* the number; 0 for anything else and for NaN */
/* Returns whether `a op b` is true. */
bool cell_compare(enum ad_compare op, const struct cell *a, const struct cell *b);

/* Returns the number of a pair: an expression of side `stands` that reads both sides. */
uint32_t readings_pair(struct readings *readings, enum kinds_side stands,
                       const struct ad_expr *expr);
bool readings_pair_is_true(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
double readings_pair_rank(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
/* Evaluates expr for these two kinds without caching the value. */
bool readings_judge(struct readings *readings, enum kinds_side stands, const struct ad_expr *expr,
                    uint32_t job, uint32_t slot);

#endif
