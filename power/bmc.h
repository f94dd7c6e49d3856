/* power/bmc.h - an operation on a machine by its management controller, and the program that
 * speaks with it.
 *
 * What the methods ipmi and redfish have in common: bmc_plan.h decides, a method has two hands, one
 * to ask and one to order.  Each works by running a program once or several times: it gets a text
 * on its standard input (where a secret may be), and what it writes is collected.
 *
 * The operation's deadline ends it, its program is killed, and a question is then answered with
 * Unknown.
 *
 * Turns: at most BMC_PROGRAMS_MAX of a method's programs run at once, however many machines are
 * switched: a rack's power cut, or a thousand machines asked for their state, must not fork the
 * rooster's host to death.  An operation has a turn from each question to its answer, and with the
 * order that follows from it; while it waits for a machine to boot or to shut down it has none.  A
 * sleep's turn comes before others', and its deadline stands (what is switched off late could have
 * work again); the deadlines of the others are put off while they wait for a turn.
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

#define BMC_OUTPUT_MAX   (1 << 20) /* bytes of a program's answer; a longer one is an error */
#define BMC_ERRORS_MAX   4096      /* of what it complains; the rest is dropped */
#define BMC_PROGRAMS_MAX 32        /* of one method, at once */

struct bmc;
struct os_terminal;

/* Each begins; it ends by bmc_told(), bmc_ordered() or bmc_failed(), now or later. */
struct bmc_hands {
    void (*ask)(struct bmc *bmc);
    void (*order)(struct bmc *bmc, enum bmc_act what);
    void (*fini)(struct bmc *bmc); /* frees own; NULL: nothing to free */
};

struct bmc {
    struct power_call *call;
    const struct bmc_hands *hands;
    struct bmc_plan plan;
    void *own; /* the method's */
    /* the program that runs */
    struct os_terminal *terminal;
    struct strbuf output;
    char errors[BMC_ERRORS_MAX];
    size_t errors_length;
    void (*ran)(struct bmc *bmc, int status);
    void (*next)(struct bmc *bmc); /* after bmc_later(), or when its turn comes */
    bool has_turn, waits;          /* for a turn */
    uint64_t waits_since_ms;
};

/* What a method keeps: whose turn it is. */
void *bmc_turns_create(struct loop *loop, struct os *os, struct log *log);
void bmc_turns_destroy(void *turns);
/* Runs a program of which nobody wants to hear again, with that input; it counts among those that
 * run, and is not waited for when the turns are destroyed. */
void bmc_farewell(struct bmc *bmc, const char *const *argv, const char *input);

/* What all of them want of a node: `bmc` and `bmc_user`, without white space or a leading '-', and
 * a way of sleep that exists. */
int bmc_check(const struct power_node *node, struct err *err);
/* How long to take it down may take. */
uint64_t bmc_sleep_max_ms(const struct power_node *node, const char *level);
/* Begins the operation of the call; own is freed by hands->fini. */
void bmc_begin(struct power_call *call, const struct bmc_hands *hands, void *own);

void bmc_told(struct bmc *bmc, enum power_state state);
void bmc_ordered(struct bmc *bmc);
/* Nothing came of it: the operation ends. */
void bmc_failed(struct bmc *bmc, int status, const char *text);

/* Runs a program, argv[0] an absolute path, with that input of at most 64 KiB (NULL: none); ran has
 * its exit status, or -1 if a signal ended it; bmc->output and bmc->errors (zero-terminated) are
 * what it wrote.  -ENOENT etc: err names the program.  Its other variables are those in env_add. */
int bmc_run(struct bmc *bmc, const char *const *argv, const char *const *env_add, const char *input,
            void (*ran)(struct bmc *bmc, int status), struct err *err);
void bmc_later(struct bmc *bmc, uint64_t delay_ms, void (*next)(struct bmc *bmc));
/* The last line of what it complained of (bmc_text_last_line()); "" if of nothing. */
void bmc_complaint(const struct bmc *bmc, char *ret, size_t size);

#endif
