/* negotiator/given.c - remembers claim ids that were given out.
 *
 * A claim id counts as given from before it is sent, also while the slot's ad is gone for a time
 * (the collector restarts).  When the schedd has declined it unused, it can be given out again at
 * once.  Otherwise it counts as given for a short while after the answer: by then the slot's ad
 * shows what became of the match, by another claim id or another state.  If it does not, the match
 * came to nothing: the answer was lost with the schedd or its connection, or the schedd died after
 * it had accepted, or the startd was cut off.  Then the id is given out again, to any schedd.
 *
 * That is safe, also when an earlier schedd has the match after all, because it is the startd who
 * makes sure that an id works once: of two schedds that show it the same id one is refused, and its
 * job is idle again at once; the same schedd refuses an id that it still has.  The while only saves
 * these refusals.  So it grows with the time that the answer took: in a pool that is overloaded the
 * slot's ad takes longer, too, and more matches would make matters worse.
 *
 * Rejected: to ask the schedd whether it has accepted.  It is often a schedd that has just lost its
 * power or is cut off, and the slot would be lost to all others until it answers.
 *
 * After a negotiator was killed, the next one does not know the answers either.  So digests of the
 * ids, from which the ids cannot be found, are written into the slot's ad at the collector, by a
 * MERGE that precedes the MATCH on the same connection.  The hub keeps the order, and the next
 * leader reads the digests there; for it they count as given until MARK_S after the MATCH.
 * They are not durable: a collector that dies loses the ads of running slots, and new ads come from
 * the startd, which knows its ids.  A startd could write such a mark itself, so only ids of the
 * slot itself are read from it, and it can harm nobody else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "wire/secret_list.h"
#include "wire/wire.h"

/* From the answer to a MATCH to the slot's changed ad, in a pool that is not overloaded: as long as
 * a DIAL_ME and an UPDATE take, and far below JOB_START_PROMISE. */
#define SHOWN_MS    2000
#define TOOK_FACTOR 4    /* the answer took that long: the slot's ad takes so many times as long */
#define TOOK_MAX_MS 2000 /* ... of which at most so much counts */
#define MARK_S      3    /* SHOWN_MS for the next leader, in whole seconds of the wall clock */
#define LOOK_MS     1000 /* how often it is looked at most which ids may be given again */
/* Attribute of the slot's ad: [ Holder = who gave; Until = wall time, s; Ids = { digests } ]. */
#define MARK "GivenClaims"

struct gift { /* a claim id that was given away */
    uint64_t given_ms;
    uint64_t until_ms; /* UINT64_MAX: the schedd has not answered yet */
    bool unanswered;   /* it is not known what the schedd has answered */
    struct ad *job;    /* job that gets a piece; NULL: not a piece */
    char slot[];       /* its name */
};

void given_gift_destroy(void *value)
{
    struct gift *gift = value;
    if (gift != NULL) {
        ad_destroy(gift->job);
        mem_free(gift);
    }
}

bool given_is(const struct negotiator *negotiator, const char *claim_id)
{
    return !PLANTED(slot_matched_twice) && strmap_get(negotiator->given.ids, claim_id) != NULL;
}

/* Counts the claim ids of the slot that can still be given out; *first: one of them. */
static int64_t count_free(const struct pool_slot *slot, const char **first)
{
    int64_t left = 0;
    *first = NULL;
    for (size_t i = 0; i < slot->id_count; i++) {
        const struct wire_secret *id = &secret_list_items(slot->ids)[i];
        if (id->kind == SECRET_CLAIM_ID && !given_is(slot->negotiator, id->text)) {
            left++;
            *first = *first != NULL ? *first : id->text;
        }
    }
    return left;
}

int64_t given_count_free(const struct pool_slot *slot)
{
    const char *id;
    return count_free(slot, &id);
}

const char *given_free_id(const struct pool_slot *slot)
{
    const char *id;
    (void)count_free(slot, &id);
    return id;
}

struct ad *given_job(const struct negotiator *negotiator, const char *claim_id)
{
    const struct gift *gift = strmap_get(negotiator->given.ids, claim_id);
    return gift != NULL ? gift->job : NULL;
}

/* ---- the mark in the slot's ad */

static void mark_answered(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* refused: the slot's ad is gone, and with it what was to be kept */
}

/* Computes the digest that stands for a claim id in a public ad; the 128 random bits of the id
 * cannot be found from it. */
