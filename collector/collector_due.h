/* collector/collector_due.h - what has to be looked at, by time: a wheel of seconds.
 *
 * A table of a million ads, each renewed every five minutes, must not be gone through each second,
 * and a renewal must cost nothing.  So nobody tells the wheel of renewals: what comes round is
 * looked at, and put in again for the time at which it would be over if nothing came.  Each slot
 * holds what is due in its second, in this round or a later one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_DUE_H
#define COLLECTOR_COLLECTOR_DUE_H

#include <stdint.h>

#define ADS_DUE_SLOTS 1024 /* seconds of one round */

/* In whatever is to be looked at; all zero: it is not on the wheel. */
struct ads_due_link {
    struct ads_due_link *next;
    struct ads_due_link **link; /* what points to it */
    uint64_t at_s;
};

struct ads_due {
    struct ads_due_link *slots[ADS_DUE_SLOTS];
    struct ads_due_link *now; /* to be looked at now */
    uint64_t last_s;          /* the second up to which all was looked at */
};

/* Puts it on the wheel, from where it was. */
void ads_due_set(struct ads_due *due, struct ads_due_link *link, uint64_t at_s);
/* To be looked at next, whatever the time. */
void ads_due_set_now(struct ads_due *due, struct ads_due_link *link);
void ads_due_remove(struct ads_due_link *link); /* it may be on no wheel */
/* Takes the next off the wheel whose time has come, NULL when there is none. */
struct ads_due_link *ads_due_next(struct ads_due *due, uint64_t now_s);

#endif
