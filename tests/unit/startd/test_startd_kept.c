/* A starter that is kept for the claim's next job: see startd/starters.c.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <signal.h>

#include "tests/unit/startd/startd_rig.h"

#include "startd/claim/claim.h"
#include "startd/starters.h"

static bool is_unkept(struct rig *rig)
{
    return !rig->starter.ready;
}
static bool has_run(struct rig *rig)
{
    return rig->starter.runs > 0;
}
static bool has_no_kept(struct rig *rig)
{
    return ((struct claim *)rig->startd->claims.items[0])->kept.pid == 0;
}

/* STARTER_DONE by a starter that could go on; was it kept? */
static bool stays(struct rig *rig, int64_t epoch)
{
    struct answer answer;
    assert_int_equal(tell_more(rig, VERB_STARTER_DONE, epoch, "Reason = \"\"; MayStay = true",
                               &answer),
                     0);
    bool kept = ad_bool_or(answer.args, "Keep", false);
    answer_fini(&answer);
    return kept;
}

static struct claim *run_and_keep(struct rig *rig)
{
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    assert_true(stays(rig, 1));
    until(rig, is_claimed_idle);
    struct claim *claim = rig->startd->claims.items[0];
    assert_int_equal(claim->starter.pid, 0);
    return claim;
}

static void a_kept_starter_gets_the_claims_next_job(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256], path[300];
    struct os_stat stat;
    struct claim *claim = run_and_keep(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    (void)snprintf(path, sizeof path, "%s/kept", directory);
    MUST(os_mkdirs(rig->bed->os, path, 0700, err));
    assert_int_equal(call(rig, VERB_ACTIVATE, 2, JOB), 0);
    assert_true(is_claimed_busy(rig));
    assert_int_equal(claim->starter.pid, starter);
    until(rig, has_run);
    assert_int_equal(os_stat(rig->bed->os, directory, &stat), -ENOENT); /* it has another name */
    (void)snprintf(path, sizeof path, "%s/kept", rig->starter.directory);
    assert_int_equal(os_stat(rig->bed->os, path, &stat), 0);
    assert_string_equal(rig->starter.directory, claim->run.directory);
    assert_non_null(strstr(rig->starter.directory, "dir_slot1_1.0_2"));
    (void)snprintf(path, sizeof path, "%s/job.record", rig->starter.directory);
    assert_int_equal(os_stat(rig->bed->os, path, &stat), 0);
    assert_int_equal(stat.mode & 077, 0);
    assert_true(stays(rig, 2)); /* and the one after that */
    until(rig, is_claimed_idle);
    assert_int_equal(rig->schedd.gones, 0);
}

static void a_starter_is_kept_only_when_it_may_stay_and_its_claim_goes_on(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, "", &answer), 0); /* no MayStay */
    assert_false(ad_bool_or(answer.args, "Keep", true));
    answer_fini(&answer);
    assert_true(is_claimed_busy(rig)); /* until its process is gone */
    struct claim *claim = rig->startd->claims.items[0];
    claim->starter.done = false;
    rig->startd->starters.configurations++; /* it has an old one */
    assert_false(stays(rig, 1));
    rig->startd->starters.configurations--;
    claim->stop.how = CLAIM_STOP_ASKED;
    assert_false(stays(rig, 1));
    claim->stop.how = CLAIM_STOP_NOT;
    assert_true(stays(rig, 1));
}

static void a_kept_starter_that_dies_is_replaced(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256];
    struct claim *claim = run_and_keep(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    MUST(os_remove(rig->bed->os, rig->pids, err));
    (void)os_kill(rig->bed->os, child, SIGKILL);
    (void)os_kill(rig->bed->os, starter, SIGKILL);
    until(rig, has_no_kept);
    struct os_stat stat;
    assert_int_equal(os_stat(rig->bed->os, directory, &stat), -ENOENT); /* it could not remove it */
    assert_true(is_claimed_idle(rig));
    assert_int_equal(call(rig, VERB_ACTIVATE, 2, JOB), 0);
    until(rig, has_pids);
    assert_true(claim->starter.pid > 0 && claim->starter.pid != starter);
    assert_int_equal(rig->schedd.gones, 0);
}

