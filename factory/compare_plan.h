/* factory/compare_plan.h - whether site, journal, pool and jobs agree about a glidein.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_COMPARE_PLAN_H
#define FACTORY_COMPARE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum compare_verdict {
    COMPARE_AGREES,
    COMPARE_ORPHAN, /* the site has it, and the journal did not */
    COMPARE_ZOMBIE, /* the site runs it, and the pool has not heard it for too long */
    COMPARE_GHOST,  /* the journal or the pool has it, and the site has not */
    COMPARE_VERDICTS
};

struct compare_facts {
    bool is_recorded; /* the journal had it before the site listed it */
    bool is_listed;   /* the site's last complete list has it */
    bool is_running;  /* and says that it has been started */
    bool is_settled;  /* the site has had the time to list it */
    bool is_heard;    /* the pool has ads of it */
    /* ms for which it has run without being heard */
    uint64_t unheard_ms;
};

enum compare_verdict compare_plan(const struct compare_facts *facts, uint64_t start_timeout_ms);

#endif
