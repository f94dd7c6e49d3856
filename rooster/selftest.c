/* rooster/selftest.c - wakes machines that were not woken for a long time, to test whether they
 * come.
 *
 * Otherwise an unplugged cable or a reset BIOS is noticed only when jobs wait.  Every
 * ROOSTER_INTERVAL the machine is chosen whose last successful wake or test is longest ago.  It is
 * woken if that is longer than ROOSTER_TEST_INTERVAL; one machine at a time, because in a new pool
 * all would be due at once.  The outcome is in the ledger, as of any wake (Test = true).  No job
 * needs the machine, so its own HIBERNATE puts it to sleep again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/selftest.h"

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "rooster/wakes.h"

static int64_t last_s(const struct node *node)
{
    return node->history.past.proven_s > node->test.ended_s ? node->history.past.proven_s
                                                            : node->test.ended_s;
}

static bool can_be_tested(const struct node *node)
{
    return node->asleep.has_ads && !node->awake.has_ads && node->state == WAKE_OFF &&
           !node->asked.by_name && !node->jobs.demand_it && !node->asleep.is_kept_off &&
           !node->way.is_none;
}

void selftest_look(struct rooster *rooster)
{
    const struct config *config = rooster->env.config;
    int64_t every_s = config_duration_s(config, "ROOSTER_TEST_INTERVAL");
    int64_t now_s = rooster_now_s(rooster);
    struct node *oldest = NULL;
    size_t at = 0;
    void *value;
    if (every_s == 0 || config_bool(config, "ROOSTER_DRY_RUN")) {
        return;
    }
    while (strmap_next(rooster->nodes, &at, NULL, &value)) {
        struct node *node = value;
        if (node->test.is_under_way) {
            return; /* one at a time */
        }
        if (can_be_tested(node) && now_s - last_s(node) >= every_s &&
            (oldest == NULL || last_s(node) < last_s(oldest))) {
            oldest = node;
        }
    }
    if (oldest != NULL) {
        log_info(rooster->env.log, "wake.test",
                 "testing a machine that was not woken for a long time",
                 LOG_TEXT("machine", oldest->name));
        node_order(oldest, "rooster: self-test", true);
    }
}
