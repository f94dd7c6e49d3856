/* power/power.c - the list of methods, and the functions of power.h.
 *
 * power_call.c has the operations under way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/power.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_net.h"
#include "power/method.h"
#include "power/power_call.h"

#define POWER_DEADLINE_MS 30000

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

struct power *power_create(struct loop *loop, struct os *os, struct log *log)
{
    struct power *power = mem_zalloc(sizeof *power);
    power->loop = loop;
    power->os = os;
    power->log = log;
    power->tell = loop_timer_create(loop, power_call_tell, power);
    return power;
}

void power_destroy(struct power *power)
{
    if (power == NULL) {
        return;
    }
    power_call_drop_all(power);
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

static void *state_of(struct power *power, const struct power_method *method)
{
    size_t i = 0;
    while (power_methods[i] != method) {
        i++;
    }
    CHECK(i < POWER_METHODS_MAX);
    if (power->states[i] == NULL && method->create != NULL) {
        power->states[i] = method->create(power->loop, power->os, power->log);
    }
    return power->states[i];
}

static const struct power_method *find_method(const struct power_node *node, struct err *err)
{
    for (size_t i = 0; power_methods[i] != NULL; i++) {
        if (node->method != NULL && strcmp(power_methods[i]->name, node->method) == 0) {
            return power_methods[i];
        }
    }
    (void)err_set(err, -EINVAL, "node %s: unknown power method '%s'", node->name,
                  node->method != NULL ? node->method : "");
    return NULL;
}

static int begin_call(struct power *power, const struct power_node *node,
                      enum power_operation operation, const char *level,
                      const struct power_callbacks *callbacks, void *arg, struct power_call **ret,
                      struct err *err)
{
    const struct power_method *method = find_method(node, err);
    if (method == NULL) {
        return -EINVAL;
    }
    if (operation == POWER_DO_WATCH && !method->can_watch) {
        return err_set(err, -ENOTSUP, "node %s: method %s cannot watch machines", node->name,
                       method->name);
    }
    int rc = method->check(node, operation, err);
    if (rc != 0) {
        return rc;
    }
    struct power_call *call = power_call_create(power, node, operation, callbacks, arg);
    call->method = method;
    call->state = state_of(power, method);
    (void)snprintf(call->level, sizeof call->level, "%s", level);
    call->end_ms =
        loop_now_ms(power->loop) + (node->deadline_ms != 0 ? node->deadline_ms : POWER_DEADLINE_MS);
    if (ret != NULL) {
        *ret = call;
    }
    method->begin(call);
    return 0;
}

int power_wake(struct power *power, const struct power_node *node, power_done_f done, void *arg,
               struct err *err)
{
    const struct power_callbacks callbacks = {.done = done};
    return begin_call(power, node, POWER_DO_WAKE, "", &callbacks, arg, NULL, err);
}

int power_sleep(struct power *power, const struct power_node *node, const char *level,
                power_done_f done, void *arg, struct err *err)
{
    const struct power_callbacks callbacks = {.done = done};
    return begin_call(power, node, POWER_DO_SLEEP, level, &callbacks, arg, NULL, err);
}

int power_status(struct power *power, const struct power_node *node, power_status_f done, void *arg,
                 struct err *err)
{
    const struct power_callbacks callbacks = {.status_done = done};
    return begin_call(power, node, POWER_DO_STATUS, "", &callbacks, arg, NULL, err);
}

void power_sleep_cancel(struct power *power, const void *arg)
{
    for (size_t i = power->calls.count; i > 0; i--) {
        struct power_call *call = power->calls.items[i - 1];
        if (call->operation == POWER_DO_SLEEP && call->arg == arg) {
            if (call->method->cancel != NULL) {
                call->method->cancel(call);
            }
            power_call_done(call, -ECANCELED, "the order was cancelled"); /* ends its program */
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
    const struct power_callbacks callbacks = {.news = news};
    struct power_call *call = NULL;
    int rc = begin_call(power, node, POWER_DO_WATCH, "", &callbacks, arg, &call, err);
    if (rc == 0) {
        *ret = (struct power_watch *)call; /* a call by another name */
    }
    return rc;
}

void power_watch_end(struct power_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    struct power_call *call = (struct power_call *)watch;
    power_call_unsay(call);
    call->method->cancel(call); /* who can watch has one */
    power_call_drop(call);
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
    return method != NULL && method->may_repeat ? can | POWER_CAN_REPEAT : can;
}

void power_relay_by(struct power *power, power_relay_f relay, void *arg)
{
    power->relay = relay;
    power->relay_arg = arg;
}

int power_check(const struct power_node *node, struct err *err)
{
    const struct power_method *method = find_method(node, err);
    return method == NULL ? -EINVAL : method->check(node, POWER_DO_WAKE, err);
}
