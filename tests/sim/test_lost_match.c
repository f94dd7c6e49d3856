/* tests/sim/test_lost_match.c - a match whose answer was lost, for whatever reason, costs seconds.
 *
 * A pool of one slot.  The schedd, the negotiator or the startd is killed, or a link is cut for a
 * moment, while a MATCH or the DIAL_ME that follows is under way.  Whether the schedd has accepted
 * the match or not: a job runs in the slot soon, each job has one result, and no promise of the
 * pool is broken (sim/check.h).
 *
 * TIMEOUT: 300
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <string.h>

#include "base/check.h"
#include "sim/pool.h"
#include "sim/sim.h"
#include "sim/sim_private.h"
#include "sim/tap.h"

#define JOBS 3
/* Starting a daemon again, and dialling, take most of it.  An id that counted as given until its
 * time is over would cost 150 s. */
#define SOON_US (30 * SIM_S)

enum how { KILL_SCHEDD, KILL_NEGOTIATOR, KILL_STARTD, CUT_NODE, SILENT_NODE, HOW_COUNT };
static const char *const VICTIMS[HOW_COUNT] = {
    [KILL_SCHEDD] = "roost-schedd",
    [KILL_NEGOTIATOR] = "roost-negotiator",
    [KILL_STARTD] = "roost-startd",
};

struct strike {
    enum wire_verb verb;
    bool is_reply;
    enum how how;
    uint64_t after_us;
    /* while it runs */
    struct sim *sim;
    uint64_t struck_us, started_us;
    uint64_t broken; /* lines promise.broken in the logs until then */
    bool seen;
};

static void strike_now(void *arg)
{
    struct strike *strike = arg;
    uint64_t at = 0;
    struct sim_process *process = NULL;
    strike->struck_us = sim_now_us(strike->sim);
    if (strike->how == CUT_NODE || strike->how == SILENT_NODE) {
        bool silent = strike->how == SILENT_NODE;
        sim_link_cut(strike->sim, sim_host_find(strike->sim, "cm"),
                     sim_host_find(strike->sim, "wn01"), silent ? 7 * SIM_S : 100 * SIM_MS,
                     silent ? SIM_CUT_SILENT : SIM_CUT_RESET);
        return;
    }
    while ((process = sim_process_next(strike->sim, &at)) != NULL) {
        if (strcmp(sim_process_program(process), VICTIMS[strike->how]) == 0) {
            sim_kill(process);
            return;
        }
    }
}

static void message_seen(void *arg, const struct tap_message *message)
{
    struct strike *strike = arg;
    if (message->verb == VERB_JOB_STARTED && strike->struck_us != 0 && strike->started_us == 0) {
        strike->started_us = sim_now_us(strike->sim);
        strike->broken = strike->sim->promises_broken;
    }
    if (strike->seen || message->verb != strike->verb || message->is_reply != strike->is_reply ||
        message->is_relay) {
        return;
    }
    strike->seen = true;
    (void)sim_at(strike->sim, sim_now_us(strike->sim) + strike->after_us, strike_now, strike);
}

static void begins(void *arg, struct sim *sim)
{
    struct strike *strike = arg;
    strike->sim = sim;
}

static void run(struct strike strike)
{
    const enum wire_verb verbs[] = {strike.verb, VERB_JOB_STARTED, VERB_NONE};
    struct pool_options options = {
        .seed = 7, .nodes = 1, .jobs = JOBS, .node_config = "NUM_SLOTS = 1\n", .node_cpus = 8};
    struct pool_result result;
    options.tap = tap_create(verbs, message_seen, &strike);
    options.begins = begins;
    options.arg = &strike;
    pool_run(&options, &result);
    tap_destroy(options.tap);
    if (result.verdict[0] != '\0' || result.completed != JOBS || strike.started_us == 0 ||
        strike.started_us - strike.struck_us > SOON_US || strike.broken > 0) {
        fail_msg("%d struck %llu us after %s of %s: %u of %d jobs completed, the first began after "
                 "%lld ms, %llu promises of time broken; %s",
                 strike.how, (unsigned long long)strike.after_us,
                 strike.is_reply ? "the answer" : "the call", wire_verb_name(strike.verb),
                 result.completed, JOBS,
                 ((long long)strike.started_us - (long long)strike.struck_us) / 1000,
                 (unsigned long long)strike.broken, result.verdict);
    }
}

/* At once: the message may not have left.  Later: it has arrived. */
static void costs_seconds(enum how how)
{
    static const uint64_t AFTER_US[] = {0, 300, 2500};
    static const enum wire_verb VERBS[] = {VERB_MATCH, VERB_DIAL_ME};
    for (size_t i = 0; i < ARRAY_COUNT(AFTER_US) * 4; i++) {
        run((struct strike){.verb = VERBS[i & 1],
                            .is_reply = (i & 2) != 0,
                            .how = how,
                            .after_us = AFTER_US[i / 4]});
    }
}

static void that_the_schedd_dies_during_a_match_costs_seconds(void **state)
{
    (void)state;
    costs_seconds(KILL_SCHEDD);
}

static void that_the_negotiator_dies_during_a_match_costs_seconds(void **state)
{
    (void)state;
    costs_seconds(KILL_NEGOTIATOR);
}

static void that_the_startd_dies_during_a_match_costs_seconds(void **state)
{
    (void)state;
    costs_seconds(KILL_STARTD);
}

static void that_the_machine_is_cut_off_during_a_match_costs_seconds(void **state)
{
    (void)state;
    costs_seconds(CUT_NODE);
}

/* The schedd's connection to it looks well meanwhile. */
static void that_the_machine_is_silent_while_a_job_begins_breaks_no_promise(void **state)
{
    (void)state;
    run((struct strike){.verb = VERB_ACTIVATE, .how = SILENT_NODE});
    run((struct strike){.verb = VERB_CLAIM, .is_reply = true, .how = SILENT_NODE});
}

UNIT_TESTS(UNIT(that_the_schedd_dies_during_a_match_costs_seconds),
           UNIT(that_the_negotiator_dies_during_a_match_costs_seconds),
           UNIT(that_the_startd_dies_during_a_match_costs_seconds),
           UNIT(that_the_machine_is_cut_off_during_a_match_costs_seconds),
           UNIT(that_the_machine_is_silent_while_a_job_begins_breaks_no_promise))
