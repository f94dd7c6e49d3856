/* negotiator/verdict_state.h - what verdict_plan.c and verdict_program_plan.c share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_VERDICT_STATE_H
#define NEGOTIATOR_VERDICT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "negotiator/number_table.h"
#include "negotiator/reading_plan.h"
#include "negotiator/verdict_plan.h"

enum demand_form { DEMAND_OWN, DEMAND_OTHER, DEMAND_COMPARE, DEMAND_PAIR };

struct demand {
    enum demand_form form;
    struct ad_expr *expr;
    /* DEMAND_OTHER, DEMAND_COMPARE: the reading of the other side; COMPARE: `reading op own`, own
     * an expression or, where that is NULL, an attribute */
    uint32_t reading;
    enum ad_compare op;
    struct ad_expr *own;
    char *own_name;
    uint32_t pair;
};

struct template
{
    uint64_t skeleton;
    struct demand *demands;
    size_t count;
};

struct test { /* cell of the reading op constant; is_bare: the cell is true */
    uint32_t reading;
    bool is_bare;
    enum ad_compare op;
    struct cell constant;
    const struct ad_expr *expr; /* the whole clause, for values that are no cells */
};

struct program {
    struct test *tests;
    uint32_t *pairs;
    uint32_t test_count, pair_count;
    uint64_t hash;
};

struct member {      /* a kind of either side */
    uint64_t serial; /* of the kind that it is about; 0: of none */
    bool never;      /* matches nothing */
    bool is_costly;  /* ... because it costs too much */
    uint32_t program;
    /* what its own expressions took; so many kinds of the other side were judged with it */
    uint64_t steps, over;
    uint32_t looks;
};

struct kind_name {
    enum kinds_side side;
    uint32_t kind;
    uint64_t serial;
};

enum rank_form { RANK_CONSTANT, RANK_READING, RANK_PAIR };

struct rank_part {
    enum rank_form form;
    double constant;
    uint32_t number; /* of the reading or pair */
};

struct job {          /* beside its member */
    bool begun;       /* bits tell of all that were added before `seen` */
    uint32_t first;   /* before that: of all kinds, those below this were judged */
    uint32_t rank_at; /* ranks of the kinds below this are known */
    uint64_t *bits;
    size_t words;
    uint32_t seen;   /* of the log */
    uint8_t *passed; /* by program of slots: 1 passes its tests, 2 does not, 0 not known */
    uint32_t passed_room;
    bool ranked;
    struct rank_part pre, job, post;
};

struct side_state {
    struct template *templates;
    uint32_t template_count, template_room;
    struct number_table template_table;
    struct program *programs;
    uint32_t program_count, program_room;
    struct number_table program_table;
    struct member *members; /* by kind */
    uint32_t room;
};

struct verdicts {
    struct kinds *kinds;
    struct readings *readings;
    const struct ad_expr *pre_job, *post_job;
    struct side_state sides[KINDS_SIDES];
    struct job *jobs; /* by kind of job */
    uint32_t job_room;
    uint32_t *log; /* kinds of slots in the order in which they were added */
    uint32_t log_count, log_room;
    uint32_t *list; /* room for those that are judged now */
    uint32_t list_room;
    uint64_t structure;
    size_t kept_max; /* 0: not known yet */
    struct ad_context context;
    struct ad_work work;
    uint64_t stop_at;         /* what is being judged takes too much from here on */
    struct kind_name *costly; /* not told yet */
    uint32_t costly_count, costly_room;
    struct kind_name *later; /* to be judged anew */
    uint32_t later_count, later_at, later_room;
};

/* ---- what it costs: around each evaluation of a kind's own expressions, with so many kinds of the
 * other side */

struct ad_work verdict_begin_charge(struct verdicts *verdicts, uint32_t looks);
bool verdict_is_too_much(const struct verdicts *verdicts);
/* What was evaluated since `before` is that kind's, for so many of the other side.  The last straw:
 * it matches nothing any more. */
void verdict_charge(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                    const struct ad_work *before, uint32_t looks);

/* ---- programs */

void verdict_compile(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);
void verdict_program_fini(struct program *program);
/* Was nothing read but of that side? */
bool verdict_reads_only(const struct kinds_reads *reads, enum kinds_side side);

#endif
