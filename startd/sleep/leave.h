/* startd/sleep/leave.h - leaves offline ads of the machine's slots at the collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_LEAVE_H
#define STARTD_SLEEP_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

struct startd;

/* What the offline ads say. */
struct leave_how {
    const char *level;  /* level of the sleep, "S1" to "S5" */
    const char *reason; /* PowerStateReason */
    bool keep_off;      /* no job may wake the machine */
    bool is_order;      /* the ads ask the rooster to power the machine down */
    /* until when jobs may take the machine back, seconds since 1970; 0: they may not */
    int64_t reclaim_until_s;
};

/* Sends one offline ad for each configured slot, to be stored durably; the collector drops those of
 * dynamic slots.  done(startd) gets the collector's answer, after at most 15 s.  Returns 0, or a
 * negative errno if the collector cannot be reached; done is then not called. */
int leave_ads(struct startd *startd, const struct leave_how *how, wire_reply_f done);

/* To be called when the startd ends because its machine goes down, and no job is left.  If the
 * machine can be woken, leaves its offline ads, sends no ad after them, and returns true: then the
 * event loop stops when the collector has answered. */
bool leave_at_shutdown(struct startd *startd);

#endif
