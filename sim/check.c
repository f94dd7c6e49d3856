/* sim/check.c - see check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "sim/client.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"
#include "sim/tap.h"

#define CLUSTERS_MAX 4096
/* seconds by which a duration may differ: two clocks that are read one after the other, and two
 * values that are rounded */
#define DURATION_SLACK_S 3
/* how long the store may still hold a commit up when the disk works again */
#define HELD_UP_US ((uint64_t)5 * SIM_S)

struct job {
    uint64_t submitted_us;
    bool submitted;    /* the request to submit it was sent */
    bool acknowledged; /* the schedd acknowledged the submission */
    bool result;       /* the schedd acknowledged that the result is committed */
    bool placed, completed;
    uint64_t acknowledged_before_us; /* an audit that begins later must see the job */
    int64_t epoch;                   /* epoch of the run with the result */
    struct vec running;              /* struct sim_process: its running job processes */
    unsigned finished;               /* number of job processes that ended normally */
};

struct machine {
    struct sim_host *host;
    bool offline_acknowledged; /* its offline ads were acknowledged and not taken back */
    int64_t cancel_epoch, cancel_sequence; /* of the last update that took the offline ads back */
    uint64_t since_us;                     /* since when the machine is off */
    /* when jobs took it back from its way to sleep, the last two times, 0: never; and from which
     * life of the startd */
    uint64_t reclaimed_us[2];
    const struct sim_process *reclaimed_from;
};

struct judge {
    struct judge_options options;
    struct sim *sim;
    struct tap *tap;
    struct job *jobs;
    struct machine *machines;
    size_t machine_count;
    unsigned cluster_first[CLUSTERS_MAX]; /* number of the cluster's first job, plus 1 */
    struct strmap *matched;               /* set of "negotiator's serial claim id" */
    struct strmap *claimed;      /* claim id that a schedd accepted -> "job id claim epoch" */
    uint64_t no_demand_since_us; /* since when no job waits; 0: one waits */
    unsigned waiting, completed, wakes, runs, audits, pieces, preemptions, reclaims;
    uint64_t last_work_us;
    char verdict[512];
};

void judge_broken(struct judge *judge, const char *format, ...)
{
    if (judge->verdict[0] != '\0') {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(judge->verdict, sizeof(judge->verdict), format, args);
    va_end(args);
    sim_trace(judge->sim, NULL, "BROKEN %s", judge->verdict);
}

/* ---- lookups --------------------------------------------------------------------------------- */

static struct job *job_by_number(struct judge *judge, int64_t number)
{
    return number >= 0 && number < (int64_t)judge->options.jobs ? &judge->jobs[number] : NULL;
}

static struct job *job_by_id(struct judge *judge, const char *id)
{
    unsigned cluster = 0, proc = 0;
    if (sscanf(id, "%u.%u", &cluster, &proc) != 2 || cluster >= CLUSTERS_MAX ||
        judge->cluster_first[cluster] == 0) {
        return NULL;
    }
    return job_by_number(judge, (int64_t)judge->cluster_first[cluster] - 1 + proc);
}

static unsigned number_of(const struct judge *judge, const struct job *job)
{
    return (unsigned)(job - judge->jobs);
}

static struct machine *machine_of(struct judge *judge, const struct sim_host *host)
{
    while (judge->machine_count <= host->index) {
        judge->machines =
            mem_realloc(judge->machines, (judge->machine_count + 1) * sizeof(*judge->machines));
        judge->machines[judge->machine_count] =
            (struct machine){.host = sim_host_at(judge->sim, judge->machine_count)};
        judge->machine_count++;
    }
    return &judge->machines[host->index];
}

/* Returns whether the job runs.  If its machine was suspended, it counts only after it had time to
 * notice how much time has passed. */
static bool job_runs(const struct sim_process *process)
{
    uint64_t until_us = process->host->suspended_until_us;
    return !process->stopped &&
           (until_us == 0 || until_us + RESUME_TOLERANCE_US <= process->sim->now_us);
}

static bool any_runs(const struct job *job)
{
    for (size_t i = 0; i < job->running.count; i++) {
        if (job_runs(job->running.items[i])) {
            return true;
        }
    }
    return false;
}

static bool job_waits(const struct job *job)
{
    return job->submitted && !job->result && !any_runs(job);
}

/* Updates whether some job waits for a machine. */
static void count_demand(struct judge *judge)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        waiting += job_waits(&judge->jobs[i]);
    }
    uint64_t now_us = sim_now_us(judge->sim);
    judge->waiting = waiting;
    if (waiting > 0) {
        judge->no_demand_since_us = 0;
        judge->last_work_us = now_us;
    } else if (judge->no_demand_since_us == 0) {
        judge->no_demand_since_us = now_us;
    }
}

