/* collector/collector_due.h - a timer wheel of seconds: which entries are to be checked when.
 *
 * A table of a million ads, each renewed every five minutes, must not be scanned each second, and a
 * renewal must cost nothing.  So the wheel is not told of renewals: an entry that comes round is
 * checked, and put in again for the time at which it expires if it is not renewed.  Each slot holds
 * what is due in its second, in this round or a later one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_DUE_H
#define COLLECTOR_COLLECTOR_DUE_H

#include <stdint.h>

#define ADS_DUE_SLOTS 1024 /* slots of the wheel, one for each second of a round */

/* A link that is put on the wheel, a member of the struct that is to be checked.  All zero: not on
 * the wheel. */
struct ads_due_link {
    struct ads_due_link *next;
    struct ads_due_link **link; /* the pointer that points to this link */
    uint64_t at_s;
};

struct ads_due {
    struct ads_due_link *slots[ADS_DUE_SLOTS];
    struct ads_due_link *now; /* list of the links that are due now */
    uint64_t last_s; /* ads_due_next() has returned all links that were due up to this second */
};

/* Puts link on the wheel, to be due at at_s (the loop's clock in seconds).  A link that is on the
 * wheel already is moved. */
void ads_due_set(struct ads_due *due, struct ads_due_link *link, uint64_t at_s);
/* Makes link due at once. */
void ads_due_set_now(struct ads_due *due, struct ads_due_link *link);
/* Takes link off the wheel.  A link that is not on the wheel is allowed. */
void ads_due_remove(struct ads_due_link *link);
/* Takes one link that is due at now_s (the loop's clock in seconds) off the wheel and returns it;
 * NULL when no link is due. */
struct ads_due_link *ads_due_next(struct ads_due *due, uint64_t now_s);
/* To be called when ads_due_next() has returned NULL: returns the next second in which a link on
 * the wheel is due, or until_s if that comes before. */
uint64_t ads_due_first_s(const struct ads_due *due, uint64_t until_s);

#endif
