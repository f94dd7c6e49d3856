/* schedd/requests/request_ads.c - see request_ads.h.
 *
 * UPDATE and INVALIDATE carry a pair (Epoch, Sequence).  The epoch is the time of our start, or one
 * more than the last epoch if the clock was set back; the sequence counts the messages.  Updates
 * are always Full, because request ads are few and small.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/request_ads.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/claim/claim_prompt.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_state.h"
#include "schedd/spool_room.h"
#include "schedd/requests/submitters.h"
#include "store/store.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"
#include "wire/door.h"
#include "wire/wire.h"

#define ADS_PER_UPDATE 500

struct request_ads {
    struct schedd *schedd;
    struct loop_timer *full;
    int64_t epoch;
    int64_t sequence;
};

/* ---- the ads --------------------------------------------------------------------------------- */

static char *request_name(const struct schedd *schedd, const struct autocluster *autocluster)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s#%" PRId64, schedd->self.name, autocluster->id);
    return strbuf_take(&name);
}

static struct ad *request_ad(const struct schedd *schedd, const struct autocluster *autocluster)
{
    const struct job *best = autocluster_best(autocluster);
    if (best == NULL) { /* is_needed() */
        best = autocluster->waiting.items[0];
    }
    struct ad *view = job_view(schedd, best);
    struct ad *ad = ad_create();
    char *name = request_name(schedd, autocluster);
    size_t at = 0;
    const char *significant = NULL;
    while (strmap_next(autocluster->names, &at, &significant, NULL)) {
        (void)ad_copy_attr(ad, significant, view, significant); /* absent: stays so */
    }
    troubles_narrow(schedd, ad);
    ad_set_string(ad, "MyType", "Request");
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "ScheddName", schedd->self.name);
    ad_set_string(ad, "ScheddUplink", schedd->self.uplink_name);
    ad_set_int(ad, "AutoClusterId", autocluster->id);
    ad_set_string(ad, "Owner", autocluster->owner->name);
    ad_set_string(ad, "User", autocluster->owner->user);
    ad_set_string(ad, "SubmitterName", autocluster->submitter->name);
    ad_set_int(ad, "JobCount", request_news_wanted(schedd, autocluster));
    if (autocluster->waiting.count > 0) {
        ad_set_int(ad, "JobsWaiting", (int64_t)autocluster->waiting.count);
    }
    ad_set_int(ad, "JobPrio", job_int(best, "JobPrio", 0));
    ad_set_int(ad, "QDate", best->cluster->qdate_s);
    mem_free(name);
    ad_destroy(view);
    return ad;
}

/* Returns whether the collector should have the request ad of this autocluster. */
static bool is_needed(const struct schedd *schedd, const struct autocluster *autocluster)
{
    return request_news_wanted(schedd, autocluster) > 0 || autocluster->waiting.count > 0;
}

/* Says what is wrong with the store, and that its disk has no room for new jobs. */
static void put_store(const struct schedd *schedd, struct ad *ad)
{
    const char *problem = store_problem(schedd->store);
    const char *room = spool_room_problem(schedd);
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, problem);
    if (room[0] != '\0' && store_full(schedd->store) == 0) {
        strbuf_printf(&text, "%s%s", problem[0] != '\0' ? "; " : "", room);
    }
    daemon_ad_put_store(ad, strbuf_text(&text), store_damaged_rows(schedd->store));
    strbuf_fini(&text);
}

struct ad *request_ads_scheduler(const struct schedd *schedd)
{
    int64_t users = 0;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        users += ((const struct owner *)value)->jobs > 0 ? 1 : 0;
    }
    struct ad *ad = ad_create();
    daemon_ad_put(ad, schedd->os, "Scheduler", schedd->self.name,
                  loop_wall_of_s(schedd->loop, schedd->started_ms));
    settings_put(ad, schedd->config);
    ad_set_string(ad, "Machine", schedd->self.machine);
    ad_set_string(ad, "MyAddress", schedd->self.address);
    ad_set_string(ad, "ScheddPin", tls_identity_pin(door_identity(schedd->door)));
    ad_set_string(ad, "ScheddUplink", schedd->self.uplink_name);
    ad_set_int(ad, "TotalIdleJobs", schedd->queue.idle);
    ad_set_int(ad, "TotalRunningJobs", schedd->queue.running + schedd->queue.suspended);
    ad_set_int(ad, "TotalHeldJobs", schedd->queue.held);
    ad_set_int(ad, "TotalJobAds", schedd->queue.total);
    ad_set_int(ad, "NumUsers", users);
    claim_prompt_put(schedd, ad);
    put_store(schedd, ad);
    troubles_show(schedd, ad);
    daemon_ad_put_wire(ad, schedd->context);
    return ad;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void update_answered(void *arg, struct wire_reply *reply)
{
    struct schedd *schedd = arg;
    if (reply->status < 0 && reply->text[0] != '\0') {
        log_warn(schedd->log, "requests.refused", reply->text, LOG_INT("status", reply->status));
    } else if (reply->args != NULL && ad_int_or(reply->args, "Rejected", 0) > 0) {
        log_warn(schedd->log, "requests.rejected", ad_string_or(reply->args, "ErrorString", ""));
    }
}

