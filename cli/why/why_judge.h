/* cli/why/why_judge.h - intermediate results of why_plan.c for why_changes_plan.c.  Only for these
 * two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_JUDGE_H
#define CLI_WHY_WHY_JUDGE_H

#include "cli/why/why_plan.h"

#define WHY_FAILS_KEPT 16 /* most unmet clauses that are remembered for one group of ads */

struct why_groups;

struct why_kind { /* a group of other ads that are alike (why_groups_plan.h) */
    const struct ad *ad;
    struct why_count count;
    bool judged, matches;
    size_t fail_count; /* number of unmet clauses; may exceed WHY_FAILS_KEPT */
    /* indices, in why_answer.demands, of the unmet clauses; clauses of why_question.ad first */
    size_t fails[WHY_FAILS_KEPT];
};

struct why_judge {
    const struct why_question *question;
    struct why_answer *answer;
    struct why_groups *groups;
    struct why_kind *kinds; /* one for each group; the index is the group's number */
    size_t kind_count;
};

/* Searches for changes of the ad of judge->question after which other ads would match, and puts the
 * best changes into judge->answer. */
void why_changes_find(const struct why_judge *judge);
void why_change_fini(struct why_change *change);

#endif
