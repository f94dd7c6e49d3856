/* cli/why/why_plan.h - why an ad (a job, a request, a slot) does not match other ads, clause by
 * clause.
 *
 * The question is one ad and the others on the other side, each live or offline.  For each clause
 * of the ad's Requirements, the answer counts how many others the clause rules out, and how many it
 * alone rules out.  For each clause of the others' Requirements (equal texts taken together) it
 * counts how many refuse because of it. It also lists the smallest changes of the ad that would
 * make it match; each change was tried.
 *
 * Two ads match if all clauses of both are true (ad_clauses.h), so the clauses that are not true
 * are the full reason.  Others that are alike are judged once (why_groups_plan.h).  The work is
 * bounded by the limits below and by the caller's is_over(), asked between judgements; others not
 * judged by then are counted separately. Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_PLAN_H
#define CLI_WHY_WHY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_DEMANDS_MAX 400 /* different clauses of the others that are kept apart */
#define WHY_FAILS_MAX   3   /* unmet clauses of an other for which changes are still searched */
#define WHY_TRIES_MAX   40  /* changes tried on all others */
#define WHY_CHANGES_MAX 5   /* changes reported */
#define WHY_VALUE_MAX   60  /* bytes of a value in the output */

struct ad;
struct ad_clauses;
struct ad_context;
struct ad_expr;
struct strbuf;

struct why_other {
    const struct ad *ad;
    /* of a partitionable slot: the free rest (ad is then the whole slot); or NULL */
    const struct ad *now;
    bool offline;
    int64_t weight; /* number of others that this stands for, >= 1 */
};

struct why_question {
    const struct ad *ad;
    const struct why_other *others;
    size_t other_count;
    const struct ad_context *context;
    bool changes;               /* search for changes of ad that would match */
    bool (*is_over)(void *arg); /* true: stop judging; NULL: never stop */
    void *arg;
};

struct why_count {
    int64_t live, offline;
};

struct why_demand {
    bool theirs;   /* true: of the others' Requirements; false: of the ad's */
    bool is_error; /* its value is error for some others */
    char *text;    /* text of the clause */
    char *from;    /* attribute where the clause is written; NULL: Requirements itself */
    char *values;  /* such as "RequestMemory is 99999; Memory is 2048 to 4096"; "": none */
    struct ad_expr *expr;
    /* refuses: how many ads of the other side the clause rules out; alone: how many of these are
     * ruled out by no other clause */
    struct why_count refuses, alone;
};

enum why_edit_kind { WHY_SET, WHY_REPLACE, WHY_DROP };

struct why_edit {
    enum why_edit_kind kind;
    char *name;    /* WHY_SET: the attribute; otherwise NULL */
    size_t demand; /* WHY_REPLACE, WHY_DROP: index of a clause of ad's own */
    char *was;     /* current value or clause; "" when the attribute is not set */
    char *text;    /* new value or clause; WHY_DROP: "" */
    struct ad_expr *expr;
};

struct why_change {
    struct why_edit edits[WHY_FAILS_MAX];
    size_t edit_count;
    struct why_count gain; /* others that would match and do not match now */
    double distance;       /* how much the values change; only for why_changes_plan.c */
    bool matches;          /* tried, and some others match then; only for why_changes_plan.c */
};

struct why_answer {
    struct why_count total, matching;
    struct why_count refused_by_ad; /* others for which a clause of ad's is not true */
    /* those of refused_by_ad for which ad's whole Requirements is error */
    struct why_count errors;
    /* others that meet all clauses of ad, but have a clause that is not true */
    struct why_count refused_by_others;
    struct why_count unjudged;  /* others not judged because time ran out */
    struct why_demand *demands; /* ad's own clauses first, in their order */
    size_t demand_count, own_count;
    bool *matches;              /* for each other: whether it matches */
    struct why_change *changes; /* fewest edits first, then those that keep all clauses */
    size_t change_count;
    size_t kinds;               /* number of different groups of others that were judged */
    struct ad_clauses *clauses; /* clauses of ad's Requirements; NULL when there is none */
};

struct why_answer *why_plan_answer(const struct why_question *question); /* never NULL */
void why_answer_destroy(struct why_answer *answer);                      /* NULL is allowed */

static inline bool why_is_over(const struct why_question *question)
{
    return question->is_over != NULL && question->is_over(question->arg);
}

static inline int64_t why_sum(struct why_count count)
{
    return count.live + count.offline;
}

#endif
