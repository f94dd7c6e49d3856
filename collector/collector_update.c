/* collector/collector_update.c - ads that come, change and go: UPDATE, MERGE, INVALIDATE, expiry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

/* Of one ad in binary form: 64 of them fit into one message of a query's answer. */
#define AD_BYTES_MAX ((size_t)200 << 10)

/* One UPDATE while it is judged and until it is answered. */
struct update {
    struct collector *collector;
    struct wire_request *request;
    const struct ad *args; /* valid until the request is answered */
    struct plan_sender sender;
    struct plan_stamp stamp;
    bool full;
    bool cancel_offline;
    struct ad **ads; /* as they will be in the table; NULL where left out */
    size_t count;
    size_t rejected;
    size_t old;
    struct err first; /* why the first was rejected */
};

static void update_destroy(void *arg)
{
    struct update *update = arg;
    for (size_t i = 0; i < update->count; i++) {
        ad_destroy(update->ads[i]);
    }
    mem_free(update->ads);
    mem_free(update);
}

/* The collector ends before the commit: the request is given back.  Its connection is cut next, so
 * that the peer hears nothing but that. */
static void drop_request(struct wire_request *request)
{
    wire_reply_error(request, -ECONNRESET, "the collector ends");
}

static void update_drop(void *arg)
{
    struct update *update = arg;
    drop_request(update->request);
    update_destroy(update);
}

static struct plan_stamp stamp_of(const struct session *session, const struct ad *args)
{
    return (struct plan_stamp){.epoch = ad_int_or(args, "Epoch", 0),
                               .sequence = ad_int_or(args, "Sequence", 0),
                               .session = session->number};
}

static void update_answer(void *arg)
{
    struct update *update = arg;
    struct ad *args = ad_create();
    ad_set_int(args, "Rejected", (int64_t)update->rejected);
    if (update->rejected > 0) {
        ad_set_string(args, "ErrorString", update->first.text);
    }
    struct wire_body body = {.args = args};
    wire_reply_ok(update->request, &body);
    ad_destroy(args);
    update_destroy(update);
}

static void update_refuse(struct update *update, int code, const struct err *err)
{
    update->collector->counts.stale += code == -ESTALE;
    wire_reply_error(update->request, code, "%s", err->text);
    update_destroy(update);
}

/* May this sender have an ad of that type and name? */
static int admit(const struct update *update, const struct ad *ad, const char **type,
                 const char **name, struct err *err)
{
    int code = plan_identify(ad, type, name, err);
    if (code) {
        return code;
    }
    const struct wire_peer *peer = wire_request_peer(update->request);
    if (!plan_may_advertise(&update->sender, *type)) {
        return err_set(err, -EACCES, "%s may not have ads of type %s", peer->identity, *type);
    }
    if (!wire_peer_may_advertise(peer, *name)) {
        return err_set(err, -EACCES, "%s may not advertise the name '%s'", peer->identity, *name);
    }
    return 0;
}

/* The Machine must be allowed, too: what an ad says of its Machine ends other ads of it. */
static int admit_machine(const struct update *update, const struct ad *ad, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    const char *machine = ad_string_or(ad, "Machine", "");
    if (*machine && !wire_peer_may_advertise(peer, machine)) {
        return err_set(err, -EACCES, "%s may not advertise the machine '%s'", peer->identity,
                       machine);
    }
    return 0;
}

static int check_size(const struct ad *ad, struct err *err)
{
    struct strbuf bytes;
    strbuf_init(&bytes, AD_BYTES_MAX);
    ad_encode(ad, true, &bytes);
    bool fits = !bytes.failed;
    strbuf_fini(&bytes);
    return fits ? 0
                : err_set(err, -E2BIG, "the ad '%s' has more than %zu KiB",
                          ad_string_or(ad, "Name", "?"), AD_BYTES_MAX >> 10);
}

