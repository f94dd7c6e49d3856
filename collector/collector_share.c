/* collector/collector_share.c - see collector_share.h.
 *
 * A share belongs to a token and a Machine, and is also counted in the share of the token alone.
 * It exists while something is held in it.  Machine names are compared without case, as everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_share.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "wire/wire.h"

struct share {
    struct shares *shares;
    struct share *all; /* share of the token for all Machines; NULL: this one is */
    char *key;
    size_t refs; /* holdings, and shares of which it is `all` */
    size_t counts[SHARE_KINDS];
    size_t bytes;
    /* For the message that is being judged. */
    uint64_t message;
    size_t more[SHARE_KINDS];
    long long more_bytes;
};

struct shares {
    struct strmap *map; /* "token\nMachine" or "token" -> share */
    uint64_t message;
};

static const char *const KIND_NAMES[SHARE_KINDS] = {"slot ads", "ads of pieces of slots",
                                                    "ads of other types"};

struct shares *shares_create(void)
{
    struct shares *shares = mem_zalloc(sizeof(*shares));
    shares->map = strmap_create(STRMAP_CASE_IGNORED);
    return shares;
}

static void share_free(void *value)
{
    struct share *share = value;
    mem_free(share->key);
    mem_free(share);
}

void shares_destroy(struct shares *shares)
{
    if (shares != NULL) {
        strmap_destroy(shares->map, share_free);
        mem_free(shares);
    }
}

static void share_unref(struct share *share)
{
    while (share != NULL && --share->refs == 0) {
        struct share *all = share->all;
        (void)strmap_remove(share->shares->map, share->key);
        share_free(share);
        share = all;
    }
}

/* Returns the share, made if needed, with a reference for the caller. */
static struct share *share_get(struct shares *shares, const char *token_id, const char *machine)
{
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_puts(&key, token_id);
    if (machine != NULL) {
        strbuf_printf(&key, "\n%s", machine);
    }
    struct share *share = strmap_get(shares->map, strbuf_text(&key));
    if (share == NULL) {
        share = mem_zalloc(sizeof(*share));
        share->shares = shares;
        share->key = mem_strdup(strbuf_text(&key));
        share->all = machine != NULL ? share_get(shares, token_id, NULL) : NULL;
        (void)strmap_set(shares->map, share->key, share);
    }
    share->refs++;
    strbuf_fini(&key);
    return share;
}

bool share_is_of(const struct share_holding *holding, const char *token_id)
{
    size_t length = strlen(token_id);
    return holding->share != NULL && strncmp(holding->share->key, token_id, length) == 0 &&
           (holding->share->key[length] == '\n' || holding->share->key[length] == '\0');
}

void shares_begin(struct shares *shares)
{
    shares->message++;
}

/* Forgets what an earlier message was admitted for.  What is admitted for this message counts at
 * once, but is held only after the whole message was judged. */
static void refresh_share(struct share *share)
{
    if (share->message != share->shares->message) {
        share->message = share->shares->message;
        memset(share->more, 0, sizeof(share->more));
        share->more_bytes = 0;
    }
}

static size_t count_max(const struct wire_peer *peer, enum share_kind kind)
{
    size_t slots = peer->slots;
    switch (kind) {
    case SHARE_DYNAMIC:
        return slots * SHARE_PIECES;
    case SHARE_OTHERS:
        return slots > SHARE_OTHERS_MIN ? slots : SHARE_OTHERS_MIN;
    default:
        return slots;
    }
}

/* Returns 0 if the share has room for one more ad (or none) and so many more bytes. */
static int judge_room(struct share *share, const struct wire_peer *peer, const char *machine,
                      enum share_kind kind, size_t more, long long more_bytes, struct err *err)
{
    size_t most = count_max(peer, kind);
    size_t bytes_max = SHARE_BYTES * ((peer->slots + SHARE_BYTES_SLOTS - 1) / SHARE_BYTES_SLOTS);
    refresh_share(share);
    size_t count = share->counts[kind] + share->more[kind];
    long long bytes = (long long)share->bytes + share->more_bytes;
    if (more > 0 && count >= most) {
        return err_set(err, -EDQUOT,
                       "token '%s' of %s has %zu %s%s%s; at most %zu are allowed; make a token "
                       "with more slots (roost token create --slots)",
                       peer->token_id, peer->identity, count, KIND_NAMES[kind],
                       machine != NULL ? " of " : "", machine != NULL ? machine : "", most);
    }
    if (more_bytes > 0 && bytes + more_bytes > (long long)bytes_max) {
        return err_set(err, -EDQUOT,
                       "token '%s' of %s has ads of %lld bytes%s%s; at most %zu are allowed; make "
                       "a token with more slots (roost token create --slots)",
                       peer->token_id, peer->identity, bytes, machine != NULL ? " of " : "",
                       machine != NULL ? machine : "", bytes_max);
    }
    return 0;
}

