/* startd/hibernate.h - going to sleep.  How far it is: going_down.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_HIBERNATE_H
#define STARTD_HIBERNATE_H

#include <stdbool.h>

struct startd;
struct wire_request;

/* While it goes down: 0, -EPERM somebody ordered it, -EALREADY it is too late; see POWER_RECLAIM.
 */
int hibernate_may_reclaim(const struct startd *startd, bool withdrawn);
void hibernate_reclaim(struct startd *startd);    /* it stays up, and is not drained any more */
void hibernate_look_again(struct startd *startd); /* has the machine slept without us? */
void hibernate_check(struct startd *startd);
void hibernate_leave(
    struct startd *startd); /* -asleep: offline ads, as if it had been up, then the end */
/* It is drained: down, without looking at HIBERNATE; keep_off: until somebody switches it on. */
void hibernate_drained(struct startd *startd, int level, bool keep_off, const char *reason);
void hibernate_power_down(struct startd *startd, struct wire_request *request);
void hibernate_ask(void *startd); /* the collector: is it still to be taken down? */
void hibernate_open(struct startd *startd);
void hibernate_begin(struct startd *startd); /* all is there: it may sleep from now on */
void hibernate_stop(struct startd *startd);  /* it is told to end: nothing more is looked at */
void hibernate_close(struct startd *startd);

#endif