/* ---- job processes --------------------------------------------------------------------------- */

static const char *env_of(const struct sim_process *process, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; process->env[i] != NULL; i++) {
        if (strncmp(process->env[i], name, length) == 0 && process->env[i][length] == '=') {
            return process->env[i] + length + 1;
        }
    }
    return "";
}

static void check_slot(struct judge *judge, const struct sim_process *process)
{
    const char *slot = env_of(process, "_CONDOR_SLOT");
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        const struct job *job = &judge->jobs[i];
        for (size_t k = 0; k < job->running.count; k++) {
            const struct sim_process *other = job->running.items[k];
            if (other != process && other->host == process->host && job_runs(other) &&
                strcmp(env_of(other, "_CONDOR_SLOT"), slot) == 0) {
                judge_broken(judge, "slot_shared: jobs %s and %s both run in %s of %s",
                             process->job_key, other->job_key, slot, process->host->name);
            }
        }
    }
}

/* Checks that the jobs running on that machine were given no more CPUs than it has. */
static void check_cpus(struct judge *judge, const struct sim_process *process)
{
    unsigned given = 0;
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        const struct job *job = &judge->jobs[i];
        for (size_t k = 0; k < job->running.count; k++) {
            const struct sim_process *other = job->running.items[k];
            int64_t cpus = 0;
            if (other->host == process->host && job_runs(other) &&
                text_parse_int64(env_of(other, "OMP_NUM_THREADS"), &cpus, NULL) == 0) {
                given += (unsigned)cpus;
            }
        }
    }
    if (given > process->host->cpus) {
        judge_broken(judge, "slot_overcommitted: jobs on %s have %u CPUs of %u",
                     process->host->name, given, process->host->cpus);
    }
}

static int64_t sum_of(const struct ad *ad, const char *name)
{
    struct ad_value list;
    int64_t sum = 0;
    (void)ad_eval_attr(ad, NULL, name, NULL, &list); /* absent: no elements */
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value value;
        ad_value_item(&list, i, &value);
        sum += value.type == AD_TYPE_INT ? value.integer : 0;
        ad_value_fini(&value);
    }
    ad_value_fini(&list);
    return sum;
}

/* Checks the ad of a partitionable slot: its pieces and the rest must add up to the whole. */
static void check_whole(struct judge *judge, const struct ad *ad)
{
    static const char *const KINDS[][3] = {{"Cpus", "ChildCpus", "TotalSlotCpus"},
                                           {"Memory", "ChildMemory", "TotalSlotMemory"}};
    for (size_t i = 0; i < 2; i++) {
        int64_t left = ad_int_or(ad, KINDS[i][0], 0), pieces = sum_of(ad, KINDS[i][1]);
        int64_t whole = ad_int_or(ad, KINDS[i][2], 0);
        if (left + pieces != whole) {
            judge_broken(judge,
                         "slot_overcommitted: %s: %lld %s are left beside pieces of %lld, of %lld",
                         ad_string_or(ad, "Name", "?"), (long long)left, KINDS[i][0],
                         (long long)pieces, (long long)whole);
        }
    }
}

static bool is_taken_away(const struct judge *judge, const struct job *job)
{
    const struct judge_options *options = &judge->options;
    return options->is_taken_away != NULL &&
           options->is_taken_away(options->arg, number_of(judge, job));
}

static bool is_excused(const struct judge *judge, unsigned number)
{
    const struct judge_options *options = &judge->options;
    return options->is_excused != NULL && options->is_excused(options->arg, number);
}

struct recheck {
    struct judge *judge;
    struct job *job;
};

/* Checks that a job does not run twice.  Called when a suspended machine continued and has had time
 * to notice how much time has passed. */
