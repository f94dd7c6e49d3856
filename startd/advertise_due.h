/* startd/advertise_due.h - when the ads that changed go to the collector; what they are then is
 * advertise.c's.
 *
 * Changes of one moment go in one UPDATE; the first goes at once.  That a claim's job ended and its
 * next began is told at most each FLAP_GATHER_MS: with short jobs nobody could follow, and each
 * full ad goes to the collector and all who watch it.
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

struct advertise_due {
    struct loop_timer *send_timer;
    struct loop_timer *anew_timer; /* all ads are to be made anew */
    uint64_t send_due_ms;          /* when send_timer fires */
    uint64_t last_sent_ms;         /* changes, on loop_now_ms(); 0: never */
    uint64_t all_sent_ms;          /* all ads at once, likewise */
};

/* What the collector was told. */
struct advertise_sent {
    uint64_t epoch, sequence; /* of our updates */
    struct vec gone;          /* names of pieces that are to be taken from it */
    bool first_done;          /* since the uplink came up */
    bool refused;             /* it had too much to do: all is sent anew */
    bool taken_back;          /* our ads, of a glidein that ends: nothing more is sent */
};

void advertise_in(struct startd *startd, uint64_t delay_ms);
void advertise_soon(struct startd *startd);
/* All ads are made anew and sent, in a turn of the loop. */
void advertise_anew(struct startd *startd);
void advertise_flap(struct startd *startd); /* a job began or ended on a claim that goes on */

#endif
