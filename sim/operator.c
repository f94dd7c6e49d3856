/* sim/operator.c - see operator.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/operator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/sim_private.h"
#include "wire/wire.h"

/* the last second that a report may ask for: a rooster whose clock is ahead counts for the future
 */
#define LAST_DAY_S INT64_C(253402300799)
#define TICK_MS    100
#define IDLE_MS    1000
#define AGAIN_US   (5 * SIM_S)
#define ASK_MS     20000
#define AT_ONCE    5000 /* most questions without an answer */

struct post { /* the state of one process of the operator */
    struct operator* who;
    struct sim *sim;
    struct loop *loop;
    struct wire_context *context;
    struct wire *wire; /* NULL: must be dialled */
    struct loop_timer *tick;
    char rooster[64]; /* the rooster's uplink; "": not known */
    bool finding;
    unsigned under_way;
};

struct errand { /* one question */
    struct post *post;
    struct operator_task task;
    struct vec ads;
};

static void ads_free(void *ad)
{
    ad_destroy(ad);
}

/* ---- tasks; they come from outside, and are in the simulator's heap ---- */

void operator_add(struct operator* who, const struct operator_task *task)
{
    if (who->count == who->capacity) {
        who->capacity = who->capacity > 0 ? who->capacity * 2 : 64;
        who->tasks = sim_realloc(who->tasks, who->capacity * sizeof(*who->tasks));
    }
    who->tasks[who->count++] = *task;
}

void operator_fini(struct operator* who)
{
    sim_free(who->tasks);
}

/* ---- asking ---- */

static bool try_again(const struct errand *errand, int status)
{
    bool nobody = status == -EHOSTUNREACH || status == -ECONNRESET || status == -ETIMEDOUT ||
                  status == -EBUSY || status == -ESHUTDOWN;
    return nobody && errand->task.what != OPERATOR_SLEEP &&
           sim_now_us(errand->post->sim) < errand->task.until_us;
}

static void errand_over(struct errand *errand, int status)
{
    struct post *post = errand->post;
    struct sim_process *was = post->sim->current;
    post->under_way--;
    post->sim->current = NULL; /* what is told and kept now is not this process's */
    if (try_again(errand, status)) {
        post->rooster[0] = '\0';
        errand->task.not_before_us = sim_now_us(post->sim) + AGAIN_US;
        operator_add(post->who, &errand->task);
    } else {
        errand->task.answered(errand->task.arg, errand->task.name, status,
                              (struct ad *const *)errand->ads.items, errand->ads.count);
    }
    post->sim->current = was;
    vec_fini(&errand->ads, ads_free);
    mem_free(errand);
}

static void order_replied(void *arg, struct wire_reply *reply)
{
    struct errand *errand = arg;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(&errand->ads, wire_reply_take_ad(reply, i));
    }
    if (!reply->more) {
        errand_over(errand, reply->status);
    }
}

static void run_task(struct post *post, const struct operator_task *task)
{
    static const enum wire_verb VERBS[] = {[OPERATOR_ON] = VERB_POWER_ON,
                                           [OPERATOR_TEST] = VERB_POWER_ON,
                                           [OPERATOR_SLEEP] = VERB_POWER_DOWN,
                                           [OPERATOR_STATES] = VERB_POWER_STATUS,
                                           [OPERATOR_ENERGY] = VERB_QUERY};
    struct errand *errand = mem_zalloc(sizeof(*errand));
    struct ad *args = ad_create();
    const char *names[] = {task->name};
    char machine[64];
    errand->post = post;
    errand->task = *task;
    (void)snprintf(machine, sizeof(machine), "startd/%s", task->name);
    if (task->what == OPERATOR_ON || task->what == OPERATOR_TEST) {
        ad_set_strings(args, "Nodes", names, 1);
        ad_set_bool(args, "Test", task->what == OPERATOR_TEST);
    } else if (task->what == OPERATOR_ENERGY) {
        ad_set_string(args, "Type", "Energy");
        ad_set_int(args, "Until", LAST_DAY_S);
        ad_set_string(args, "Kind", task->name);
        ad_set_int(args, "Since", 0);
    }
    const struct wire_body body = {.args = args};
    const char *uplink = task->what == OPERATOR_SLEEP ? machine : post->rooster;
    post->under_way++;
    int64_t code =
        wire_relay(post->wire, uplink, VERBS[task->what], &body, ASK_MS, order_replied, errand);
    ad_destroy(args);
    if (code < 0) {
        errand_over(errand, -ECONNRESET);
    }
}