static void recheck_demand(void *arg)
{
    struct recheck *recheck = arg;
    struct job *job = recheck->job;
    unsigned running = 0;
    for (size_t i = 0; i < job->running.count; i++) {
        running += job_runs(job->running.items[i]);
    }
    if (running > 1 && !is_taken_away(recheck->judge, job)) {
        judge_broken(recheck->judge,
                     "job_twice: job %u goes on when its machine does, and runs elsewhere",
                     number_of(recheck->judge, job));
    }
    mem_free(recheck);
}

static void job_started(void *arg, struct sim_process *process, const char *key)
{
    struct judge *judge = arg;
    int64_t number = -1;
    struct job *job =
        text_parse_int64(key, &number, NULL) == 0 ? job_by_number(judge, number) : NULL;
    if (job == NULL) {
        return;
    }
    judge->runs++;
    judge->last_work_us = sim_now_us(judge->sim);
    for (size_t i = 0; i < job->running.count && !is_taken_away(judge, job); i++) {
        const struct sim_process *other = job->running.items[i];
        if (other->stopped) {
            continue;
        }
        /* The one that starts may have been on its way there when its machine stood still; of one
         * that is made since, who makes it knows the time. */
        bool late = !job_runs(process) && process->started_us < process->host->suspended_until_us;
        if (!job_runs(other) || late) {
            uint64_t one_us = other->host->suspended_until_us;
            uint64_t both_us = process->host->suspended_until_us;
            both_us = both_us > one_us ? both_us : one_us;
            struct recheck *later = mem_alloc(sizeof(*later));
            *later = (struct recheck){judge, job};
            (void)sim_at(judge->sim, both_us + RESUME_TOLERANCE_US, recheck_demand, later);
        } else {
            judge_broken(judge,
                         "job_twice: job %u runs on %s (pid %d) and is started on %s (pid %d)",
                         number_of(judge, job), other->host->name, (int)other->pid,
                         process->host->name, (int)process->pid);
        }
    }
    vec_push(&job->running, process);
    judge->pieces += strchr(env_of(process, "_CONDOR_SLOT"), '_') != NULL;
    check_slot(judge, process);
    check_cpus(judge, process);
    count_demand(judge);
}

static void job_ended(void *arg, struct sim_process *process, const char *key, bool finished)
{
    struct judge *judge = arg;
    int64_t number = -1;
    struct job *job =
        text_parse_int64(key, &number, NULL) == 0 ? job_by_number(judge, number) : NULL;
    if (job == NULL) {
        return;
    }
    for (size_t i = 0; i < job->running.count; i++) {
        if (job->running.items[i] == process) {
            vec_remove_at(&job->running, i);
            break;
        }
    }
    job->finished += finished;
    count_demand(judge);
}

/* ---- machines -------------------------------------------------------------------------------- */

static void wake_asked(void *arg, struct sim_host *host)
{
    struct judge *judge = arg;
    uint64_t now_us = sim_now_us(judge->sim);
    judge->wakes++;
    count_demand(judge); /* a machine may have stood still meanwhile */
    const struct judge_options *options = &judge->options;
    if (options->is_ordered != NULL && options->is_ordered(options->arg, host)) {
        return;
    }
    if (judge->no_demand_since_us != 0 && now_us - judge->no_demand_since_us > WAKE_TOLERANCE_US) {
        judge_broken(judge, "wake_without_demand: %s is woken, and no job has waited for %.0f s",
                     host->name, (double)(now_us - judge->no_demand_since_us) / 1e6);
    }
}

static void poweroff_asked(void *arg, struct sim_host *host)
{
    struct judge *judge = arg;
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        const struct job *job = &judge->jobs[i];
        for (size_t k = 0; k < job->running.count; k++) {
            const struct sim_process *process = job->running.items[k];
            if (process->host == host) {
                judge_broken(judge, "off_while_claimed: %s goes down while job %u runs on it",
                             host->name, i);
            }
        }
    }
}

