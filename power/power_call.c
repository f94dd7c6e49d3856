/* power/power_call.c - operations under way, and functions for methods: see method.h.
 *
 * A call owns copies of its node's texts, one timer, and perhaps a child process.  It ends once, by
 * power_call_done() or power_call_status(); the user's callback runs from the loop, so that no
 * caller is called back inside its own call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power_call.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_net.h"
#include "base/secret_file.h"

#define ADAPTERS_MS 1000 /* for so long what was seen of our adapters is good */

struct ended { /* or news */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
    const struct power_call *watch; /* the watch that this is news of; NULL: not news */
    void *arg;
    int status;
    enum power_state state;
    bool answers;
    char text[400];
};

void power_call_tell(void *arg)
{
    struct power *power = arg;
    power->telling = power->ended;
    power->ended = (struct vec){0};
    for (size_t i = 0; i < power->telling.count; i++) {
        const struct ended *ended = power->telling.items[i];
        if (ended->news != NULL) {
            const struct power_news news = {ended->state, ended->answers, ended->text};
            ended->news(ended->arg, &news);
        } else if (ended->status_done != NULL) {
            ended->status_done(ended->arg, ended->state, ended->text);
        } else if (ended->done != NULL) {
            ended->done(ended->arg, ended->status, ended->text);
        }
    }
    vec_fini(&power->telling, mem_free);
}

/* Offsets of the texts in struct power_node, which a call copies. */
static const size_t TEXTS[] = {
    offsetof(struct power_node, name),
    offsetof(struct power_node, method),
    offsetof(struct power_node, config),
    offsetof(struct power_node, lock_dir),
    offsetof(struct power_node, program),
    offsetof(struct power_node, wake_command),
    offsetof(struct power_node, sleep_command),
    offsetof(struct power_node, root),
    offsetof(struct power_node, plugin),
    offsetof(struct power_node, status_command),
    offsetof(struct power_node, hardware_address),
    offsetof(struct power_node, subnet),
    offsetof(struct power_node, relay),
    offsetof(struct power_node, password_file),
    offsetof(struct power_node, helper),
    offsetof(struct power_node, uri),
    offsetof(struct power_node, domain),
    offsetof(struct power_node, domain_sleep),
    offsetof(struct power_node, bmc),
    offsetof(struct power_node, bmc_user),
    offsetof(struct power_node, bmc_password_file),
    offsetof(struct power_node, bmc_program),
    offsetof(struct power_node, bmc_privilege),
    offsetof(struct power_node, bmc_sleep),
    offsetof(struct power_node, bmc_system),
    offsetof(struct power_node, bmc_ca),
    offsetof(struct power_node, bmc_pin),
    offsetof(struct power_node, ad_text),
};

static char **text_at(struct power_node *node, size_t index)
{
    return (char **)(void *)((char *)node + TEXTS[index]);
}

static void call_destroy(struct power_call *call)
{
    if (call->own_free != NULL) { /* it may need the node */
        call->own_free(call->own);
    }
    for (size_t i = 0; i < ARRAY_COUNT(TEXTS); i++) {
        mem_free(*text_at(&call->node, i)); /* copies made by begin() */
    }
    if (call->node.packet != NULL) {
        secret_wipe((void *)(uintptr_t)call->node.packet, call->node.packet_length);
        mem_free((void *)(uintptr_t)call->node.packet);
    }
    if (call->pid > 0) {
        os_forget(call->os, call->pid);
        (void)os_kill_group(call->os, call->pid, SIGKILL); /* gone: fine */
    }
    loop_timer_destroy(call->timer);
    mem_free(call);
}

void power_call_drop_all(struct power *power)
{
    for (size_t i = 0; i < power->calls.count; i++) {
        call_destroy(power->calls.items[i]);
    }
    vec_fini(&power->calls, NULL);
    vec_fini(&power->ended, mem_free);
    vec_fini(&power->telling, mem_free);
}

static void call_ticked(void *arg)
{
    struct power_call *call = arg;
    call->tick(call);
}

