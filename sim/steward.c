/* sim/steward.c - see steward.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/steward.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "drain/drain_client.h"
#include "sim/sim_private.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define PAUSE_MIN_MS 3000
#define PAUSE_MAX_MS 25000
#define HASTE_MAX_MS 2000
#define RELEASE_MS   5000
/* after its last action, the steward goes on releasing held jobs for so long */
#define RELEASES_US    (600 * SIM_S)
#define HELD           "JobStatus == 5"
#define ENOUGH_CLIENTS 16 /* most drains without an answer */

struct office { /* the state of one process of the steward */
    struct steward *steward;
    struct sim *sim;
    struct loop *loop;
    struct wire_context *context;
    struct wire *schedd, *hub; /* NULL: must be dialled */
    struct loop_timer *tick;
    unsigned drains;
};

struct drive { /* one drain */
    struct office *office;
    struct drain_client *client;
    struct drain_request request;
};

static void schedd_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct office *office = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    office->schedd = NULL;
}

static void hub_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct office *office = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    office->hub = NULL;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void act_answered(void *arg, struct wire_reply *reply)
{
    struct office *office = arg;
    sim_trace(office->sim, NULL, "steward: acted: %d %s", reply->status, reply->text);
}

static void act_on_jobs(struct office *office, const char *action, const char *constraint)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Action", action);
    ad_set_string(args, "Constraint", constraint);
    const struct wire_body body = {.args = args};
    (void)wire_call(office->schedd, VERB_ACT, &body, 0, act_answered,
                    office); /* another time, then */
    ad_destroy(args);
}

static void checkpoint_answered(void *arg, struct wire_reply *reply)
{
    struct office *office = arg;
    struct steward *steward = office->steward;
    for (size_t i = 0; i < reply->ad_count; i++) {
        const struct ad *ad = reply->ads[i];
        const char *result = ad_string_or(ad, "Result", "?"), *id = ad_string_or(ad, "Id", "?");
        sim_trace(office->sim, NULL, "steward: checkpoint of %s: %s %s", id, result,
                  ad_string_or(ad, "Reason", ""));
        if (text_equal_nocase(result, "Success") && steward->checkpointed != NULL) {
            struct sim_process *was = office->sim->current;
            office->sim->current = NULL; /* what is kept now is not this process's */
            steward->granted++;
            steward->checkpointed(steward->arg, id, ad_int_or(ad, CKPT_SEQUENCE, 0));
            office->sim->current = was;
        }
    }
}

static void ask_for_checkpoint(struct office *office, const char *constraint)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Constraint", constraint);
    const struct wire_body body = {.args = args};
    office->steward->asked++;
    (void)wire_call(office->schedd, VERB_JOB_CHECKPOINT, &body, 0, checkpoint_answered,
                    office); /* the same */
    ad_destroy(args);
}

/* ---- machines -------------------------------------------------------------------------------- */

static void drain_offered(void *arg, const char *id, const struct ad *offer)
{
    struct drive *drive = arg;
    (void)id;
    (void)offer;
    drain_client_commit(drive->client);
}

static void drain_done(void *arg, enum drain_code code, const char *text, const struct ad *answer)
{
    struct drive *drive = arg;
    struct office *office = drive->office;
    (void)answer;
    sim_trace(office->sim, NULL, "steward: drained: %d %s", (int)code, text);
    office->steward->drained += code == DRAIN_OK ? 1 : 0;
    office->drains--;
    drain_client_destroy(drive->client);
    mem_free(drive);
}

static void drain_node(struct office *office)
{
    static const struct drain_client_events EVENTS = {drain_offered, drain_done};
    static const enum drain_schedule SCHEDULES[] = {DRAIN_GRACEFUL, DRAIN_GRACEFUL, DRAIN_QUICK,
                                                    DRAIN_FAST};
    char machine[32];
    struct sim *sim = office->sim;
    (void)snprintf(machine, sizeof(machine), "wn%02u",
                   (unsigned)sim_between(sim, 1, office->steward->nodes));
    struct drive *drive = mem_zalloc(sizeof(*drive));
    drive->office = office;
    bool resumes = office->steward->hasty || !sim_chance(sim, 500);
    drive->request = (struct drain_request){.schedule = SCHEDULES[sim_between(sim, 0, 3)],
                                            .then = resumes ? DRAIN_THEN_RESUME : DRAIN_THEN_SLEEP,
                                            .commit_s = DRAIN_COMMIT_S};
    office->drains++;
    if (drain_client_start(office->hub, machine, &drive->request, &EVENTS, drive, &drive->client,
                           NULL) != 0) {
        office->drains--;
        mem_free(drive);
    }
}

