/* The startd over real wires: docs/protocol/claim.md is what is checked.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "base/strbuf.h"
#include "startd/advertise.h"
#include "startd/advertise_due.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_record.h"
#include "store/store.h"
#include "tests/unit/startd/startd_rig.h"

#include "wire/job_record.h"

/* ---- DIAL_ME --------------------------------------------------------------------------------- */

static void an_offer_is_taken_and_the_claim_made(void **state)
{
    struct rig *rig = *state;
    rig->schedd.silent = true;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    assert_true(is_matched(rig));
    assert_string_equal(rig->startd->slots[0]->claim_id, "");
    rig->schedd.silent = false;
    wire_close(rig->schedd.wire); /* cut: the startd dials again and repeats CLAIM */
    rig->schedd.wire = NULL;
    until(rig, is_claimed_idle);
    assert_string_equal(ad_string_or(rig->schedd.claim, "ClaimId", ""), rig->claim_id);
    assert_string_equal(ad_string_or(rig->schedd.claim, "Machine", ""), "wn01");
    assert_string_equal(ad_string_or(rig->schedd.claim, "SlotName", ""), "slot1@wn01");
    assert_int_equal(rig->schedd.resumes, 0);
}

static bool is_asked_to_claim(struct rig *rig)
{
    return rig->schedd.claims > 0;
}

static bool is_cut(struct rig *rig)
{
    const struct claim *claim = rig->startd->claims.items[0];
    return claim->link.wire == NULL;
}

static void a_startd_that_is_asked_again_says_whether_it_still_tries_to_connect(void **state)
{
    struct rig *rig = *state;
    struct ad *answer = NULL;
    rig->schedd.silent = true;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    until(rig, is_asked_to_claim);
    assert_int_equal(dial_with(rig, rig->claim_id, JOB, "[Again = true]", &answer), 0);
    assert_false(ad_has(answer, "Dialing"));
    ad_destroy(answer);
    listener_destroy(rig->schedd.listener); /* cut, and nobody listens any more */
    rig->schedd.listener = NULL;
    wire_close(rig->schedd.wire);
    rig->schedd.wire = NULL;
    until(rig, is_cut);
    assert_int_equal(dial_with(rig, rig->claim_id, JOB, "[Again = true; ScheddAddress = \"none\"]",
                               &answer),
                     0);
    assert_true(ad_bool_or(answer, "Dialing", false));
    ad_destroy(answer);
}

static void who_asks_for_a_claim_of_an_earlier_boot_hears_of_the_boot(void **state)
{
    struct rig *rig = *state;
    char args[200];
    assert_int_equal(dial_with(rig, "gone", JOB, "[Again = true]", NULL), -ENOKEY);
    assert_int_equal(dial_with(rig, "gone", JOB, "[Again = true; BootId = \"earlier\"]", NULL),
                     -ESTALE);
    (void)snprintf(args, sizeof args, "[Again = true; BootId = \"%s\"]",
                   rig->startd->machine.boot_id);
    assert_int_equal(dial_with(rig, "gone", JOB, args, NULL), -ENOKEY);
}

static void a_claim_id_works_once(void **state)
{
    struct rig *rig = *state;
    claim_it(rig);
    assert_int_equal(dial_me(rig, JOB), -ENOKEY);
    assert_non_null(strstr(last_text, "unknown or was used"));
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "guessed");
    assert_int_equal(dial_me(rig, JOB), -ENOKEY);
    rig->claim_id[0] = '\0';
    assert_int_equal(dial_me(rig, JOB), -ENOKEY);
}

static bool has_new_id(struct rig *rig)
{
    return is_connected(rig) && strcmp(rig->startd->slots[0]->claim_id, rig->claim_id) != 0;
}

/* A DIAL_ME may have been lost with it, whose claim id nobody else would get for long. */
static void a_new_uplink_brings_new_claim_ids(void **state)
{
    struct rig *rig = *state;
    remember_id(rig);
    (void)client_dial(rig->bed, SCOPE_ADVERTISE, "wn01", "startd/wn01", NULL); /* replaces ours */
    until(rig, has_new_id);
    assert_int_equal(dial_me(rig, JOB), -ENOKEY);
    claim_it(rig);
}

