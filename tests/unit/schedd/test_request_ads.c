/* A schedd at a collector: what is left there of its earlier life, and for how many jobs it asks.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/schedd_bed.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#define OF_S "ScheddName == \\\"s\\\""
#define OF_T "ScheddName == \\\"t\\\""

static void requests_of_an_earlier_life_are_taken_back(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *client = client_dial(bed, 0, "", NULL, NULL);
    const struct client *other =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    static const char *const ADS[] = {
        "[ MyType = \"Request\"; Name = \"s#77\"; ScheddName = \"s\"; JobCount = 1 ]",
        "[ MyType = \"Request\"; Name = \"t#1\"; ScheddName = \"t\"; JobCount = 1 ]", NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 1 ]",
                                 ADS, &answer),
                     0);
    answer_fini(&answer);
    assert_int_equal(count_ads(client, "Request", OF_S), 1);
    char path[300];
    schedd_bed_write(bed, other->token_id, path);
    struct daemon_run *run = schedd_bed_start(bed, path);
    wait_for_ads(client, "Request", OF_S, 0);
    assert_int_equal(count_ads(client, "Request", OF_T), 1); /* another's is not ours to take */
    daemon_run_destroy(run);
    bed_destroy(bed);
}

/* ---- MAX_JOBS_RUNNING ---- */

/* A startd that takes whatever it is asked to. */
static void startd_asked(void *arg, struct wire_request *request)
{
    (void)arg;
    startd_takes(request, "nonce");
}

#define JOB "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; Requirements = true; "

static void no_more_jobs_are_asked_for_than_may_run(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *negotiator = client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR, "", NULL, NULL);
    const struct client *startd =
        client_dial(bed, SCOPE_READ | SCOPE_ADVERTISE, "", "startd/x", startd_asked);
    const struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300];
    assert_int_equal(startd->status, 0);
    schedd_bed_write(bed, token->token_id, path);
    assert_int_equal(setenv("ROOST_MAX_JOBS_RUNNING", "2", 1), 0);
    struct daemon_run *run = schedd_bed_start(bed, path);
    assert_int_equal(unsetenv("ROOST_MAX_JOBS_RUNNING"), 0);
    struct client *schedd = dial_schedd(bed);
    call_ok(schedd, VERB_SUBMIT, JOB "ProcCount = 5]", NULL);
    wait_for_ads(negotiator, "Request", "JobCount == 2", 1);
    assert_int_equal(match(negotiator, "first"), 0);
    assert_int_equal(match(negotiator, "second"), 0);
    wait_for_ads(negotiator, "Request", "true", 0);
    assert_int_equal(match(negotiator, "third"), -EDQUOT);
    call_ok(schedd, VERB_SUBMIT, JOB "RequestMemory = 7; ProcCount = 3]", NULL);
    wait_for_ads(negotiator, "Submitter", "IdleJobs >= 6", 1); /* these are told with requests */
    assert_int_equal(count_ads(negotiator, "Request", "true"), 0);

    call_ok(schedd, VERB_ACT, "[Action = \"Remove\"; Ids = {\"1\"}]", NULL);
    wait_for_ads(negotiator, "Request", "JobCount == 2 && RequestMemory == 7", 1);
    client_close(schedd);
    daemon_run_destroy(run);
    bed_destroy(bed);
}

/* ---- matches that come to nothing ---- */

struct machine {  /* a startd, as far as DIAL_ME goes */
    bool waits;   /* another job is in the slot */
    bool forgets; /* it was started anew since it agreed */
    bool dials;   /* it has the claim, and tries to connect */
    int releases; /* claims that the schedd gave up */
};
static struct machine machine;

static void machine_asked(void *arg, struct wire_request *request)
{
    (void)arg;
    if (wire_request_verb(request) == VERB_RELEASE_CLAIM) {
        machine.releases++;
        wire_reply_ok(request, NULL);
    } else if (machine.forgets && ad_bool_or(wire_request_args(request), "Again", false)) {
        wire_reply_error(request, -ENOKEY, "x: this claim has ended");
    } else if (machine.dials && ad_bool_or(wire_request_args(request), "Again", false)) {
        startd_dials(request);
    } else if (machine.waits) {
        startd_waits(request, "nonce");
    } else {
        startd_takes(request, "nonce");
    }
}