static void reject(struct update *update, const struct err *err)
{
    if (update->rejected++ == 0) {
        update->first = *err;
        log_warn(update->collector->env.log, "update.rejected", "an ad is left out",
                 LOG_TEXT("peer", wire_request_peer(update->request)->address),
                 LOG_TEXT("why", err->text));
    }
    update->collector->counts.rejected++;
}

/* What the collector knows better than the sender. */
static void finish_ad(const struct update *update, struct ad *ad)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    ad_set_int(ad, "LastHeardFrom", loop_wall_s(update->collector->env.loop));
    bool is_machine = text_equal_nocase(ad_string_or(ad, "MyType", ""), "Machine");
    if (is_machine && !peer->has_uid && !offline_ads_is(ad)) {
        ad_set_string(ad, "MyAddress", peer->address);
    }
}

/* A live ad of a machine whose offline ad of that name was made by the same boot: a straggler. */
static bool is_straggler(const struct update *update, const struct ads_entry *entry,
                         const struct ad *ad)
{
    return !update->cancel_offline && entry && entry->latest_offline &&
           offline_ads_meet(entry->latest, ad) == OFFLINE_ADS_SAME_BOOT;
}

/* Fills ads[index].  Returns 0 also when the ad is left out; -ESTALE when the whole message is to
 * be refused. */
static int judge(struct update *update, size_t index, struct err *err)
{
    struct err why;
    const char *type;
    const char *name;
    const struct ad *sent = wire_request_ad(update->request, index);
    if (admit(update, sent, &type, &name, &why) != 0) {
        reject(update, &why);
        return 0;
    }
    const struct ads_entry *entry = collector_ads_find(update->collector->ads, type, name);
    const struct ad *latest = entry ? entry->latest : NULL;
    if (latest && plan_is_old(&entry->stamp, &update->stamp)) {
        update->old++;
        return 0;
    }
    struct ad *ad;
    if (update->full) {
        ad = wire_request_take_ad(update->request, index);
    } else if (!latest) {
        return err_set(err, -ESTALE, "there is no ad '%s' to be changed: send it in full", name);
    } else {
        ad = plan_change(latest, sent, update->args);
    }
    if (admit_machine(update, ad, &why) != 0 || check_size(ad, &why) != 0) {
        ad_destroy(ad);
        reject(update, &why);
        return 0;
    }
    update->ads[index] = ad;
    if (is_straggler(update, entry, ad)) {
        return err_set(err, -ESTALE,
                       "%s left offline ads in this boot: send CancelOffline if it is awake",
                       ad_string_or(ad, "Machine", name));
    }
    finish_ad(update, ad);
    return 0;
}

/* The offline ads of a machine end when a live ad of a later boot comes, or of the same boot with
 * CancelOffline.  The one of the live ad's own name is about to be replaced. */
static void end_offline_ads(struct update *update, struct batch *batch, const struct ad *live,
                            const char *name)
{
    struct collector *collector = update->collector;
    const char *machine = ad_string_or(live, "Machine", "");
    size_t count;
    struct ads_entry *const *entries = collector_ads_of_machine(collector->ads, machine, &count);
    for (size_t i = 0; i < count; i++) {
        if (!entries[i]->latest_offline) {
            continue;
        }
        enum offline_ads_meeting meeting = offline_ads_meet(entries[i]->latest, live);
        if (meeting == OFFLINE_ADS_REPLACED ||
            (meeting == OFFLINE_ADS_SAME_BOOT && update->cancel_offline)) {
            collector->counts.replaced++;
            if (strcmp(entries[i]->name, name) != 0) {
                batch_remove(batch, entries[i]);
            }
        }
    }
}

static void apply(struct update *update)
{
    struct batch *batch = batch_begin(update->collector);
    for (size_t i = 0; i < update->count; i++) {
        struct ad *ad = update->ads[i];
        struct err why;
        const char *type;
        const char *name;
        if (!ad || plan_identify(ad, &type, &name, &why) != 0) {
            continue;
        }
        /* Names are borrowed from the ad, which batch_set() takes. */
        char *type_copy = mem_strdup(type);
        char *name_copy = mem_strdup(name);
        update->ads[i] = NULL;
        if (text_equal_nocase(type, "Machine") && !offline_ads_is(ad)) {
            end_offline_ads(update, batch, ad, name);
        }
        if (batch_set(batch, type_copy, name_copy, ad, &update->stamp, &why) != 0) {
            reject(update, &why);
        }
        mem_free(type_copy);
        mem_free(name_copy);
    }
    update->collector->counts.updates++;
    batch_end(batch, update_answer, update_drop, update);
}