static void digest_of(const char *id, char ret[DIGEST_HEX_SIZE])
{
    static const char PURPOSE[] = "roost given claim ";
    struct digest *digest = digest_create();
    digest_update(digest, PURPOSE, sizeof(PURPOSE) - 1);
    digest_update(digest, id, strlen(id));
    digest_hex(digest, ret);
    digest_destroy(digest);
}

/* Adds the digests of the slot's claim ids that were given out. */
static void add_given(const struct pool_slot *slot, struct vec *digests)
{
    for (size_t i = 0; i < slot->id_count; i++) {
        const char *id = secret_list_items(slot->ids)[i].text;
        char digest[DIGEST_HEX_SIZE];
        if (strmap_get(slot->negotiator->given.ids, id) != NULL) {
            digest_of(id, digest);
            vec_push(digests, mem_strdup(digest));
        }
    }
}

static void mark_slot(const struct pool_slot *slot)
{
    struct negotiator *negotiator = slot->negotiator;
    struct wire *wire = uplink_wire(negotiator->uplink);
    if (wire == NULL) {
        return;
    }
    struct vec given = {0};
    add_given(slot, &given);
    struct ad *note = ad_create(), *change = ad_create(), *args = ad_create();
    ad_set_string(note, "Holder", negotiator->lease.holder);
    ad_set_int(note, "Until", loop_wall_s(negotiator->env.loop) + MARK_S);
    ad_set_strings(note, "Ids", (const char *const *)given.items, given.count);
    ad_set_ad(change, MARK, note);
    ad_set_string(args, "Type", "Machine");
    ad_set_string(args, "Name", slot->name);
    const struct ad *ads[1] = {change};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    (void)wire_call(wire, VERB_MERGE, &body, 0, mark_answered,
                    NULL); /* not sent: nor is the match */
    ad_destroy(args);
    ad_destroy(change);
    vec_fini(&given, mem_free);
}

/* ---- giving */

/* Makes sure that given_forget_old() is called soon after until_ms. */
static void forget_at(struct negotiator *negotiator, uint64_t until_ms)
{
    uint64_t now_ms = loop_now_ms(negotiator->env.loop);
    uint64_t due_ms = until_ms > now_ms + LOOK_MS ? until_ms : now_ms + LOOK_MS;
    if (!loop_timer_is_set(negotiator->given.timer) || due_ms < negotiator->given.due_ms) {
        negotiator->given.due_ms = due_ms;
        loop_timer_set(negotiator->given.timer, due_ms - now_ms);
    }
}

static struct gift *remember_gift(struct negotiator *negotiator, const char *claim_id,
                                  const char *slot, struct ad *job, uint64_t until_ms)
{
    size_t length = strlen(slot) + 1;
    struct gift *gift = mem_alloc(sizeof *gift + length);
    *gift = (struct gift){.given_ms = loop_now_ms(negotiator->env.loop),
                          .until_ms = until_ms,
                          .job = job};
    memcpy(gift->slot, slot, length);
    given_gift_destroy(strmap_set(negotiator->given.ids, claim_id, gift));
    return gift;
}

void given_add(struct negotiator *negotiator, const char *claim_id, struct pool_slot *slot,
               const struct ad *job)
{
    bool piece = ad_bool_or(slot->facts.ad, "PartitionableSlot", false);
    (void)remember_gift(negotiator, claim_id, slot->name, piece ? ad_copy(job) : NULL, UINT64_MAX);
    mark_slot(slot);
    negotiator_slot_touched(slot);
}

/* Returns whether the slot's ad still offers the claim id. */
static bool is_on_offer(const struct pool_slot *slot, const char *claim_id)
{
    for (size_t i = 0; i < slot->id_count; i++) {
        if (strcmp(secret_list_items(slot->ids)[i].text, claim_id) == 0) {
            return true;
        }
    }
    return false;
}

bool given_was_declined(int status)
{
    return status == -ENOENT           /* no job of that autocluster is idle any more */
           || status == -EDQUOT        /* MAX_JOBS_RUNNING */
           || status == -ESHUTDOWN     /* the schedd is stopping */
           || status == -ENOTCONN      /* it could not ask the startd */
           || status == -EHOSTUNREACH; /* the hub could not deliver it */
}

void given_take_back(struct negotiator *negotiator, const char *claim_id)
{
    struct gift *gift = strmap_remove(negotiator->given.ids, claim_id);
    struct pool_slot *slot = gift != NULL ? strmap_get(negotiator->slots, gift->slot) : NULL;
    if (slot != NULL) {
        mark_slot(slot);
        negotiator_slot_touched(slot);
    }
    given_gift_destroy(gift);
}

