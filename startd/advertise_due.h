/* startd/advertise_due.h - decides when changed ads go to the collector. advertise.c makes and
 * sends them.
 *
 * Changes of one moment go in one UPDATE; the first goes at once.  When a claim's job has ended and
 * its next one has begun, that is sent at most every FLAP_GATHER_MS: with short jobs nobody could
 * follow, and each full ad goes to the collector and to all who watch it.
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

struct advertise_due { /* timers and times */
    struct loop_timer *send_timer;
    struct loop_timer *anew_timer; /* fires when all ads must be made anew */
    uint64_t send_due_ms;          /* when send_timer fires, loop time */
    uint64_t last_sent_ms;         /* when changes were last sent, loop time; 0: never */
    uint64_t all_sent_ms;          /* when all ads were last sent together, loop time; 0: never */
};

/* What the collector was told. */
struct advertise_sent {
    uint64_t epoch, sequence; /* numbers of our updates, by which it recognises old ones */
    struct vec gone;          /* char *: dynamic slots whose ads the collector must remove */
    bool first_done;          /* ads were sent since the connection was made */
    bool refused;             /* it was too busy: everything is sent again */
    bool taken_back;          /* our ads were withdrawn because we end: nothing more is sent */
};

/* Sends changed ads in delay_ms; replaces the time that was set before. */
void advertise_in(struct startd *startd, uint64_t delay_ms);
/* Sends changed ads soon. */
void advertise_soon(struct startd *startd);
/* Makes all ads anew and sends them, in a later turn of the loop. */
void advertise_anew(struct startd *startd);
/* A job began or ended on a claim that continues: sends that, but not too often. */
void advertise_flap(struct startd *startd);

#endif
