/* startd/claim/claim_plan.c - see claim_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/claim_plan.h"

#define TO(stage) (1U << (stage))

/* By the stage that is left.  A claim that ends without telling its schedd is destroyed instead:
 * that is not a move. */
static const unsigned MOVES[CLAIM_STAGES] = {
    [CLAIM_WAITING] = TO(CLAIM_OFFERED),
    [CLAIM_OFFERED] = TO(CLAIM_ACCEPTED) | TO(CLAIM_OVER),
    [CLAIM_ACCEPTED] = TO(CLAIM_HELD) | TO(CLAIM_OVER),
    [CLAIM_HELD] = TO(CLAIM_RECORDING) | TO(CLAIM_OVER),
    [CLAIM_RECORDING] = TO(CLAIM_STARTING),
    [CLAIM_STARTING] = TO(CLAIM_ACTIVE) | TO(CLAIM_OVER),
    [CLAIM_ACTIVE] = TO(CLAIM_HELD) | TO(CLAIM_OVER),
    [CLAIM_OVER] = 0,
};

bool claim_plan_may_move(enum claim_stage from, enum claim_stage to)
{
    return from == to || (MOVES[from] & TO(to)) != 0;
}

bool claim_plan_is_offer(enum claim_stage stage)
{
    return stage == CLAIM_OFFERED || stage == CLAIM_ACCEPTED;
}

bool claim_plan_has_run(enum claim_stage stage)
{
    return stage == CLAIM_RECORDING || stage == CLAIM_STARTING || stage == CLAIM_ACTIVE;
}