static void an_offer_to_an_owner_who_is_at_his_desk_is_refused(void **state)
{
    struct rig *rig = *state;
    rig->startd->slots[0]->state = SLOT_OWNER;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), -EBUSY);
    assert_non_null(strstr(last_text, "slot1@wn01 is Owner"));
    rig->startd->slots[0]->state = SLOT_UNCLAIMED;
}

static void a_machine_that_goes_to_sleep_takes_no_offer(void **state)
{
    struct rig *rig = *state;
    remember_id(rig);
    rig->startd->down.stage = DOWN_BEGUN;
    assert_int_equal(dial_me(rig, JOB), -EAGAIN);
    assert_non_null(strstr(last_text, "wn01 is going to sleep"));
    rig->startd->down.stage = DOWN_UP;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
}

static void an_offer_is_judged_by_both_requirements_of_now(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "START = \"TARGET.Owner == \\\"ann\\\"\"");
    start(rig);
    until(rig, is_connected);
    remember_id(rig);
    assert_int_equal(dial_me(rig, "[Owner = \"bob\"; Requirements = true]"), -ENOTSUP);
    assert_non_null(strstr(last_text, "slot (START)"));
    assert_string_not_equal(rig->startd->slots[0]->claim_id, rig->claim_id); /* a new one at once */
    remember_id(rig);
    assert_int_equal(dial_me(rig, "[Owner = \"ann\"; Requirements = TARGET.Cpus > 100000]"),
                     -ENOTSUP);
    assert_non_null(strstr(last_text, "of the job"));
    assert_true(is_unclaimed(rig));
    assert_string_equal(rig->startd->slots[0]->claim_id, rig->claim_id); /* not again so soon */
    assert_true(rig->startd->slots[0]->has_refused);
    assert_int_equal(dial_me(rig, JOB), 0); /* the id is still good */
}

static void a_schedd_that_does_not_know_the_claim_frees_the_slot(void **state)
{
    struct rig *rig = *state;
    rig->schedd.claim_status = -ENOKEY;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    until(rig, is_unclaimed);
    assert_true(is_forgotten(rig));
    assert_string_not_equal(rig->startd->slots[0]->claim_id, rig->claim_id);
    assert_string_not_equal(rig->startd->slots[0]->claim_id, "");
}

/* As draining does, before the schedd has heard of the machine. */
static void the_schedd_of_an_offer_that_ends_is_told(void **state)
{
    struct rig *rig = *state;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    claim_end(rig->startd->claims.items[0], "the machine is draining", false);
    assert_true(is_unclaimed(rig));
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "the machine is draining");
    assert_string_equal(ad_string_or(rig->schedd.gone, "Machine", ""), "wn01");
    assert_int_equal(rig->schedd.claims, 0);
    until(rig, is_forgotten);
}

static bool is_claiming(struct rig *rig)
{
    return ((const struct claim *)rig->startd->claims.items[0])->lease.renewing;
}

static bool has_claim(struct rig *rig)
{
    return rig->schedd.claims > 0;
}

/* The schedd may have committed the claim; its answer is lost with the connection. */
static void the_schedd_of_an_offer_that_ends_during_claim_is_told_after_it(void **state)
{
    struct rig *rig = *state;
    rig->schedd.silent = true;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    until(rig, has_claim);
    assert_true(is_claiming(rig));
    claim_end(rig->startd->claims.items[0], "the machine is draining", false);
    assert_int_equal(rig->schedd.gones, 0);
    rig->schedd.silent = false;
    wire_close(rig->schedd.wire);
    rig->schedd.wire = NULL;
    until(rig, has_gone);
    assert_int_equal(rig->schedd.claims, 1);
    until(rig, is_forgotten);
}

static void claim_ids_that_nobody_used_are_replaced_after_five_minutes(void **state)
{
    struct rig *rig = *state;
    struct slot *slot = rig->startd->slots[0];
    uint64_t now_ms = loop_now_ms(rig->bed->loop);
    slot->minted_ms = now_ms - 290000; /* an idle pool is not to be told of new ones all the time */
    assert_false(slot_ids_are_old(slot));
    slot->minted_ms = now_ms - 300000;
    assert_true(slot_ids_are_old(slot));
}

