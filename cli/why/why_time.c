/* cli/why/why_time.c - see why_time.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_time.h"

#include "base/loop.h"

void why_time_start(struct why_time *time, struct loop *loop)
{
    *time = (struct why_time){.loop = loop, .over_ms = loop_now_ms(loop) + WHY_JUDGE_MS};
}

bool why_time_is_over(void *arg)
{
    const struct why_time *time = arg;
    return loop_now_ms(time->loop) >= time->over_ms;
}
