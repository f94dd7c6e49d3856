/* startd/sleep/hibernate.h - lets the machine go to sleep. going_down.h defines the stages through
 * which it goes.
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
/* Called when the startd ends: stops the timers, so that sleep is not checked any more. */
void hibernate_stop(struct startd *startd);
void hibernate_close(struct startd *startd);

/* Evaluates HIBERNATE of all slots.  If all agree on sleep and nothing prevents it, asks the
 * rooster and then takes the machine down. */
void hibernate_check(struct startd *startd);
/* Checks whether the machine was suspended by somebody else and is awake again; if so, logs that,
 * renews all claims and sends new ads. */
void hibernate_check_slept(struct startd *startd);
/* For a startd that was started with -asleep: sends the machine's offline ads to the collector, as
 * if the machine had been up and went to sleep now, and ends the startd. */
void hibernate_leave(struct startd *startd);
/* Timer callback: asks the collector whether the machine is still to be taken down. */
void hibernate_ask(void *startd);

/* Called when the machine is drained: asks the rooster, and then takes the machine down without
 * evaluating HIBERNATE. keep_off: to S5, and no job may wake it until somebody switches it on.
 * reason: told to the rooster. */
void hibernate_drained(struct startd *startd, bool keep_off, const char *reason);
/* Handles POWER_DOWN, an administrator's order to switch the machine off, and answers it. */
void hibernate_power_down(struct startd *startd, struct wire_request *request);

/* Decides whether jobs may take back this machine, which is going down. withdrawn: the rooster says
 * that it will not power the machine down, which only matters with POWER_METHOD rooster.  Returns 0
 * if they may; -EPERM if a user ordered this sleep and did not allow jobs to end it; -EALREADY if
 * the power method was already told to begin, or, with POWER_METHOD rooster, if withdrawn is
 * false. */
int hibernate_may_reclaim(const struct startd *startd, bool withdrawn);
/* Gives up going to sleep, because jobs want the machine: tells the rooster, sends live ads again
 * and ends draining. */
void hibernate_reclaim(struct startd *startd);

#endif