static void send_ads(struct request_ads *self, struct wire *wire, struct vec *ads)
{
    for (size_t at = 0; at < ads->count; at += ADS_PER_UPDATE) {
        size_t count = ads->count - at < ADS_PER_UPDATE ? ads->count - at : ADS_PER_UPDATE;
        struct ad *args = ad_create();
        ad_set_int(args, "Epoch", self->epoch);
        ad_set_int(args, "Sequence", ++self->sequence);
        ad_set_bool(args, "Full", true);
        const struct wire_body body = {
            .args = args,
            .ads = (const struct ad *const *)ads->items + at,
            .ad_count = count,
        };
        (void)wire_call(wire, VERB_UPDATE, &body, 0, update_answered,
                        self->schedd); /* connection lost: everything is sent again */
        ad_destroy(args);
    }
    vec_fini(ads, ad_destroy_item);
}

static void send_gone(struct request_ads *self, struct wire *wire, const char *type,
                      struct vec *names)
{
    if (names->count > 0) {
        struct ad *args = ad_create();
        ad_set_string(args, "Type", type);
        ad_set_strings(args, "Names", (const char *const *)names->items, names->count);
        ad_set_int(args, "Epoch", self->epoch);
        ad_set_int(args, "Sequence", ++self->sequence);
        const struct wire_body body = {.args = args};
        (void)wire_call(wire, VERB_INVALIDATE, &body, 0, update_answered,
                        self->schedd); /* connection lost: ads that we do not send again expire */
        ad_destroy(args);
    }
    vec_fini(names, mem_free);
}

static void publish_ads(struct request_ads *self)
{
    struct schedd *schedd = self->schedd;
    struct wire *wire = schedd->uplink != NULL ? uplink_wire(schedd->uplink) : NULL;
    if (wire == NULL || schedd->stopping) {
        return;
    }
    request_news_send(schedd);
    struct vec ads = {0};
    struct vec gone_requests = {0};
    struct vec gone_submitters = {0};
    struct vec empty = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->groups.by_key, &at, NULL, &value)) {
        struct autocluster *autocluster = value;
        if (!autocluster->dirty) {
            continue;
        }
        autocluster->dirty = false;
        if (is_needed(schedd, autocluster)) {
            autocluster->published = true;
            vec_push(&ads, request_ad(schedd, autocluster));
        } else if (autocluster->published) {
            autocluster->published = false;
            vec_push(&gone_requests, request_name(schedd, autocluster));
        }
        if (autocluster->jobs == 0) {
            vec_push(&empty, autocluster);
        }
    }
    submitters_publish(schedd, &ads, &gone_submitters);
    vec_push(&ads, request_ads_scheduler(schedd));
    send_ads(self, wire, &ads);
    send_gone(self, wire, "Request", &gone_requests);
    send_gone(self, wire, "Submitter", &gone_submitters);
    for (size_t i = 0; i < empty.count; i++) {
        autocluster_sweep(schedd, empty.items[i]);
    }
    vec_fini(&empty, NULL);
    request_news_sent(schedd);
}

/* ---- what an earlier connection left ----------------------------------------------------------
 */

/* Withdraws requests of ours that are still in the collector and are no longer true.  An INVALIDATE
 * may be lost with the connection, and a schedd that was killed has sent none.  Such a request
 * would be matched, and machines would be woken for it, until it expires. */