/* Forgets a claim id that was given out long enough ago. */
static void forget_gift(struct negotiator *negotiator, const char *claim_id,
                        const struct gift *gift)
{
    struct pool_slot *slot = strmap_get(negotiator->slots, gift->slot);
    if (slot != NULL && is_on_offer(slot, claim_id)) {
        log_info(negotiator->env.log, "match.unused",
                 "the match came to nothing; the slot can be given again",
                 LOG_TEXT("slot", gift->slot));
        shares_declined(negotiator, gift->slot, claim_id);
        negotiator_slot_touched(slot);
    }
    given_gift_destroy(strmap_remove(negotiator->given.ids, claim_id));
}

void given_answered(struct negotiator *negotiator, const char *claim_id, int status)
{
    struct gift *gift = strmap_get(negotiator->given.ids, claim_id);
    if (gift == NULL) {
        return;
    }
    uint64_t now_ms = loop_now_ms(negotiator->env.loop), took_ms = now_ms - gift->given_ms;
    took_ms = status != 0 ? 0 : took_ms < TOOK_MAX_MS ? took_ms : TOOK_MAX_MS;
    gift->unanswered = status != 0;
    gift->until_ms = now_ms + SHOWN_MS + TOOK_FACTOR * took_ms;
    forget_at(negotiator, gift->until_ms);
}

bool given_awaits_word(const struct pool_slot *slot)
{
    bool awaits = slot->in_flight > 0;
    for (size_t i = 0; i < slot->id_count && !awaits; i++) {
        const struct gift *gift =
            strmap_get(slot->negotiator->given.ids, secret_list_items(slot->ids)[i].text);
        awaits = gift != NULL && gift->unanswered;
    }
    return awaits;
}

void given_forget_old(void *arg)
{
    struct negotiator *negotiator = arg;
    uint64_t now_ms = loop_now_ms(negotiator->env.loop), next_ms = UINT64_MAX;
    size_t at = 0, count = strmap_count(negotiator->given.ids);
    const char *claim_id;
    void *value;
    while (strmap_next(negotiator->given.ids, &at, &claim_id, &value)) {
        const struct gift *gift = value;
        if (now_ms >= gift->until_ms) {
            forget_gift(negotiator, claim_id, gift);
        } else if (gift->until_ms < next_ms) {
            next_ms = gift->until_ms;
        }
    }
    if (next_ms != UINT64_MAX) {
        forget_at(negotiator, next_ms);
    }
    if (strmap_count(negotiator->given.ids) < count) {
        negotiator_cycle_soon(negotiator);
    }
}

static bool has_digest(const struct ad_value *digests, const char *digest)
{
    bool found = false;
    for (size_t i = 0; i < ad_value_count(digests) && !found; i++) {
        struct ad_value item;
        ad_value_item(digests, i, &item);
        found = item.type == AD_TYPE_STRING && strcmp(item.string.text, digest) == 0;
        ad_value_fini(&item);
    }
    return found;
}

void given_read(const struct pool_slot *slot)
{
    struct negotiator *negotiator = slot->negotiator;
    const struct ad *note;
    if (ad_get_ad(slot->facts.ad, MARK, &note) != 0 ||
        strcmp(ad_string_or(note, "Holder", negotiator->lease.holder), negotiator->lease.holder) ==
            0) {
        return; /* none, or our own: we know better */
    }
    /* The startd could have written it, too: any number, any id. */
    int64_t now_s = loop_wall_s(negotiator->env.loop), until_s = ad_int_or(note, "Until", 0);
    int64_t left_s = until_s > now_s ? until_s - now_s : 0;
    left_s = left_s < MARK_S ? left_s : MARK_S;
    struct ad_value digests;
    (void)ad_eval_attr(note, NULL, "Ids", NULL, &digests); /* absent: none */
    for (size_t i = 0; left_s > 0 && ad_value_count(&digests) > 0 && i < slot->id_count; i++) {
        const char *id = secret_list_items(slot->ids)[i].text;
        char digest[DIGEST_HEX_SIZE];
        digest_of(id, digest);
        if (strmap_get(negotiator->given.ids, id) == NULL && has_digest(&digests, digest)) {
            uint64_t until_ms = loop_now_ms(negotiator->env.loop) + (uint64_t)left_s * 1000;
            remember_gift(negotiator, id, slot->name, NULL, until_ms)->unanswered = true;
            forget_at(negotiator, until_ms);
        }
    }
    ad_value_fini(&digests);
}