static void host_stops(void *arg, struct sim_host *host, bool orderly)
{
    struct judge *judge = arg;
    struct machine *machine = machine_of(judge, host);
    (void)orderly;
    machine->since_us = sim_now_us(judge->sim);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void file_placed(void *arg, struct sim_process *process, const char *path)
{
    struct judge *judge = arg;
    const char *directory = judge->options.output_directory;
    size_t length = strlen(directory);
    unsigned number = 0;
    char rest = '\0', expected[32];
    if (strcmp(process->host->name, judge->options.central) != 0 ||
        strncmp(path, directory, length) != 0 || path[length] != '/' ||
        sscanf(path + length + 1, "job.%u.ou%c", &number, &rest) != 2 || rest != 't') {
        return;
    }
    struct job *job = job_by_number(judge, number);
    const char *text = sim_file_get(process->host, path, NULL);
    (void)snprintf(expected, sizeof(expected), "%u\n", number);
    const struct judge_options *options = &judge->options;
    bool is_right = job != NULL && text != NULL &&
                    (options->is_output != NULL ? options->is_output(options->arg, number, text)
                                                : strcmp(text, expected) == 0);
    if (!is_right) {
        judge_broken(judge, "result_wrong: %s holds '%.60s'", path,
                     text != NULL ? text : "(nothing)");
        return;
    }
    job->placed = true;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Checks a match on its way from the negotiator to the hub.  A schedd that declines the match has
 * not taken the claim id. */
static void match_seen(struct judge *judge, const struct tap_message *message)
{
    char key[400];
    const struct ad *request = message->is_reply ? message->request : message->args;
    if (!message->is_relay) {
        return;
    }
    (void)snprintf(key, sizeof(key), "%llu %s", (unsigned long long)message->asker_serial,
                   message->claim_id);
    if (message->is_reply) {
        /* The last two: asked again, signed for another instance, or when the schedd has the list
         * of revoked tokens. */
        if (message->status == -ENOENT || message->status == -EHOSTUNREACH ||
            message->status == -ESTALE || message->status == -EAGAIN) {
            mem_free(strmap_remove(judge->matched, key));
        }
        return;
    }
    const uint64_t now_us = sim_now_us(judge->sim);
    const uint64_t *before_us = strmap_get(judge->matched, key);
    if (before_us != NULL && now_us - *before_us < MATCH_MEMORY_US) {
        judge_broken(judge, "claim_matched_twice: slot %s, whose claim id was given away before",
                     ad_string_or(request, "SlotName", "?"));
    }
    mem_free(strmap_set(judge->matched, key, mem_dup(&now_us, sizeof(now_us))));
}

/* Checks a claim that a schedd made.  The same answer once more is the same claim: the first answer
 * was lost on its way. */
static void claim_seen(struct judge *judge, const struct tap_message *message)
{
    if (!message->is_reply || message->status != 0 ||
        ad_bool_or(message->request, "Resume", false)) {
        return;
    }
    const char *claim = message->claim_id;
    char answer[96];
    (void)snprintf(answer, sizeof(answer), "%s %lld", ad_string_or(message->args, "JobId", "?"),
                   (long long)ad_int_or(message->args, "ClaimEpoch", -1));
    const char *before = strmap_get(judge->claimed, claim);
    if (before != NULL && strcmp(before, answer) != 0) {
        judge_broken(judge, "claim_used_twice: slot %s: for %s and for %s",
                     ad_string_or(message->request, "SlotName", "?"), before, answer);
    }
    mem_free(strmap_set(judge->claimed, claim, mem_strdup(answer)));
}

static void submit_seen(struct judge *judge, const struct tap_message *message)
{
    const struct ad *request = message->is_reply ? message->request : message->args;
    int64_t first = ad_int_or(request, "SimFirst", -1);
    if (!message->is_reply) {
        for (size_t i = 0; i < message->ad_count; i++) {
            struct job *job = job_by_number(judge, first + (int64_t)i);
            if (job != NULL && !job->submitted) {
                job->submitted = true;
                job->submitted_us = sim_now_us(judge->sim);
            }
        }
        count_demand(judge);
        return;
    }
    int64_t cluster = ad_int_or(message->args, "ClusterId", -1);
    int64_t last = ad_int_or(message->args, "LastProcId", -1);
    if (message->status != 0 || cluster < 0 || cluster >= CLUSTERS_MAX) {
        return;
    }
    judge->cluster_first[cluster] = (unsigned)first + 1;
    for (int64_t proc = ad_int_or(message->args, "FirstProcId", 0); proc <= last; proc++) {
        struct job *job = job_by_number(judge, first + proc);
        if (job != NULL && !job->acknowledged) {
            job->acknowledged = true;
            job->acknowledged_before_us = sim_now_us(judge->sim);
        }
    }
}

static void result_seen(struct judge *judge, const struct tap_message *message)
{
    if (!message->is_reply || message->status != 0) {
        return;
    }
    struct job *job = job_by_id(judge, ad_string_or(message->request, "JobId", ""));
    int64_t epoch = ad_int_or(message->request, "ClaimEpoch", -1);
    if (job == NULL || !ad_has(message->request, "ExitCode")) {
        return; /* unknown yet, or no end of the job but a failed attempt */
    }
    if (job->result && job->epoch != epoch) {
        judge_broken(judge, "result_twice: job %u, with epochs %lld and %lld",
                     number_of(judge, job), (long long)job->epoch, (long long)epoch);
    }
    job->result = true;
    job->epoch = epoch;
    count_demand(judge);
}

static bool is_later(const struct ad *args, int64_t epoch, int64_t sequence)
{
    int64_t its_epoch = ad_int_or(args, "Epoch", 0);
    return its_epoch != epoch ? its_epoch > epoch : ad_int_or(args, "Sequence", 0) > sequence;
}

/* ---- durations ------------------------------------------------------------------------------- */

/* Checks that what took `seconds` by that machine's word lasted at most `most_us` in truth. */
static void check_duration(struct judge *judge, const char *whose, const char *what,
                           int64_t seconds, uint64_t most_us)
{
    if (seconds < -DURATION_SLACK_S || seconds > (int64_t)(most_us / SIM_S) + DURATION_SLACK_S) {
        judge_broken(judge, "duration_wrong: %s: %s is %lld s, and at most %llu s are possible",
                     whose, what, (long long)seconds, (unsigned long long)(most_us / SIM_S));
    }
}

/* Checks the ad of a slot that its startd sends. */
static void check_stamps(struct judge *judge, const struct sim_host *host, const struct ad *ad)
{
    static const char *const STAMPS[] = {"DaemonStartTime", "EnteredCurrentState",
                                         "EnteredCurrentActivity", "JobStart"};
    static const char *const DURATIONS[] = {"TotalJobRunTime", "TotalJobSuspendTime",
                                            "CpuBusyTime"};
    int64_t now_s = ad_int_or(ad, "MyCurrentTime", 0), value = 0;
    if (now_s == 0 || ad_bool_or(ad, "Offline", false)) {
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(STAMPS); i++) {
        if (ad_get_int(ad, STAMPS[i], &value) == 0) {
            check_duration(judge, ad_string_or(ad, "Name", "?"), STAMPS[i], now_s - value,
                           sim_host_up_us(host));
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(DURATIONS); i++) {
        if (ad_get_int(ad, DURATIONS[i], &value) == 0) {
            check_duration(judge, ad_string_or(ad, "Name", "?"), DURATIONS[i], value,
                           sim_host_up_us(host));
        }
    }
}

/* A startd asks whether its machine may go down. */
static void down_ask_seen(struct judge *judge, const struct tap_message *message)
{
    static const char *const NAMES[] = {"UpSeconds", "IdleSeconds"};
    const struct sim_host *host = message->is_reply ? NULL : message->from->host;
    int64_t value = 0;
    for (size_t i = 0; host != NULL && i < ARRAY_COUNT(NAMES); i++) {
        if (strcmp(ad_string_or(message->args, "Machine", ""), host->name) == 0 &&
            ad_get_int(message->args, NAMES[i], &value) == 0) {
            check_duration(judge, host->name, NAMES[i], value, sim_host_up_us(host));
        }
    }
}

/* Checks how long the runs of a job took in all. */
static void check_run_time(struct judge *judge, const struct job *job, const struct ad *ad)
{
    static const char *const NAMES[] = {"RemoteWallClockTime", "LastRemoteWallClockTime",
                                        "CommittedTime"};
    /* When the submit machine was booted after that, with a wrong clock, and nobody could tell it
     * how long a run had lasted, it had to guess. */
    const struct sim_host *central = sim_host_find(judge->sim, judge->options.central);
    if (central == NULL || central->booted_us > job->submitted_us) {
        return;
    }
    char whose[32];
    (void)snprintf(whose, sizeof(whose), "job %u", number_of(judge, job));
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        double value = ad_real_or(ad, NAMES[i], 0);
        check_duration(judge, whose, NAMES[i],
                       value > -1e12 && value < 1e12 ? (int64_t)value : INT64_MAX,
                       sim_now_us(judge->sim) - job->submitted_us);
    }
}

static void update_seen(struct judge *judge, const struct tap_message *message)
{
    struct machine *machine = machine_of(judge, message->asker);
    for (size_t i = 0; !message->is_reply && i < message->ad_count; i++) {
        if (ad_bool_or(message->ads[i], "PartitionableSlot", false)) {
            check_whole(judge, message->ads[i]);
        }
        if (message->from->host == message->asker &&
            strcmp(message->from->program->name, "roost-startd") == 0) {
            check_stamps(judge, message->asker, message->ads[i]);
        }
    }
    if (!message->is_reply && ad_bool_or(message->args, "CancelOffline", false)) {
        machine->offline_acknowledged = false;
        machine->cancel_epoch = ad_int_or(message->args, "Epoch", 0);
        machine->cancel_sequence = ad_int_or(message->args, "Sequence", 0);
    } else if (message->is_reply && message->status == 0 &&
               ad_bool_or(message->request, "Durable", false) &&
               ad_int_or(message->args, "Rejected", 0) == 0 &&
               is_later(message->request, machine->cancel_epoch, machine->cancel_sequence)) {
        machine->offline_acknowledged = true;
    }
}

static void gone_seen(struct judge *judge, const struct tap_message *message)
{
    judge->preemptions +=
        message->is_reply && ad_bool_or(message->request, "Preempted", false) ? 1 : 0;
}

static void reclaim_seen(struct judge *judge, const struct tap_message *message)
{
    bool is_done = message->is_reply && message->status == 0 && !message->is_relay &&
                   strcmp(ad_string_or(message->args, "Result", ""), "Reclaimed") == 0;
    judge->reclaims += is_done ? 1 : 0;
    struct machine *machine = is_done ? machine_of(judge, message->from->host) : NULL;
    if (machine == NULL || strcmp(machine->host->name, judge->options.central) == 0) {
        return; /* the collector passes the answer on */
    }
    uint64_t now_us = sim_now_us(judge->sim);
    bool same = machine->reclaimed_from == message->from;
    if (same && machine->reclaimed_us[0] != 0 && now_us - machine->reclaimed_us[0] < 60 * SIM_S) {
        judge_broken(judge, "taken_back_often: %s, 3 times within %llu s", machine->host->name,
                     (unsigned long long)((now_us - machine->reclaimed_us[0]) / SIM_S));
    }
    machine->reclaimed_us[0] = same ? machine->reclaimed_us[1] : 0;
    machine->reclaimed_us[1] = now_us;
    machine->reclaimed_from = message->from;
}

static void message_seen(void *arg, const struct tap_message *message)
{
    struct judge *judge = arg;
    switch (message->verb) {
    case VERB_MATCH:
        match_seen(judge, message);
        break;
    case VERB_CLAIM:
        claim_seen(judge, message);
        break;
    case VERB_SUBMIT:
        submit_seen(judge, message);
        break;
    case VERB_JOB_RESULT:
        result_seen(judge, message);
        break;
    case VERB_CLAIM_GONE:
        gone_seen(judge, message);
        break;
    case VERB_POWER_RECLAIM:
        reclaim_seen(judge, message);
        break;
    case VERB_POWER_DOWN_ASK:
        down_ask_seen(judge, message);
        break;
    case VERB_UPDATE:
        update_seen(judge, message);
        break;
    default:
        break;
    }
}

/* ---- answers to the client ------------------------------------------------------------------- */

static void audit_jobs(void *arg, uint64_t began_us, struct ad *const *queue, size_t queue_count,
                       struct ad *const *history, size_t history_count)
{
    struct judge *judge = arg;
    unsigned *seen = mem_zalloc((judge->options.jobs + 1) * sizeof(*seen));
    unsigned *finished = mem_zalloc((judge->options.jobs + 1) * sizeof(*finished));
    /* While the schedd's disk takes no changes, its queue shows what is not committed yet. */
    const struct sim_host *central = sim_host_find(judge->sim, judge->options.central);
    bool is_kept = sim_disk_fault(central) == 0;
    /* A job whose removal is held up by the disk has left the queue, and the history on disk does
     * not have it yet; a lost job is still missing at the next look. */
    bool was_kept = began_us > sim_disk_fault_end_us(central) + HELD_UP_US;
    judge->audits++;
    for (size_t i = 0; i < queue_count + history_count; i++) {
        const struct ad *ad = i < queue_count ? queue[i] : history[i - queue_count];
        struct job *job = job_by_number(judge, ad_int_or(ad, "SimNumber", -1));
        if (job == NULL || !job->submitted) {
            judge_broken(judge, "queue_unknown: job %lld.%lld",
                         (long long)ad_int_or(ad, "ClusterId", -1),
                         (long long)ad_int_or(ad, "ProcId", -1));
            continue;
        }
        if (!job->acknowledged && is_kept) { /* the answer was lost, not the jobs */
            int64_t cluster = ad_int_or(ad, "ClusterId", 0), proc = ad_int_or(ad, "ProcId", 0);
            if (cluster >= 0 && cluster < CLUSTERS_MAX) {
                judge->cluster_first[cluster] = number_of(judge, job) - (unsigned)proc + 1;
            }
            job->acknowledged = true;
        }
        if (ad_int_or(ad, "JobStatus", 0) == 4 && !job->completed) {
            job->completed = true;
            judge->completed++;
        }
        check_run_time(judge, job, ad);
        if (judge->options.job_seen != NULL) {
            judge->options.job_seen(judge->options.arg, began_us, number_of(judge, job), ad);
        }
        seen[number_of(judge, job)]++;
        if (i >= queue_count && finished[number_of(judge, job)]++ > 0) {
            judge_broken(judge, "result_twice: job %u is in the history twice",
                         number_of(judge, job));
        }
    }
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        if (judge->jobs[i].acknowledged_before_us != 0 &&
            judge->jobs[i].acknowledged_before_us < began_us && seen[i] == 0 && was_kept &&
            !is_excused(judge, i)) {
            judge_broken(judge,
                         "job_lost: job %u was acknowledged, and is neither in the queue nor in "
                         "the history",
                         i);
        }
        if (judge->jobs[i].acknowledged && judge->jobs[i].acknowledged_before_us == 0) {
            judge->jobs[i].acknowledged_before_us = sim_now_us(judge->sim);
        }
    }
    mem_free(seen);
    mem_free(finished);
}

static void audit_offline(void *arg, uint64_t began_us, struct ad *const *ads, size_t count)
{
    struct judge *judge = arg;
    struct strmap *there = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < count; i++) {
        (void)strmap_set(there, ad_string_or(ads[i], "Machine", ""), judge); /* presence counts */
    }
    for (size_t i = 0; i < judge->machine_count; i++) {
        const struct machine *machine = &judge->machines[i];
        if (!machine->offline_acknowledged || machine->since_us == 0 ||
            machine->since_us > began_us || machine->host->power != SIM_HOST_OFF) {
            continue;
        }
        if (strmap_get(there, machine->host->name) == NULL) {
            judge_broken(judge,
                         "offline_lost: %s sleeps, and the collector has no offline ad of it",
                         machine->host->name);
        }
    }
    strmap_destroy(there, NULL);
}