/* ---- choosing the next action ---------------------------------------------------------------- */

static void one_deed(struct office *office)
{
    struct steward *steward = office->steward;
    struct sim *sim = office->sim;
    char whom[64];
    uint64_t what = sim_between(sim, 0, 99);
    unsigned number = (unsigned)sim_between(sim, 0, steward->jobs - 1);
    (void)snprintf(whom, sizeof(whom), "SimNumber == %u && JobStatus == 2", number);
    steward->touched[number] = steward->touched[number] || (what >= 35 && what < 65);
    if (what < 35) {
        ask_for_checkpoint(office, sim_chance(sim, 300) ? "true" : whom);
    } else if (what < 50) {
        steward->vacated++;
        act_on_jobs(office, what < 45 ? "Vacate" : "VacateFast", whom);
    } else if (what < 65) {
        steward->held++;
        act_on_jobs(office, "Hold", whom);
    } else if (office->hub != NULL && wire_is_ready(office->hub) &&
               office->drains < ENOUGH_CLIENTS) {
        drain_node(office);
    }
}

static void hasty_deed(struct office *office)
{
    uint64_t what = sim_between(office->sim, 0, 99);
    if (what < 25) {
        office->steward->held++;
        act_on_jobs(office, "Hold", "JobStatus == 1");
    } else if (what < 60) {
        act_on_jobs(office, "Release", HELD);
    } else if (office->hub != NULL && wire_is_ready(office->hub) &&
               office->drains < ENOUGH_CLIENTS) {
        drain_node(office);
    }
}

static void dial_servers(struct office *office)
{
    static const struct wire_events SCHEDD = {.closed = schedd_closed},
                                    HUB = {.closed = hub_closed};
    const struct wire_dial schedd = {.address = office->steward->schedd_socket,
                                     .route = "schedd",
                                     .name = ""};
    const struct wire_dial hub = {.address = office->steward->collector_address,
                                  .route = "collector",
                                  .name = ""};
    if (office->schedd == NULL &&
        wire_dial(office->context, &schedd, &SCHEDD, office, &office->schedd, NULL) != 0) {
        office->schedd = NULL;
    }
    if (office->hub == NULL &&
        wire_dial(office->context, &hub, &HUB, office, &office->hub, NULL) != 0) {
        office->hub = NULL;
    }
}

static void on_tick(void *arg)
{
    struct office *office = arg;
    const struct steward *steward = office->steward;
    uint64_t now_us = sim_now_us(office->sim);
    bool acts = now_us < steward->until_us;
    if (now_us > steward->until_us + RELEASES_US) {
        return;
    }
    loop_timer_set(office->tick, !acts ? RELEASE_MS
                                 : steward->hasty
                                     ? sim_between(office->sim, 50, HASTE_MAX_MS)
                                     : sim_between(office->sim, PAUSE_MIN_MS, PAUSE_MAX_MS));
    dial_servers(office);
    if (now_us < steward->begin_us || office->schedd == NULL || !wire_is_ready(office->schedd)) {
        return;
    }
    if (acts && steward->hasty) {
        hasty_deed(office);
        return;
    }
    if (acts) {
        one_deed(office);
    }
    if (!acts || sim_chance(office->sim, 500)) {
        act_on_jobs(office, "Release", HELD);
    }
}

static int steward_start(const struct sim_env *env, void **state)
{
    struct office *office = mem_zalloc(sizeof(*office));
    struct err err = {""};
    office->steward = (struct steward *)(uintptr_t)env->program->data;
    office->sim = env->sim;
    office->loop = env->loop;
    const struct wire_context_options options = {.loop = env->loop,
                                                 .os = env->os,
                                                 .token_path = office->steward->token_path,
                                                 .ca_file = office->steward->ca_path,
                                                 .pool_keys = office->steward->keys_path,
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1000};
    if (wire_context_create(&options, &office->context, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = office;
    office->tick = loop_timer_create(env->loop, on_tick, office);
    loop_timer_set(office->tick, PAUSE_MIN_MS);
    return SIM_STAYS;
}

void steward_program(struct sim_program *program, struct steward *steward)
{
    *program = (struct sim_program){.name = "steward", .start = steward_start, .data = steward};
}
