/* startd/sleep/going_down.c - see going_down.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/sleep/going_down.h"

#include "base/check.h"
#include "startd/startd_state.h"

#define TO(stage) (1U << (stage))

/* By the stage that is left. */
static const unsigned MOVES[DOWN_STAGES] = {
    [DOWN_UP] = TO(DOWN_ASKING) | TO(DOWN_LEAVING) | TO(DOWN_BEGUN),
    [DOWN_ASKING] = TO(DOWN_UP),
    [DOWN_LEAVING] = TO(DOWN_UP) | TO(DOWN_LEAVING_ASKING) | TO(DOWN_BEGUN),
    [DOWN_LEAVING_ASKING] = TO(DOWN_LEAVING) | TO(DOWN_ASKING),
    [DOWN_BEGUN] = TO(DOWN_UP) | TO(DOWN_ANNOUNCED),
    [DOWN_ANNOUNCED] = TO(DOWN_UP) | TO(DOWN_WAITING) | TO(DOWN_ORDERED) | TO(DOWN_GONE),
    [DOWN_WAITING] = TO(DOWN_UP) | TO(DOWN_ORDERED),
    [DOWN_ORDERED] = TO(DOWN_UP) | TO(DOWN_GONE),
    [DOWN_GONE] = TO(DOWN_UP),
};

bool going_down_may_move(enum down_stage from, enum down_stage to)
{
    return from == to || (MOVES[from] & TO(to)) != 0;
}

void going_down_move(struct startd *startd, enum down_stage stage)
{
    CHECK(going_down_may_move(startd->down.stage, stage));
    startd->down.stage = stage;
}

bool going_down_has_begun(const struct startd *startd)
{
    return startd->down.stage >= DOWN_BEGUN;
}

bool going_down_is_silent(const struct startd *startd)
{
    return startd->down.stage >= DOWN_ANNOUNCED;
}

bool going_down_is_leaving(const struct startd *startd)
{
    return startd->down.stage == DOWN_LEAVING || startd->down.stage == DOWN_LEAVING_ASKING;
}

bool going_down_is_asking(const struct startd *startd)
{
    return startd->down.stage == DOWN_ASKING || startd->down.stage == DOWN_LEAVING_ASKING;
}

bool going_down_takes_none(const struct startd *startd)
{
    return going_down_is_leaving(startd) || going_down_has_begun(startd);
}
