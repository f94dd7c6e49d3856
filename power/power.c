/* power/power.c - operations under way: see power.h.
 *
 * A call owns copies of its node's texts, one timer, and perhaps a child process.  It ends once,
 * through power_call_done() or power_call_status(); the callback is made from the loop, so that no
 * caller is entered from within its own call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os_net.h"
#include "base/secret_file.h"
#include "base/vec.h"
#include "power/method.h"

#define POWER_DEADLINE_MS 30000
#define ADAPTERS_MS       1000 /* for so long what was seen of our adapters is good */

#define METHODS_MAX 16

struct power {
    void *states[METHODS_MAX]; /* of power_methods[], what each keeps; NULL: none yet */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct vec calls;   /* struct power_call, under way */
    struct vec ended;   /* struct ended, to be told */
    struct vec telling; /* those of them whose turn it is */
    struct loop_timer *tell;
    struct os_caster *caster;    /* NULL: not needed yet */
    struct os_adapter *adapters; /* NULL: not looked at yet */
    size_t adapter_count;
    uint64_t adapters_ms; /* when they were */
    power_relay_f relay;  /* NULL: none */
    void *relay_arg;
};

struct ended { /* or news */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
    const struct power_call *watch; /* that it is news of */
    void *arg;
    int status;
    enum power_state state;
    bool answers;
    char text[400];
};

const struct power_method *const power_methods[] = {&power_method_process, &power_method_command,
                                                    &power_method_wol,     &power_method_libvirt,
                                                    &power_method_host,    &power_method_ipmi,
                                                    &power_method_redfish, NULL};

const char *power_method_name(unsigned index)
{
    return index < ARRAY_COUNT(power_methods) && power_methods[index] != NULL
               ? power_methods[index]->name
               : NULL;
}

const char *power_state_name(enum power_state state)
{
    switch (state) {
    case POWER_ON:
        return "On";
    case POWER_OFF:
        return "Off";
    case POWER_UNKNOWN:
        break;
    }
    return "Unknown";
}

static void tell(void *arg)
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

struct power *power_create(struct loop *loop, struct os *os, struct log *log)
{
    struct power *power = mem_zalloc(sizeof *power);
    power->loop = loop;
    power->os = os;
    power->log = log;
    power->tell = loop_timer_create(loop, tell, power);
    return power;
}

/* Where in struct power_node its texts are: a call has copies of them. */
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

