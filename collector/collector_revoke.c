/* collector/collector_revoke.c - REVOKE: tokens that are refused from now on.
 *
 * Revocations are kept in the store until their token would have expired anyway.  They are shown as
 * ads of type Revocation with the administrator's signature, so that everybody who verifies tokens
 * can watch and verify them.  A revocation stored before revocations were signed is still honoured
 * by the collector; others ignore it until its token is revoked again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_offline.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "store/store.h"
#include "wire/revocations.h"
#include "wire/wire.h"

struct revocation {
    struct revocation *next;
    struct collector *collector;
    struct wire_request *request;
    char *token_id;
    struct ad *ad;
};

static void revocation_destroy(struct revocation *revocation)
{
    ad_destroy(revocation->ad);
    mem_free(revocation->token_id);
    mem_free(revocation);
}

/* ---- what it ends ---------------------------------------------------------------------------- */

/* Finds the connections that use the token, by their numbers. */
static void find_sessions(const struct collector *collector, const char *token_id, struct vec *ret)
{
    for (const struct session *session = collector->sessions; session != NULL;
         session = session->next) {
        const struct wire_peer *peer = wire_peer(session->wire);
        if (peer != NULL && strcmp(peer->token_id, token_id) == 0) {
            vec_push(ret, (void *)(uintptr_t)session->number);
        }
    }
}

static bool is_among(const struct vec *sessions, uint64_t number)
{
    for (size_t i = 0; i < sessions->count; i++) {
        if ((uintptr_t)sessions->items[i] == number) {
            return true;
        }
    }
    return false;
}

/* Removes the ads that were sent with the token, so that its machines are neither matched nor
 * woken.  O(ads). */
static void end_ads(struct collector *collector, const char *token_id, const struct vec *sessions)
{
    struct batch *batch = batch_begin(collector);
    struct ads_cursor cursor;
    struct ads_entry *entry;
    ads_cursor_init(&cursor, collector->ads, NULL);
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        if (entry->latest != NULL &&
            (share_is_of(&entry->holding, token_id) || is_among(sessions, entry->stamp.session))) {
            log_info(collector->env.log, "ad.revoked",
                     "an ad was removed because its sender's token was revoked",
                     LOG_TEXT("type", entry->type), LOG_TEXT("name", entry->name));
            batch_remove(batch, entry);
        }
    }
    ads_cursor_fini(&cursor);
    batch_end(batch, NULL, NULL, NULL);
}

void collector_revoked(struct collector *collector, const char *token_id, struct ad *ad)
{
    struct ads_change *change;
    if (collector_ads_propose(collector->ads, "Revocation", token_id, ad, NULL, &change) == 0) {
        collector_ads_apply(collector->ads, change);
    }
    wire_context_revoke(collector->context, token_id);
}

static void revocation_committed(void *arg)
{
    struct revocation *revocation = arg;
    struct collector *collector = revocation->collector;
    struct revocation **link = &collector->revocations;
    while (*link != revocation) {
        link = &(*link)->next;
    }
    *link = revocation->next;
    log_info(collector->env.log, "token.revoked", "a token was revoked and is refused from now on",
             LOG_TEXT("token_id", revocation->token_id),
             LOG_TEXT("by", ad_string_or(revocation->ad, "RevokedBy", "")));
    wire_reply_ok(revocation->request, NULL); /* first: it may be the caller's own token */
    struct vec sessions = {0};
    find_sessions(collector, revocation->token_id, &sessions);
    collector_revoked(collector, revocation->token_id, revocation->ad);
    revocation->ad = NULL;
    end_ads(collector, revocation->token_id, &sessions);
    vec_fini(&sessions, NULL);
    revocation_destroy(revocation);
}

/* Returns whether a revocation is stored that lasts as long and is signed.  Revocations cannot be
 * taken back. */
static bool is_known(struct collector *collector, const char *token_id, int64_t expires_s)
{
    struct revocation_signer by;
    const struct ads_entry *entry = collector_ads_find(collector->ads, "Revocation", token_id);
    const struct ad *known = entry != NULL ? entry->shown : NULL;
    return known != NULL && !revocation_lasts_longer(expires_s, ad_int_or(known, "Expires", 0)) &&
           revocation_judge(collector->context, known, &by, NULL) == 0;
}

void collector_revoke(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *token_id = ad_string_or(args, "TokenId", "");
    struct revocation_signer by;
    struct err err = {""};
    int rc = revocation_judge_new(collector->context, args, &by, &err);
    if (rc < 0) {
        wire_reply_error(request, rc, "%s", err.text);
        return;
    }
    if (is_known(collector, token_id, ad_int_or(args, "Expires", 0))) {
        wire_reply_ok(request, NULL);
        return;
    }
    struct revocation *revocation = mem_zalloc(sizeof(*revocation));
    revocation->collector = collector;
    revocation->request = request;
    revocation->token_id = mem_strdup(token_id);
    revocation->ad = ad_create();
    ad_set_string(revocation->ad, "MyType", "Revocation");
    ad_set_string(revocation->ad, "Name", token_id);
    ad_set_int(revocation->ad, "Expires", ad_int_or(args, "Expires", 0));
    ad_set_int(revocation->ad, "RevokedAt", loop_wall_s(collector->env.loop));
    ad_set_string(revocation->ad, "RevokedBy", by.identity);
    /* What the others verify: a proof is not a secret. */
    ad_set_string(revocation->ad, "TokenId", token_id);
    ad_set_string(revocation->ad, "Token", ad_string_or(args, "Token", ""));
    ad_set_string(revocation->ad, "Proof", ad_string_or(args, "Proof", ""));
    struct store_txn *txn = store_begin(collector->store);
    (void)collector_revoked_put(txn, token_id, revocation->ad, NULL); /* small: it fits */
    revocation->next = collector->revocations;
    collector->revocations = revocation;
    store_commit(txn, revocation_committed, revocation);
}

void collector_revocations_expire(struct collector *collector)
{
    int64_t now_s = loop_wall_s(collector->env.loop);
    struct store_txn *txn = store_begin(collector->store);
    bool any = false;
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, collector->ads, "Revocation");
    struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        int64_t expires_s = entry->shown ? ad_int_or(entry->shown, "Expires", 0) : 0;
        struct ads_change *change;
        if (expires_s <= 0 || expires_s > now_s) {
            continue;
        }
        collector_revoked_delete(txn, entry->name);
        wire_context_forget(collector->context, entry->name);
        any = true;
        if (collector_ads_propose(collector->ads, "Revocation", entry->name, NULL, NULL, &change) ==
            0) {
            collector_ads_apply(collector->ads, change);
        }
    }
    ads_cursor_fini(&cursor);
    if (any) {
        store_commit(txn, NULL, NULL);
    } else {
        store_abort(txn);
    }
}

void collector_revocations_drop(struct collector *collector)
{
    while (collector->revocations) {
        struct revocation *revocation = collector->revocations;
        collector->revocations = revocation->next;
        revocation_destroy(revocation);
    }
}
