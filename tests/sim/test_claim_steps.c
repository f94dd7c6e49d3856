/* tests/sim/test_claim_steps.c - a process dies at each step from the match to the committed
 * result.
 *
 * One machine, two jobs, or more where some are preempted by others; no other chaos: at the first
 * time that a certain message (or the answer to it) is sent, one of the processes concerned gets
 * kill -9, a moment before or after the other side has it.  Whatever the step and whoever dies:
 * every job ends once, with the right result (the judge of sim/check.h), and nothing waits for
 * ever.
 *
 * TIMEOUT: 600
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/pool.h"
#include "sim/sim.h"
#include "sim/tap.h"

#define SEED 7

struct strike {
    enum wire_verb verb;
    bool is_reply;
    const char *victim; /* program */
    uint64_t after_us;  /* the message was sent */
    unsigned nth;       /* time that it is sent */
    bool tyrant;        /* jobs are preempted */
    /* while it runs */
    struct sim *sim;
    unsigned seen;
    bool done;
};

static void strike_now(void *arg)
{
    struct strike *strike = arg;
    uint64_t at = 0;
    struct sim_process *process = NULL;
    while ((process = sim_process_next(strike->sim, &at)) != NULL) {
        if (strcmp(sim_process_program(process), strike->victim) == 0) {
            sim_trace(strike->sim, process, "struck");
            strike->done = true;
            sim_kill(process);
            return;
        }
    }
}

static void message_seen(void *arg, const struct tap_message *message)
{
    struct strike *strike = arg;
    if (message->verb != strike->verb || message->is_reply != strike->is_reply ||
        message->is_relay || ++strike->seen != strike->nth) {
        return;
    }
    (void)sim_at(strike->sim, sim_now_us(strike->sim) + strike->after_us, strike_now, strike);
}

static void begins(void *arg, struct sim *sim)
{
    struct strike *strike = arg;
    strike->sim = sim;
}

/* Returns whether the message was sent at all, so that somebody died. */
static bool run(struct strike strike, unsigned jobs)
{
    const enum wire_verb verbs[] = {strike.verb, VERB_NONE};
    struct pool_options options = {.seed = SEED, .nodes = 1, .jobs = jobs, .tyrant = strike.tyrant};
    struct pool_result result;
    options.tap = tap_create(verbs, message_seen, &strike);
    options.begins = begins;
    options.arg = &strike;
    pool_run(&options, &result);
    tap_destroy(options.tap);
    if (result.verdict[0] != '\0' || result.completed != jobs) {
        fail_msg("%s killed %llu us after %s of %s: %u of %u jobs completed; %s", strike.victim,
                 (unsigned long long)strike.after_us, strike.is_reply ? "the answer" : "the call",
                 wire_verb_name(strike.verb), result.completed, jobs, result.verdict);
    }
    return strike.done;
}

static void killed_at_each_step(const char *const *victims, const enum wire_verb *verbs,
                                unsigned jobs)
{
    /* At once: the message may not have left.  Later: it has arrived, and perhaps its effect is on
     * the disk already. */
    static const uint64_t AFTER_US[] = {0, 300, 2500};
    for (size_t v = 0; verbs[v] != VERB_NONE; v++) {
        unsigned struck = 0;
        for (size_t who = 0; victims[who] != NULL; who++) {
            for (size_t i = 0; i < 2 * sizeof(AFTER_US) / sizeof(AFTER_US[0]); i++) {
                struct strike strike = {
                    .verb = verbs[v],
                    .is_reply = i % 2 == 1,
                    .victim = victims[who],
                    .after_us = AFTER_US[i / 2],
                    .nth = 1,
                    .tyrant = jobs > 2,
                };
                struck += run(strike, jobs) ? 1 : 0;
            }
        }
        if (struck == 0) {
            fail_msg("%s was never sent: this test tests nothing", wire_verb_name(verbs[v]));
        }
    }
}

static const char *const SUBMIT_SIDE[] = {"roost-schedd", "roost-shadow", NULL};
static const char *const EXECUTE_SIDE[] = {"roost-startd", "roost-starter", NULL};

static const enum wire_verb CLAIMING[] = {VERB_MATCH, VERB_CLAIM, VERB_JOB_RUN, VERB_ACTIVATE,
                                          VERB_NONE};
static const enum wire_verb RUNNING[] = {VERB_JOB_FETCH, VERB_JOB_STARTED, VERB_JOB_STATUS,
                                         VERB_FILE_PUT, VERB_NONE};
static const enum wire_verb ENDING[] = {VERB_JOB_DONE, VERB_JOB_RESULT, VERB_JOB_PLACED,
                                        VERB_RELEASE_CLAIM, VERB_NONE};

/* The first job of a preempted claim is stopped, its claim ends, the other one's begins. */
static const enum wire_verb PREEMPTING[] = {VERB_STARTER_STOP, VERB_STARTER_DONE, VERB_CLAIM_GONE,
                                            VERB_NONE};

static void schedd_or_shadow_dies_while_a_job_is_preempted(void **state)
{
    (void)state;
    killed_at_each_step(SUBMIT_SIDE, PREEMPTING, 14);
}

static void startd_or_starter_dies_while_a_job_is_preempted(void **state)
{
    (void)state;
    killed_at_each_step(EXECUTE_SIDE, PREEMPTING, 14);
}

static void schedd_or_shadow_dies_while_a_claim_is_made(void **state)
{
    (void)state;
    killed_at_each_step(SUBMIT_SIDE, CLAIMING, 2);
}

static void schedd_or_shadow_dies_while_a_job_begins(void **state)
{
    (void)state;
    killed_at_each_step(SUBMIT_SIDE, RUNNING, 2);
}

static void schedd_or_shadow_dies_while_a_result_is_committed(void **state)
{
    (void)state;
    killed_at_each_step(SUBMIT_SIDE, ENDING, 2);
}

static void startd_or_starter_dies_while_a_claim_is_made(void **state)
{
    (void)state;
    killed_at_each_step(EXECUTE_SIDE, CLAIMING, 2);
}

static void startd_or_starter_dies_while_a_job_begins(void **state)
{
    (void)state;
    killed_at_each_step(EXECUTE_SIDE, RUNNING, 2);
}

static void startd_or_starter_dies_while_a_result_is_committed(void **state)
{
    (void)state;
    killed_at_each_step(EXECUTE_SIDE, ENDING, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedd_or_shadow_dies_while_a_claim_is_made),
        cmocka_unit_test(schedd_or_shadow_dies_while_a_job_begins),
        cmocka_unit_test(schedd_or_shadow_dies_while_a_result_is_committed),
        cmocka_unit_test(schedd_or_shadow_dies_while_a_job_is_preempted),
        cmocka_unit_test(startd_or_starter_dies_while_a_job_is_preempted),
        cmocka_unit_test(startd_or_starter_dies_while_a_claim_is_made),
        cmocka_unit_test(startd_or_starter_dies_while_a_job_begins),
        cmocka_unit_test(startd_or_starter_dies_while_a_result_is_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