static void rooster_found(void *arg, struct wire_reply *reply)
{
    struct post *post = arg;
    if (reply->ad_count > 0) {
        (void)snprintf(post->rooster, sizeof(post->rooster), "%s",
                       ad_string_or(reply->ads[0], "RoosterUplink", ""));
    }
    post->finding = post->finding && reply->more;
}

static void find_rooster(struct post *post)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Rooster");
    const struct wire_body body = {.args = args};
    post->finding = wire_call(post->wire, VERB_QUERY, &body, ASK_MS, rooster_found, post) > 0;
    ad_destroy(args);
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct post *post = arg;
    (void)status;
    (void)why;
    wire_close(wire);
    post->wire = NULL;
    post->finding = false;
    post->rooster[0] = '\0';
}

/* Starts every task whose time has come; tasks that need the rooster wait until it is found. */
static void do_tasks(struct post *post)
{
    struct operator* who = post->who;
    uint64_t now_us = sim_now_us(post->sim);
    for (size_t i = 0; i < who->count && post->under_way < AT_ONCE && post->wire != NULL;) {
        const struct operator_task task = who->tasks[i];
        bool ready = task.what == OPERATOR_SLEEP || post->rooster[0] != '\0';
        if (!ready && !post->finding) {
            find_rooster(post);
        }
        if (!ready || task.not_before_us > now_us) {
            i++;
            continue;
        }
        who->count--;
        memmove(who->tasks + i, who->tasks + i + 1, (who->count - i) * sizeof(*who->tasks));
        run_task(post, &task);
    }
}

static void on_tick(void *arg)
{
    static const struct wire_events EVENTS = {.closed = on_closed};
    struct post *post = arg;
    const struct operator* who = post->who;
    loop_timer_set(post->tick, who->count > 0 ? TICK_MS : IDLE_MS);
    if (who->count == 0) {
        return;
    }
    if (post->wire == NULL) {
        const struct wire_dial how = {.address = who->collector_address,
                                      .route = "collector",
                                      .name = ""};
        if (wire_dial(post->context, &how, &EVENTS, post, &post->wire, NULL) != 0) {
            post->wire = NULL;
        }
    } else if (wire_is_ready(post->wire)) {
        do_tasks(post);
    }
}

/* ---- life ---- */

static int operator_start(const struct sim_env *env, void **state)
{
    struct post *post = mem_zalloc(sizeof(*post));
    struct err err = {""};
    post->who = (struct operator*)(uintptr_t)env->program->data;
    post->sim = env->sim;
    post->loop = env->loop;
    const struct wire_context_options options = {.loop = env->loop,
                                                 .os = env->os,
                                                 .token_path = post->who->token_path,
                                                 .ca_file = post->who->ca_path,
                                                 .pool_keys = post->who->keys_path,
                                                 .uid_domain = "pool",
                                                 .admin_uid = 1000};
    if (wire_context_create(&options, &post->context, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = post;
    post->tick = loop_timer_create(env->loop, on_tick, post);
    loop_timer_set(post->tick, IDLE_MS);
    return SIM_STAYS;
}

void operator_program(struct sim_program *program, struct operator* who)
{
    *program = (struct sim_program){.name = "operator", .start = operator_start, .data = who};
}
