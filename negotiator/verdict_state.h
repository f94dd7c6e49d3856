/* negotiator/verdict_state.h - structs and functions that verdict_plan.c and verdict_program_plan.c
 * share.
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

/* How a clause is judged: by its own side, by the other, by comparing both, or for each pair of
 * values. */
enum demand_form { DEMAND_OWN, DEMAND_OTHER, DEMAND_COMPARE, DEMAND_PAIR };

struct demand { /* one clause of Requirements, prepared */
    enum demand_form form;
    struct ad_expr *expr;
    /* OTHER, COMPARE: the reading of the other side.  COMPARE: `reading op own`; own is an
     * expression or, if NULL, the attribute own_name. */
    uint32_t reading;
    enum ad_compare op;
    struct ad_expr *own;
    char *own_name;
    uint32_t pair; /* PAIR: number of the pair (reading_plan.h) */
};

/* The clauses of all kinds with the same skeleton (kinds_plan.h). */
struct template
{
    uint64_t skeleton;
    struct demand *demands;
    size_t count;
};

struct test { /* `cell of the reading op constant`; is_bare: the cell alone must be true */
    uint32_t reading;
    bool is_bare;
    enum ad_compare op;
    struct cell constant;
    const struct ad_expr *expr; /* the whole clause, for values that no cell can hold */
};

struct program { /* what a kind demands of the other side, compiled */
    struct test *tests;
    uint32_t *pairs;
    uint32_t test_count, pair_count;
    uint64_t hash;
};

struct member {      /* a kind of either side */
    uint64_t serial; /* serial of the kind; 0: none */
    bool never;      /* the kind matches nothing */
    bool is_costly;  /* the kind matches nothing because it costs too much */
    uint32_t program;
    /* Steps of its own expressions, evaluations over the limit, and number of kinds of the other
     * side that it was judged with. */
    uint64_t steps, over;
    uint32_t looks;
};

struct kind_name { /* a kind, with its serial in case the number was reused */
    enum kinds_side side;
    uint32_t kind;
    uint64_t serial;
};

/* How a rank is computed: the same for all slots, by one reading, or by a pair. */
enum rank_form { RANK_CONSTANT, RANK_READING, RANK_PAIR };

struct rank_part {
    enum rank_form form;
    double constant;
    uint32_t number; /* number of the reading or pair */
};

struct job {          /* what is known of a kind of job, besides its member */
    bool begun;       /* bits are valid for the kinds that were added before `seen` */
    uint32_t first;   /* while not begun: kinds below this are judged */
    uint32_t rank_at; /* ranks of kinds below this are known */
    uint64_t *bits;
    size_t words;
    uint32_t seen; /* entries of verdicts.log that are in bits */
    /* result for each program of slots: 1 its tests pass, 2 they fail, 0 not known */
    uint8_t *passed;
    uint32_t passed_room;
    bool ranked;
    struct rank_part pre, job, post;
};

/* What is kept for each side. */
struct side_state {
    struct template *templates;
    uint32_t template_count, template_room;
    struct number_table template_table;
    struct program *programs;
    uint32_t program_count, program_room;
    struct number_table program_table;
    struct member *members; /* members by their kind */
    uint32_t room;
};

struct verdicts {
    struct kinds *kinds;
    struct readings *readings;
    const struct ad_expr *pre_job, *post_job;
    struct side_state sides[KINDS_SIDES];
    struct job *jobs; /* jobs by their kind */
    uint32_t job_room;
    uint32_t *log; /* kinds of slots in the order in which they were added */
    uint32_t log_count, log_room;
    uint32_t *list; /* scratch: kinds that are being judged */
    uint32_t list_room;
    uint64_t structure; /* kinds_structure() when programs were compiled */
    size_t kept_max;    /* 0: not known yet */
    struct ad_context context;
    struct ad_work work;
    uint64_t stop_at;         /* steps at which the current judging has taken too much */
    struct kind_name *costly; /* kinds not reported yet */
    uint32_t costly_count, costly_room;
    struct kind_name *later; /* kinds to be judged again */
    uint32_t later_count, later_at, later_room;
};

/* ---- cost: around each evaluation of a kind's own expressions, with `looks` kinds of the other
 * side */

/* Begins to count; returns the counters for verdict_charge(). */
struct ad_work verdict_begin_charge(struct verdicts *verdicts, uint32_t looks);
/* Returns whether the evaluation in progress has taken too many steps. */
bool verdict_is_too_much(const struct verdicts *verdicts);
/* Charges what was evaluated since `before` to that kind.  If the kind has then taken too much, it
 * matches nothing any more. */
void verdict_charge(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                    const struct ad_work *before, uint32_t looks);

/* ---- programs */

/* Compiles the Requirements of a kind into its program. */
void verdict_compile(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);
void verdict_program_fini(struct program *program);
/* Returns whether nothing but attributes of that side is read. */
bool verdict_reads_only(const struct kinds_reads *reads, enum kinds_side side);

#endif
