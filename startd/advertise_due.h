/* startd/advertise_due.h - decides when changed ads go to the collector. advertise.c makes and
 * sends them.
 *
 * Changes of one moment are sent in one UPDATE, at once.  But when jobs only begin and end on
 * claims that continue, changed ads are sent at most every 500 ms: the jobs may be short, and each
 * ad goes to the collector and to everybody who watches it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_ADVERTISE_DUE_H
#define STARTD_ADVERTISE_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct loop_timer;
struct startd;

/* When ads are sent: timers, and times in ms of the loop's clock. */
struct advertise_due {
    struct loop_timer *send_timer;
    struct loop_timer *anew_timer; /* when it fires, the ads of all slots are built again */
    uint64_t send_due_ms;          /* when send_timer fires, ms of the loop's clock */
    uint64_t last_sent_ms; /* when changed ads were last sent, ms of the loop's clock; 0: never */
    /* when all ads were last sent in one UPDATE, ms of the loop's clock; 0: never */
    uint64_t all_sent_ms;
};

/* What was sent to the collector. */
struct advertise_sent {
    /* Both are sent with each UPDATE, so that the collector can recognise an outdated UPDATE:
     * epoch: when the startd started, ms since 1970; sequence: number of the UPDATE, from 1. */
    uint64_t epoch, sequence;
    struct vec gone; /* char *: dynamic slots whose ads the collector must remove */
    bool first_done; /* true: ads were sent on the present connection */
    /* true: the collector was too busy and refused an UPDATE, so all ads must be sent again */
    bool refused;
    bool taken_back; /* the ads were withdrawn because the startd ends: send no more */
};

/* Sends changed ads after delay_ms, instead of at the time that an earlier call has set. */
void advertise_in(struct startd *startd, uint64_t delay_ms);
/* Sends changed ads in the next pass of the event loop, or after 20 ms if no ads were sent on this
 * connection yet. */
void advertise_soon(struct startd *startd);
/* Builds the ads of all slots again and sends them, in a later pass of the event loop. */
void advertise_anew(struct startd *startd);
/* Called when a job began or ended on a claim that continues: sends the changed ads, at most twice
 * a second. */
void advertise_flap(struct startd *startd);

#endif