static void found_requests(void *arg, struct wire_reply *reply)
{
    struct schedd *schedd = arg;
    struct wire *wire = schedd->uplink != NULL ? uplink_wire(schedd->uplink) : NULL;
    if (reply->status != 0 || reply->ad_count == 0 || wire == NULL) {
        return;
    }
    struct strmap *ours = strmap_create(STRMAP_CASE_SENSITIVE);
    struct vec gone = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->groups.by_key, &at, NULL, &value)) {
        const struct autocluster *autocluster = value;
        if (is_needed(schedd, autocluster)) {
            char *name = request_name(schedd, autocluster);
            (void)strmap_set(ours, name, schedd); /* only presence counts */
            mem_free(name);
        }
    }
    for (size_t i = 0; i < reply->ad_count; i++) {
        const char *name = ad_string_or(reply->ads[i], "Name", "");
        if (name[0] != '\0' && strmap_get(ours, name) == NULL) {
            log_info(schedd->log, "requests.stale", "requests withdrawn",
                     LOG_TEXT("request", name));
            vec_push(&gone, mem_strdup(name));
        }
    }
    send_gone(schedd->request_ads, wire, "Request", &gone);
    strmap_destroy(ours, NULL);
}

static void found_submitters(void *arg, struct wire_reply *reply)
{
    struct schedd *schedd = arg;
    struct wire *wire = schedd->uplink != NULL ? uplink_wire(schedd->uplink) : NULL;
    struct vec gone = {0};
    for (size_t i = 0; reply->status == 0 && i < reply->ad_count; i++) {
        const char *name = ad_string_or(reply->ads[i], "Name", "");
        if (name[0] != '\0' && !submitter_is_published(schedd, name)) {
            vec_push(&gone, mem_strdup(name));
        }
    }
    if (wire != NULL) {
        send_gone(schedd->request_ads, wire, "Submitter", &gone);
    } else {
        vec_fini(&gone, mem_free);
    }
}

static void find_stale(struct schedd *schedd, struct wire *wire)
{
    static const char *const NAME[] = {"Name"};
    struct ad *args = ad_create();
    struct ad *mine = ad_create();
    struct strbuf constraint;
    strbuf_init(&constraint, 0);
    strbuf_puts(&constraint, "ScheddName =?= ");
    ad_set_string(mine, "Name", schedd->self.name);
    ad_expr_print(ad_lookup(mine, "Name"), AD_OLD, &constraint);
    ad_set_string(args, "Type", "Request");
    ad_set_string(args, "Constraint", strbuf_text(&constraint));
    ad_set_strings(args, "Projection", NAME, 1);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_QUERY, &body, 0, found_requests, schedd); /* else: they expire */
    ad_set_string(args, "Type", "Submitter");
    (void)wire_call(wire, VERB_QUERY, &body, 0, found_submitters, schedd); /* the same */
    strbuf_fini(&constraint);
    ad_destroy(mine);
    ad_destroy(args);
}

static void gather_fired(void *arg)
{
    publish_ads(arg);
}

static void full_fired(void *arg)
{
    struct request_ads *self = arg;
    request_news_mark_all(self->schedd);
    publish_ads(self);
    loop_timer_set(self->full, self->schedd->settings.publish_full_ms);
}

void request_ads_init(struct schedd *schedd)
{
    struct request_ads *self = mem_zalloc(sizeof(*self));
    self->schedd = schedd;
    request_news_init(schedd, gather_fired, self);
    self->full = loop_timer_create(schedd->loop, full_fired, self);
    self->epoch = loop_wall_ms(schedd->loop);
    if (self->epoch <= schedd->self.life) {
        self->epoch = schedd->self.life + 1;
    }
    schedd->self.life = self->epoch; /* claims_load() writes it, when all is loaded */
    schedd->request_ads = self;
}

void request_ads_fini(struct schedd *schedd)
{
    struct request_ads *self = schedd->request_ads;
    if (self != NULL) {
        request_news_fini(schedd);
        loop_timer_destroy(self->full);
        mem_free(self);
        schedd->request_ads = NULL;
    }
}

void request_ads_up(struct schedd *schedd, struct wire *wire)
{
    request_news_mark_all(schedd);
    publish_ads(schedd->request_ads);
    find_stale(schedd, wire);
    loop_timer_set(schedd->request_ads->full, schedd->settings.publish_full_ms);
}
