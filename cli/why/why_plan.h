/* cli/why/why_plan.h - why an ad (a job, a request, a slot) does not match other ads, clause by
 * clause.
 *
 * A question is one ad and the ads of the other side (the others), each live or offline.  For each
 * clause of the ad's Requirements, the answer counts how many others the clause rules out, and how
 * many it alone rules out.  For each clause of the others' Requirements (equal texts taken
 * together) the answer counts how many others refuse the ad because of the clause.  The answer
 * also lists the smallest changes of the ad that would make it match; each change was tried.
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

#define WHY_DEMANDS_MAX 400 /* most different clauses of other ads that are counted separately */
#define WHY_FAILS_MAX   3  /* no changes are searched for an ad with more unmet clauses than this */
#define WHY_TRIES_MAX   40 /* most changes that are tried, each with all other ads */
#define WHY_CHANGES_MAX 5  /* most changes in the answer */
/* most bytes of a value in the output, without the terminating zero; longer values are cut */
#define WHY_VALUE_MAX 60

struct ad;
struct ad_clauses;
struct ad_context;
struct ad_expr;
struct strbuf;

struct why_other {
    const struct ad *ad;
    /* for a partitionable slot: the ad of its free rest (`ad` is then that of the whole slot); else
     * NULL */
    const struct ad *now;
    bool offline;
    bool silent;    /* a live ad of a machine that does not respond */
    int64_t weight; /* number of ads that this one stands for, >= 1 */
};

struct why_question {
    const struct ad *ad;
    const struct why_other *others;
    size_t other_count;
    const struct ad_context *context;
    /* true: search for changes of `ad` after which others would match */
    bool changes;
    bool (*is_over)(void *arg); /* returns true when time ran out; NULL: no time limit */
    void *arg;
};

struct why_count {
    int64_t live, offline, silent; /* silent: of machines that do not respond */
};

struct why_demand {
    bool theirs;   /* true: clause of the other ads' Requirements; false: of why_question.ad's */
    bool is_error; /* the clause's value is error with some of the other ads */
    char *text;    /* text of the clause */
    char *from;    /* attribute where the clause is written; NULL: Requirements itself */
    /* values of the clause's attributes, as "RequestMemory is 9; Memory is 2 to 4"; "": none */
    char *values;
    struct ad_expr *expr;
    /* refuses: other ads that the clause rules out; alone: those that no other clause rules out */
    struct why_count refuses, alone;
};

enum why_edit_kind { WHY_SET, WHY_REPLACE, WHY_DROP };

struct why_edit {
    enum why_edit_kind kind;
    char *name; /* WHY_SET: the attribute; otherwise NULL */
    /* WHY_REPLACE, WHY_DROP: index in why_answer.demands of a clause of why_question.ad */
    size_t demand;
    char *was;  /* current value or clause; "" when the attribute is not set */
    char *text; /* new value or clause; WHY_DROP: "" */
    struct ad_expr *expr;
};

struct why_change {
    struct why_edit edits[WHY_FAILS_MAX];
    size_t edit_count;
    struct why_count gain; /* other ads that would match and do not match now */
    double distance;       /* how much the values change; only for why_changes_plan.c */
    /* true: the change was tried, and some other ads match after it; only for why_changes_plan.c */
    bool matches;
};

struct why_answer {
    struct why_count total, matching;
    /* other ads with which a clause of why_question.ad is not true */
    struct why_count refused_by_ad;
    /* those of refused_by_ad with which the whole Requirements of why_question.ad is error */
    struct why_count errors;
    /* other ads that meet all clauses of why_question.ad, but have a clause that is not true */
    struct why_count refused_by_others;
    struct why_count unjudged; /* other ads not judged because time ran out */
    /* the clauses of both sides; first those of why_question.ad, in their order */
    struct why_demand *demands;
    size_t demand_count, own_count;
    bool *matches; /* for each of the other ads: whether it matches */
    /* sorted: fewest edits first; of equally many, fewest dropped clauses first */
    struct why_change *changes;
    size_t change_count;
    size_t kinds; /* number of different groups of other ads that were judged */
    /* clauses of the Requirements of why_question.ad; NULL: no Requirements */
    struct ad_clauses *clauses;
};

/* Answers the question; never returns NULL.  Release with why_answer_destroy(). */
struct why_answer *why_plan_answer(const struct why_question *question);
void why_answer_destroy(struct why_answer *answer); /* NULL is allowed */

static inline bool why_is_over(const struct why_question *question)
{
    return question->is_over != NULL && question->is_over(question->arg);
}

static inline void why_count_add(struct why_count *to, struct why_count what)
{
    to->live += what.live;
    to->offline += what.offline;
    to->silent += what.silent;
}

static inline int64_t why_sum(struct why_count count)
{
    return count.live + count.offline + count.silent;
}

#endif