struct power_call *power_call_create(struct power *power, const struct power_node *node,
                                     enum power_operation operation,
                                     const struct power_callbacks *callbacks, void *arg)
{
    struct power_call *call = mem_zalloc(sizeof *call);
    call->power = power;
    call->loop = power->loop;
    call->os = power->os;
    call->log = power->log;
    call->operation = operation;
    call->node = *node;
    for (size_t i = 0; i < ARRAY_COUNT(TEXTS); i++) {
        char **text = text_at(&call->node, i);
        *text = *text != NULL ? mem_strdup(*text) : NULL;
    }
    if (node->packet != NULL) {
        call->node.packet = mem_dup(node->packet, node->packet_length);
    }
    call->timer = loop_timer_create(power->loop, call_ticked, call);
    call->done = callbacks->done;
    call->status_done = callbacks->status_done;
    call->news = callbacks->news;
    call->arg = arg;
    vec_push(&power->calls, call);
    return call;
}

static void forget_call(const struct power_call *call)
{
    struct vec *calls = &call->power->calls;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->items[i] == call) {
            vec_remove_at(calls, i);
            break;
        }
    }
}

void power_call_drop(struct power_call *call)
{
    forget_call(call);
    call_destroy(call);
}

static void end_call(struct power_call *call, struct ended *ended)
{
    struct power *power = call->power;
    ended->done = call->done;
    ended->status_done = call->status_done;
    ended->arg = call->arg;
    power_call_drop(call);
    vec_push(&power->ended, ended);
    loop_timer_set(power->tell, 0);
}

void power_call_done(struct power_call *call, int status, const char *format, ...)
{
    struct ended *ended = mem_zalloc(sizeof *ended);
    char text[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ended->status = status;
    (void)snprintf(ended->text, sizeof ended->text, "%.60s (%.20s): %s", call->node.name,
                   call->node.method, text);
    end_call(call, ended);
}

void power_call_status(struct power_call *call, enum power_state state, const char *text)
{
    struct ended *ended = mem_zalloc(sizeof *ended);
    ended->state = state;
    (void)snprintf(ended->text, sizeof ended->text, "%.60s (%.20s): %.300s", call->node.name,
                   call->node.method, text);
    end_call(call, ended);
}

void power_call_later(struct power_call *call, uint64_t delay_ms,
                      void (*tick)(struct power_call *call))
{
    call->tick = tick;
    loop_timer_set(call->timer, delay_ms);
}

void power_call_news(struct power_call *call, const struct power_news *news)
{
    struct power *power = call->power;
    struct ended *told = mem_zalloc(sizeof *told);
    told->news = call->news;
    told->watch = call;
    told->arg = call->arg;
    told->state = news->state;
    told->answers = news->answers;
    (void)snprintf(told->text, sizeof told->text, "%.300s", news->text);
    vec_push(&power->ended, told);
    loop_timer_set(power->tell, 0);
}

static void unsay_news(const struct vec *ended, const struct power_call *watch)
{
    for (size_t i = 0; i < ended->count; i++) {
        struct ended *news = ended->items[i];
        if (news->watch == watch) {
            *news = (struct ended){0};
        }
    }
}

void power_call_unsay(const struct power_call *watch)
{
    unsay_news(&watch->power->ended, watch);
    unsay_news(&watch->power->telling, watch);
}

bool power_ask_relay(struct power *power, const struct power_relay *what, power_done_f done,
                     void *done_arg)
{
    if (power->relay == NULL) {
        return false;
    }
    power->relay(power->relay_arg, what, done, done_arg);
    return true;
}

struct os_caster *power_caster(struct power *power)
{
    if (power->caster == NULL) {
        power->caster = os_caster_create(power->os);
    }
    return power->caster;
}

int power_adapters(struct power *power, const struct os_adapter **ret, size_t *count,
                   struct err *err)
{
    uint64_t now_ms = loop_now_ms(power->loop);
    if (power->adapters == NULL || now_ms - power->adapters_ms >= ADAPTERS_MS) {
        power->adapters = power->adapters != NULL
                              ? power->adapters
                              : mem_alloc(OS_ADAPTERS_MAX * sizeof *power->adapters);
        power->adapter_count = 0;
        int rc = os_adapters(power->os, power->adapters, &power->adapter_count, err);
        if (rc != 0) {
            mem_free(power->adapters);
            power->adapters = NULL;
            return rc;
        }
        power->adapters_ms = now_ms;
    }
    *ret = power->adapters;
    *count = power->adapter_count;
    return 0;
}
