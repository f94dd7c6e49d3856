/* startd/startd_context.c - see startd_context.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/startd_context.h"

#include "base/log.h"
#include "base/loop.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "user_maps/user_world.h"

struct ad_context startd_context(struct startd *startd)
{
    struct ad_context context = {.now_s = loop_wall_s(startd->env.loop),
                                 .random_state = &startd->eval.random_state,
                                 .work = &startd->eval.work};
    startd->eval.work.steps_max = STARTD_STEPS_MAX;
    user_world_serve(startd->eval.users, &context);
    return context;
}

void startd_tell_costly(const struct slot *slot, const char *what, const char *job_id,
                        const char *user)
{
    struct startd *startd = slot->startd;
    if (startd->eval.work.over == startd->eval.told_over) {
        return;
    }
    startd->eval.told_over = startd->eval.work.over;
    log_warn(startd->env.log, "policy.costly",
             "evaluating this expression with the job took too many steps; it counts as error",
             LOG_TEXT("expression", what), LOG_TEXT("slot", slot->name), LOG_TEXT("job", job_id),
             LOG_TEXT("user", user != NULL ? user : ""), LOG_INT("steps_max", STARTD_STEPS_MAX));
}
