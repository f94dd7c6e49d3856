/* power/method.h - what a power method is: a struct of operations.
 *
 * To add a method: a file power/method_<name>.c with its operations, its declaration below and its
 * row in power_methods[] (power/power.c); its name and options in NODE of power/knobs.c, their
 * members in struct power_node, and read_section() of rooster/ways.c, which fills these; a line in
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

/* An operation under way.  node's texts are copies that live as long as the call. */
struct power_call {
    struct power *power;
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct power_method *method;
    enum power_operation operation;
    struct power_node node;
    /* What the method keeps between calls, made by power_method.create; NULL: nothing. */
    void *state;
    char level[16];
    struct loop_timer *timer; /* calls tick; set by power_call_later() */
    uint64_t end_ms;          /* the deadline, monotonic; the method itself ends the call then */
    void (*tick)(struct power_call *call);
    /* process id of the method's program, killed when the call is dropped; 0: none */
    pid_t pid;
    void *own; /* belongs to the method; own_free frees it when the call ends */
    void (*own_free)(void *own);
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
    void *arg;
};

/* A power method: how machines of one kind are switched. */
struct power_method {
    const char *name;
    /* Checks that the node has all options that the operation needs.  Returns 0, or -EINVAL, and
     * err names the option. */
    int (*check)(const struct power_node *node, enum power_operation operation, struct err *err);
    /* Begins the operation, which ends by power_call_done() or power_call_status(), now or
     * later. */
    void (*begin)(struct power_call *call);
    /* Make and free what the method keeps between calls (a session, a helper process): made before
     * its first call, destroyed after calls under way are dropped.  Both NULL: nothing. */
    void *(*create)(struct loop *loop, struct os *os, struct log *log);
    void (*destroy)(void *state);
    /* Ends a watch, or a sleep that is taken back, before the call is freed.  NULL: the method has
     * no watches, and killing its program (pid) is enough. */
    void (*cancel)(struct power_call *call);
    bool can_watch; /* begin() accepts POWER_DO_WATCH and reports by power_call_news() */
    /* Returns how long a sleep may take, milliseconds; NULL: as long as any operation. */
    uint64_t (*sleep_max_ms)(const struct power_node *node, const char *level);
};

extern const struct power_method *const power_methods[]; /* the list of methods, NULL-terminated */
extern const struct power_method power_method_process;
extern const struct power_method power_method_host;
extern const struct power_method power_method_command;
extern const struct power_method power_method_wol;
extern const struct power_method power_method_libvirt;
extern const struct power_method power_method_ipmi;
extern const struct power_method power_method_redfish;

/* Each ends the call and frees it; the user's callback is called later, from the loop. */
void power_call_done(struct power_call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void power_call_status(struct power_call *call, enum power_state state, const char *text);
/* Reports news of a watch; the call goes on. */
void power_call_news(struct power_call *call, const struct power_news *news);
/* Calls call->tick after delay_ms. */
void power_call_later(struct power_call *call, uint64_t delay_ms,
                      void (*tick)(struct power_call *call));

/* The sender of packets that all calls share; base/os/os_net.h. */
struct os_caster *power_caster(struct power *power);
/* Gets the network adapters of this machine, at most a second old; borrowed until the callback
 * returns. */
int power_adapters(struct power *power, const struct os_adapter **ret, size_t *count,
                   struct err *err);
/* Asks a relay (see power_relay_by()) to send a packet.  False: there is no relay. */
bool power_ask_relay(struct power *power, const struct power_relay *what, power_done_f done,
                     void *done_arg);

#endif
