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

/* What a clause of Requirements reads: only its own side; only the other side; it compares a value
 * of the other side with a value of its own side; anything else of both sides. */
enum demand_form { DEMAND_OWN, DEMAND_OTHER, DEMAND_COMPARE, DEMAND_PAIR };

struct demand { /* one clause of Requirements, prepared */
    enum demand_form form;
    struct ad_expr *expr;
    /* reading: for DEMAND_OTHER and DEMAND_COMPARE, number of the reading of the other side.  The
     * three after it are for DEMAND_COMPARE, `reading op own`: if own is NULL, it is the attribute
     * own_name. */
    uint32_t reading;
    enum ad_compare op;
    struct ad_expr *own;
    char *own_name;
    uint32_t pair; /* for DEMAND_PAIR: number of the pair (reading_plan.h) */
};

/* The clauses of Requirements that all kinds with the same kinds_skeleton() have. */
struct template
{
    uint64_t skeleton;
    struct demand *demands;
    size_t count;
};

struct test { /* tests whether `reading op constant` is true; if is_bare, whether reading is */
    uint32_t reading;
    bool is_bare;
    enum ad_compare op;
    struct cell constant;
    const struct ad_expr *expr; /* the whole clause, for values that cannot be cached (CELL_ODD) */
};

struct program { /* the Requirements of a kind, compiled to tests and pairs */
    struct test *tests;
    uint32_t *pairs;
    uint32_t test_count, pair_count;
    uint64_t hash;
};

struct member {      /* what is known about a kind of slots or jobs */
    uint64_t serial; /* kinds_serial() of the kind; 0: no kind has this number */
    bool never;      /* the kind matches nothing */
    bool is_costly;  /* the kind matches nothing because it costs too much */
    uint32_t program;
    /* These three: steps that evaluations of its own expressions took; how many of these exceeded
     * the limit; number of kinds of the other side with which the kind was judged. */
    uint64_t steps, over;
    uint32_t looks;
};

struct kind_name { /* a kind, and its serial number because its number may have been reused */
    enum kinds_side side;
    uint32_t kind;
    uint64_t serial;
};

/* How a rank is computed: it is the same for all slots, or the value of a reading, or of a pair. */
enum rank_form { RANK_CONSTANT, RANK_READING, RANK_PAIR };

struct rank_part {
    enum rank_form form;
    double constant;
    uint32_t number; /* number of the reading or pair */
};

struct job {          /* what is known about a kind of job, besides its struct member */
    bool begun;       /* `bits` is complete for the first `seen` entries of verdicts.log */
    uint32_t first;   /* while begun is false: kinds of slots below this number are judged */
    uint32_t rank_at; /* the ranks of kinds of slots below this number are cached */
    uint64_t *bits;
    size_t words;
    uint32_t seen; /* number of entries of verdicts.log that are in `bits` */
    /* for each program of slots: 1: its tests are true for this kind of job; 2: one is not; 0: not
     * known */
    uint8_t *passed;
    uint32_t passed_room;
    bool ranked;
    struct rank_part pre, job, post;
};

/* What is kept for each side, slots and jobs. */
struct side_state {
    struct template *templates;
    uint32_t template_count, template_room;
    struct number_table template_table;
    struct program *programs;
    uint32_t program_count, program_room;
    struct number_table program_table;
    struct member *members; /* indexed by the number of the kind */
    uint32_t room;
};

struct verdicts {
    struct kinds *kinds;
    struct readings *readings;
    const struct ad_expr *pre_job, *post_job;
    struct side_state sides[KINDS_SIDES];
    struct job *jobs; /* indexed by the number of the kind of job */
    uint32_t job_room;
    uint32_t *log; /* numbers of kinds of slots, in the order in which they were added */
    uint32_t log_count, log_room;
    uint32_t *list; /* numbers of the kinds that are being judged */
    uint32_t list_room;
    uint64_t structure; /* kinds_structure() when the programs were compiled */
    size_t kept_max;    /* if more values are cached, all are dropped; 0: to be computed */
    struct ad_context context;
    struct ad_work work;
    uint64_t stop_at;         /* number of steps at which the current evaluation is too costly */
    struct kind_name *costly; /* kinds that are too costly and were not reported yet */
    uint32_t costly_count, costly_room;
    struct kind_name *later; /* kinds that a full cycle still has to judge again */
    uint32_t later_count, later_at, later_room;
};

/* ---- cost of evaluating a kind's own expressions */

/* Begins to count the steps of an evaluation with `looks` kinds of the other side.  Returns the
 * counters as they are now, for verdict_charge(). */
struct ad_work verdict_begin_charge(struct verdicts *verdicts, uint32_t looks);
/* Returns whether the evaluation since verdict_begin_charge() has taken too many steps. */
bool verdict_is_too_much(const struct verdicts *verdicts);
/* Charges the steps since `before`, the result of verdict_begin_charge(), to that kind.  If the
 * kind has then exceeded its limits, it matches nothing any more. */
void verdict_charge(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                    const struct ad_work *before, uint32_t looks);

/* ---- programs */

/* Compiles the Requirements of a kind into its program. */
void verdict_compile(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);
void verdict_program_fini(struct program *program);
/* Returns whether `reads`, which says what an expression reads, has attributes of that side only.
 */
bool verdict_reads_only(const struct kinds_reads *reads, enum kinds_side side);

#endif
