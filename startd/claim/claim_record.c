/* startd/claim/claim_record.c - see claim_record.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/claim/claim_record.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/slot/carve_plan.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "store/store.h"

bool claim_came_back(struct claim *claim)
{
    claim->pending--;
    bool dead = claim->dead;
    if (dead && claim->pending == 0) {
        struct vec *all = &claim->startd->claim_memory.dead;
        for (size_t i = 0; i < all->count; i++) {
            if (all->items[i] == claim) {
                vec_remove_at(all, i);
                break;
            }
        }
        mem_free(claim);
    }
    return dead;
}

void claims_release_rest(struct startd *startd)
{
    vec_fini(&startd->claim_memory.commits, mem_free);
    vec_fini(&startd->claim_memory.dead, mem_free);
}

static struct ad *claim_to_ad(const struct claim *claim)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "SlotName", claim->slot_name);
    ad_set_string(ad, "BootId", claim->startd->machine.boot_id);
    ad_set_string(ad, "ScheddAddress", claim->schedd.address);
    ad_set_string(ad, "ScheddPin", claim->schedd.pin);
    ad_set_string(ad, "ScheddName", claim->schedd.name);
    ad_set_string(ad, "ScheddToken", claim->schedd.token);
    ad_set_string(ad, "UidDomain", claim->schedd.uid_domain);
    ad_set_string(ad, "Owners", claim->schedd.owners);
    ad_set_int(ad, "LeaseDuration", claim->lease.length_s);
    ad_set_string(ad, "JobId", claim->job.id);
    ad_set_int(ad, "ClaimEpoch", claim->job.epoch);
    ad_set_bool(ad, "Active", claim_plan_has_run(claim->stage));
    ad_set_bool(ad, "Over", claim->stage == CLAIM_OVER);
    /* A run that is to be given to a kept starter is known by it before it has it. */
    bool kept = claim->starter.pid == 0 && claim->kept.wire != NULL;
    ad_set_int(ad, "StarterPid", kept ? claim->kept.pid : claim->starter.pid);
    ad_set_int(ad, "StarterStart", (int64_t)(kept ? claim->kept.start : claim->starter.start));
    if (claim->run.directory != NULL) {
        ad_set_string(ad, "Directory", claim->run.directory);
    }
    ad_set_int(ad, "JobStartMs", claim->run.start_ms);
    ad_set_string(ad, "Reason", claim->ending.reason);
    ad_set_bool(ad, "Preempted", claim->ending.preempted);
    ad_set_bool(ad, "StarterFailed", claim->ending.starter_failed);
    ad_set_bool(ad, "MachineFault", claim->ending.machine_fault);
    ad_set_bool(ad, "Late", claim->ending.late);
    ad_set_bool(ad, "Evicted", claim->retirement.evicted);
    ad_set_bool(ad, "Drained", claim->retirement.drained);
    ad_set_bool(ad, "Accepted", claim->retirement.accepted);
    ad_set_bool(ad, "Suspended", claim_is_suspended(claim));
    ad_set_bool(ad, "SuspendedByUser", claim->suspension.by == SUSPENDED_BY_USER);
    ad_set_int(ad, "SuspendedAtMs", claim->suspension.at_ms);
    ad_set_int(ad, "SuspendedSeconds", claim->suspension.total_s);
    ad_set_int(ad, "NumSuspensions", claim->suspension.count);
    if (claim->job.ad != NULL) {
        ad_set_ad(ad, "Job", ad_copy(claim->job.ad));
    }
    if (claim->slot != NULL && claim->slot->kind == SLOT_DYNAMIC) {
        struct ad *piece = ad_create();
        carve_plan_write(claim->startd->division.kinds, &claim->slot->total, "", "", piece);
        carve_plan_write_ids(claim->startd->division.kinds, &claim->slot->total, piece);
        ad_set_ad(ad, "Piece", piece);
    }
    return ad;
}

struct commit {
    struct claim *claim;
    void (*done)(void *claim);
};

static void commit_done(void *arg)
{
    struct commit *commit = arg;
    struct claim *claim = commit->claim;
    void (*done)(void *claim) = commit->done;
    struct vec *commits = &claim->startd->claim_memory.commits;
    CHECK(commits->count > 0 && commits->items[0] == commit); /* they come in order */
    vec_remove_at(commits, 0);
    mem_free(commit);
    if (!claim_came_back(claim) && done != NULL) {
        done(claim);
    }
}

void claim_commit(struct claim *claim, void (*done)(void *claim))
{
    struct commit *commit = mem_alloc(sizeof *commit);
    *commit = (struct commit){.claim = claim, .done = done};
    vec_push(&claim->startd->claim_memory.commits, commit);
    claim->pending++;
    struct ad *ad = claim_to_ad(claim);
    struct strbuf bytes;
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    struct store_txn *txn = store_begin(claim->startd->store);
    store_put(txn, "claims", claim->id, bytes.data, bytes.length);
    store_put(txn, "nonces", claim->id, claim->nonce, strlen(claim->nonce));
    store_commit(txn, commit_done, commit);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

void claim_forget_record(struct claim *claim)
{
    struct store_txn *txn = store_begin(claim->startd->store);
    store_delete(txn, "claims", claim->id);
    store_delete(txn, "nonces", claim->id);
    store_commit(txn, NULL, NULL);
}