static void a_match_that_is_not_confirmed_times_out(void **state)
{
    struct rig *rig = *state;
    rig->schedd.silent = true;
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    struct claim *claim = rig->startd->claims.items[0];
    assert_in_range(claim_remaining_ms(claim), 110000, 120000); /* MATCH_TIMEOUT */
    claim->lease.end_ms = loop_now_ms(rig->bed->loop) + 20;
    loop_timer_set(claim->lease.end_timer, 0); /* early: it is set again */
    until(rig, is_unclaimed);
    assert_true(is_forgotten(rig));
    assert_string_not_equal(rig->startd->slots[0]->claim_id, rig->claim_id);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void a_job_runs_and_the_claim_is_idle_again(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    starter_is_done(rig, "");
    until(rig, is_claimed_idle);
    until(rig, has_idle_alive); /* at once, not after a third of the lease */
    assert_int_equal(rig->schedd.gones, 0);
    MUST(os_remove(rig->bed->os, rig->pids, err));
    assert_int_equal(call(rig, VERB_ACTIVATE, 2, JOB), 0); /* the next on the same claim */
    until(rig, has_pids);
    assert_true(is_claimed_busy(rig));
}

static void the_record_is_all_that_a_starter_needs(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    int starter, child;
    char directory[256], path[300], *text;
    size_t length;
    struct ad *record;
    assert_true(read_pids(rig, &starter, &child, directory));
    (void)snprintf(path, sizeof path, "%s/job.record", directory);
    MUST(os_read_file(rig->bed->os, path, 65536, &text, &length, err));
    struct secret_list *secrets = NULL;
    MUST(job_record_read(text, length, &record, &secrets, err));
    assert_string_equal(secret_list_find(secrets, SECRET_CLAIM_ID), rig->claim_id);
    assert_string_equal(secret_list_find(secrets, SECRET_NONCE),
                        "0123456789abcdef0123456789abcdef");
    assert_false(ad_has(record, "ClaimId"));
    secret_list_unref(secrets);
    assert_string_equal(ad_string_or(record, "JobId", ""), "1.0");
    assert_int_equal(ad_int_or(record, "ClaimEpoch", 0), 1);
    assert_string_equal(ad_string_or(record, "ShadowRoute", ""), "shadow/ann");
    assert_true(ad_int_or(record, "LeaseEndMs", 0) >
                (int64_t)loop_now_ms(rig->bed->loop) + 1000000);
    struct os_stat stat;
    assert_int_equal(os_stat(rig->bed->os, path, &stat), 0);
    assert_int_equal(stat.mode & 077, 0); /* the nonce is in it */
    ad_destroy(record);
    mem_free(text);
}

static void a_job_that_the_slot_does_not_want_is_declined(void **state)
{
    struct rig *rig = *state;
    claim_it(rig);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, "[Requirements = false]"), -ENOTSUP);
    assert_true(is_claimed_idle(rig));
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "another");
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, JOB), -ENOKEY);
}

static void a_job_of_root_is_declined_whatever_its_domain(void **state)
{
    struct rig *rig = *state;
    static const char *const JOBS[] = {
        "[Owner = \"root\"; User = \"root@pool\"; Requirements = true]",
        "[Owner = \"root\"; User = \"root@elsewhere\"; Requirements = true]",
        "[Owner = \"ann\"; User = \"root@pool\"; Requirements = true]",
        "[Owner = \"root\"; User = \"ann@pool\"; Requirements = true]",
    };
    claim_it(rig);
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++) {
        assert_int_equal(call(rig, VERB_ACTIVATE, 1, JOBS[i]), -EPERM);
        assert_non_null(strstr(last_text, "jobs never run as root"));
        assert_true(is_claimed_idle(rig));
    }
    assert_int_equal(call(rig, VERB_ACTIVATE, 1,
                          "[Owner = strcat(\"ro\", \"ot\"); User = \"ann@pool\"; "
                          "Requirements = true]"),
                     -EPERM);
    assert_non_null(strstr(last_text, "Owner is not a string literal"));
    assert_true(is_claimed_idle(rig));
}