static void count_more(struct share *share, enum share_kind kind, size_t more, long long more_bytes)
{
    refresh_share(share);
    share->more[kind] += more;
    share->more_bytes += more_bytes;
}

static bool is_exempt(const struct wire_peer *peer, bool is_machine)
{
    const uint32_t daemons = SCOPE_ADMINISTRATOR | SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_MASTER |
                             SCOPE_NEGOTIATOR | SCOPE_FACTORY;
    uint32_t scopes = is_machine ? SCOPE_ADMINISTRATOR | SCOPE_FACTORY : daemons;
    return peer->token_id[0] == '\0' || (peer->scopes & scopes) != 0;
}

/* Decides how an ad is counted and in which share; *ret has a reference, or no share. */
static void classify_ad(struct shares *shares, const struct wire_peer *peer, bool is_machine,
                        const struct ad *ad, struct share_holding *ret)
{
    ret->kind = !is_machine                            ? SHARE_OTHERS
                : ad_bool_or(ad, "DynamicSlot", false) ? SHARE_DYNAMIC
                                                       : SHARE_SLOTS;
    ret->share = share_get(shares, peer->token_id, ad_string_or(ad, "Machine", ""));
}

int shares_admit(struct shares *shares, const struct share_claim *claim,
                 const struct share_holding *old, struct share_holding *ret, struct err *err)
{
    const struct wire_peer *peer = claim->peer;
    static const struct share_holding NONE;
    struct share_holding fresh = {.bytes = claim->bytes};
    if (is_exempt(peer, claim->is_machine)) {
        *ret = NONE;
        return 0;
    }
    old = old != NULL ? old : &NONE;
    if (old->share != NULL && claim->same_machine &&
        strcmp(old->share->all->key, peer->token_id) == 0) {
        fresh.share = old->share; /* nearly always: nothing is looked up */
        fresh.kind = old->kind;
        fresh.share->refs++;
    } else {
        classify_ad(shares, peer, claim->is_machine, claim->ad, &fresh);
    }
    struct share *share = fresh.share;
    bool same = old->share == share && old->kind == fresh.kind;
    bool same_all = old->share != NULL && old->share->all == share->all && old->kind == fresh.kind;
    long long more = (long long)fresh.bytes - (long long)(same ? old->bytes : 0);
    long long more_all = (long long)fresh.bytes - (long long)(same_all ? old->bytes : 0);
    const char *machine = strchr(share->key, '\n') + 1;
    int code = judge_room(share, peer, machine, fresh.kind, same ? 0 : 1, more, err);
    if (code == 0 && peer->slots_in_all) {
        code = judge_room(share->all, peer, NULL, fresh.kind, same_all ? 0 : 1, more_all, err);
    }
    if (code != 0) {
        share_unref(share);
        return code;
    }
    count_more(share, fresh.kind, same ? 0 : 1, more);
    count_more(share->all, fresh.kind, same_all ? 0 : 1, more_all);
    *ret = fresh;
    return 0;
}

void share_drop(struct share_holding *holding)
{
    share_unref(holding->share);
    *holding = (struct share_holding){.share = NULL};
}

static void count_holding(const struct share_holding *holding, bool is_held)
{
    for (struct share *share = holding->share; share != NULL; share = share->all) {
        share->counts[holding->kind] += is_held ? 1 : (size_t)-1;
        share->bytes += is_held ? holding->bytes : (size_t)0 - holding->bytes;
    }
}

void share_hold(struct share_holding *old, struct share_holding *fresh)
{
    struct share_holding was = *old;
    if (fresh != NULL) {
        count_holding(fresh, true);
        *old = *fresh;
        *fresh = (struct share_holding){.share = NULL};
    } else {
        *old = (struct share_holding){.share = NULL};
    }
    count_holding(&was, false);
    share_unref(was.share);
}
