/* startd/sleep/hibernate.h - lets the machine go to sleep. going_down.h says how far that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_HIBERNATE_H
#define STARTD_SLEEP_HIBERNATE_H

#include <stdbool.h>

struct startd;
struct wire_request;

void hibernate_open(struct startd *startd);
/* Called when everything is set up: the machine may sleep from now on. */
void hibernate_begin(struct startd *startd);
/* Called when the startd ends: nothing is checked any more. */
void hibernate_stop(struct startd *startd);
void hibernate_close(struct startd *startd);

/* Checks whether all slots agree that the machine sleeps, and then begins to take it down. */
void hibernate_check(struct startd *startd);
/* Checks whether somebody else has put the machine to sleep and it is awake again. */
void hibernate_check_slept(struct startd *startd);
/* For a startd that was started with -asleep: leaves offline ads, as if the machine had been up,
 * and ends the startd. */
void hibernate_leave(struct startd *startd);
/* Timer callback: asks the collector whether the machine is still to be taken down. */
void hibernate_ask(void *startd);

/* The machine is drained: takes it down to that level, without looking at HIBERNATE. keep_off: no
 * job wakes it, until somebody switches it on. */
void hibernate_drained(struct startd *startd, int level, bool keep_off, const char *reason);
/* Takes and answers POWER_DOWN. */
void hibernate_power_down(struct startd *startd, struct wire_request *request);

/* Returns whether jobs may take back a machine that is going down: 0; -EPERM: somebody ordered it
 * down; -EALREADY: it is too late. withdrawn: the rooster says that it will not give the order.
 * See POWER_RECLAIM. */
int hibernate_may_reclaim(const struct startd *startd, bool withdrawn);
/* Keeps the machine up, and ends draining. */
void hibernate_reclaim(struct startd *startd);

#endif
