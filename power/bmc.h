/* power/bmc.h - runs an operation on a machine by its management controller (BMC), with an external
 * program.
 *
 * This is the common part of the methods ipmi and redfish.  An operation is to wake the machine, to
 * take it down, or to find its state.  bmc_plan.h decides what to do.  A method has two callbacks,
 * one to ask the controller for the machine's state and one to give it an order.  Both work by
 * running a program once or several times.  The program gets a text on its standard input (which
 * may contain a secret), and its output is collected.
 *
 * An operation ends at its deadline at the latest.  Its program is then killed, and if the
 * operation was to find the state, the state is Unknown.
 *
 * Turns: at most BMC_PROGRAMS_MAX programs of a method run at once, however many machines are
 * switched.  After a rack's power cut, or when a thousand machines are asked for their state, the
 * rooster's host must not be overloaded with processes.  An operation has a turn from each question
 * to its answer and to the order that follows from it.  While it waits for a machine to boot or to
 * shut down, it has none.  Sleeps get their turn before other operations, and their deadline is
 * fixed, because a machine that is switched off late could have work again.  For other operations
 * the time spent waiting for a turn does not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_H
#define POWER_BMC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "power/bmc_plan.h"
#include "power/method.h"

#define BMC_OUTPUT_MAX   (1 << 20) /* limit of a program's output, bytes; more is an error */
#define BMC_ERRORS_MAX   4096      /* bytes kept of a program's error output; the rest is dropped */
#define BMC_PROGRAMS_MAX 32        /* most programs of one method that run at the same time */

struct bmc;
struct os_terminal;

/* The callbacks of a method.  ask begins to ask the controller for the machine's state; the answer
 * is reported by bmc_told(), now or later.  order begins to give an order, whose success is
 * reported by bmc_ordered().  Either may end with bmc_failed() instead. */
struct bmc_hands {
    void (*ask)(struct bmc *bmc);
    void (*order)(struct bmc *bmc, enum bmc_act what);
    void (*fini)(struct bmc *bmc); /* frees bmc->own; NULL: nothing to free */
};

/* An operation under way. */
struct bmc {
    struct power_call *call;
    const struct bmc_hands *hands;
    struct bmc_plan plan;
    void *own; /* data of the method ipmi or redfish, freed by hands->fini */
    /* terminal: the program that is running; output, errors, errors_length: what it has written to
     * its standard output and its error output */
    struct os_terminal *terminal;
    struct strbuf output;
    char errors[BMC_ERRORS_MAX];
    size_t errors_length;
    void (*ran)(struct bmc *bmc, int status); /* called when the program has ended */
    /* called when the operation gets its turn; after bmc_later(), not before delay_ms are over */
    void (*next)(struct bmc *bmc);
    /* has_turn: the operation has its turn, so it may run programs now; waits: it waits for its
     * turn */
    bool has_turn, waits;
    uint64_t waits_since_ms;
};

/* bmc_turns_create() makes the state by which operations of a method get their turns to run
 * programs; bmc_turns_destroy() frees it.  They are the members create and destroy of the method's
 * struct power_method. */
void *bmc_turns_create(struct loop *loop, struct os *os, struct log *log);
void bmc_turns_destroy(void *turns);
/* Runs the program argv with `input` as its standard input and ignores its result.  The program
 * counts toward BMC_PROGRAMS_MAX, but bmc_turns_destroy() does not wait for its end. */
void bmc_farewell(struct bmc *bmc, const char *const *argv, const char *input);

/* Checks the options of a node that ipmi and redfish have in common: `bmc` and `bmc_user` must be
 * set, without white space or a leading '-', and bmc_sleep must be valid.  Returns 0, or -EINVAL
 * with err. */
int bmc_check(const struct power_node *node, struct err *err);
/* Returns how long it may take to power the machine down, milliseconds. level is ignored. */
uint64_t bmc_sleep_max_ms(const struct power_node *node, const char *level);
/* Begins the operation of the call.  own becomes bmc->own, which hands->fini frees. */
void bmc_begin(struct power_call *call, const struct bmc_hands *hands, void *own);

/* Called by the method: reports the machine's state, which `ask` of struct bmc_hands asked for. */
void bmc_told(struct bmc *bmc, enum power_state state);
/* Called by the method: reports that the controller accepted the order. */
void bmc_ordered(struct bmc *bmc);
/* Called by the method: reports a failure.  The operation ends with `status`, a negative errno, and
 * `text`; if it was to find the state, the state is Unknown. */
void bmc_failed(struct bmc *bmc, int status, const char *text);

/* Runs a program; argv[0] is an absolute path.  input: its standard input, at most 64 KiB; NULL:
 * none.  env_add: environment variables that are added for it.  ran gets the program's exit status,
 * or -1 if a signal ended it; its output is then in bmc->output and bmc->errors (zero-terminated).
 * Returns 0, or a negative errno, and err names the program. */
int bmc_run(struct bmc *bmc, const char *const *argv, const char *const *env_add, const char *input,
            void (*ran)(struct bmc *bmc, int status), struct err *err);
/* Ends the operation's turn, and returns at once.  After delay_ms the operation waits for a new
 * turn to run programs, and next is called when it has the turn. */
void bmc_later(struct bmc *bmc, uint64_t delay_ms, void (*next)(struct bmc *bmc));
/* Copies the last line of the program's error output that is not blank to ret; "" if there is no
 * such line. */
void bmc_complaint(const struct bmc *bmc, char *ret, size_t size);

#endif
