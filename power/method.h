/* power/method.h - what a power method is: a row of operations.
 *
 * To add a method: a file power/method_<name>.c with its operations, its declaration below and its
 * row in power_methods[] (power/power.c); its name and its options in NODE of power/knobs.c, their
 * fields in struct power_node, read_section() of rooster/ways.c, which fills them; a line in
 * power/README.md; `make config-page`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_METHOD_H
#define POWER_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/os/os.h"
#include "power/power.h"

struct os_adapter;
struct os_caster;

enum power_operation { POWER_DO_WAKE, POWER_DO_SLEEP, POWER_DO_STATUS, POWER_DO_WATCH };

/* One operation under way; the node's texts are copies that live as long as it does. */
struct power_call {
    struct power *power;
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct power_method *method;
    enum power_operation operation;
    struct power_node node;
    void *state; /* what the method keeps between calls; NULL: nothing */
    char level[16];
    struct loop_timer *timer; /* the method's, until the call's deadline takes it over */
    uint64_t end_ms;
    void (*tick)(struct power_call *call);
    pid_t pid; /* of the method's program; killed when the call is dropped */
    void *own; /* the method's; freed by own_free when the call ends */
    void (*own_free)(void *own);
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
    void *arg;
};

struct power_method {
    const char *name;
    /* Is all there that the operation needs?  -EINVAL naming the option. */
    int (*check)(const struct power_node *node, enum power_operation operation, struct err *err);
    /* Begins; ends by power_call_done() or power_call_status(), now or later. */
    void (*begin)(struct power_call *call);
    /* What it keeps between calls (a session, a helper process), made before its first one; calls
     * under way are dropped before it is destroyed.  Both NULL: nothing. */
    void *(*create)(struct loop *loop, struct os *os, struct log *log);
    void (*destroy)(void *state);
    /* The call is ended from outside, before it is freed: a watch, or a sleep that is taken back.
     * NULL: there are no watches, and its program (pid) is all there is to end. */
    void (*cancel)(struct power_call *call);
    bool can_watch; /* begin() knows POWER_DO_WATCH: power_call_news(), any number of times */
    /* How long a sleep may take; NULL: as long as any operation. */
    uint64_t (*sleep_max_ms)(const struct power_node *node, const char *level);
};

extern const struct power_method *const power_methods[]; /* NULL-terminated */
extern const struct power_method power_method_process;
extern const struct power_method power_method_host;
extern const struct power_method power_method_command;
extern const struct power_method power_method_wol;
extern const struct power_method power_method_libvirt;
extern const struct power_method power_method_ipmi;
extern const struct power_method power_method_redfish;

/* Each ends the call and frees it; the callback comes from the loop, later. */
void power_call_done(struct power_call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void power_call_status(struct power_call *call, enum power_state state, const char *text);
void power_call_news(struct power_call *call, const struct power_news *news); /* it goes on */
/* Calls call->tick after delay_ms. */
void power_call_later(struct power_call *call, uint64_t delay_ms,
                      void (*tick)(struct power_call *call));

struct os_caster *power_caster(struct power *power); /* of all calls; base/os/os_net.h */
/* The adapters of this machine as they were at most a second ago; borrowed for the turn. */
int power_adapters(struct power *power, const struct os_adapter **ret, size_t *count,
                   struct err *err);
/* False: there is nobody to ask. */
bool power_ask_relay(struct power *power, const struct power_relay *what, power_done_f done,
                     void *done_arg);

#endif
