/* sim/fault_truth.c - see fault_truth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/fault_truth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/check.h"
#include "sim/client.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"

#define FATAL      4 /* exit status of loop_fatal() */
#define REMOVED    3
#define COMPLETED  4 /* values of JobStatus */
#define HELD       5
#define BY_USER    1 /* values of HoldReasonCode */
#define FOR_OUTPUT 12
/* So long after its removal a machine that was cut off may still start a job: its claim's lease. */
#define REMOVED_MAX_US (120 * SIM_S)

struct known { /* what was seen of one job */
    bool excused, removed;
    uint64_t audit_us; /* the last audit that saw it */
};

struct damage {
    struct sim_row row;
    bool said; /* a log line named it */
};

struct fault_truth {
    struct sim *sim;
    struct judge *judge;
    const struct client *client;
    struct known *jobs;
    unsigned job_count;
    struct vec damages;
    uint64_t audit_us; /* when the running audit began */
    unsigned *torn;    /* for each submission: how many audits in a row saw a part of it */
};

struct fault_truth *fault_truth_create(struct sim *sim, struct judge *judge,
                                       const struct client *client, unsigned jobs)
{
    struct fault_truth *truth = mem_zalloc(sizeof(*truth));
    truth->sim = sim;
    truth->judge = judge;
    truth->client = client;
    truth->jobs = mem_zalloc((jobs + 1) * sizeof(*truth->jobs));
    truth->job_count = jobs;
    truth->torn = mem_zalloc((jobs + 1) * sizeof(*truth->torn)); /* none is empty */
    return truth;
}

void fault_truth_destroy(struct fault_truth *truth)
{
    if (truth != NULL) {
        vec_fini(&truth->damages, mem_free);
        mem_free(truth->jobs);
        mem_free(truth->torn);
        mem_free(truth);
    }
}

/* ---- submissions ----------------------------------------------------------------------------- */

