/* collector/collector_update.c - adds and changes ads: UPDATE and MERGE.
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
#include "classad/ad_identity.h"
#include "classad/ad_pool.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_quota.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

#define UPLINK_PREFIX "startd/"

/* An UPDATE, from its arrival to its answer. */
struct update {
    struct session *session;
    struct collector *collector;
    struct wire_request *request;
    const struct ad *args;       /* valid until the request is answered */
    unsigned roles;              /* roles of the sender: enum plan_role */
    struct ads_account *account; /* account of the sender */
    struct quota_pending pending;
    struct plan_stamp stamp;
    bool full;
    bool cancel_offline;
    size_t count;                      /* number of ads in the message */
    size_t looked_at;                  /* ads examined so far */
    const struct wire_secret *secrets; /* secrets of the ads that are left, in their order */
    size_t secret_count;
    size_t judged; /* examined ads that have an entry */
    size_t taken;  /* ads accepted for the table, in ads[] */
    size_t rejected;
    size_t old;
    struct ad *model; /* the changes before these, which usually have the same names; or NULL */
    struct err first; /* why the first was rejected */
    struct update_ad {
        struct ads_entry *entry;     /* entry that the ad replaces; NULL: the name is new */
        struct ad *ad;               /* the ad as it will be in the table */
        struct secret_list *secrets; /* beside it; NULL: none */
        struct plan_traits traits;
        size_t bytes; /* on the wire */
        struct share_holding holding;
        bool same_machine;  /* its Machine is that of the ad it replaces */
        bool address_given; /* it has the connection's address */
    } ads[];
};