static void submit_refused(void *arg, unsigned batch, int status, const char *text)
{
    judge_broken(arg, "submit_refused: batch %u: %d %s", batch, status, text);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void bytes_sent(void *arg, struct sim_process *from, uint64_t connection, bool by_client,
                       const char *route, const void *data, size_t length)
{
    struct judge *judge = arg;
    (void)route;
    tap_bytes(judge->tap, from, connection, by_client, data, length);
    if (judge->options.tap != NULL) {
        tap_bytes(judge->options.tap, from, connection, by_client, data, length);
    }
    if (tap_faults(judge->tap) > 0) {
        judge_broken(judge, "not_frames: %s on %s sent something else", from->program->name,
                     from->host->name);
    }
}

struct judge *judge_create(const struct judge_options *options)
{
    static const enum wire_verb VERBS[] = {VERB_MATCH,         VERB_CLAIM,          VERB_SUBMIT,
                                           VERB_JOB_RESULT,    VERB_UPDATE,         VERB_CLAIM_GONE,
                                           VERB_POWER_RECLAIM, VERB_POWER_DOWN_ASK, VERB_NONE};
    struct judge *judge = mem_zalloc(sizeof(*judge));
    judge->options = *options;
    judge->jobs = mem_zalloc((options->jobs + 1) * sizeof(*judge->jobs));
    judge->tap = tap_create(VERBS, message_seen, judge);
    judge->matched = strmap_create(STRMAP_CASE_SENSITIVE);
    judge->claimed = strmap_create(STRMAP_CASE_SENSITIVE);
    return judge;
}

void judge_destroy(struct judge *judge)
{
    if (judge == NULL) {
        return;
    }
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        vec_fini(&judge->jobs[i].running, NULL);
    }
    strmap_destroy(judge->matched, mem_free);
    strmap_destroy(judge->claimed, mem_free);
    tap_destroy(judge->tap);
    mem_free(judge->jobs);
    mem_free(judge->machines);
    mem_free(judge);
}

