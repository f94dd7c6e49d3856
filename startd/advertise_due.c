/* startd/advertise_due.c - see advertise_due.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/advertise_due.h"

#include "base/loop.h"
#include "startd/startd_state.h"

#define GATHER_MS      20
#define FLAP_GATHER_MS 500

void advertise_in(struct startd *startd, uint64_t delay_ms)
{
    startd->due.send_due_ms = loop_now_ms(startd->env.loop) + delay_ms;
    loop_timer_set(startd->due.send_timer, delay_ms);
}

void advertise_soon(struct startd *startd)
{
    if (startd->due.send_timer != NULL) {
        advertise_in(startd, startd->sent.first_done ? 0 : GATHER_MS);
    }
}

void advertise_flap(struct startd *startd)
{
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    uint64_t due_ms = startd->due.last_sent_ms + FLAP_GATHER_MS;
    if (!startd->sent.first_done || startd->due.last_sent_ms == 0 || due_ms <= now_ms) {
        advertise_soon(startd);
    } else if (startd->due.send_timer != NULL &&
               (!loop_timer_is_set(startd->due.send_timer) || due_ms < startd->due.send_due_ms)) {
        advertise_in(startd, due_ms - now_ms);
    }
}

void advertise_anew(struct startd *startd)
{
    if (startd->due.anew_timer != NULL) {
        loop_timer_set(startd->due.anew_timer, 0);
    }
}
