/* startd/sleep/permit.h - asks the rooster for permission before this machine goes to sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_PERMIT_H
#define STARTD_SLEEP_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

struct startd;
struct wire_request;

/* The question to the rooster whether this machine may go to sleep. */
struct permit_what {
    int level;
    const char *reason;
    bool ordered; /* an administrator ordered the sleep of this machine */
    /* the order has --force: the rooster refuses only if it does not know the machine's state, or
     * if ROOSTER_DRY_RUN is true */
    bool forced;
    bool dry_run; /* only the answer is wanted: the machine will not go to sleep */
};

/* Receives the result of the question that permit_ask() has sent. status 0: the machine may go to
 * sleep; -EBUSY: the rooster refused or did not answer; -EACCES: the rooster answered with an
 * error. why: the reason if status is not 0. */
typedef void (*permit_f)(struct startd *startd, int status, const char *why);

struct permit {
    struct permit_what what;
    char reason[300];
    permit_f done;
    /* the rooster is not asked before this time, ms of the loop's clock */
    uint64_t early_ms;
    /* why the machine last got no permission: the rooster's refusal, or "no rooster answered" */
    char why[400];
    /* the present order is that the machine stays off until somebody switches it on */
    bool keep_off;
    struct wire_request *request; /* a POWER_DOWN that waits for the rooster's answer; NULL: none */
};

/* Asks the rooster whether the machine may go to sleep. done is called once with the answer,
 * perhaps before this call returns.  Must not be called while a question is unanswered
 * (going_down_is_asking()). */
void permit_ask(struct startd *startd, const struct permit_what *what, permit_f done);
/* Returns how many ms the startd must still wait, after a refusal, before it asks the rooster
 * again; 0: it may ask now.  Sets *why to the refusal, borrowed. */
uint64_t permit_early_ms(const struct startd *startd, const char **why);
/* Tells the rooster that the machine, which had permission to sleep, stays up. */
void permit_withdraw(struct startd *startd);

#endif
