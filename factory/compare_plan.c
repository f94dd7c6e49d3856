/* factory/compare_plan.c - see compare_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/compare_plan.h"

enum compare_verdict compare_plan(const struct compare_facts *facts, uint64_t start_timeout_ms)
{
    if (!facts->is_listed) {
        return facts->is_settled ? COMPARE_GHOST : COMPARE_AGREES;
    }
    if (!facts->is_recorded) {
        return COMPARE_ORPHAN;
    }
    bool is_late = !facts->is_heard && facts->unheard_ms >= start_timeout_ms;
    return facts->is_running && is_late ? COMPARE_ZOMBIE : COMPARE_AGREES;
}
