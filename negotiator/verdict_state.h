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

/* What a clause of Requirements reads.  Own side: the side (slots or jobs) whose ads have these
 * Requirements.  DEMAND_OWN: only attributes of its own side; DEMAND_OTHER: only attributes of the
 * other side; DEMAND_COMPARE: the clause is a comparison of a value of the other side with a value
 * of its own side; DEMAND_PAIR: anything else that reads both sides. */
enum demand_form { DEMAND_OWN, DEMAND_OTHER, DEMAND_COMPARE, DEMAND_PAIR };

struct demand { /* one clause of Requirements, prepared */
    enum demand_form form;
    struct ad_expr *expr;
    /* For DEMAND_OTHER and DEMAND_COMPARE: number of the expression that reads the other side, as
     * readings_name() or readings_expr() returned it. */
    uint32_t reading;
    /* These three are for DEMAND_COMPARE.  The clause is the comparison `r op o`, where r is the
     * expression with the number `reading`, and o is own, or the attribute own_name if own is
     * NULL. */
    enum ad_compare op;
    struct ad_expr *own;
    char *own_name;
    uint32_t pair; /* for DEMAND_PAIR: number of the clause, as readings_pair() returned it */
};

/* The clauses of Requirements of all kinds whose expressions differ only in the values of literals,
 * so that kinds_skeleton() returns the same hash for them. */
struct template
{
    uint64_t skeleton; /* the hash that kinds_skeleton() returns for these kinds */
    struct demand *demands;
    size_t count;
};

/* A test of a kind of the other side.  Let v be the value, for that kind, of the expression with
 * the number `reading` (see readings_cell()).  The test is true if `v op constant` is true or, with
 * is_bare set, if v is true. */
struct test {
    uint32_t reading;
    bool is_bare;
    enum ad_compare op;
    struct cell constant;
    /* the whole clause; it is evaluated if the value is of a type that is not cached (CELL_ODD) */
    const struct ad_expr *expr;
};

/* The Requirements of a kind, compiled.  They are true if all `tests`, which read only the other
 * side, and all clauses in `pairs`, which read both sides, are true. */
struct program {
    struct test *tests;
    uint32_t
        *pairs; /* numbers of the clauses that are not tests, as readings_pair() returned them */
    uint32_t test_count, pair_count;
    uint64_t hash;
};

struct member {      /* what is known about a kind of slots or jobs */
    uint64_t serial; /* kinds_serial() of the kind; 0: no kind has this number */
    bool never;      /* the kind matches nothing */
    bool is_costly;  /* the kind matches nothing because its expressions are too costly */
    /* index, in `programs` of struct side_state, of the kind's compiled Requirements; several
     * kinds can have the same index */
    uint32_t program;
    /* steps: steps that all evaluations of the kind's own expressions took together; over: how many
     * of these evaluations took more than VERDICT_STEPS_MAX steps; looks: number of kinds of the
     * other side with which the kind was judged. */
    uint64_t steps, over;
    uint32_t looks;
};

struct kind_name { /* a kind, and its serial number because its number may have been reused */
    enum kinds_side side;
    uint32_t kind;
    uint64_t serial;
};

/* How a rank (a number for a kind of slot, for one kind of job) is found.  RANK_CONSTANT: it is the
 * same for all slots; RANK_READING: it is the value of an expression that reads slots only, by
 * readings_cell(); RANK_PAIR: it is the value of an expression that reads slots and jobs, by
 * readings_pair_rank(). */
enum rank_form { RANK_CONSTANT, RANK_READING, RANK_PAIR };

struct rank_part {
    enum rank_form form;
    double constant;
    uint32_t number; /* number of the expression, if form is RANK_READING or RANK_PAIR */
};

struct job { /* what is known about a kind of job, besides its struct member */
    /* false: the first pass, over all kinds of slots that exist, is not over; true: it is over, and
     * only new entries of verdicts.log are judged from then on */
    bool begun;
    uint32_t first;   /* in the first pass: kinds of slots below this number were judged */
    uint32_t rank_at; /* the ranks of kinds of slots below this number are cached */
    uint64_t *bits;   /* bit n: kind of slot number n matches this kind of job */
    size_t words;
    uint32_t seen; /* how many entries of verdicts.log were judged with this kind */
    /* By the index of a struct program of kinds of slots.  1: for this kind of job, all tests of
     * the program are true; 2: at least one is not true; 0: not known yet. */
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
    uint32_t *list; /* numbers of the kinds of slots that are being judged */
    uint32_t list_room;
    /* what kinds_structure() returned when Requirements were last compiled into struct program */
    uint64_t structure;
    size_t live_most; /* most kinds that there were since then */
    size_t kept_max; /* if more values than this are cached, all are dropped; 0: not computed yet */
    struct ad_context context;
    struct ad_work work;
    /* if work.steps exceeds this number, the current evaluation is too costly */
    uint64_t stop_at;
    struct kind_name *costly; /* kinds that are too costly and were not reported yet */
    uint32_t costly_count, costly_room;
    /* kinds that verdicts_catch_up() still has to judge again in this full cycle, because their
     * evaluation has read the clock */
    struct kind_name *later;
    uint32_t later_count, later_at, later_room;
};

/* ---- cost of evaluating a kind's own expressions */

/* Begins to count the steps of the evaluations in which a kind is judged with `looks` kinds of the
 * other side.  Returns the counters as they are now, which verdict_charge() needs. */
struct ad_work verdict_begin_charge(struct verdicts *verdicts, uint32_t looks);
/* Returns whether the evaluation since verdict_begin_charge() has taken too many steps. */
bool verdict_is_too_much(const struct verdicts *verdicts);
/* Charges the steps since `before`, the result of verdict_begin_charge(), to that kind.  If the
 * kind has then exceeded its limits, it matches nothing any more.  looks: number of kinds of the
 * other side with which the kind was judged since then. */
void verdict_charge(struct verdicts *verdicts, enum kinds_side side, uint32_t kind,
                    const struct ad_work *before, uint32_t looks);

/* ---- programs */

/* Compiles the Requirements of a kind into a struct program, and stores its index in the kind's
 * struct member, or notes there that the kind matches nothing. */
void verdict_compile(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);
void verdict_program_fini(struct program *program);
/* Returns whether `reads`, which says what an expression reads, has attributes of that side only.
 */
bool verdict_reads_only(const struct kinds_reads *reads, enum kinds_side side);

#endif