void judge_attach(struct judge *judge, struct sim *sim)
{
    judge->sim = sim;
    judge->no_demand_since_us = sim_now_us(sim);
}

void judge_observe(struct judge *judge, struct sim_observer *observer)
{
    *observer = (struct sim_observer){.job_started = job_started,
                                      .job_ended = job_ended,
                                      .wake_asked = wake_asked,
                                      .poweroff_asked = poweroff_asked,
                                      .host_stops = host_stops,
                                      .sent = bytes_sent,
                                      .file_placed = file_placed,
                                      .arg = judge};
}

void judge_listen(struct judge *judge, struct client_events *events)
{
    *events = (struct client_events){.jobs = audit_jobs,
                                     .offline = audit_offline,
                                     .refused = submit_refused,
                                     .arg = judge};
}

const char *judge_verdict(const struct judge *judge)
{
    return judge->verdict;
}

unsigned judge_waiting(const struct judge *judge)
{
    return judge->waiting;
}

bool judge_job_waits(const struct judge *judge, unsigned number)
{
    return job_waits(&judge->jobs[number]);
}

bool judge_all_completed(const struct judge *judge)
{
    unsigned done = judge->completed;
    for (unsigned i = 0; done < judge->options.jobs && i < judge->options.jobs; i++) {
        done += !judge->jobs[i].completed && is_excused(judge, i);
    }
    return done == judge->options.jobs;
}