static void a_starter_that_is_not_there_ends_the_claim(void **state)
{
    struct rig *rig = *state;
    claim_it(rig);
    MUST(os_remove(rig->bed->os, rig->script, err));
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, JOB), -EIO);
    assert_non_null(strstr(last_text, "the starter could not be started: "));
    until(rig, is_unclaimed);
}

static void deactivate_waits_until_the_starter_is_gone(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    send(rig, VERB_DEACTIVATE, 1, JOB, &answer);
    until(rig, has_stop);
    assert_false(answer.over);
    assert_false(rig->starter.fast);
    starter_is_done(rig, "");
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    until(rig, is_claimed_idle);
    assert_int_equal(rig->schedd.gones, 0);
}

static bool is_signalled(struct rig *rig)
{
    return ((const struct claim *)rig->startd->claims.items[0])->stop.by_signal;
}

/* Its end is no failure: the machine would be avoided, and the job held after some. */
static void a_starter_that_is_stopped_before_it_connects_has_not_failed(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    int starter, child;
    char directory[256];
    run_it(rig);
    send(rig, VERB_DEACTIVATE, 1, JOB, &answer);
    until(rig, is_signalled);
    assert_true(read_pids(rig, &starter, &child, directory));
    assert_int_equal(os_kill(rig->bed->os, starter, SIGKILL), 0); /* the script ignores SIGTERM */
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    until(rig, is_claimed_idle);
    assert_int_equal(rig->schedd.gones, 0);
}

static void deactivate_of_what_does_not_run_is_done_already(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(call(rig, VERB_DEACTIVATE, 7, JOB), 0); /* another epoch */
    assert_true(is_claimed_busy(rig));
    assert_int_equal(rig->starter.stops, 0);
}

static void the_next_job_waits_for_the_last_starter(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    send(rig, VERB_ACTIVATE, 2, JOB, &answer);
    assert_int_equal(call(rig, VERB_ACTIVATE, 3, JOB), -EBUSY);
    assert_false(answer.over);
    starter_is_done(rig, "");
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    assert_int_equal(((struct claim *)rig->startd->claims.items[0])->job.epoch, 2);
}

static void a_job_that_waited_on_a_lost_connection_is_not_run(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    send(rig, VERB_ACTIVATE, 2, JOB, &answer);
    assert_int_equal(call(rig, VERB_ACTIVATE, 3, JOB), -EBUSY); /* the first has arrived */
    wire_close(rig->schedd.wire);
    rig->schedd.wire = NULL;
    until(rig, has_resumed);
    starter_is_done(rig, "");
    until(rig, is_claimed_idle);
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), -ECONNRESET);
}

static void a_released_claim_leaves_a_slot_with_a_new_id(void **state)
{
    struct rig *rig = *state;
    claim_it(rig);
    assert_int_equal(call(rig, VERB_RELEASE_CLAIM, 1, JOB), 0);
    until(rig, is_unclaimed);
    assert_true(is_forgotten(rig));
    assert_int_equal(rig->schedd.gones, 0);
    assert_string_not_equal(rig->startd->slots[0]->claim_id, rig->claim_id);
    restart(rig); /* nothing of it is in the store */
    assert_true(is_forgotten(rig));
}

static void a_starter_that_fails_gives_the_claim_back_with_its_reason(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    starter_is_done(rig, "disk full");
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "disk full");
    assert_string_equal(ad_string_or(rig->schedd.gone, "JobId", ""), "1.0");
    assert_int_equal(ad_int_or(rig->schedd.gone, "ClaimEpoch", 0), 1);
    until(rig, is_forgotten);
    assert_true(is_unclaimed(rig));
}

static void a_stranger_is_not_taken_for_the_starter(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(hello(rig, 9), -ENOKEY);
    struct answer answer;
    (void)tell(rig, VERB_STARTER_DONE, 9, "", &answer); /* a late word of another run */
    answer_fini(&answer);
    assert_true(is_claimed_busy(rig));
}

/* ---- deaths ---------------------------------------------------------------------------------- */

static void a_starter_that_is_killed_leaves_nothing(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256];
    run_it(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    assert_int_equal(os_kill(rig->bed->os, starter, SIGKILL), 0);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "starter died");
    until(rig, is_cleaned);
    until(rig, is_forgotten);
    assert_true(is_unclaimed(rig));
}

