/* collector/collector_state.c - see collector_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_state.h"

#include "base/loop.h"
#include "classad/ad_eval.h"
#include "user_maps/user_world.h"

struct ad_context collector_context(const struct collector *collector)
{
    struct ad_context context = {.now_s = loop_wall_s(collector->env.loop)};
    user_world_serve(collector->users, &context);
    return context;
}
