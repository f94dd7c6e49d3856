/* rooster/clock.h - the rooster's wall clock, and the time since its stamps.
 *
 * Problem.  The rooster keeps wall times, because its ledger, its ads and its limits per day have
 * dates: since when a machine is off, when a wake or a sleep began.  It also asks how long ago that
 * was, and the wall clock may be set at any time, by years: wakes would be given up, quarantines
 * would end, machines would be taken for ones that sleep again at once.  So each reading of the
 * clock compares it with the loop's clock.  When it was set, all stamps that are kept in memory are
 * moved by as much.  Rows of the ledger stay as they were written; what is read from them after a
 * restart is bounded where it is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_CLOCK_H
#define ROOSTER_CLOCK_H

#include <stdint.h>

struct rooster;

/* Returns the wall time in seconds since 1970.  A stamp that was read before the call may be too
 * old afterwards: see rooster_since_s(). */
int64_t rooster_now_s(struct rooster *rooster);
/* Returns rooster_now_s() minus the stamp, which is read after the stamps were moved. */
int64_t rooster_since_s(struct rooster *rooster, const int64_t *stamp_s);

#endif