static void a_startd_that_is_started_anew_resumes_its_claim(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    restart(rig);
    assert_true(is_claimed_busy(rig));
    until(rig, has_resumed);
    assert_string_equal(ad_string_or(rig->schedd.claim, "ClaimId", ""), rig->claim_id);
    assert_string_equal(ad_string_or(rig->schedd.claim, "JobId", ""), "1.0");
    assert_int_equal(ad_int_or(rig->schedd.claim, "ClaimEpoch", 0), 1);
    rig->starter.ready = false;
    assert_int_equal(hello(rig, 1), 0); /* the starter finds us again */
    starter_is_done(rig, "");
    until(rig, is_claimed_idle);
}

static bool is_stored(struct rig *rig)
{
    return store_is_idle(rig->startd->store);
}

/* Killed between the start of the starter and the commit of its pid. */
static void a_starter_whose_pid_was_not_recorded_yet_is_found_by_its_lock(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    struct claim *claim = rig->startd->claims.items[0];
    os_forget(rig->bed->os, claim->starter.pid);
    claim->starter.pid = 0;
    claim->starter.start = 0;
    claim_commit(claim, NULL);
    until(rig, is_stored);
    stop(rig);
    struct strbuf lock;
    struct os_lock *held = NULL; /* by this process, in the starter's place */
    MUST(os_mkdirs(rig->bed->os, config_path(rig->daemon.config, "LOCK"), 0755, err));
    strbuf_init(&lock, 0);
    strbuf_printf(&lock, "%s/starter.slot1.lock", config_path(rig->daemon.config, "LOCK"));
    MUST(os_lock(rig->bed->os, strbuf_text(&lock), &held, NULL, err));
    start(rig);
    claim = rig->startd->claims.items[0];
    assert_int_equal(claim->starter.pid, os_pid(rig->bed->os));
    assert_true(is_claimed_busy(rig));
    assert_false(is_cleaned(rig));
    until(rig, is_stored);
    os_unlock(held);
    restart(rig); /* by now it is recorded */
    claim = rig->startd->claims.items[0];
    assert_int_equal(claim->starter.pid, os_pid(rig->bed->os));
    strbuf_fini(&lock);
}

static void a_starter_that_was_never_there_is_not_looked_for_long(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    struct claim *claim = rig->startd->claims.items[0];
    os_forget(rig->bed->os, claim->starter.pid);
    claim->starter.pid = 0;
    claim_commit(claim, NULL);
    until(rig, is_stored);
    restart(rig);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""),
                        "the starter died while the startd was not running");
    until(rig, is_cleaned);
}

static void an_idle_claim_is_resumed_without_a_job(void **state)
{
    struct rig *rig = *state;
    claim_it(rig);
    restart(rig);
    assert_true(is_claimed_idle(rig));
    until(rig, has_resumed);
    assert_false(ad_has(rig->schedd.claim, "JobId"));
}

static void a_starter_that_died_while_the_startd_was_away_is_found_out(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256];
    run_it(rig);
    assert_true(read_pids(rig, &starter, &child, directory));
    stop(rig);
    (void)os_kill(rig->bed->os, starter, SIGKILL);
    start(rig);
    until(rig, has_gone);
    assert_non_null(strstr(ad_string_or(rig->schedd.gone, "Reason", ""), "starter died"));
    until(rig, is_cleaned);
    until(rig, is_unclaimed);
}

static void a_resumption_that_is_refused_ends_the_job(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    rig->schedd.claim_status = -ENOKEY;
    restart(rig);
    until(rig, has_resumed);
    until(rig, is_cleaned); /* the script ignores SIGTERM: it is told to end fast */
    until(rig, is_unclaimed);
    assert_int_equal(rig->schedd.gones, 0);
}

