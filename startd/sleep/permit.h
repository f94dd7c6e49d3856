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

struct permit_what { /* the question: may the machine go to sleep? */
    int level;
    const char *reason;
    bool ordered; /* somebody ordered it by name */
    bool forced;  /* and the rooster's guards of policy do not count */
    bool dry_run; /* only a question: nothing will follow */
};

/* Receives the answer. status 0: it may; -EBUSY, -EACCES: it may not, and why says why. */
typedef void (*permit_f)(struct startd *startd, int status, const char *why);

struct permit {
    struct permit_what what;
    char reason[300];
    permit_f done;
    uint64_t early_ms;            /* do not ask again before, loop time */
    char why[400];                /* the answer that forbids it */
    bool keep_off;                /* of the present question: the machine is to stay off */
    struct wire_request *request; /* a POWER_DOWN that waits for the answer; NULL: none */
};

/* Asks the rooster. done is called once with the answer, perhaps before this call returns.  Only
 * one question may be under way at a time (going_down_is_asking()). */
void permit_ask(struct startd *startd, const struct permit_what *what, permit_f done);
/* Returns how many ms after a refusal the startd must still wait before it asks again, and in *why
 * the refusal.  0: it may ask now. */
uint64_t permit_early_ms(const struct startd *startd, const char **why);
/* Tells the rooster that the machine had permission to sleep and stays up. */
void permit_withdraw(struct startd *startd);

#endif
