/* The end of a claim's lease, over real wires: the job ends by it, and its schedd hears of that.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "tests/unit/startd/startd_rig.h"

static void a_lease_that_is_over_ends_the_job(void **state)
{
    struct rig *rig = *state;
    rig->schedd.lease_s = 1;
    run_it(rig);
    rig->schedd.silent = true;
    until(rig, is_cleaned);
    until(rig, is_unclaimed);
}

static bool is_late(struct rig *rig)
{
    return !is_forgotten(rig) && claims_keeping_up(rig->startd) == 0;
}

static bool has_gone_twice(struct rig *rig)
{
    return rig->schedd.gones == 2;
}

/* The schedd counts the lease from a later moment and adds a margin. */
static void a_schedd_that_was_away_at_the_end_of_a_lease_is_told(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    rig->schedd.silent = true;
    struct claim *claim = rig->startd->claims.items[0];
    claim->lease.end_ms = 1; /* long ago */
    loop_timer_set(claim->lease.end_timer, 0);
    until(rig, is_cleaned);
    until(rig, is_unclaimed);
    assert_int_equal(claims_keeping_up(rig->startd), 0); /* the machine may sleep meanwhile */
    restart(rig);                                        /* the startd's own end changes nothing */
    assert_int_equal(claims_keeping_up(rig->startd), 0);
    rig->schedd.silent = false;
    rig->schedd.gones = 0;
    rig->schedd.gone_status = -ESHUTDOWN; /* it is being replaced by another */
    wire_close(rig->schedd.wire);
    rig->schedd.wire = NULL;
    until(rig, has_gone_twice);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""),
                        "the claim's lease has expired");
    assert_int_equal(ad_int_or(rig->schedd.gone, "ClaimEpoch", 0), 1);
    assert_int_equal(rig->schedd.resumes, 0); /* nothing that the job's log would tell of */
    until(rig, is_forgotten);
}

/* The starter died while the schedd was away. */
static void what_its_schedd_was_not_told_within_the_lease_is_told_for_one_lease_more(void **state)
{
    struct rig *rig = *state;
    rig->schedd.lease_s = 1;
    run_it(rig);
    rig->schedd.silent = true;
    claim_end(rig->startd->claims.items[0], "the machine is draining", true);
    until(rig, is_unclaimed);
    assert_int_equal(claims_keeping_up(rig->startd), 1);
    until(rig, is_late);
    until(rig, is_forgotten); /* no schedd waits so long */
}

static void a_starter_that_does_not_end_with_the_lease_is_killed(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0); /* takes the order to stop and does nothing */
    struct claim *claim = rig->startd->claims.items[0];
    claim->lease.end_ms = 0;
    loop_timer_set(claim->lease.end_timer, 0);
    until(rig, has_stop);
    assert_true(rig->starter.fast);
    assert_true(loop_timer_is_set(claim->lease.end_timer));
    loop_timer_set(claim->lease.end_timer, 0); /* the time it is given is over */
    until(rig, is_cleaned);
    until(rig, is_unclaimed);
}

static bool has_tried_often(struct rig *rig)
{
    const struct claim *claim = rig->startd->claims.items[0];
    return claim->link.failures >= 5;
}

/* Else a long cut fills the log: each claim tries each few seconds. */
static void that_a_schedd_cannot_be_reached_is_logged_once(void **state)
{
    static const char EVENT[] = " claim.disconnected ";
    struct rig *rig = *state;
    struct strbuf text;
    strbuf_init(&text, 0);
    rig->bed->log = loop_rig_log(rig->bed->loop, LOG_LEVEL_INFO, &text);
    restart(rig);
    until(rig, is_connected);
    claim_it(rig);
    listener_destroy(rig->schedd.listener);
    rig->schedd.listener = NULL;
    wire_close(rig->schedd.wire);
    rig->schedd.wire = NULL;
    until(rig, has_tried_often);
    const char *first = strstr(strbuf_text(&text), EVENT);
    assert_non_null(first);
    assert_null(strstr(first + 1, EVENT));
    stop(rig);
    log_destroy(rig->bed->log);
    rig->bed->log = NULL;
    strbuf_fini(&text);
    start(rig);
}

UNIT_TESTS(RIG(that_a_schedd_cannot_be_reached_is_logged_once),
           RIG(a_lease_that_is_over_ends_the_job),
           RIG(a_schedd_that_was_away_at_the_end_of_a_lease_is_told),
           RIG(what_its_schedd_was_not_told_within_the_lease_is_told_for_one_lease_more),
           RIG(a_starter_that_does_not_end_with_the_lease_is_killed))