struct small_pool { /* a schedd with one job, at a collector with one machine */
    struct bed *bed;
    struct client *negotiator, *schedd;
    struct daemon_run *run;
};

static void small_pool_init(struct small_pool *pool)
{
    *pool = (struct small_pool){.bed = bed_create("")};
    machine = (struct machine){.waits = false};
    bed_start(pool->bed);
    bed_find_address(pool->bed);
    pool->negotiator = client_dial(pool->bed, SCOPE_READ | SCOPE_NEGOTIATOR, "", NULL, NULL);
    const struct client *startd =
        client_dial(pool->bed, SCOPE_READ | SCOPE_ADVERTISE, "", "startd/x", machine_asked);
    const struct client *token =
        client_dial(pool->bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300];
    assert_int_equal(startd->status, 0);
    schedd_bed_write(pool->bed, token->token_id, path);
    pool->run = schedd_bed_start(pool->bed, path);
    pool->schedd = dial_schedd(pool->bed);
    call_ok(pool->schedd, VERB_SUBMIT, JOB "ProcCount = 1]", NULL);
    wait_for_ads(pool->negotiator, "Request", "JobCount == 1", 1);
}

static void small_pool_fini(struct small_pool *pool)
{
    client_close(pool->schedd);
    daemon_run_destroy(pool->run);
    bed_destroy(pool->bed);
}

static void a_job_that_waits_for_a_slot_takes_a_free_one(void **state)
{
    (void)state;
    struct small_pool pool;
    small_pool_init(&pool);
    machine.waits = true;
    assert_int_equal(match(pool.negotiator, "in use"), 0);
    wait_for_ads(pool.negotiator, "Request", "JobCount == 0 && JobsWaiting == 1", 1);
    assert_int_equal(machine.releases, 0);
    machine.waits = false;
    assert_int_equal(match(pool.negotiator, "free"), 0);
    wait_for_ads(pool.negotiator, "Request", "true", 0);
    assert_int_equal(machine.releases, 1);
    assert_int_equal(match(pool.negotiator, "one more"), -ENOENT);
    small_pool_fini(&pool);
}

static void a_claim_that_its_startd_forgot_is_given_up_within_seconds(void **state)
{
    (void)state;
    struct small_pool pool;
    small_pool_init(&pool);
    machine.forgets = true; /* it agrees, and does not connect */
    assert_int_equal(match(pool.negotiator, "forgotten"), 0);
    wait_for_ads(pool.negotiator, "Request", "true", 0);
    wait_for_ads(pool.negotiator, "Request", "JobCount == 1", 1);
    small_pool_fini(&pool);
}

static void a_machine_that_cannot_connect_breaks_no_promise(void **state)
{
    (void)state;
    struct small_pool pool;
    assert_int_equal(setenv("ROOST_JOB_START_PROMISE", "1500ms", 1), 0);
    assert_int_equal(setenv("ROOST_SCHEDD_INTERVAL", "1", 1), 0);
    small_pool_init(&pool);
    assert_int_equal(unsetenv("ROOST_JOB_START_PROMISE"), 0);
    assert_int_equal(unsetenv("ROOST_SCHEDD_INTERVAL"), 0);
    machine.dials = true;
    assert_int_equal(match(pool.negotiator, "cut off"), 0);
    wait_for_ads(pool.negotiator, "Scheduler",
                 "StartPromisesBroken == 0 && StartExcusedMachineSilent == 1", 1);
    small_pool_fini(&pool);
}

UNIT_TESTS(UNIT(no_more_jobs_are_asked_for_than_may_run),
           UNIT(requests_of_an_earlier_life_are_taken_back),
           UNIT(a_job_that_waits_for_a_slot_takes_a_free_one),
           UNIT(a_claim_that_its_startd_forgot_is_given_up_within_seconds),
           UNIT(a_machine_that_cannot_connect_breaks_no_promise))
