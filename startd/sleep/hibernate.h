/* startd/sleep/hibernate.h - going to sleep.  How far it is: going_down.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_HIBERNATE_H
#define STARTD_SLEEP_HIBERNATE_H

#include <stdbool.h>

struct startd;
struct wire_request;

void hibernate_open(struct startd *startd);
void hibernate_begin(struct startd *startd); /* all is there: the machine may sleep from now on */
void hibernate_stop(struct startd *startd);  /* the startd ends: nothing more is looked at */
void hibernate_close(struct startd *startd);

/* Do all slots agree that the machine sleeps?  Then the way down begins. */
void hibernate_check(struct startd *startd);
/* Has somebody else put the machine to sleep, and it is awake again? */
void hibernate_check_slept(struct startd *startd);
/* Of a startd that was started with -asleep: leaves offline ads, as if the machine had been up, and
 * ends the startd. */
void hibernate_leave(struct startd *startd);
/* Asks the collector whether the machine is still to be taken down. */
void hibernate_ask(void *startd);

/* The machine is drained: takes it down, without looking at HIBERNATE.  keep_off: no job wakes it,
 * until somebody switches it on. */
void hibernate_drained(struct startd *startd, int level, bool keep_off, const char *reason);
void hibernate_power_down(struct startd *startd, struct wire_request *request); /* POWER_DOWN */

/* May jobs take back a machine that is going down?  0; -EPERM: somebody ordered it; -EALREADY: it
 * is too late.  See POWER_RECLAIM. */
int hibernate_may_reclaim(const struct startd *startd, bool withdrawn);
/* The machine stays up, and is not drained any more. */
void hibernate_reclaim(struct startd *startd);

#endif
