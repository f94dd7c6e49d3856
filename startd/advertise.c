/* startd/advertise.c - sends the machine's ads to the collector.
 *
 * advertise_due.h decides when changes are sent.  When the connection has been made, and every
 * UPDATE_INTERVAL, all slots are sent, whatever was sent of single slots meanwhile: an ad that is
 * not renewed expires.  An UPDATE is answered only if something is wrong with it.  What is lost is
 * lost together with the connection, and then everything is sent again.  Everything is also sent
 * again, somewhat later, if the collector was too busy to take an UPDATE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/advertise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/advertise_due.h"
#include "startd/draining.h"
#include "startd/sleep/going_down.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_facts.h"
#include "startd/slot/slots.h"
#include "startd/startd_state.h"
#include "wire/secret_list.h"
#include "wire/wire.h"

#define REFUSED_MS 3000 /* after -EBUSY everything is sent anew, more or less */

/* The collector had too much from us waiting.  It does not tell which UPDATE it dropped: perhaps
 * the one that cancels our offline ads. */
static void repeat_all(struct startd *startd)
{
    if (!going_down_is_silent(
            startd)) { /* else it is silent until that is over, and sends all then */
        startd->sent.first_done = false;
        startd->sent.refused = true;
        advertise_in(startd, rng_jitter(loop_rng(startd->env.loop), REFUSED_MS, 50));
    }
}

void advertise_complaint(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (reply->status == 0) {
        log_warn(startd->env.log, "update.rejected",
                 reply->args != NULL ? ad_string_or(reply->args, "ErrorString", "") : "");
        return;
    }
    log_warn(startd->env.log, "update.refused", reply->text, LOG_INT("status", reply->status));
    if (reply->status == -ESTALE && !going_down_is_silent(startd)) {
        startd->sent.first_done =
            false; /* offline ads of this very boot are there: take them back */
        advertise_soon(startd);
    } else if (reply->status == -EBUSY) {
        repeat_all(startd);
    }
}

/* ---- pieces that are gone */

static void gone_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (reply->status != 0 && reply->status != -ECONNRESET) {
        log_warn(startd->env.log, "invalidate.refused", reply->text,
                 LOG_INT("status", reply->status));
    }
    if (reply->status == -EBUSY) {
        repeat_all(startd); /* find_stale() names them again */
    }
}

static void send_names(struct startd *startd, struct wire *wire, struct vec *names)
{
    if (names->count == 0) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Machine");
    ad_set_strings(args, "Names", (const char *const *)names->items, names->count);
    ad_set_int(args, "Epoch", (int64_t)startd->sent.epoch);
    ad_set_int(args, "Sequence", (int64_t)++startd->sent.sequence);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_INVALIDATE, &body, 0, gone_answered,
                    startd); /* a cut: find_stale() */
    ad_destroy(args);
    vec_clear(names, mem_free);
}

void advertise_gone(struct startd *startd)
{
    struct wire *wire = uplink_wire(startd->collector);
    if (wire != NULL) {
        send_names(startd, wire, &startd->sent.gone);
    }
}

static void stale_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    struct wire *wire = uplink_wire(startd->collector);
    for (size_t i = 0; i < reply->ad_count && wire != NULL; i++) {
        const char *name = ad_string_or(reply->ads[i], "Name", "");
        if (name[0] != '\0' && slot_by_name(startd, name) == NULL) {
            vec_push(&startd->sent.gone, mem_strdup(name));
        }
    }
    advertise_gone(startd);
}

/* Finds dynamic slots whose removal the collector was not told: we were away, or the connection was
 * lost. */
static void find_stale(struct startd *startd, struct wire *wire)
{
    static const char *const NAME[] = {"Name"};
    struct ad *args = ad_create(), *mine = ad_create();
    struct strbuf constraint;
    strbuf_init(&constraint, 0);
    strbuf_puts(&constraint, "DynamicSlot =?= true && Machine =?= ");
    ad_set_string(mine, "Machine", startd->name);
    ad_expr_print(ad_lookup(mine, "Machine"), AD_OLD, &constraint);
    ad_set_string(args, "Type", "Machine");
    ad_set_string(args, "Constraint", strbuf_text(&constraint));
    ad_set_strings(args, "Projection", NAME, 1);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_QUERY, &body, 0, stale_answered, startd); /* else: they expire */
    strbuf_fini(&constraint);
    ad_destroy(mine);
    ad_destroy(args);
}

