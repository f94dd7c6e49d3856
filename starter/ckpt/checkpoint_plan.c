/* starter/ckpt/checkpoint_plan.c - see checkpoint_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/checkpoint_plan.h"

void checkpoint_plan_note(struct checkpoint_costs *costs, uint64_t took_ms, bool followed,
                          bool is_delta)
{
    uint64_t ms = took_ms > 0 ? took_ms : 1;
    costs->changed_ms = followed ? ms : costs->changed_ms;
    costs->whole_ms = is_delta ? costs->whole_ms : ms;
}

uint64_t checkpoint_plan_takes_ms(const struct checkpoint_costs *costs, bool followed)
{
    return followed && costs->changed_ms > 0 ? costs->changed_ms : costs->whole_ms;
}

uint64_t checkpoint_plan_interval_ms(const struct checkpoint_costs *costs, bool followed,
                                     uint64_t min_ms, uint64_t max_ms)
{
    uint64_t took_ms = checkpoint_plan_takes_ms(costs, followed);
    if (followed && costs->changed_ms == 0) {
        took_ms /= CHECKPOINT_DELTA_GUESS;
    }
    uint64_t wanted_ms =
        took_ms > UINT64_MAX / CHECKPOINT_COST ? UINT64_MAX : took_ms * CHECKPOINT_COST;
    wanted_ms = wanted_ms < max_ms ? wanted_ms : max_ms;
    return wanted_ms > min_ms ? wanted_ms : min_ms;
}

bool checkpoint_plan_copies(int64_t free_kib, int64_t wanted_kib, int64_t disk_kib, int64_t max_kib,
                            bool has_copy)
{
    int64_t more_kib = has_copy ? 0 : disk_kib;
    return disk_kib <= max_kib && (free_kib < 0 || free_kib - wanted_kib >= more_kib);
}

uint64_t checkpoint_plan_wait_ms(int64_t rate_bytes, uint64_t sent_bytes, uint64_t since_ms)
{
    if (rate_bytes <= 0) {
        return 0;
    }
    double due_ms = (double)sent_bytes * 1000 / (double)rate_bytes;
    return due_ms > (double)since_ms ? (uint64_t)(due_ms - (double)since_ms) + 1 : 0;
}
