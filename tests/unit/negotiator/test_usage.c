/* Since when a slot is charged that a negotiator sees for the first time: one that was started
 * anew, after an earlier one had been killed.
 *
 * LINK: negotiator store
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/call_rig.h"
#include "tests/support/loop_rig.h"

#include <inttypes.h>

#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/accountant.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "store/store.h"

#define YEAR_S    (365 * INT64_C(86400))
#define SETTLED_S 1000 /* how long ago the negotiator before had charged everything */

struct rig {
    char dir[FAST_DIR_SIZE];
    struct loop *loop;
    struct os *os;
    struct strbuf log;
    struct negotiator negotiator;
    struct pool_slot slot;
    char name[16];
    int64_t now_s;
};

static int setup(void **state)
{
    static const char *const TABLES[] = {ACCOUNTANT_TABLES, NULL};
    static const struct store_schema SCHEMA = {.daemon = "negotiator",
                                               .tables = TABLES,
                                               .version = 1};
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct negotiator *negotiator = &rig->negotiator;
    char path[LOOP_RIG_PATH_SIZE];
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    loop_rig_path(rig->dir, "n.db", path);
    negotiator->env.loop = rig->loop;
    MUST(store_open(rig->loop, rig->os, path, &SCHEMA, NULL, &negotiator->store, err));
    MUST(accountant_create(negotiator->store, &negotiator->accountant, err));
    negotiator->slots = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->unseen = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->charges = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->limits = limit_plan_create();
    (void)snprintf(rig->name, sizeof rig->name, "slot1@m");
    rig->slot = (struct pool_slot){.negotiator = negotiator, .name = rig->name};
    rig->now_s = loop_wall_s(rig->loop);
    accountant_settle(negotiator->accountant, (rig->now_s - SETTLED_S) * 1000);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    struct negotiator *negotiator = &rig->negotiator;
    store_close(negotiator->store);
    accountant_destroy(negotiator->accountant);
    strmap_destroy(negotiator->slots, NULL);
    strmap_destroy(negotiator->unseen, mem_free);
    shares_fini(negotiator);
    limit_plan_destroy(negotiator->limits);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

/* Shows the negotiator for the first time a slot that entered its state ago_s before the moment at
 * which its ad was made, and whose ad the collector got heard_ago_s ago.  The machine's clock is
 * off_s ahead.  Then the slot is free.  Returns for how many seconds its user is charged. */
static int64_t charged_s(struct rig *rig, int64_t ago_s, int64_t heard_ago_s, int64_t off_s)
{
    char text[300];
    int64_t heard_s = rig->now_s - heard_ago_s;
    (void)snprintf(text, sizeof text,
                   "[State = \"Claimed\"; RemoteUser = \"ann@d\"; SlotWeight = 1; "
                   "EnteredCurrentState = %" PRId64 "; MyCurrentTime = %" PRId64
                   "; LastHeardFrom = %" PRId64 "]",
                   heard_s + off_s - ago_s, heard_s + off_s, heard_s);
    struct ad *used = ad_from_text(text);
    struct ad *free = ad_from_text("[State = \"Unclaimed\"; SlotWeight = 1]");
    usage_slot(&rig->negotiator, &rig->slot, used, true);
    usage_slot(&rig->negotiator, &rig->slot, free, false);
    ad_destroy(used);
    ad_destroy(free);
    accountant_settle(rig->negotiator.accountant, loop_wall_ms(rig->loop));
    struct account_facts facts;
    const struct account *account = accountant_find(rig->negotiator.accountant, "ann@d");
    assert_non_null(account);
    accountant_facts(rig->negotiator.accountant, account, &facts);
    return (int64_t)facts.slots_s;
}

/* The test itself takes some time, which is charged, too.  Times are whole seconds. */
static void check_charged(void **state, int64_t wanted_s, int64_t ago_s, int64_t heard_ago_s,
                          int64_t off_s)
{
    struct rig *rig = *state;
    int64_t got_s = charged_s(rig, ago_s, heard_ago_s, off_s);
    int64_t took_s = loop_wall_s(rig->loop) - rig->now_s;
    assert_in_range(got_s, wanted_s - 2, wanted_s + 2 + took_s);
}

static void use_is_charged_from_its_beginning_though_the_ad_is_old(void **state)
{
    check_charged(state, 50, 0, 50, 0);
}

static void use_is_charged_that_had_lasted_when_the_ad_was_made(void **state)
{
    check_charged(state, 80, 30, 50, 0);
}

static void what_was_charged_is_not_charged_again(void **state)
{
    check_charged(state, SETTLED_S, 2 * (int64_t)SETTLED_S, 50, 0);
}

static void the_clock_of_the_machine_may_be_wrong(void **state)
{
    check_charged(state, 80, 30, 50, 10 * YEAR_S);
}

static void the_clock_of_the_machine_may_be_years_behind(void **state)
{
    check_charged(state, 80, 30, 50, -10 * YEAR_S);
}

/* The ad seems to be older than ads become, or from the future: the clock was set meanwhile. */
static void an_age_that_no_ad_has_is_not_charged(void **state)
{
    check_charged(state, 30, 30, 10 * YEAR_S, 0);
}

static void an_ad_from_the_future_is_taken_as_one_of_now(void **state)
{
    check_charged(state, 30, 30, -10 * YEAR_S, 0);
}

#define USAGE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        USAGE(use_is_charged_from_its_beginning_though_the_ad_is_old),
        USAGE(use_is_charged_that_had_lasted_when_the_ad_was_made),
        USAGE(what_was_charged_is_not_charged_again),
        USAGE(the_clock_of_the_machine_may_be_wrong),
        USAGE(the_clock_of_the_machine_may_be_years_behind),
        USAGE(an_age_that_no_ad_has_is_not_charged),
        USAGE(an_ad_from_the_future_is_taken_as_one_of_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
