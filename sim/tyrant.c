/* sim/tyrant.c - see tyrant.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tyrant.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/sim_private.h"
#include "wire/wire.h"

#define PAUSE_MIN_MS 1000
#define PAUSE_MAX_MS 20000
#define MATCH_MS     10000
#define GIVEN_MS     150000 /* no claim id is given again for so long */
#define WANTED       "State =?= \"Claimed\""

struct reign {
    struct tyrant *tyrant;
    struct sim *sim;
    struct loop *loop;
    struct wire_context *context;
    struct wire *wire; /* NULL: must be dialled */
    struct loop_timer *tick;
    struct vec slots; /* ads of slots */
    struct vec ids;   /* char *: a claim id for each slot; "": none */
    struct strmap *given;
};

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct reign *reign = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    reign->wire = NULL;
}

static void match_answered(void *arg, struct wire_reply *reply)
{
    struct reign *reign = arg;
    sim_trace(reign->sim, NULL, "tyrant: %d %s", reply->status, reply->text);
}

static bool was_given(const struct reign *reign, const char *claim_id)
{
    const uint64_t *at_ms = strmap_get(reign->given, claim_id);
    return at_ms != NULL && loop_now_ms(reign->loop) - *at_ms < GIVEN_MS;
}

static void give_slot(struct reign *reign, const struct ad *slot, const char *claim_id,
                      const struct ad *request)
{
    const uint64_t now_ms = loop_now_ms(reign->loop);
    struct ad *args = ad_create();
    ad_set_string(args, "RequestName", ad_string_or(request, "Name", ""));
    ad_set_int(args, "AutoClusterId", ad_int_or(request, "AutoClusterId", 0));
    ad_set_string(args, "SlotName", ad_string_or(slot, "Name", ""));
    ad_set_string(args, "Machine", ad_string_or(slot, "Machine", ""));
    ad_set_string(args, "StartdUplink", ad_string_or(slot, "StartdUplink", ""));
    ad_set_string(args, "Preemption", "Priority");
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim_id};
    const struct wire_body body = {
        .args = args, .ads = &slot, .ad_count = 1, .secrets = &id, .secret_count = 1};
    mem_free(strmap_set(reign->given, claim_id, mem_dup(&now_ms, sizeof(now_ms))));
    (void)wire_relay(reign->wire, ad_string_or(request, "ScheddUplink", ""), VERB_MATCH, &body,
                     MATCH_MS, match_answered, reign); /* another time, then */
    ad_destroy(args);
}

/* The requests have come: gives one of the slots to one of them. */
static void requests_answered(void *arg, struct wire_reply *reply)
{
    struct reign *reign = arg;
    for (size_t i = 0; i < reply->ad_count && reign->slots.count > 0 && reign->wire != NULL; i++) {
        const struct ad *request = reply->ads[i];
        size_t at = (size_t)sim_between(reign->sim, 0, reign->slots.count - 1);
        const struct ad *slot = reign->slots.items[at];
        const char *claim_id = reign->ids.items[at];
        if (claim_id[0] != '\0' && !was_given(reign, claim_id) &&
            ad_int_or(request, "RequestCpus", 1) <= ad_int_or(slot, "Cpus", 0)) {
            give_slot(reign, slot, claim_id, request);
            break;
        }
    }
}

static void ask_for_ads(struct reign *reign, const char *type, const char *constraint,
                        wire_reply_f answered)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Type", type);
    if (constraint != NULL) {
        ad_set_string(args, "Constraint", constraint);
        ad_set_bool(args, "Private", true);
    }
    const struct wire_body body = {.args = args};
    (void)wire_call(reign->wire, VERB_QUERY, &body, 0, answered, reign); /* the next tick */
    ad_destroy(args);
}

static void slots_answered(void *arg, struct wire_reply *reply)
{
    struct reign *reign = arg;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(&reign->slots, wire_reply_take_ad(reply, i));
        vec_push(&reign->ids, mem_strdup(wire_secret_find(reply->secrets, reply->secret_count,
                                                          SECRET_CLAIM_ID, (uint32_t)i)));
    }
    if (!reply->more && reign->slots.count > 0 && reign->wire != NULL) {
        ask_for_ads(reign, "Request", NULL, requests_answered);
    }
}

static void on_tick(void *arg)
{
    static const struct wire_events EVENTS = {.closed = on_closed};
    struct reign *reign = arg;
    const struct tyrant *tyrant = reign->tyrant;
    if (sim_now_us(reign->sim) >= tyrant->until_us) {
        return;
    }
    loop_timer_set(reign->tick, sim_between(reign->sim, PAUSE_MIN_MS, PAUSE_MAX_MS));
    if (reign->wire == NULL) {
        const struct wire_dial how = {.address = tyrant->collector_address,
                                      .route = "collector",
                                      .name = ""};
        if (wire_dial(reign->context, &how, &EVENTS, reign, &reign->wire, NULL) != 0) {
            reign->wire = NULL;
        }
    } else if (wire_is_ready(reign->wire)) {
        vec_clear(&reign->slots, ad_destroy_item);
        vec_clear(&reign->ids, mem_free);
        ask_for_ads(reign, "Machine", WANTED, slots_answered);
    }
}

static int tyrant_start(const struct sim_env *env, void **state)
{
    struct reign *reign = mem_zalloc(sizeof(*reign));
    struct err err = {""};
    reign->tyrant = (struct tyrant *)(uintptr_t)env->program->data;
    reign->sim = env->sim;
    reign->loop = env->loop;
    reign->given = strmap_create(STRMAP_CASE_SENSITIVE);
    const struct wire_context_options options = {.loop = env->loop,
                                                 .os = env->os,
                                                 .token_path = reign->tyrant->token_path,
                                                 .ca_file = reign->tyrant->ca_path,
                                                 .pool_keys = reign->tyrant->keys_path,
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1000};
    if (wire_context_create(&options, &reign->context, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = reign;
    reign->tick = loop_timer_create(env->loop, on_tick, reign);
    loop_timer_set(reign->tick, PAUSE_MIN_MS);
    return SIM_STAYS;
}

void tyrant_program(struct sim_program *program, struct tyrant *tyrant)
{
    *program = (struct sim_program){.name = "tyrant", .start = tyrant_start, .data = tyrant};
}
