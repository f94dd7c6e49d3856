/* negotiator/negotiator_state.c - what all parts of the negotiator need: to schedule a cycle, to
 * evaluate expressions, to tell the plan of a slot again, to leave a slot alone for a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"
#include "base/loop.h"
#include "classad/ad_eval.h"
#include "negotiator/negotiator.h"
#include "user_maps/user_world.h"

#define REST_MS 1000 /* after the first refusal; twice as long after each that follows */

struct ad_context negotiator_context(struct negotiator *negotiator)
{
    struct ad_context context = {.now_s = loop_wall_s(negotiator->env.loop),
                                 .random_state = &negotiator->random_state};
    user_world_serve(negotiator->users, &context);
    return context;
}

void negotiator_cycle_soon(struct negotiator *negotiator)
{
    if (loop_timer_is_set(negotiator->cycle.timer)) {
        return;
    }
    uint64_t gap_ms =
        (uint64_t)config_duration_ms(negotiator->env.config, "NEGOTIATOR_CYCLE_DELAY");
    uint64_t since_ms = loop_now_ms(negotiator->env.loop) - negotiator->cycle.last_ms;
    loop_timer_set(negotiator->cycle.timer, since_ms >= gap_ms ? 0 : gap_ms - since_ms);
}

void negotiator_slot_touched(struct pool_slot *slot)
{
    if (!slot->dirty) {
        slot->dirty = true;
        vec_push(&slot->negotiator->dirty, (void *)(uintptr_t)slot->facts.number);
    }
}

/* After a refused MERGE the slot rests, because an immediate second try would be refused again and
 * again. */
void negotiator_slot_rests(struct negotiator *negotiator, struct pool_slot *slot)
{
    uint64_t rest_ms = (uint64_t)REST_MS << (slot->refusals < 6 ? slot->refusals : 6);
    slot->refusals++;
    slot->rest_until_ms = loop_now_ms(negotiator->env.loop) + rest_ms;
    loop_timer_set(negotiator->rest_timer, rest_ms);
}
