/* negotiator/reading_plan.h - what expressions yield for kinds of ads, each evaluated once.
 *
 * A *reading* is an expression that looks at one side only: it has a value for each kind of that
 * side, a *cell*.  A *pair* looks at both: its value is kept for each combination of the values
 * that it reads, not for each two kinds.
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

enum cell_type {
    CELL_UNREAD,
    CELL_UNDEFINED,
    CELL_ERROR,
    CELL_BOOL,
    CELL_INT,
    CELL_REAL,
    CELL_STRING,
    CELL_ODD, /* a time, a list, an ad: is not kept */
};

struct cell_text { /* each spelling once */
    const char *text;
    const void *folded; /* the same for spellings that differ in case only */
};

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
/* All readings and pairs are gone. */
void readings_reset(struct readings *readings);
void readings_begin(struct readings *readings, const struct ad_context *context);
/* What was read of this kind is forgotten: another has its number.  only_timely: of what looked at
 * the clock. */
void readings_forget(struct readings *readings, enum kinds_side side, uint32_t kind,
                     bool only_timely);
/* An evaluation that this kind took part in looked at the clock, since it was forgotten. */
bool readings_is_timely(const struct readings *readings, enum kinds_side side, uint32_t kind);
size_t readings_count(const struct readings *readings);     /* of all that is kept, about */
size_t readings_evaluated(const struct readings *readings); /* since readings_begin() */

/* The attribute `name` of that side; or an expression that stands on `stands` and reads only `of`.
 */
uint32_t readings_name(struct readings *readings, enum kinds_side of, const char *name);
uint32_t readings_expr(struct readings *readings, enum kinds_side of, enum kinds_side stands,
                       const struct ad_expr *expr);
const struct cell *readings_cell(struct readings *readings, uint32_t reading, uint32_t kind);
/* All of it: cells[kind] is valid where its type is not CELL_UNREAD, for kinds below *count; until
 * the next call. */
const struct cell *readings_cells(const struct readings *readings, uint32_t reading,
                                  uint32_t *count);

/* The value of an expression that stands in this kind and reads only it, as a cell. */
struct cell readings_own(struct readings *readings, enum kinds_side side, uint32_t kind,
                         const struct ad_expr *expr);
struct cell readings_own_name(struct readings *readings, enum kinds_side side, uint32_t kind,
                              const char *name);

bool cell_is_true(const struct cell *cell);
double cell_rank(const struct cell *cell); /* a number; all else 0, NaN as well */
bool cell_compare(enum ad_compare op, const struct cell *a, const struct cell *b); /* is true */

/* An expression that stands on `stands` and reads both sides. */
uint32_t readings_pair(struct readings *readings, enum kinds_side stands,
                       const struct ad_expr *expr);
bool readings_pair_is_true(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
double readings_pair_rank(struct readings *readings, uint32_t pair, uint32_t job, uint32_t slot);
/* Evaluated without keeping anything. */
bool readings_judge(struct readings *readings, enum kinds_side stands, const struct ad_expr *expr,
                    uint32_t job, uint32_t slot);

#endif
