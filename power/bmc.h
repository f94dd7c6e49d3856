/* power/bmc.h - runs an operation on a machine by its management controller (BMC), with an external
 * program.
 *
 * The common part of the methods ipmi and redfish.  bmc_plan.h decides what to do; a method has two
 * callbacks, one to ask the controller and one to give an order.  Both work by running a program
 * once or several times.  The program gets a text on its standard input (which may contain a
 * secret), and its output is collected.
 *
 * An operation ends at its deadline at the latest; then its program is killed, and a status is
 * Unknown.
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

#define BMC_OUTPUT_MAX   (1 << 20) /* bytes of a program's output; more is an error */
#define BMC_ERRORS_MAX   4096      /* bytes of a program's error output; the rest is dropped */
#define BMC_PROGRAMS_MAX 32        /* programs of one method at the same time */

struct bmc;
struct os_terminal;

/* The callbacks of a method.  ask and order begin something that ends, now or later, with
 * bmc_told(), bmc_ordered() or bmc_failed(). */
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
    void *own; /* belongs to the method */
    /* The program that is running. */
    struct os_terminal *terminal;
    struct strbuf output;
    char errors[BMC_ERRORS_MAX];
    size_t errors_length;
    void (*ran)(struct bmc *bmc, int status); /* called when the program has ended */
    void (*next)(struct bmc *bmc);            /* called after bmc_later(), or when its turn comes */
    bool has_turn, waits;                     /* waits: for a turn */
    uint64_t waits_since_ms;
};

/* The turns of a method; see struct power_method, create and destroy. */
void *bmc_turns_create(struct loop *loop, struct os *os, struct log *log);
void bmc_turns_destroy(void *turns);
/* Runs a program with that input and ignores its result.  It counts as running, but destroying the
 * turns does not wait for it. */
void bmc_farewell(struct bmc *bmc, const char *const *argv, const char *input);

/* Checks a node's options that both methods have: `bmc` and `bmc_user` must be set, without white
 * space or a leading '-', and bmc_sleep must be valid.  Returns 0, or -EINVAL with err. */
int bmc_check(const struct power_node *node, struct err *err);
/* Returns how long taking the machine down may take, milliseconds. */
uint64_t bmc_sleep_max_ms(const struct power_node *node, const char *level);
/* Begins the operation of the call.  hands->fini frees own. */
void bmc_begin(struct power_call *call, const struct bmc_hands *hands, void *own);

/* The method reports the machine's state, in answer to ask. */
void bmc_told(struct bmc *bmc, enum power_state state);
/* The method reports that the controller accepted the order. */
void bmc_ordered(struct bmc *bmc);
/* The method reports a failure: the operation ends with that status and text. */
void bmc_failed(struct bmc *bmc, int status, const char *text);

/* Runs a program; argv[0] is an absolute path.  input: at most 64 KiB, NULL: none.  env_add: its
 * further environment variables.  ran gets its exit status, or -1 if a signal ended it; its output
 * is in bmc->output and bmc->errors (zero-terminated).  Returns 0, or a negative errno, and err
 * names the program. */
int bmc_run(struct bmc *bmc, const char *const *argv, const char *const *env_add, const char *input,
            void (*ran)(struct bmc *bmc, int status), struct err *err);
/* Gives the turn back and calls next after delay_ms, with a new turn. */
void bmc_later(struct bmc *bmc, uint64_t delay_ms, void (*next)(struct bmc *bmc));
/* Copies the last line of the program's error output (bmc_text_last_line()); "" when there is
 * none. */
void bmc_complaint(const struct bmc *bmc, char *ret, size_t size);

#endif
