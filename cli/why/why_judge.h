/* cli/why/why_judge.h - what why_plan.c judged, for why_changes_plan.c.  Not for others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_JUDGE_H
#define CLI_WHY_WHY_JUDGE_H

#include "cli/why/why_plan.h"

#define WHY_FAILS_KEPT 16 /* demands not met by a kind that are remembered */

struct why_groups;

struct why_kind { /* others that are alike */
    const struct ad *ad;
    struct why_count count;
    bool judged, matches;
    size_t fail_count;            /* may be more than fails[] holds */
    size_t fails[WHY_FAILS_KEPT]; /* demands that are not true, ad's own first */
};

struct why_judge {
    const struct why_question *question;
    struct why_answer *answer;
    struct why_groups *groups;
    struct why_kind *kinds; /* by group */
    size_t kind_count;
};

bool why_judge_is_over(const struct why_judge *judge);

/* Fills answer->changes. */
void why_changes_find(const struct why_judge *judge);
void why_change_fini(struct why_change *change);

#endif
