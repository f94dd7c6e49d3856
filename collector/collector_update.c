/* collector/collector_update.c - ads that come and change: UPDATE and MERGE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
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
    size_t count; /* of ads in the message */
    size_t taken; /* of them that are to be in the table, below */
    size_t rejected;
    size_t old;
    struct err first; /* why the first was rejected */
    struct update_ad {
        struct ads_entry *entry; /* that it replaces; NULL: of a new name */
        struct ad *ad;           /* as it will be in the table */
    } ads[];
};

static void update_destroy(void *arg)
{
    struct update *update = arg;
    for (size_t i = 0; i < update->taken; i++) {
        ad_destroy(update->ads[i].ad);
    }
    mem_free(update);
}

static void update_drop(void *arg)
{
    struct update *update = arg;
    collector_drop_request(update->request);
    update_destroy(update);
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
static int admit(const struct update *update, const char *type, const char *name, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    if (!plan_may_advertise(&update->sender, type)) {
        return err_set(err, -EACCES, "%s may not have ads of type %s", peer->identity, type);
    }
    if (!wire_peer_may_advertise(peer, name)) {
        return err_set(err, -EACCES, "%s may not advertise the name '%s'", peer->identity, name);
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

static int check_size(const char *name, size_t bytes, struct err *err)
{
    return bytes <= AD_BYTES_MAX ? 0
                                 : err_set(err, -E2BIG, "the ad '%s' has more than %zu KiB", name,
                                           AD_BYTES_MAX >> 10);
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

/* The ad that the one in these bytes is about to replace, if that can be told before it is decoded.
 */
static struct ads_entry *foresee(const struct update *update, const void *bytes, size_t length)
{
    struct ad_pool *pool = update->collector->pool;
    const char *type_text, *name_text;
    size_t type_length, name_length;
    char type[PLAN_TYPE_MAX + 1], name[PLAN_NAME_MAX + 1];
    if (ad_peek_string(pool, bytes, length, "MyType", &type_text, &type_length, NULL) != 0 ||
        ad_peek_string(pool, bytes, length, "Name", &name_text, &name_length, NULL) != 0 ||
        type_length > PLAN_TYPE_MAX || name_length > PLAN_NAME_MAX) {
        return NULL;
    }
    memcpy(type, type_text, type_length);
    memcpy(name, name_text, name_length);
    type[type_length] = name[name_length] = '\0';
    return collector_ads_find(update->collector->ads, type, name);
}

/* Decodes one ad, with what it says it is, and finds what is there of that key.  A full one is
 * decoded against the one that it replaces, most of which is usually the same. */
static int identify(const struct update *update, const void *bytes, size_t length, struct ad **sent,
                    const char **type, const char **name, struct ads_entry **ret, struct err *err)
{
    struct ads_entry *entry = update->full ? foresee(update, bytes, length) : NULL;
    int code = ad_decode_in(update->collector->pool, entry ? entry->latest : NULL, bytes, length,
                            NULL, sent, err);
    if (code) {
        return code;
    }
    code = plan_identify(*sent, type, name, err);
    if (code) {
        ad_destroy(*sent);
        *sent = NULL;
        return code;
    }
    if (!entry || strcmp(entry->name, *name) != 0) {
        entry = collector_ads_find(update->collector->ads, *type, *name);
    }
    *ret = entry;
    return 0;
}

/* What will be in the table: the ad as it was sent, or what is there with its changes.  Takes sent.
 * -EACCES, -E2BIG: it is to be left out. */
static int make(const struct update *update, struct ad *sent, size_t length, const char *name,
                const struct ad *latest, struct ad **ret, struct err *err)
{
    struct ad *ad = sent;
    size_t bytes = length;
    if (!update->full) {
        ad = plan_change(update->collector->pool, latest, sent, update->args);
        bytes = ad ? ad_encoded_bytes(ad) : SIZE_MAX; /* beyond a limit of ads: too large as well */
    }
    int code = check_size(name, bytes, err);
    if (!code) {
        code = admit_machine(update, ad, err);
    }
    if (code) {
        ad_destroy(ad);
    } else {
        *ret = ad;
    }
    if (!update->full) {
        ad_destroy(sent);
    }
    return code;
}

/* Takes one ad of the message.  Returns 0 also when the ad is left out; -ESTALE when the whole
 * message is to be refused. */
static int judge(struct update *update, const void *bytes, size_t length, struct err *err)
{
    struct err why;
    const char *type;
    const char *name;
    struct ad *sent;
    struct ads_entry *entry;
    if (identify(update, bytes, length, &sent, &type, &name, &entry, &why) != 0) {
        reject(update, &why);
        return 0;
    }
    const struct ad *latest = entry && !entry->latest_absent ? entry->latest : NULL;
    int code = 0;
    struct ad *ad = NULL;
    if (admit(update, type, name, &why) != 0) {
        reject(update, &why);
    } else if (latest && plan_is_old(&entry->stamp, &update->stamp)) {
        update->old++;
    } else if (!update->full && !latest) {
        code = err_set(err, -ESTALE, "there is no ad '%s' to be changed: send it in full", name);
    } else {
        if (make(update, sent, length, name, latest, &ad, &why) != 0) {
            reject(update, &why);
        }
        sent = NULL;
    }
    ad_destroy(sent);
    if (!ad) {
        return code;
    }
    update->ads[update->taken++] = (struct update_ad){entry, ad};
    if (is_straggler(update, entry, ad)) {
        return err_set(err, -ESTALE,
                       "%s left offline ads in this boot: send CancelOffline if it is awake",
                       ad_string_or(ad, "Machine", "?"));
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
    size_t count = update->taken;
    update->taken = 0;
    for (size_t i = 0; i < count; i++) {
        struct ad *ad = update->ads[i].ad;
        struct err why;
        const char *type;
        const char *name;
        CHECK(plan_identify(ad, &type, &name, NULL) == 0);
        /* Names are borrowed from the ad, which batch_set() takes. */
        char type_copy[PLAN_TYPE_MAX + 1], name_copy[PLAN_NAME_MAX + 1];
        (void)snprintf(type_copy, sizeof(type_copy), "%s", type);
        (void)snprintf(name_copy, sizeof(name_copy), "%s", name);
        if (text_equal_nocase(type, "Machine") && !offline_ads_is(ad)) {
            end_offline_ads(update, batch, ad, name);
        }
        if (batch_set(batch, type_copy, name_copy, ad, &update->stamp, &why) != 0) {
            reject(update, &why);
        }
    }
    update->collector->counts.updates++;
    batch_end(batch, update_answer, update_drop, update);
}

void collector_update(struct session *session, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    size_t count = wire_request_ad_bytes_left(request);
    struct update *update = mem_alloc(sizeof(*update) + count * sizeof(update->ads[0]));
    *update = (struct update){.collector = session->collector, .count = count};
    update->request = request;
    update->args = args;
    update->sender = collector_sender(wire_request_peer(request));
    update->stamp = collector_stamp(session, args);
    update->full = ad_bool_or(args, "Full", true);
    update->cancel_offline = ad_bool_or(args, "CancelOffline", false);
    struct err err = {""};
    int code = 0;
    if (!update->full && !plan_is_successor(&session->last, &update->stamp)) {
        code = err_set(&err, -ESTALE, "changes that do not follow what is here: send all in full");
    }
    const void *bytes;
    size_t length;
    while (!code && (bytes = wire_request_next_ad_bytes(request, &length)) != NULL) {
        code = judge(update, bytes, length, &err);
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
    if (entry->latest_absent) {
        wire_reply_error(request, -ENOENT, "'%s' is absent: nobody is to match or wake it", name);
        return;
    }
    if (!entry->latest_offline && ad_has(changes, "OfflineMatches")) {
        wire_reply_error(request, -ENOENT, "'%s' is awake: there is no offline ad to hold", name);
        return;
    }
    struct plan_stamp stamp = entry->stamp; /* stays the owner's */
    uint64_t heard_ms = entry->heard_ms;
    struct batch *batch = batch_begin(collector);
    struct ad *ad = plan_change(collector->pool, entry->latest, changes, args);
    int code = batch_set(batch, entry->type, entry->name, ad, &stamp, &err);
    if (code) {
        batch_end(batch, NULL, NULL, NULL);
        wire_reply_error(request, code, "%s", err.text);
        return;
    }
    entry->heard_ms = heard_ms; /* a merge renews nothing */
    collector->counts.merges++;
    batch_end(batch, collector_answer_ok, collector_answer_drop,
              collector_answer_create(request, -1));
}