static void what_no_claim_knows_is_swept_at_start(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    stop(rig);
    char path[300];
    bed_path(rig->bed, "startd.db", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.witness", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "startd.db.reserve", path);
    MUST(os_remove(rig->bed->os, path, err));
    start(rig);
    until(rig, is_cleaned);
    assert_true(is_unclaimed(rig));
}

#define NEW_PIN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static bool has_moved(struct rig *rig)
{
    const struct claim *claim = rig->startd->claims.items[0];
    return strcmp(claim->schedd.address, "tcp:198.51.100.7:1234") == 0;
}

static bool its_starter_knows(struct rig *rig)
{
    return strcmp(rig->starter.shadow, "tcp:198.51.100.7:1234") == 0;
}

static bool has_new_pin(struct rig *rig)
{
    const struct claim *claim = rig->startd->claims.items[0];
    return strcmp(claim->schedd.pin, NEW_PIN) == 0;
}

static void a_schedd_that_moves_is_followed(void **state)
{
    struct rig *rig = *state;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    struct claim *claim = rig->startd->claims.items[0];
    char *pin = mem_strdup(claim->schedd.pin);
    rig->schedd.moved_to = "tcp:198.51.100.7:1234";
    rig->schedd.new_pin = "too short";
    loop_timer_set(claim->lease.alive_timer, 0);
    until(rig, has_moved);
    until(rig, its_starter_knows);
    assert_string_equal(claim->schedd.pin, pin); /* nonsense is not learned */
    rig->schedd.new_pin = NEW_PIN;
    rig->schedd.alives = 0;
    loop_timer_set(claim->lease.alive_timer, 0);
    until(rig, has_new_pin);
    mem_free(pin);
}

/* ---- ads ------------------------------------------------------------------------------------- */

static void that_a_claims_job_is_another_is_told_twice_a_second_and_all_else_at_once(void **state)
{
    struct rig *rig = *state;
    struct startd *startd = rig->startd;
    uint64_t now_ms = loop_now_ms(rig->bed->loop);
    startd->due.last_sent_ms = now_ms;
    advertise_flap(startd);
    uint64_t due_ms = startd->due.send_due_ms;
    assert_in_range(due_ms, now_ms + 500, now_ms + 510); /* the clock goes on meanwhile */
    startd->due.last_sent_ms = now_ms + 3;
    advertise_flap(startd); /* is there already, and earlier */
    assert_int_equal(startd->due.send_due_ms, due_ms);
    advertise_soon(startd);
    assert_in_range(startd->due.send_due_ms, now_ms, now_ms + 10);
    due_ms = startd->due.send_due_ms;
    advertise_flap(startd); /* does not put off what is urgent */
    assert_int_equal(startd->due.send_due_ms, due_ms);
    loop_timer_stop(startd->due.send_timer);
    startd->due.last_sent_ms = now_ms - 500; /* long ago */
    advertise_flap(startd);
    assert_in_range(startd->due.send_due_ms, now_ms, now_ms + 10);
    assert_true(loop_timer_is_set(startd->due.send_timer));
}

static bool is_at_rest(struct rig *rig)
{
    return !loop_timer_is_set(rig->startd->due.send_timer);
}

/* It would be built again each 20 ms; ctest's limit ends that. */
static void a_silent_machine_does_not_renew_its_ads(void **state)
{
    struct rig *rig = *state;
    struct startd *startd = rig->startd;
    const struct ad *ad = startd->slots[0]->ad;
    uint64_t interval_ms =
        (uint64_t)config_duration_s(startd->env.config, "UPDATE_INTERVAL") * 1000;
    startd->down.stage = DOWN_ANNOUNCED;
    startd->due.all_sent_ms = loop_now_ms(rig->bed->loop) - interval_ms;
    loop_timer_set(startd->due.send_timer, 0);
    until(rig, is_at_rest);
    assert_ptr_equal(startd->slots[0]->ad, ad);
    startd->down.stage = DOWN_UP;
}

static size_t ads_there(struct rig *rig)
{
    struct answer answer;
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Machine == \\\"wn01\\\"\" ]",
                                 NULL, &answer),
                     0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static void what_a_busy_collector_refused_is_sent_anew_within_seconds(void **state)
{
    static const char *const STALE[] = {"[ MyType = \"Machine\"; Name = \"slot1_9@wn01\";"
                                        " Machine = \"wn01\"; DynamicSlot = true ]",
                                        NULL};
    struct rig *rig = *state;
    struct client *machine = client_dial(rig->bed, SCOPE_ADVERTISE, "wn01", NULL, NULL);
    struct startd *startd = rig->startd;
    struct wire_reply refusal = {.status = -EBUSY, .text = "4096 requests of yours wait"};
    struct answer answer;
    char names[400];
    (void)snprintf(names, sizeof names, "[ Type = \"Machine\"; Names = { \"%s\" } ]",
                   startd->slots[0]->name);
    assert_int_equal(client_call(machine, VERB_INVALIDATE, names, NULL, &answer), 0);
    answer_fini(&answer);
    assert_int_equal(client_call(machine, VERB_UPDATE, "[]", STALE, &answer), 0);
    answer_fini(&answer);
    advertise_complaint(startd, &refusal);
    assert_false(startd->sent.first_done); /* whatever is sent earlier: all */
    assert_in_range(startd->due.send_due_ms - loop_now_ms(rig->bed->loop), 1000, 5000);
    loop_timer_set(startd->due.send_timer, 0);
    until(rig, is_connected);
    assert_int_not_equal(ads_there(rig), 0);
    while (ads_there(rig) != 1) { /* a piece that is no more: ctest's limit ends what never comes */
    }
    /* One that is going to sleep is silent. */
    startd->down.stage = DOWN_ANNOUNCED;
    loop_timer_stop(startd->due.send_timer);
    advertise_complaint(startd, &refusal);
    assert_false(loop_timer_is_set(startd->due.send_timer));
    assert_true(startd->sent.first_done);
    startd->down.stage = DOWN_UP;
}

UNIT_TESTS(RIG(a_silent_machine_does_not_renew_its_ads),
           RIG(what_a_busy_collector_refused_is_sent_anew_within_seconds),
           RIG(an_offer_is_taken_and_the_claim_made),
           RIG(a_startd_that_is_asked_again_says_whether_it_still_tries_to_connect),
           RIG(who_asks_for_a_claim_of_an_earlier_boot_hears_of_the_boot),
           RIG(a_claim_id_works_once), RIG(a_new_uplink_brings_new_claim_ids),
           RIG(an_offer_to_an_owner_who_is_at_his_desk_is_refused),
           RIG(a_machine_that_goes_to_sleep_takes_no_offer),
           RIG(an_offer_is_judged_by_both_requirements_of_now),
           RIG(a_schedd_that_does_not_know_the_claim_frees_the_slot),
           RIG(the_schedd_of_an_offer_that_ends_is_told),
           RIG(the_schedd_of_an_offer_that_ends_during_claim_is_told_after_it),
           RIG(claim_ids_that_nobody_used_are_replaced_after_five_minutes),
           RIG(a_match_that_is_not_confirmed_times_out),
           RIG(a_job_runs_and_the_claim_is_idle_again), RIG(the_record_is_all_that_a_starter_needs),
           RIG(a_job_that_the_slot_does_not_want_is_declined),
           RIG(a_job_of_root_is_declined_whatever_its_domain),
           RIG(a_starter_that_is_not_there_ends_the_claim),
           RIG(deactivate_waits_until_the_starter_is_gone),
           RIG(a_starter_that_is_stopped_before_it_connects_has_not_failed),
           RIG(deactivate_of_what_does_not_run_is_done_already),
           RIG(the_next_job_waits_for_the_last_starter),
           RIG(a_job_that_waited_on_a_lost_connection_is_not_run),
           RIG(a_released_claim_leaves_a_slot_with_a_new_id),
           RIG(a_starter_that_fails_gives_the_claim_back_with_its_reason),
           RIG(a_stranger_is_not_taken_for_the_starter),
           RIG(a_starter_that_is_killed_leaves_nothing),
           RIG(a_startd_that_is_started_anew_resumes_its_claim),
           RIG(a_starter_whose_pid_was_not_recorded_yet_is_found_by_its_lock),
           RIG(a_starter_that_was_never_there_is_not_looked_for_long),
           RIG(an_idle_claim_is_resumed_without_a_job),
           RIG(a_starter_that_died_while_the_startd_was_away_is_found_out),
           RIG(a_resumption_that_is_refused_ends_the_job),
           RIG(what_no_claim_knows_is_swept_at_start), RIG(a_schedd_that_moves_is_followed),
           RIG(that_a_claims_job_is_another_is_told_twice_a_second_and_all_else_at_once))