static void the_next_job_waits_for_a_starter_that_is_on_its_way_out(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    int starter, child;
    char directory[256];
    struct claim *claim = run_and_keep(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    MUST(os_remove(rig->bed->os, rig->pids, err));
    starters_unkeep(claim);
    until(rig, is_unkept);
    send(rig, VERB_ACTIVATE, 2, JOB, &answer);
    assert_int_equal(call(rig, VERB_DEACTIVATE, 7, JOB), 0); /* the first has arrived */
    assert_int_equal(claim->starter.pid, 0);                 /* the old one holds the slot's lock */
    assert_int_equal(claim->kept.pid, starter);
    (void)os_kill(rig->bed->os, child, SIGKILL);
    (void)os_kill(rig->bed->os, starter, SIGKILL);
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    until(rig, has_pids);
    assert_true(claim->starter.pid > 0 && claim->starter.pid != starter);
}

static void a_slot_is_not_free_before_its_kept_starter_is_gone(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    int starter, child;
    char directory[256];
    (void)run_and_keep(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    send(rig, VERB_RELEASE_CLAIM, 1, JOB, &answer);
    until(rig, is_unkept); /* its connection is closed */
    assert_true(is_claimed_idle(rig));
    assert_false(answer.over);
    (void)os_kill(rig->bed->os, child, SIGKILL); /* one that does not end is killed, later */
    (void)os_kill(rig->bed->os, starter, SIGKILL);
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    until(rig, is_unclaimed);
    assert_true(is_forgotten(rig));
}

static void a_kept_starter_that_does_not_end_is_killed(void **state)
{
    struct rig *rig = *state;
    struct claim *claim = run_and_keep(rig);
    starters_unkeep(claim);
    assert_true(loop_timer_is_set(claim->stop.timer));
    loop_timer_set(claim->stop.timer, 0);
    until(rig, has_no_kept);
    assert_true(is_claimed_idle(rig));
}

static void another_configuration_lets_kept_starters_go(void **state)
{
    struct rig *rig = *state;
    (void)run_and_keep(rig);
    startd_daemon.reload(rig->startd, rig->daemon.config);
    until(rig, is_unkept);
    assert_true(is_claimed_idle(rig));
}

/* Its environment names the directory of its first run, the sweep finds that of its second. */
static void a_kept_starter_that_no_claim_knows_is_ended_with_its_job(void **state)
{
    struct rig *rig = *state;
    char path[300];
    struct os_stat stat;
    int starter, child;
    char first[256];
    (void)run_and_keep(rig);
    assert_int_equal(call(rig, VERB_ACTIVATE, 2, JOB), 0);
    until(rig, has_run);
    assert_true(read_pids(rig, &starter, &child, first));
    MUST(os_remove_tree(rig->bed->os, first, err)); /* absent: it has another name */
    stop(rig);
    bed_path(rig->bed, "startd.db", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.witness", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.reserve", path);
    MUST(os_remove(rig->bed->os, path, err));
    start(rig);
    until(rig, is_cleaned);
    assert_int_equal(os_stat(rig->bed->os, rig->starter.directory, &stat), -ENOENT);
}

UNIT_TESTS(RIG(a_kept_starter_gets_the_claims_next_job),
           RIG(a_starter_is_kept_only_when_it_may_stay_and_its_claim_goes_on),
           RIG(a_kept_starter_that_dies_is_replaced),
           RIG(the_next_job_waits_for_a_starter_that_is_on_its_way_out),
           RIG(a_slot_is_not_free_before_its_kept_starter_is_gone),
           RIG(a_kept_starter_that_does_not_end_is_killed),
           RIG(another_configuration_lets_kept_starters_go),
           RIG(a_kept_starter_that_no_claim_knows_is_ended_with_its_job))