static void update_destroy(void *arg)
{
    struct update *update = arg;
    for (size_t i = 0; i < update->taken; i++) {
        share_drop(&update->ads[i].holding);
        ad_destroy(update->ads[i].ad);
        secret_list_unref(update->ads[i].secrets);
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
    struct ad *args = NULL;
    if (update->rejected > 0) {
        args = ad_create();
        ad_set_int(args, "Rejected", (int64_t)update->rejected);
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

/* Returns 0 if the sender may have an ad of that type and name; an ad that he already has is
 * allowed. */
static int admit_name(const struct update *update, const struct ads_entry *entry, const char *type,
                      const char *name, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    if (entry && entry->latest && entry->stamp.session == update->stamp.session) {
        return 0;
    }
    if (!plan_may_advertise(update->roles, type)) {
        return err_set(err, -EACCES,
                       "%s may not send ads of type %s: no scope of its token allows that",
                       peer->identity, type);
    }
    if (!collector_is_holder(peer, type, name)) {
        return err_set(err, -EACCES, "%s may not advertise the name '%s': its token is for '%s'",
                       peer->identity, name, peer->pattern);
    }
    return 0;
}

/* Checks that the sender may use this Machine, because an ad can end other ads of its Machine. */
static int admit_machine(const struct update *update, const struct ad *ad, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    struct ad_identity_texts said;
    (void)ad_identity_read(ad, &said); /* it was judged */
    const char *machine = said.text[AD_IDENTITY_MACHINE];
    if (*machine && !wire_peer_may_advertise(peer, machine)) {
        return err_set(err, -EACCES, "%s may not advertise the machine '%s': its token is for '%s'",
                       peer->identity, machine, peer->pattern);
    }
    return 0;
}

/* Checks that the ad names its sender truly, in literals that are the same beside any other ad:
 * matches are sent to StartdUplink, and AuthenticatedIdentity must be the connection's. */
static int admit_identity(const struct update *update, const char *name, const struct ad *sent,
                          struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(update->request);
    struct ad_identity_texts said;
    const char *attribute = ad_identity_read(sent, &said);
    if (attribute) {
        return err_set(err, -EINVAL, "%s of the ad '%s' of %s is not a string literal", attribute,
                       name, peer->identity);
    }
    const char *uplink = said.text[AD_IDENTITY_STARTD_UPLINK];
    if (*uplink && (strncmp(uplink, UPLINK_PREFIX, strlen(UPLINK_PREFIX)) != 0 ||
                    !wire_peer_may_advertise(peer, uplink))) {
        return err_set(err, -EACCES,
                       "StartdUplink of the ad '%s' of %s is '%s', which belongs to another sender",
                       name, peer->identity, uplink);
    }
    const char *who = said.text[AD_IDENTITY_AUTHENTICATED_IDENTITY];
    if (*who && strcmp(who, peer->identity) != 0) {
        return err_set(
            err, -EACCES,
            "AuthenticatedIdentity of the ad '%s' of %s is '%s', but must be the sender's identity",
            name, peer->identity, who);
    }
    return 0;
}

static void reject_ad(struct update *update, const struct err *err)
{
    struct ads_said *said = &update->account->rejections;
    if (update->rejected++ == 0) {
        update->first = *err;
    }
    if (collector_may_say(update->collector, said)) {
        log_warn(update->collector->env.log, "update.rejected", "an ad was refused",
                 LOG_TEXT("peer", wire_request_peer(update->request)->address),
                 LOG_TEXT("identity", wire_request_peer(update->request)->identity),
                 LOG_TEXT("verb", "UPDATE"), LOG_TEXT("why", err->text),
                 LOG_INT("times", (int64_t)said->unsaid));
        said->unsaid = 0;
    }
    update->collector->counts.rejected++;
}

/* ---- what the collector knows better than the sender ------------------------------------------
 */

/* Returns the attribute LastHeardFrom, which all ads of this second share. */
static const struct ad_given *heard_now(struct collector *collector)
{
    int64_t now_s = loop_wall_s(collector->env.loop);
    if (!collector->heard || collector->heard_s != now_s) {
        ad_given_destroy(collector->heard);
        collector->heard = ad_given_create("LastHeardFrom", ad_expr_int(now_s));
        collector->heard_s = now_s;
    }
    return collector->heard;
}

static const struct ad_given *address_of(const struct update *update)
{
    struct session *session = update->session;
    if (!session->address) {
        const char *address = wire_request_peer(update->request)->address;
        session->address = ad_given_create("MyAddress", ad_expr_string(address, strlen(address)));
    }
    return session->address;
}

/* Returns whether the ad gets the connection's address: live machine ads that come over the
 * network. */
static bool has_address(const struct update *update, bool is_machine, bool is_offline)
{
    return is_machine && !is_offline && !wire_request_peer(update->request)->has_uid;
}

/* Sets the address, if decoding did not set it. */
static void set_address(const struct update *update, const struct update_ad *item, bool is_machine)
{
    if (!is_machine && !wire_request_peer(update->request)->has_uid &&
        ad_has(item->ad, "DaemonStartTime") && !ad_has(item->ad, "MyAddress")) {
        ad_given_set(item->ad, address_of(update)); /* of a daemon that listens nowhere */
        return;
    }
    if (!item->address_given && has_address(update, is_machine, item->traits.offline) &&
        strcmp(ad_string_or(item->ad, "MyAddress", ""),
               wire_request_peer(update->request)->address) != 0) {
        ad_given_set(item->ad, address_of(update));
    }
}

/* ---- what comes beside the ads ----------------------------------------------------------------
 */

/* The secrets that came with one ad. */
struct beside {
    const struct wire_secret *secrets;
    size_t count, bytes;
};

static void take_beside(struct update *update, struct beside *ret)
{
    uint32_t index = (uint32_t)update->looked_at++;
    *ret = (struct beside){.secrets = update->secrets};
    while (ret->count < update->secret_count && ret->secrets[ret->count].of == index) {
        ret->bytes += strlen(ret->secrets[ret->count++].text);
    }
    update->secrets += ret->count;
    update->secret_count -= ret->count;
}

/* Returns the secrets for the entry: usually the present ones.  A change that does not mention
 * secrets keeps them. */
static struct secret_list *keep_beside(const struct update *update, const struct ads_entry *entry,
                                       const struct beside *beside)
{
    struct secret_list *there = entry && entry->latest ? entry->latest_secrets : NULL;
    if ((!update->full && beside->count == 0) ||
        (there && secret_list_is(there, beside->secrets, beside->count))) {
        return secret_list_ref(there);
    }
    return secret_list_create(beside->secrets, beside->count);
}

/* Removes private attributes, which daemons of HTCondor send. */
static void drop_private(struct update *update, struct ad **ad)
{
    if (!ad_has_private(*ad)) {
        return;
    }
    struct ad *public = ad_copy_public(*ad);
    ad_destroy(*ad);
    *ad = public;
    if (update->collector->counts.private_dropped++ == 0) {
        log_warn(
            update->collector->env.log, "update.private",
            "attributes that are secrets by their names (ClaimId, Capability, ...) are dropped",
            LOG_TEXT("peer", wire_request_peer(update->request)->address),
            LOG_TEXT("name", ad_string_or(public, "Name", "")));
    }
}

/* ---- which ad it is -------------------------------------------------------------------------- */

/* Returns whether a live ad is outdated: the machine's offline ad of that name was made by the same
 * boot. */
static bool is_straggler(const struct update *update, const struct ads_entry *entry,
                         const struct ad *ad)
{
    return !update->cancel_offline && entry && entry->latest_offline &&
           offline_ads_meet(entry->latest, ad) == OFFLINE_ADS_SAME_BOOT;
}

/* Predicts which entry the next ad of the message replaces: a sender's ads come in the same order
 * each time, all together or one after the other. */
static struct ads_entry *predict_entry(const struct update *update)
{
    const struct session *session = update->session;
    bool is_first = update->judged == 0;
    return collector_ads_placed(update->collector->ads, is_first && session->begins_again
                                                            ? session->first_place
                                                            : session->last_place + 1);
}

static void remember_place(struct update *update, const struct ads_entry *entry)
{
    struct session *session = update->session;
    if (update->judged++ == 0) {
        session->begins_again = entry->place == session->first_place;
        session->first_place = entry->place;
    }
    session->last_place = entry->place;
}

static bool is_of(const struct ads_entry *entry, const struct ad *ad)
{
    const char *name;
    const char *type;
    if (entry && entry->latest && ad_same_literal(entry->latest, ad, "Name") &&
        ad_same_literal(entry->latest, ad, "MyType")) {
        return true;
    }
    return entry && ad_get_string(ad, "Name", &name) == 0 && strcmp(name, entry->name) == 0 &&
           ad_get_string(ad, "MyType", &type) == 0 && strcmp(type, entry->type) == 0;
}

/* Prefetches the memory of the ads after the next one, in three steps, because each step tells
 * where the next one is. */
static void look_ahead(const struct update *update)
{
    const struct collector_ads *ads = update->collector->ads;
    uint32_t next = update->session->last_place + 1;
    const struct ads_entry *entry = collector_ads_placed(ads, next + 3);
    if (entry) {
        __builtin_prefetch(entry);
        __builtin_prefetch((const char *)entry + 64);
        __builtin_prefetch((const char *)entry + 128);
        __builtin_prefetch((const char *)entry + 192);
    }
    entry = collector_ads_placed(ads, next + 2);
    if (entry && entry->latest) {
        __builtin_prefetch(entry->latest);
    }
    entry = collector_ads_placed(ads, next + 1);
    if (entry) {
        ad_prefetch(entry->latest);
    }
}

/* Returns the traits of a full ad that is probably unchanged. */
static struct plan_traits traits_of(const struct ads_entry *entry, bool is_machine,
                                    const struct ad *ad)
{
    if (entry && entry->latest && ad_same_literal(entry->latest, ad, "ClassAdLifetime") &&
        ad_same_literal(entry->latest, ad, "Offline") &&
        ad_same_literal(entry->latest, ad, "Absent")) {
        return (struct plan_traits){.offline = entry->latest_offline,
                                    .absent = entry->latest_absent,
                                    .lifetime_s = entry->lifetime_s};
    }
    return plan_traits_of(is_machine, ad);
}

/* Decodes an ad; entry (may be NULL) is the prediction.  A full ad is decoded against the ad that
 * it replaces, because most of it is usually the same. */
static int decode_ad(struct update *update, const struct ads_entry *entry, const void *bytes,
                     size_t length, struct update_ad *item, struct err *err)
{
    const struct ad *previous = !update->full ? update->model : entry ? entry->latest : NULL;
    const struct ad_given *given[] = {heard_now(update->collector), NULL};
    size_t count = 1;
    item->address_given =
        update->full && entry && has_address(update, entry->is_machine, entry->latest_offline);
    if (item->address_given) {
        given[count++] = address_of(update);
    }
    int code = ad_decode_given(update->collector->pool, previous, given, count, bytes, length,
                               &item->ad, err);
    if (code || !item->address_given ||
        (is_of(entry, item->ad) && !traits_of(entry, true, item->ad).offline)) {
        return code;
    }
    ad_destroy(item->ad); /* another one, or it goes to sleep: what it says itself is to stay */
    item->address_given = false;
    return ad_decode_given(update->collector->pool, previous, given, 1, bytes, length, &item->ad,
                           err);
}

/* Decodes one ad and finds the entry of its type and name: item->entry.  *name and *type are those
 * of the ad or of the entry. */
static int identify_ad(struct update *update, const void *bytes, size_t length,
                       struct update_ad *item, const char **type, const char **name,
                       struct err *err)
{
    struct ads_entry *entry = predict_entry(update);
    int code = decode_ad(update, entry, bytes, length, item, err);
    if (code) {
        return code;
    }
    drop_private(update, &item->ad);
    if (item->address_given || is_of(entry, item->ad)) {
        *type = entry->type;
        *name = entry->name;
    } else {
        code = plan_identify(item->ad, type, name, err);
        if (code) {
            ad_destroy(item->ad);
            return code;
        }
        entry = collector_ads_find(update->collector->ads, *type, *name);
    }
    if (entry) {
        remember_place(update, entry);
    }
    item->entry = entry;
    return 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Checks how many ads the sender's token may have for that Machine. */
static int admit_share(const struct update *update, struct update_ad *item, bool is_machine,
                       struct err *err)
{
    const struct share_claim claim = {.peer = wire_request_peer(update->request),
                                      .ad = item->ad,
                                      .bytes = item->bytes,
                                      .is_machine = is_machine,
                                      .same_machine = item->same_machine};
    int code = shares_admit(update->collector->shares, &claim,
                            item->entry ? &item->entry->holding : NULL, &item->holding, err);
    update->collector->counts.over_quota += code != 0;
    return code;
}

/* Makes the ad for the table: item->ad as it was sent, or the present ad with its changes.
 * -EACCES, -E2BIG or -EDQUOT: the ad is left out. */
static int make_ad(struct update *update, size_t length, const struct beside *beside,
                   const char *name, bool is_machine, struct update_ad *item, struct err *err)
{
    const struct ads_entry *entry = item->entry;
    struct ad *sent = item->ad;
    size_t bytes = length;
    if (admit_identity(update, name, sent, err) != 0) {
        ad_destroy(sent);
        return -EACCES;
    }
    if (!update->full) {
        item->ad = plan_change(update->collector->pool, entry->latest, sent, update->args);
        bytes = ad_encoded_bytes(item->ad);
    }
    if (is_machine) {
        collector_lock_stamp(update->collector, &item->ad);
    }
    bytes += beside->bytes;
    item->bytes = bytes;
    item->same_machine = entry && entry->machine &&
                         ((entry->latest && ad_same_literal(entry->latest, item->ad, "Machine")) ||
                          strcmp(entry->machine, ad_string_or(item->ad, "Machine", "")) == 0);
    int code =
        collector_quota_admit(update->collector, wire_request_peer(update->request)->identity,
                              update->account, entry, name, item->ad, bytes, &update->pending, err);
    if (!code && !(item->same_machine && entry->stamp.session == update->stamp.session) &&
        plan_is_of_machine(ad_string_or(item->ad, "MyType", ""))) {
        code = admit_machine(update, item->ad, err);
    }
    if (!code && is_machine && !plan_may_be(update->roles, "Machine", item->ad)) {
        code = err_set(err, -EACCES, "%s is no machine: its ads of type Machine must be samples",
                       wire_request_peer(update->request)->identity);
    }
    if (!code) {
        code = admit_share(update, item, is_machine, err);
    }
    if (!update->full) {
        ad_destroy(update->model); /* name may be that of sent */
        update->model = sent;
    }
    if (code) {
        ad_destroy(item->ad);
    }
    return code;
}

/* Handles one ad of the message.  Returns 0 also when the ad is left out; -ESTALE when the whole
 * message must be refused. */
static int judge_ad(struct update *update, const void *bytes, size_t length, struct err *err)
{
    struct err why;
    const char *type;
    const char *name;
    struct update_ad *item = &update->ads[update->taken];
    struct beside beside;
    take_beside(update, &beside);
    look_ahead(update);
    if (identify_ad(update, bytes, length, item, &type, &name, &why) != 0) {
        reject_ad(update, &why);
        return 0;
    }
    const struct ads_entry *entry = item->entry;
    const struct ad *latest = entry && !entry->latest_absent ? entry->latest : NULL;
    int code = 0;
    if (admit_name(update, entry, type, name, &why) != 0) {
        reject_ad(update, &why);
    } else if (latest && plan_is_old(&entry->stamp, &update->stamp)) {
        update->old++;
    } else if (!update->full && !latest) {
        code = err_set(err, -ESTALE, "no such ad to change: '%s'; send the whole ad", name);
    } else {
        bool is_machine = entry ? entry->is_machine : text_equal_nocase(type, "Machine");
        if (make_ad(update, length, &beside, name, is_machine, item, &why) != 0) {
            reject_ad(update, &why);
            return 0;
        }
        update->taken++;
        item->traits = traits_of(entry, is_machine, item->ad);
        item->secrets = item->traits.offline || item->traits.absent
                            ? NULL
                            : keep_beside(update, entry, &beside);
        if (is_straggler(update, entry, item->ad)) {
            return err_set(
                err, -ESTALE,
                "%s has offline ads from this boot; send CancelOffline if the machine is awake",
                ad_string_or(item->ad, "Machine", "?"));
        }
        set_address(update, item, is_machine);
        return 0;
    }
    ad_destroy(item->ad);
    return code;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* Removes a machine's offline ads when a live ad of a later boot comes, or of the same boot with
 * CancelOffline.  The offline ad with the live ad's name is replaced anyway. */
static void end_offline_ads(struct update *update, struct batch *batch, const struct ad *live)
{
    struct collector *collector = update->collector;
    const char *name = ad_string_or(live, "Name", "");
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

/* Adds an ad whose entry did not exist when it was judged. */
static int apply_new(struct update *update, struct batch *batch, const struct update_ad *item,
                     struct ads_entry **ret, struct err *err)
{
    const char *type;
    const char *name;
    char type_copy[PLAN_TYPE_MAX + 1], name_copy[PLAN_NAME_MAX + 1];
    CHECK(plan_identify(item->ad, &type, &name, NULL) == 0);
    /* Borrowed from the ad, which batch_set() takes. */
    (void)snprintf(type_copy, sizeof(type_copy), "%s", type);
    (void)snprintf(name_copy, sizeof(name_copy), "%s", name);
    int code = batch_set(batch, type_copy, name_copy, item->ad, item->secrets, &update->stamp, err);
    *ret = code ? NULL : collector_ads_find(update->collector->ads, type_copy, name_copy);
    return code;
}

static void apply_ads(struct update *update)
{
    struct batch *batch = batch_begin(update->collector);
    size_t count = update->taken;
    update->taken = 0;
    for (size_t i = 0; i < count; i++) {
        struct update_ad *item = &update->ads[i];
        struct ads_entry *entry = item->entry;
        struct err why;
        bool is_live = !item->traits.offline;
        if (is_live && (!entry || !item->same_machine || collector_ads_machine_is_offline(entry)) &&
            text_equal_nocase(ad_string_or(item->ad, "MyType", ""), "Machine")) {
            end_offline_ads(update, batch, item->ad);
        }
        int code = entry ? batch_set_at(batch, entry, item->ad, item->secrets, &item->traits,
                                        item->same_machine, &update->stamp, &why)
                         : apply_new(update, batch, item, &entry, &why);
        if (code) {
            share_drop(&item->holding);
            reject_ad(update, &why);
        } else {
            if (is_live && !update->session->machine && collector_is_watched(entry)) {
                collector_attend(update->session, ad_string_or(entry->latest, "Machine", ""));
            }
            collector_ads_hold(entry, &item->holding);
            update->collector->counts.updates_initial += entry->account == NULL;
            collector_ads_charge(entry, update->account, item->bytes);
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
    *update = (struct update){.session = session, .collector = session->collector, .count = count};
    update->request = request;
    update->args = args;
    update->roles = collector_roles(wire_request_peer(request));
    if (!session->account) {
        session->account =
            collector_account(session->collector, wire_request_peer(request)->identity);
    }
    update->account = session->account;
    update->stamp = collector_stamp(session, args);
    update->full = ad_bool_or(args, "Full", true);
    update->cancel_offline = ad_bool_or(args, "CancelOffline", false);
    update->secrets = wire_request_secrets(request, &update->secret_count);
    struct err err = {""};
    int code = 0;
    shares_begin(session->collector->shares);
    if (!update->full && !plan_is_successor(&session->last, &update->stamp)) {
        code =
            err_set(&err, -ESTALE, "an update before these changes is missing; send the whole ad");
    }
    const void *bytes;
    size_t length;
    while (!code && (bytes = wire_request_next_ad_bytes(request, &length)) != NULL) {
        code = judge_ad(update, bytes, length, &err);
    }
    ad_destroy(update->model);
    update->model = NULL;
    if (!code && update->old > 0 && update->old == update->count) {
        code = err_set(&err, -ESTALE, "the collector already has a newer ad of this name");
    }
    if (code) {
        update_refuse(update, code, &err);
        return;
    }
    session->collector->counts.updates_lost += plan_is_gap(&session->last, &update->stamp) ? 1 : 0;
    session->last = update->stamp;
    apply_ads(update);
}

/* ---- MERGE ----------------------------------------------------------------------------------- */

/* Returns 0, or -EACCES with the first attribute that the sender must not change. */
static int merge_judge(unsigned roles, const struct ad *changes, const struct ad *args,
                       struct err *err)
{
    size_t at = 0;
    const char *name;
    while (ad_next(changes, &at, &name, NULL)) {
        if (!plan_may_merge(roles, name)) {
            return err_set(err, -EACCES, "%s may not be set by you in another sender's ad", name);
        }
    }
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Delete", NULL, &names); /* absent: nothing */
    int code = 0;
    size_t count = ad_value_count(&names);
    for (size_t i = 0; i < count && !code; i++) {
        struct ad_value value;
        ad_value_item(&names, i, &value);
        if (value.type != AD_TYPE_STRING || !plan_may_merge(roles, value.string.text)) {
            code = err_set(err, -EACCES, "%s may not be removed by you from another sender's ad",
                           value.type == AD_TYPE_STRING ? value.string.text : "an invalid name");
        }
        ad_value_fini(&value);
    }
    ad_value_fini(&names);
    return code;
}

static bool is_connected(const struct collector *collector, uint64_t number)
{
    const struct session *session = collector->sessions;
    while (session && session->number != number) {
        session = session->next;
    }
    return session;
}

/* Checks whether a MERGE may turn the ad into an offline one: its machine is not heard, and could
 * not go on with changes of an ad that is no more, because its uplink has ended. */
static int judge_asleep(const struct collector *collector, const struct ads_entry *entry,
                        const struct ad *changes, struct err *err)
{
    if (!ad_bool_or(changes, "Offline", false)) {
        return err_set(err, -EINVAL, "MERGE may set Offline only to true");
    }
    if (!offline_ads_is_silent(entry->latest)) {
        return err_set(err, -ESTALE, "'%s' is not marked as not responding", entry->name);
    }
    if (!entry->latest_offline && is_connected(collector, entry->stamp.session)) {
        return err_set(err, -EBUSY, "the uplink of '%s' has not ended yet", entry->name);
    }
    return 0;
}

void collector_merge(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "Machine");
    const char *name = ad_string_or(args, "Name", "");
    unsigned roles = collector_roles(wire_request_peer(request));
    struct err err = {""};
    if (wire_request_ad_count(request) != 1) {
        wire_reply_error(request, -EINVAL, "MERGE needs one ad with the attributes to set");
        return;
    }
    const struct ad *changes = wire_request_ad(request, 0);
    if (!text_equal_nocase(type, "Machine")) {
        wire_reply_error(request, -EACCES, "only ads of type Machine can be merged, not %s", type);
        return;
    }
    if (merge_judge(roles, changes, args, &err) != 0) {
        wire_reply_error(request, -EACCES, "%s", err.text);
        return;
    }
    struct ads_entry *entry = collector_ads_find(collector->ads, type, name);
    if (!entry || !entry->latest) {
        wire_reply_error(request, -ENOENT, "no such %s ad: '%s'", type, name);
        return;
    }
    if (entry->latest_absent) {
        wire_reply_error(request, -ENOENT, "'%s' is absent, and cannot be matched or woken", name);
        return;
    }
    if (!entry->latest_offline &&
        (ad_has(changes, "OfflineMatches") || ad_has(changes, "PowerKeptOff"))) {
        wire_reply_error(request, -ENOENT, "'%s' is awake and has no offline ad to hold", name);
        return;
    }
    bool sleeps = ad_has(changes, "Offline");
    int code = sleeps ? judge_asleep(collector, entry, changes, &err) : 0;
    if (code) {
        wire_reply_error(request, code, "%s", err.text);
        return;
    }
    struct plan_stamp stamp = entry->stamp; /* stays the owner's */
    int64_t heard_ms = entry->heard_ms;
    struct batch *batch = batch_begin(collector);
    if (sleeps && ad_bool_or(entry->latest, "DynamicSlot", false)) {
        batch_remove(batch, entry); /* a machine that sleeps has none */
        batch_end(batch, collector_answer_ok, collector_answer_drop,
                  collector_answer_create(request, -1));
        return;
    }
    struct ad *assumed =
        sleeps ? plan_assume_asleep(entry->latest,
                                    strcmp(ad_string_or(changes, "PowerState", ""), "Unknown") != 0,
                                    loop_wall_s(collector->env.loop))
               : NULL;
    struct ad *ad = plan_change(collector->pool, sleeps ? assumed : entry->latest, changes, args);
    ad_destroy(assumed);
    code = batch_set(batch, entry->type, entry->name, ad,
                     sleeps ? NULL : secret_list_ref(entry->latest_secrets), &stamp, &err);
    if (code) {
        batch_end(batch, NULL, NULL, NULL);
        wire_reply_error(request, code, "%s", err.text);
        return;
    }
    if (!sleeps) { /* it renews nothing */
        entry->heard_ms = heard_ms;
    }
    collector->counts.merges++;
    batch_end(batch, collector_answer_ok, collector_answer_drop,
              collector_answer_create(request, -1));
}