void power_destroy(struct power *power)
{
    if (power == NULL) {
        return;
    }
    for (size_t i = 0; i < power->calls.count; i++) {
        call_destroy(power->calls.items[i]);
    }
    vec_fini(&power->calls, NULL);
    vec_fini(&power->ended, mem_free);
    vec_fini(&power->telling, mem_free);
    for (size_t i = 0; power_methods[i] != NULL; i++) {
        if (power->states[i] != NULL) {
            power_methods[i]->destroy(power->states[i]);
        }
    }
    os_caster_destroy(power->caster);
    mem_free(power->adapters);
    loop_timer_destroy(power->tell);
    mem_free(power);
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

static void end_call(struct power_call *call, struct ended *ended)
{
    struct power *power = call->power;
    ended->done = call->done;
    ended->status_done = call->status_done;
    ended->arg = call->arg;
    forget_call(call);
    call_destroy(call);
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

static void ticked(void *arg)
{
    struct power_call *call = arg;
    call->tick(call);
}

void power_call_later(struct power_call *call, uint64_t delay_ms,
                      void (*tick)(struct power_call *call))
{
    call->tick = tick;
    loop_timer_set(call->timer, delay_ms);
}

static void *state_of(struct power *power, const struct power_method *method)
{
    size_t i = 0;
    while (power_methods[i] != method) {
        i++;
    }
    CHECK(i < METHODS_MAX);
    if (power->states[i] == NULL && method->create != NULL) {
        power->states[i] = method->create(power->loop, power->os, power->log);
    }
    return power->states[i];
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

static const struct power_method *find_method(const struct power_node *node, struct err *err)
{
    for (size_t i = 0; power_methods[i] != NULL; i++) {
        if (node->method != NULL && strcmp(power_methods[i]->name, node->method) == 0) {
            return power_methods[i];
        }
    }
    (void)err_set(err, -EINVAL, "node %s: there is no power method '%s'", node->name,
                  node->method != NULL ? node->method : "");
    return NULL;
}

struct callbacks { /* one of them */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
};

static int begin(struct power *power, const struct power_node *node, enum power_operation operation,
                 const char *level, const struct callbacks *callbacks, void *arg,
                 struct power_call **ret, struct err *err)
{
    const struct power_method *method = find_method(node, err);
    if (method == NULL) {
        return -EINVAL;
    }
    if (operation == POWER_DO_WATCH && !method->can_watch) {
        return err_set(err, -ENOTSUP, "node %s: method %s has to be asked", node->name,
                       method->name);
    }
    int rc = method->check(node, operation, err);
    if (rc != 0) {
        return rc;
    }
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
    call->method = method;
    call->state = state_of(power, method);
    (void)snprintf(call->level, sizeof call->level, "%s", level);
    call->end_ms =
        loop_now_ms(power->loop) + (node->deadline_ms != 0 ? node->deadline_ms : POWER_DEADLINE_MS);
    call->timer = loop_timer_create(power->loop, ticked, call);
    call->done = callbacks->done;
    call->status_done = callbacks->status_done;
    call->news = callbacks->news;
    call->arg = arg;
    vec_push(&power->calls, call);
    if (ret != NULL) {
        *ret = call;
    }
    method->begin(call);
    return 0;
}

int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err)
{
    const struct callbacks callbacks = {.done = done};
    return begin(power, node, POWER_DO_WAKE, "", &callbacks, arg, NULL, err);
}

int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg, struct err *err)
{
    const struct callbacks callbacks = {.done = done};
    return begin(power, node, POWER_DO_SLEEP, level, &callbacks, arg, NULL, err);
}

int power_status(struct power *power, const struct power_node *node, power_status_f done, void *arg,
                 struct err *err)
{
    const struct callbacks callbacks = {.status_done = done};
    return begin(power, node, POWER_DO_STATUS, "", &callbacks, arg, NULL, err);
}

void power_sleep_cancel(struct power *power, const void *arg)
{
    for (size_t i = power->calls.count; i > 0; i--) {
        struct power_call *call = power->calls.items[i - 1];
        if (call->operation == POWER_DO_SLEEP && call->arg == arg) {
            if (call->method->cancel != NULL) {
                call->method->cancel(call);
            }
            power_call_done(call, -ECANCELED, "it was taken back"); /* ends its program */
        }
    }
}

uint64_t power_sleep_max_ms(const struct power_node *node, const char *level)
{
    const struct power_method *method = find_method(node, NULL);
    return node->deadline_ms != 0                           ? node->deadline_ms
           : method != NULL && method->sleep_max_ms != NULL ? method->sleep_max_ms(node, level)
                                                            : POWER_DEADLINE_MS;
}

int power_watch(struct power *power, const struct power_node *node, power_news_f news, void *arg,
                struct power_watch **ret, struct err *err)
{
    const struct callbacks callbacks = {.news = news};
    struct power_call *call = NULL;
    int rc = begin(power, node, POWER_DO_WATCH, "", &callbacks, arg, &call, err);
    if (rc == 0) {
        *ret = (struct power_watch *)call; /* a call by another name */
    }
    return rc;
}

static void unsay(const struct vec *ended, const struct power_call *watch)
{
    for (size_t i = 0; i < ended->count; i++) {
        struct ended *news = ended->items[i];
        if (news->watch == watch) {
            *news = (struct ended){0};
        }
    }
}

void power_watch_end(struct power_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    struct power_call *call = (struct power_call *)watch;
    struct power *power = call->power;
    unsay(&power->ended, call);
    unsay(&power->telling, call);
    call->method->cancel(call); /* who can watch has one */
    forget_call(call);
    call_destroy(call);
}

unsigned power_can(const struct power_node *node)
{
    static const unsigned BITS[] = {[POWER_DO_WAKE] = POWER_CAN_WAKE,
                                    [POWER_DO_SLEEP] = POWER_CAN_SLEEP,
                                    [POWER_DO_STATUS] = POWER_CAN_STATUS,
                                    [POWER_DO_WATCH] = POWER_CAN_WATCH};
    const struct power_method *method = find_method(node, NULL);
    unsigned can = 0;
    for (unsigned i = 0; method != NULL && i < ARRAY_COUNT(BITS); i++) {
        bool is_there = i != POWER_DO_WATCH || method->can_watch;
        can |= is_there && method->check(node, (enum power_operation)i, NULL) == 0 ? BITS[i] : 0;
    }
    return can;
}

void power_relay_by(struct power *power, power_relay_f relay, void *arg)
{
    power->relay = relay;
    power->relay_arg = arg;
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
            return rc;
        }
        power->adapters_ms = now_ms;
    }
    *ret = power->adapters;
    *count = power->adapter_count;
    return 0;
}

int power_check(const struct power_node *node, struct err *err)
{
    const struct power_method *method = find_method(node, err);
    return method == NULL ? -EINVAL : method->check(node, POWER_DO_WAKE, err);
}