void collector_update(struct session *session, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct update *update = mem_zalloc(sizeof(*update));
    update->collector = session->collector;
    update->request = request;
    update->args = args;
    update->sender = collector_sender(wire_request_peer(request));
    update->stamp = stamp_of(session, args);
    update->full = ad_bool_or(args, "Full", true);
    update->cancel_offline = ad_bool_or(args, "CancelOffline", false);
    update->count = wire_request_ad_count(request);
    update->ads = mem_zalloc((update->count + 1) * sizeof(struct ad *));
    struct err err = {""};
    int code = 0;
    if (!update->full && !plan_is_successor(&session->last, &update->stamp)) {
        code = err_set(&err, -ESTALE, "changes that do not follow what is here: send all in full");
    }
    for (size_t i = 0; i < update->count && !code; i++) {
        code = judge(update, i, &err);
    }
    if (!code && update->old > 0 && update->old == update->count) {
        code = err_set(&err, -ESTALE, "there is something newer here");
    }
    if (code) {
        update_refuse(update, code, &err);
        return;
    }
    session->last = update->stamp;
    apply(update);
}

/* ---- MERGE ----------------------------------------------------------------------------------- */

struct answer {
    struct wire_request *request;
    int64_t count; /* -1: not told */
};

static void answer_ok(void *arg)
{
    struct answer *answer = arg;
    struct ad *args = ad_create();
    if (answer->count >= 0) {
        ad_set_int(args, "Count", answer->count);
    }
    struct wire_body body = {.args = args};
    wire_reply_ok(answer->request, &body);
    ad_destroy(args);
    mem_free(answer);
}

static void answer_drop(void *arg)
{
    struct answer *answer = arg;
    drop_request(answer->request);
    mem_free(answer);
}

static struct answer *answer_create(struct wire_request *request, int64_t count)
{
    struct answer *answer = mem_zalloc(sizeof(*answer));
    *answer = (struct answer){request, count};
    return answer;
}

/* 0, or -EACCES naming the first attribute that this sender may not touch. */
static int merge_judge(const struct plan_sender *sender, const struct ad *changes,
                       const struct ad *args, struct err *err)
{
    size_t at = 0;
    const char *name;
    while (ad_next(changes, &at, &name, NULL)) {
        if (!plan_may_merge(sender, name)) {
            return err_set(err, -EACCES, "%s may not be set by you in the ad of another", name);
        }
    }
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Delete", NULL, &names); /* absent: nothing */
    int code = 0;
    size_t count = ad_value_count(&names);
    for (size_t i = 0; i < count && !code; i++) {
        struct ad_value value;
        ad_value_item(&names, i, &value);
        if (value.type != AD_TYPE_STRING || !plan_may_merge(sender, value.string.text)) {
            code = err_set(err, -EACCES, "%s may not be removed by you from the ad of another",
                           value.type == AD_TYPE_STRING ? value.string.text : "what is no name");
        }
        ad_value_fini(&value);
    }
    ad_value_fini(&names);
    return code;
}

