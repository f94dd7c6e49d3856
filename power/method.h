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

/* A call: an operation under way.  The texts in node are copies that live as long as the call. */
struct power_call {
    struct power *power;
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct power_method *method;
    enum power_operation operation;
    struct power_node node;
    /* data that the method keeps between calls, made by create of its struct power_method; NULL:
     * none */
    void *state;
    char level[16];
    struct loop_timer *timer; /* calls power_call.tick; set by power_call_later() */
    uint64_t end_ms;          /* deadline, monotonic; the method must end the call by then */
    void (*tick)(struct power_call *call);
    /* process id of the method's program, killed when the call is dropped; 0: none */
    pid_t pid;
    void *own; /* data of the method for this call, freed by own_free when the call ends */
    void (*own_free)(void *own);
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
    void *arg;
};

/* A power method: a way to switch machines on and off. */
struct power_method {
    const char *name;
    /* Checks that the node has all options that the operation needs.  Returns 0; -EINVAL: an option
     * is missing or bad, and err names it. */
    int (*check)(const struct power_node *node, enum power_operation operation, struct err *err);
    /* Begins the operation, which ends by power_call_done() or power_call_status(), now or
     * later. */
    void (*begin)(struct power_call *call);
    /* create makes and destroy frees what the method keeps between calls (a session, a helper
     * process).
     * create is called before the first call of the method, destroy after calls under way were
     * dropped.  Both NULL: the method keeps nothing. */
    void *(*create)(struct loop *loop, struct os *os, struct log *log);
    void (*destroy)(void *state);
    /* Ends what the method does for the call, which is a watch or a cancelled sleep; the call is
     * freed afterwards.  NULL: the method has no watches, and it is enough to kill the call's
     * program (power_call.pid). */
    void (*cancel)(struct power_call *call);
    bool can_watch; /* begin() accepts POWER_DO_WATCH and reports by power_call_news() */
    /* wake orders may be lost, and do no harm to a machine that is on or boots */
    bool may_repeat;
    /* Returns how long a sleep to the state `level` ("S5", ...) may take, milliseconds; NULL: no
     * longer than other operations. */
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

/* power_call_done() and power_call_status() end the call and free it; the callback of the function
 * that started the operation is called later, from the loop.  power_call_done() is for wakes and
 * sleeps, power_call_status() for a question for the state.  The callback gets status or state, and
 * the text. */
void power_call_done(struct power_call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void power_call_status(struct power_call *call, enum power_state state, const char *text);
/* Reports news of a watch; the watch goes on. */
void power_call_news(struct power_call *call, const struct power_news *news);
/* Sets call->tick to tick, which is called after delay_ms unless the call ends before. */
void power_call_later(struct power_call *call, uint64_t delay_ms,
                      void (*tick)(struct power_call *call));

/* Returns the sender of UDP datagrams and Ethernet frames (base/os/os_net.h) that all calls of
 * this process share. */
struct os_caster *power_caster(struct power *power);
/* Sets *ret and *count to the list of network adapters of this machine, which was read at most a
 * second ago.  The list is valid until the caller returns to the loop.  Returns 0 or a negative
 * errno. */
int power_adapters(struct power *power, const struct os_adapter **ret, size_t *count,
                   struct err *err);
/* Asks the function set by power_relay_by() to have another machine send the packet *what; that
 * function later calls done(done_arg, ...).  Returns true; false if no function is set, and done is
 * not called then. */
bool power_ask_relay(struct power *power, const struct power_relay *what, power_done_f done,
                     void *done_arg);

#endif
