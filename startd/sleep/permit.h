/* startd/sleep/permit.h - the rooster is asked before this machine goes to sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_PERMIT_H
#define STARTD_SLEEP_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

struct startd;
struct wire_request;

struct permit_what { /* that is asked: may the machine go to sleep? */
    int level;
    const char *reason;
    bool ordered; /* by somebody, by name */
    bool forced;  /* ... whom no guard of policy holds back */
    bool dry_run; /* nothing comes of it */
};

/* status 0: it may; -EBUSY, -EACCES: why not. */
typedef void (*permit_f)(struct startd *startd, int status, const char *why);

struct permit {
    struct permit_what what;
    char reason[300];
    permit_f done;
    uint64_t early_ms;            /* not asked again before, loop_now_ms() */
    char why[400];                /* ... since that was the answer */
    bool keep_off;                /* of what is asked for now */
    struct wire_request *request; /* POWER_DOWN that waits for the answer; NULL: none */
};

/* Asks the rooster.  done is called once, perhaps inside this call.  Only one question may be under
 * way (going_down_is_asking()). */
void permit_ask(struct startd *startd, const struct permit_what *what, permit_f done);
/* After a refusal: in how many milliseconds may the startd ask again, and why not earlier?  0: now.
 */
uint64_t permit_early_ms(const struct startd *startd, const char **why);
/* Tells the rooster that the machine was permitted to sleep and stays up. */
void permit_withdraw(struct startd *startd);

#endif
