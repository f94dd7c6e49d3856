/* starter/job/watch_plan.c - see watch_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/watch_plan.h"

#include <stdbool.h>

#define IDLE_PART 0.01 /* of a CPU; /proc counts in hundredths of a second */

uint64_t watch_plan_pause(uint64_t pause_ms, const struct watch_work *before,
                          const struct watch_work *now)
{
    bool works = now->cpu_s - before->cpu_s >= IDLE_PART * (double)pause_ms / 1000 ||
                 now->processes != before->processes || now->memory_kib != before->memory_kib ||
                 now->disk_kib != before->disk_kib || now->traffic_bytes != before->traffic_bytes;
    uint64_t longer_ms = 2 * pause_ms < WATCH_LOOK_MAX_MS ? 2 * pause_ms : WATCH_LOOK_MAX_MS;
    return works || longer_ms < WATCH_LOOK_MS ? WATCH_LOOK_MS : longer_ms;
}