void collector_merge(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "Machine");
    const char *name = ad_string_or(args, "Name", "");
    struct plan_sender sender = collector_sender(wire_request_peer(request));
    struct err err = {""};
    if (wire_request_ad_count(request) != 1) {
        wire_reply_error(request, -EINVAL, "MERGE wants one ad with the attributes to be set");
        return;
    }
    const struct ad *changes = wire_request_ad(request, 0);
    if (!text_equal_nocase(type, "Machine")) {
        wire_reply_error(request, -EACCES, "only ads of type Machine are merged, not %s", type);
        return;
    }
    if (merge_judge(&sender, changes, args, &err) != 0) {
        wire_reply_error(request, -EACCES, "%s", err.text);
        return;
    }
    struct ads_entry *entry = collector_ads_find(collector->ads, type, name);
    if (!entry || !entry->latest) {
        wire_reply_error(request, -ENOENT, "there is no %s ad '%s'", type, name);
        return;
    }
    if (!entry->latest_offline && ad_has(changes, "OfflineMatches")) {
        wire_reply_error(request, -ENOENT, "'%s' is awake: there is no offline ad to hold", name);
        return;
    }
    struct plan_stamp stamp = entry->stamp; /* stays the owner's */
    uint64_t heard_ms = entry->heard_ms;
    struct batch *batch = batch_begin(collector);
    struct ad *ad = plan_change(entry->latest, changes, args);
    int code = batch_set(batch, entry->type, entry->name, ad, &stamp, &err);
    if (code) {
        batch_end(batch, NULL, NULL, NULL);
        wire_reply_error(request, code, "%s", err.text);
        return;
    }
    entry->heard_ms = heard_ms; /* a merge renews nothing */
    collector->counts.merges++;
    batch_end(batch, answer_ok, answer_drop, answer_create(request, -1));
}

/* ---- INVALIDATE ------------------------------------------------------------------------------ */

/* Takes away one ad if the sender may and it is not newer than the message; offline ads only when
 * they are meant: a startd that stops does not take back what stands for its sleeping machine. */
static bool invalidate_one(struct batch *batch, struct collector *collector,
                           const struct wire_request *request, const struct plan_stamp *stamp,
                           const char *type, const char *name)
{
    const struct ad *args = wire_request_args(request);
    struct ads_entry *entry = collector_ads_find(collector->ads, type, name);
    if (!entry || !entry->latest || plan_is_old(&entry->stamp, stamp) ||
        !wire_peer_may_advertise(wire_request_peer(request), name) ||
        entry->latest_offline != ad_bool_or(args, "Offline", false)) {
        return false;
    }
    batch_remove(batch, entry);
    return true;
}

void collector_invalidate(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "");
    struct plan_sender sender = collector_sender(wire_request_peer(request));
    if (!plan_may_advertise(&sender, type)) {
        wire_reply_error(request, -EACCES, "you may not have ads of type '%s'", type);
        return;
    }
    struct plan_stamp stamp = stamp_of(session, args);
    session->last = stamp;
    struct batch *batch = batch_begin(collector);
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Names", NULL, &names); /* absent: none */
    int64_t count = 0;
    size_t name_count = ad_value_count(&names);
    for (size_t i = 0; i < name_count; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            count += invalidate_one(batch, collector, request, &stamp, type, name.string.text);
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
    batch_end(batch, answer_ok, answer_drop, answer_create(request, count));
}

/* ---- expiry ---------------------------------------------------------------------------------- */

static bool is_over(const struct collector *collector, const struct ads_entry *entry)
{
    if (!entry->latest || entry->waiting > 0) {
        return false;
    }
    if (entry->latest_offline) {
        return loop_wall_s(collector->env.loop) >=
               offline_ads_expires_s(entry->latest, collector->offline_expire_s);
    }
    return loop_now_ms(collector->env.loop) - entry->heard_ms >=
           plan_lifetime_ms(entry->lifetime_s, collector->classad_lifetime_s);
}

void collector_expire(struct collector *collector)
{
    struct batch *batch = batch_begin(collector);
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, collector->ads, NULL);
    struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        if (is_over(collector, entry) && plan_expires(entry->type)) {
            log_info(collector->env.log, "ad.expired", "an ad was not renewed in time",
                     LOG_TEXT("type", entry->type), LOG_TEXT("name", entry->name),
                     LOG_BOOL("offline", entry->latest_offline));
            collector->counts.expired++;
            batch_remove(batch, entry);
        }
    }
    ads_cursor_fini(&cursor);
    batch_end(batch, NULL, NULL, NULL);
}