unsigned judge_completed(const struct judge *judge)
{
    return judge->completed;
}

unsigned judge_wakes(const struct judge *judge)
{
    return judge->wakes;
}

unsigned judge_runs(const struct judge *judge)
{
    return judge->runs;
}

unsigned judge_audits(const struct judge *judge)
{
    return judge->audits;
}

unsigned judge_pieces(const struct judge *judge)
{
    return judge->pieces;
}

unsigned judge_reclaims(const struct judge *judge)
{
    return judge->reclaims;
}

unsigned judge_preemptions(const struct judge *judge)
{
    return judge->preemptions;
}

void judge_finish(struct judge *judge)
{
    for (unsigned i = 0; i < judge->options.jobs; i++) {
        const struct job *job = &judge->jobs[i];
        if (is_excused(judge, i)) {
            continue;
        }
        if (!job->completed) {
            judge_broken(judge, "job_unfinished: job %u (%u of %u are completed)%s%s%s", i,
                         judge->completed, judge->options.jobs,
                         job->submitted ? "" : ", not submitted",
                         job->acknowledged ? "" : ", not acknowledged",
                         job->running.count > 0 ? ", running" : "");
        } else if (!job->placed) {
            judge_broken(judge, "result_wrong: job %u is completed, and its output never came", i);
        }
    }
    unsigned awake = 0;
    for (size_t i = 0; i < judge->machine_count; i++) {
        const struct sim_host *host = judge->machines[i].host;
        bool is_central = strcmp(host->name, judge->options.central) == 0;
        awake += host->power != SIM_HOST_OFF && !is_central;
        if (awake > judge->options.awake_max) {
            judge_broken(judge, "never_sleeps: %s is still on", host->name);
        }
    }
}