/* The audit that began at truth->audit_us is complete: it saw all jobs of a submission, or none. */
static void check_whole(struct fault_truth *truth)
{
    for (size_t i = 0; truth->audit_us > 0 && i < truth->client->batch_count; i++) {
        const struct client_batch *batch = &truth->client->batches[i];
        unsigned seen = 0, excused = 0;
        for (unsigned k = 0; k < batch->count; k++) {
            const struct known *job = &truth->jobs[batch->first + k];
            seen += job->audit_us == truth->audit_us;
            excused += job->excused;
        }
        bool is_torn = excused == 0 && seen > 0 && seen < batch->count;
        truth->torn[i] = is_torn ? truth->torn[i] + 1 : 0;
        if (truth->torn[i] > 1) { /* an audit may see one that is just being added */
            judge_broken(truth->judge, "submit_torn: %u of the %u jobs of submission %zu exist",
                         seen, batch->count, i);
        }
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const struct client_batch *batch_of(const struct fault_truth *truth, unsigned number)
{
    for (size_t i = 0; i < truth->client->batch_count; i++) {
        const struct client_batch *batch = &truth->client->batches[i];
        if (number >= batch->first && number - batch->first < batch->count) {
            return batch;
        }
    }
    return NULL;
}

static bool is_to_be_removed(const struct fault_truth *truth, unsigned number)
{
    const struct client_batch *batch = batch_of(truth, number);
    return batch != NULL && batch->remove_us > 0;
}

void fault_truth_job_started(struct fault_truth *truth, const char *key)
{
    int64_t number = -1;
    const struct client_batch *batch =
        text_parse_int64(key, &number, NULL) == 0 && number >= 0 && number <= UINT32_MAX
            ? batch_of(truth, (unsigned)number)
            : NULL;
    if (batch != NULL && batch->removed_us > 0 &&
        sim_now_us(truth->sim) > batch->removed_us + REMOVED_MAX_US) {
        judge_broken(truth->judge, "removed_runs: job %lld was removed %llu s ago, and is started",
                     (long long)number,
                     (unsigned long long)((sim_now_us(truth->sim) - batch->removed_us) / SIM_S));
    }
}

/* Output for which the disk of the access point has no use for long holds its job, with the disk's
 * reason (starter/files/output.c, shadow/stage/place.c); the user releases it later. */
static bool may_be_held(const struct ad *ad)
{
    int64_t code = ad_int_or(ad, "HoldReasonCode", 0);
    int64_t detail = ad_int_or(ad, "HoldReasonSubCode", 0);
    return code == BY_USER ||
           (code == FOR_OUTPUT && (detail == ENOSPC || detail == EROFS || detail == EIO));
}

void fault_truth_job_seen(void *arg, uint64_t began_us, unsigned number, const struct ad *ad)
{
    struct fault_truth *truth = arg;
    struct known *job = &truth->jobs[number];
    int64_t status = ad_int_or(ad, "JobStatus", 0);
    if (began_us != truth->audit_us) {
        check_whole(truth);
        truth->audit_us = began_us;
    }
    job->audit_us = began_us;
    job->removed = job->removed || (status == REMOVED && is_to_be_removed(truth, number));
    if (status == HELD && !may_be_held(ad)) {
        judge_broken(truth->judge, "job_held: job %u: %s", number,
                     ad_string_or(ad, "HoldReason", "no reason"));
    }
    if (status == COMPLETED && ad_bool_or(ad, "ExitBySignal", false)) {
        judge_broken(truth->judge, "result_wrong: job %u counts as completed, by signal %lld",
                     number, (long long)ad_int_or(ad, "ExitSignal", 0));
    }
}

bool fault_truth_is_excused(void *arg, unsigned number)
{
    const struct fault_truth *truth = arg;
    return truth->jobs[number].excused || truth->jobs[number].removed;
}

/* ---- damaged rows ---------------------------------------------------------------------------- */

static void excuse_job(struct fault_truth *truth, int64_t number)
{
    if (number >= 0 && number < (int64_t)truth->job_count) {
        truth->jobs[number].excused = true;
    }
}

void fault_truth_damaged(struct fault_truth *truth, const struct sim_row *row)
{
    struct damage *damage = mem_zalloc(sizeof(*damage));
    damage->row = *row;
    vec_push(&truth->damages, damage);
    if (row->number >= 0) {
        excuse_job(truth, row->number);
    } else if (row->batch >= 0 && row->batch < (int64_t)truth->client->batch_count) {
        const struct client_batch *batch = &truth->client->batches[row->batch];
        for (unsigned i = 0; i < batch->count; i++) {
            excuse_job(truth, batch->first + i);
        }
    }
}

void fault_truth_log_line(struct fault_truth *truth, struct sim_process *process, const char *line,
                          size_t length)
{
    static const char EVENT[] = " store.row_damaged ";
    if (strcmp(process->program->name, "roost-schedd") != 0 ||
        memmem(line, length, EVENT, sizeof(EVENT) - 1) == NULL) {
        return;
    }
    if (truth->damages.count == 0) {
        judge_broken(truth->judge, "damage_unsaid: the schedd calls a row damaged that is not");
    }
    for (size_t i = 0; i < truth->damages.count; i++) {
        struct damage *damage = truth->damages.items[i];
        char row[256];
        int size = snprintf(row, sizeof(row), "%s %s", damage->row.table, damage->row.key_now);
        damage->said = damage->said || memmem(line, length, row, (size_t)size) != NULL;
    }
}

/* ---- the schedd ------------------------------------------------------------------------------ */

void fault_truth_process_ended(struct fault_truth *truth, struct sim_process *process, int status)
{
    int fault = sim_disk_fault(process->host);
    bool failed_too = process->host->disk_error_us + SIM_S > truth->sim->now_us;
    if (status == FATAL && !failed_too && strcmp(process->program->name, "roost-schedd") == 0 &&
        (fault == -ENOSPC || fault == -EROFS)) {
        judge_broken(truth->judge, "schedd_ends: its disk %s, and it ended itself",
                     fault == -EROFS ? "is mounted for reading only" : "is full");
    }
}

void fault_truth_finish(struct fault_truth *truth)
{
    check_whole(truth);
    for (size_t i = 0; i < truth->damages.count; i++) {
        const struct damage *damage = truth->damages.items[i];
        if (!damage->said) {
            judge_broken(truth->judge, "damage_unsaid: row %s %s", damage->row.table,
                         damage->row.key_now);
        }
    }
}
