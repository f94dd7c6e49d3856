/* cli/why/why_plan.h - why an ad (a job, a request, a slot) does not match others: clause by
 * clause.
 *
 * The question is an ad and those on the other side, each live or offline.  The answer tells for
 * each clause of the ad's Requirements how many of the others it rules out, and how many it alone
 * does; for each clause of the others' Requirements, those of equal text taken together, how many
 * refuse by it; and the smallest changes of the ad that would match, each of which was tried.
 *
 * An ad and its other match if all clauses of both are true (ad_clauses.h), so the clauses that are
 * not true are the whole reason.  Others that are alike in what matters are judged once
 * (why_groups_plan.h).  Work is bounded by the limits below and by the caller, who is asked between
 * judgements whether the time is over: what was not judged by then is counted apart.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_PLAN_H
#define CLI_WHY_WHY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_DEMANDS_MAX 400 /* different clauses of the others that are told apart */
#define WHY_FAILS_MAX   3   /* clauses not met by an other for which changes are still looked for */
#define WHY_TRIES_MAX   40  /* changes that are tried on all others */
#define WHY_CHANGES_MAX 5   /* changes that are told */
#define WHY_TEXT_MAX    240 /* bytes of a clause that is told; longer ones are cut */
#define WHY_VALUE_MAX   60  /* of a value */

struct ad;
struct ad_clauses;
struct ad_context;
struct ad_expr;
struct strbuf;

struct why_other {
    const struct ad *ad;
    const struct ad
        *now; /* a partitionable slot: what is left of it, ad being all of it; or NULL */
    bool offline;
    int64_t weight; /* how many it stands for, >= 1 */
};

struct why_question {
    const struct ad *ad;
    const struct why_other *others;
    size_t other_count;
    const struct ad_context *context;
    bool changes;               /* look for changes of ad that would match */
    bool (*is_over)(void *arg); /* stop judging; NULL: never */
    void *arg;
};

struct why_count {
    int64_t live, offline;
};

struct why_demand {
    bool theirs;   /* of the others' Requirements */
    bool is_error; /* its value is error for some */
    char *text;    /* the clause */
    char *from;    /* attribute it is written in; NULL: Requirements itself */
    char *values;  /* "RequestMemory is 99999; Memory is 2048 to 4096"; "" none */
    struct ad_expr *expr;
    struct why_count refuses, alone; /* ... and all other clauses of both sides are true */
};

enum why_edit_kind { WHY_SET, WHY_REPLACE, WHY_DROP };

struct why_edit {
    enum why_edit_kind kind;
    char *name;    /* WHY_SET: the attribute; else NULL */
    size_t demand; /* WHY_REPLACE, WHY_DROP: which of ad's own */
    char *was;     /* value or clause as it is; "" when the attribute is not set */
    char *text;    /* value or clause as it would be; WHY_DROP: "" */
    struct ad_expr *expr;
};

struct why_change {
    struct why_edit edits[WHY_FAILS_MAX];
    size_t edit_count;
    struct why_count gain; /* others that match then and do not match now */
    double distance;       /* how far the values move; private to why_changes_plan.c */
    bool matches;          /* it was tried and gains something; private */
};

struct why_answer {
    struct why_count total, matching;
    struct why_count refused_by_ad;     /* some clause of ad's is not true */
    struct why_count errors;            /* ... and its Requirements as a whole is error */
    struct why_count refused_by_others; /* all of ad's are, and one of theirs is not */
    struct why_count unjudged;          /* the time was over */
    struct why_demand *demands;         /* ad's own first, in their order */
    size_t demand_count, own_count;
    bool *matches;              /* by other */
    struct why_change *changes; /* fewest edits first, then what keeps all clauses */
    size_t change_count;
    size_t kinds;               /* of others that were judged */
    struct ad_clauses *clauses; /* of ad's Requirements; NULL when it has none */
};

struct why_answer *why_plan_answer(const struct why_question *question); /* never NULL */
void why_answer_destroy(struct why_answer *answer);                      /* NULL is allowed */

/* The expression as shown: on one line, long form, cut at WHY_TEXT_MAX. */
char *why_plan_text(const struct ad_expr *expr);

static inline int64_t why_sum(struct why_count count)
{
    return count.live + count.offline;
}

#endif
