/* schedd/claim/claims_load.c - see claims_load.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claims_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/claim/job_claims.h"
#include "schedd/claim/job_match.h"
#include "schedd/job_moves.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/job_queue.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"
#include "store/store.h"

struct repair {
    struct schedd *schedd;
    struct vec jobs;       /* jobs whose claim is missing */
    struct vec evicted;    /* jobs whose last run was being ended */
    struct vec claim_rows; /* keys of claims that are over */
};

static int load_claim(void *arg, const char *key, const void *value, size_t length)
{
    struct repair *repair = arg;
    struct schedd *schedd = repair->schedd;
    struct ad *row = NULL;
    struct err err;
    if (ad_decode(value, length, NULL, &row, &err) != 0) {
        log_error(schedd->log, "claims.row_damaged",
                  "cannot read the row of a claim; the row was dropped",
                  LOG_TEXT("error", err.text));
        return 0;
    }
    struct job *job = queue_job_by_id(schedd, ad_string_or(row, "JobId", ""));
    int64_t epoch = ad_int_or(row, "ClaimEpoch", 0);
    bool runs = job != NULL && job->epoch == epoch && job->claim == NULL &&
                (job->phase == JOB_CLAIMED || job->phase == JOB_ACTIVE);
    if (runs && strlen(key) <= CLAIM_ID_MAX) {
        struct claim *claim = claim_create(schedd, key, ad_string_or(row, "SlotName", ""),
                                           ad_string_or(row, "Machine", ""),
                                           ad_string_or(row, "StartdUplink", ""), job->autocluster);
        (void)snprintf(claim->boot_id, sizeof(claim->boot_id), "%s",
                       ad_string_or(row, "BootId", "")); /* cut if too long: compared only */
        claim_set_machine(claim, ad_string_or(row, "MachineToken", ""),
                          ad_string_or(row, "NonceDigest", ""));
        claim->lease_ms = (uint64_t)ad_int_or(row, "LeaseMs", (int64_t)claim->lease_ms);
        const struct ad *provisioned = NULL;
        if (ad_get_ad(row, "Provisioned", &provisioned) == 0) {
            claim->provisioned = ad_copy(provisioned);
        }
        claim->job = job;
        job->claim = claim;
        job_id(job, claim->job_id);
        claim->epoch = epoch;
        claim->start.activated = true; /* perhaps: its startd will tell */
        claim->state = CLAIM_BUSY;
        claim->claimed_ms = loop_now_ms(schedd->loop);
        claim_renewed(claim);
        claim_ask_whether_known(claim);
    } else {
        vec_push(&repair->claim_rows, mem_strdup(key));
    }
    ad_destroy(row);
    return 0;
}

static bool find_lost(void *arg, struct job *job)
{
    struct repair *repair = arg;
    if (moves_owe_eviction(job)) {
        vec_push(&repair->evicted, job);
    }
    if ((job->phase == JOB_CLAIMED || job->phase == JOB_ACTIVE) && job->claim == NULL) {
        vec_push(&repair->jobs, job);
    } else if (job->phase == JOB_PLACING) {
        shadow_runs_place(repair->schedd, job);
    } else if (job->claim != NULL) {
        shadow_runs_start(repair->schedd, job);
    }
    return true;
}

/* The job has a claim of which nothing is known: the claim's row was damaged or lost.  The job may
 * run there until the lease ends, so it keeps a claim without a startd until then. */
static void keep_for_lease(struct schedd *schedd, struct job *job)
{
    char run[JOB_ID_SIZE], id[CLAIM_ID_MAX + 1];
    const char *slot = job->own != NULL ? ad_string_or(job->own, "RemoteHost", "") : "";
    const char *at = strchr(slot, '@');
    job_id(job, run);
    (void)snprintf(id, sizeof(id), "lost#%s#%" PRId64, run, job->epoch);
    struct claim *claim =
        claim_create(schedd, id, slot, at != NULL ? at + 1 : "", "", job->autocluster);
    log_warn(schedd->log, "claims.row_missing",
             "the row of the claim on which the job runs is damaged or lost; the job starts again "
             "when the claim's lease has ended",
             LOG_TEXT("job", run), LOG_TEXT("slot", slot),
             LOG_INT("seconds", (int64_t)(claim->lease_ms / 1000)));
    claim->job = job;
    job->claim = claim;
    (void)snprintf(claim->job_id, sizeof(claim->job_id), "%s", run);
    claim->epoch = job->epoch;
    claim->start.activated = true;
    claim->state = CLAIM_BUSY;
    claim->claimed_ms = loop_now_ms(schedd->loop);
    claim_renewed(claim);
}

int claims_load(struct schedd *schedd, struct err *err)
{
    struct repair repair = {.schedd = schedd};
    int result = store_load(schedd->store, "claims", load_claim, &repair, err);
    if (result != 0) {
        vec_fini(&repair.claim_rows, mem_free);
        return err_prefix(err, result, "claims");
    }
    queue_walk(schedd, find_lost, &repair);
    struct change *change = change_begin(schedd);
    for (size_t i = 0; i < repair.evicted.count; i++) {
        moves_tell_eviction(change, repair.evicted.items[i]);
    }
    for (size_t i = 0; i < repair.jobs.count; i++) {
        keep_for_lease(schedd, repair.jobs.items[i]);
    }
    struct ad *life = ad_create();
    ad_set_int(life, "Value", schedd->self.life);
    change_put(change, "counters", "life", life);
    ad_destroy(life);
    /* A witness that was lost says nothing of the ids that were given. */
    change_raise(change, schedd->queue.next_cluster - 1);
    for (size_t i = 0; i < repair.claim_rows.count; i++) {
        change_delete(change, "claims", repair.claim_rows.items[i]);
    }
    change_commit(change, NULL, NULL, NULL);
    vec_fini(&repair.evicted, NULL);
    vec_fini(&repair.jobs, NULL);
    vec_fini(&repair.claim_rows, mem_free);
    return 0;
}