/* Returns how many ms are left until UPDATE_INTERVAL is over. */
static uint64_t all_due_in(const struct startd *startd)
{
    uint64_t interval_ms =
        (uint64_t)config_duration_s(startd->env.config, "UPDATE_INTERVAL") * 1000;
    uint64_t due_ms = startd->due.all_sent_ms + interval_ms, now_ms = loop_now_ms(startd->env.loop);
    return due_ms > now_ms ? due_ms - now_ms : 0;
}

/* Returns whether changes may be sent now.  If not connected, everything is sent when we are; with
 * offline ads at the collector we send nothing. */
static bool may_send(const struct startd *startd)
{
    return uplink_wire(startd->collector) != NULL && !going_down_is_silent(startd) &&
           !startd->sent.taken_back;
}

static void send_changes(void *arg)
{
    struct startd *startd = arg;
    struct wire *wire = uplink_wire(startd->collector);
    if (!may_send(startd)) {
        return;
    }
    advertise_gone(startd); /* first: a new piece may have the name of one that is gone */
    if (startd->sent.refused) {
        startd->sent.refused = false;
        find_stale(startd, wire);
    }
    const struct ad **ads = mem_alloc(startd->slot_count * sizeof *ads);
    struct secret_batch secrets = {0};
    size_t count = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        if (startd->slots[i]->stale) {
            slot_build(startd->slots[i]);
        }
    }
    draining_publish(startd, false); /* after: an ad that is built knows nothing of it */
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        if (slot->changed || !startd->sent.first_done) {
            secret_batch_add(&secrets, slot->offered, (uint32_t)count);
            ads[count++] = slot->ad;
            slot->changed = false;
        }
    }
    if (count > 0) {
        struct ad *args = ad_create();
        ad_set_bool(args, "Full", true);
        ad_set_int(args, "Epoch", (int64_t)startd->sent.epoch);
        ad_set_int(args, "Sequence", (int64_t)++startd->sent.sequence);
        if (!startd->sent.first_done) {
            ad_set_bool(args, "CancelOffline", true);
        }
        const struct wire_body body = {.args = args,
                                       .ads = ads,
                                       .ad_count = count,
                                       .secrets = secrets.items,
                                       .secret_count = secrets.count};
        if (wire_tell(wire, VERB_UPDATE, &body) > 0) {
            startd->sent.first_done = true;
        }
        startd->due.last_sent_ms = loop_now_ms(startd->env.loop);
        ad_destroy(args);
    }
    mem_free(ads);
    secret_batch_fini(&secrets);
    if (count == startd->slot_count) {
        startd->due.all_sent_ms = loop_now_ms(startd->env.loop);
    }
    advertise_in(startd, all_due_in(startd));
}

static void send_timer(void *arg)
{
    struct startd *startd = arg;
    if (may_send(startd) && all_due_in(startd) == 0) { /* else it would come back to it at once */
        slots_refresh(startd);
    }
    send_changes(startd);
}

static void refresh_all(void *arg)
{
    slots_refresh(arg);
}

void advertise_all(struct startd *startd, struct wire *wire)
{
    slots_refresh(startd);
    find_stale(startd, wire);
    advertise_in(startd, 0);
}

void advertise_open(struct startd *startd)
{
    startd->due.send_timer = loop_timer_create(startd->env.loop, send_timer, startd);
    startd->due.anew_timer = loop_timer_create(startd->env.loop, refresh_all, startd);
}

void advertise_close(struct startd *startd)
{
    loop_timer_destroy(startd->due.send_timer);
    loop_timer_destroy(startd->due.anew_timer);
    startd->due.send_timer = startd->due.anew_timer = NULL;
}
