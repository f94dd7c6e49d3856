/* startd/sleep/pool_look.c - see pool_look.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/pool_look.h"

#include <stdio.h>

#include "base/loop.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

const struct pool_figures *pool_look_figures(const struct startd *startd)
{
    const struct pool_look *look = &startd->look.pool;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    return look->at_ms != 0 && now_ms - look->at_ms <= POOL_FIGURES_AGE_MS ? &look->figures : NULL;
}

void pool_look_put(const struct startd *startd, struct ad *ad)
{
    pool_figures_put(pool_look_figures(startd), ad);
}

static void figures_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    struct pool_look *look = &startd->look.pool;
    if (reply->more) {
        return; /* of one machine there is one part */
    }
    look->is_asking = false;
    look->at_ms = 0;
    if (reply->status != 0) {
        (void)snprintf(look->why, sizeof look->why, "%s", reply->text);
    } else if (!pool_figures_read(reply->args, reply->ad_count > 0 ? reply->ads[0] : NULL,
                                  &look->figures)) {
        (void)snprintf(look->why, sizeof look->why, "the negotiator's answer has no figures");
    } else {
        look->why[0] = '\0';
        look->at_ms = loop_now_ms(startd->env.loop);
    }
    look->done(startd);
}

bool pool_look_ask(struct startd *startd, pool_look_f done)
{
    struct pool_look *look = &startd->look.pool;
    struct wire *wire = uplink_wire(startd->collector);
    const char *machine = startd->name;
    look->done = done;
    look->is_asking =
        wire != NULL && pool_figures_ask(wire, &machine, 1, figures_answered, startd) > 0;
    return look->is_asking;
}
