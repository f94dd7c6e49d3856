/* starter/job/watch.c - measures what the job uses while it runs, holds it for too much, and
 * reports it.
 *
 * The cgroup limits memory; here its kills are noticed.  Without a cgroup the sizes of the
 * processes are measured.  Disk is measured by walking the job's directories, the network by its
 * connections (base/os/os_traffic.h says what that misses).  Both are measured less often the
 * longer it takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_cgroup.h"
#include "base/os/os_figures.h"
#include "base/os/os_traffic.h"
#include "base/plant.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/job/cage_plan.h"
#include "starter/job_run.h"
#include "starter/job/joules.h"
#include "starter/starter.h"
#include "wire/wire.h"

#define WALK_REST      50 /* a walk may take this part of the time */
#define FAMILY_MS      1000
#define WALK_MS        2000
#define NET_MS         1000
#define MEGABYTE       1e6
#define WALK_FILES_MAX 1000000 /* where JOB_MAX_FILES is none */
#define OWN_FILES_MAX  20      /* that we put there ourselves */

static const char *slot_name(const struct starter *starter)
{
    return ad_string_or(starter->run.record, "SlotName", "");
}

static void keep_larger(int64_t *kept, int64_t seen)
{
    *kept = seen > *kept ? seen : *kept;
}

/* ---- what is seen */

/* Keeps the last two counts of the whole machine: the end of the job may be seen just after a count
 * that has its kill. */
static void note_machines_oom(struct starter *starter)
{
    struct starter_watch *watch = &starter->run.watch;
    watch->machine_oom[0] = watch->machine_oom[1];
    watch->machine_oom[1] = os_oom_kills(starter->env.os);
}

/* Returns when to do again what began at began_ms: least_ms from now, or later so that it takes
 * only one part in WALK_REST of the time. */
static uint64_t rest_until(const struct starter *starter, uint64_t began_ms, uint64_t least_ms)
{
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    uint64_t rest_ms = (now_ms - began_ms) * WALK_REST;
    return now_ms + (rest_ms > least_ms ? rest_ms : least_ms);
}

/* *family: the job's processes, if they had to be looked at one by one; else empty. */
static void look_at_processes(struct starter *starter, struct os_figures *family)
{
    *family = (struct os_figures){0};
    struct starter_watch *watch = &starter->run.watch;
    struct os_cgroup_usage group;
    cage_figures(starter, &group);
    watch->has_memory = group.has_memory;
    if (group.has_memory) {
        watch->memory_kib = group.memory_bytes / 1024;
        watch->group_peak_kib = group.memory_peak_bytes / 1024;
        watch->has_oom = group.has_oom;
        if (group.has_oom) {
            watch->oom_kills = group.oom_kills;
            watch->limit_hits = group.limit_hits;
        }
    }
    keep_larger(&watch->processes, group.processes);
    if (group.has_cpu) {
        watch->user_cpu_s = group.user_cpu_s;
        watch->system_cpu_s = group.system_cpu_s;
    }
    if (group.processes > 0) {
        watch->living = group.processes;
    }
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    if ((!group.has_memory || !group.has_cpu) && now_ms >= watch->next_family_ms) {
        int64_t limit_kib = cage_memory_limit_mib(starter) * 1024;
        os_descendants_figures(starter->env.os, false, family);
        if (!group.has_memory && limit_kib > 0 && family->rss_kib > limit_kib) {
            os_descendants_figures(starter->env.os, true, family); /* before it is blamed */
        }
        watch->next_family_ms = rest_until(starter, now_ms, FAMILY_MS);
        watch->living = family->processes;
        note_machines_oom(starter);
        keep_larger(&watch->image_kib, family->image_kib);
        keep_larger(&watch->processes, family->processes);
        watch->memory_kib = group.has_memory ? watch->memory_kib : family->rss_kib;
        if (!group.has_cpu &&
            family->user_cpu_s + family->system_cpu_s > watch->user_cpu_s + watch->system_cpu_s) {
            watch->user_cpu_s = family->user_cpu_s;
            watch->system_cpu_s = family->system_cpu_s;
        }
    }
    if (starter->run.ckpt.pid == 0) {    /* else a copy of it counts, too */
        cage_allow_copy(starter, false); /* it may have taken too much to be held to its limit */
        keep_larger(&watch->memory_peak_kib, watch->memory_kib);
    }
}

/* Gives the CPU times: by the cgroup, or of processes that have ended, whichever is more. */
static void cpu_times(const struct starter *starter, double *user_s, double *system_s)
{
    const struct starter_watch *watch = &starter->run.watch;
    const struct os_exit *exit = &starter->run.process.exit;
    *user_s = watch->user_cpu_s > exit->user_cpu_s ? watch->user_cpu_s : exit->user_cpu_s;
    *system_s = watch->system_cpu_s > exit->system_cpu_s ? watch->system_cpu_s : exit->system_cpu_s;
}

static void look_at_energy(struct starter *starter)
{
    double user_s, system_s;
    cpu_times(starter, &user_s, &system_s);
    joules_look(starter, user_s + system_s);
}

static void look_at_files(struct starter *starter)
{
    struct starter_watch *watch = &starter->run.watch;
    struct os_tree_figures tree;
    uint64_t before_ms = loop_now_ms(starter->env.loop);
    int64_t files_max = config_int(starter->env.config, "JOB_MAX_FILES");
    os_tree_figures(starter->env.os, starter->run.directory,
                    files_max > 0 ? files_max + OWN_FILES_MAX + 1 : WALK_FILES_MAX, &tree);
    watch->disk_kib = tree.disk_kib;
    watch->files = tree.files;
    if (starter->run.ckpt.wanted) { /* not the job's doing */
        char *path = job_run_image_path(starter, "");
        os_tree_figures(starter->env.os, path, WALK_FILES_MAX, &tree);
        mem_free(path);
        watch->disk_kib -= tree.disk_kib;
        watch->files -= tree.files;
    }
    watch->next_walk_ms = rest_until(starter, before_ms, WALK_MS);
}

static int64_t disk_limit_kib(const struct starter *starter)
{
    const struct ad *slot = NULL;
    (void)ad_get_ad(starter->run.record, "Slot", &slot); /* a record without one has no limits */
    return slot != NULL && config_bool(starter->env.config, "STARTD_ENFORCE_DISK_LIMITS")
               ? ad_int_or(slot, "Disk", 0)
               : 0;
}

typedef void (*hold_f)(struct starter *starter, int code, int subcode, const char *reason);

static void look_at_network(struct starter *starter, const struct os_figures *family)
{
    struct starter_watch *watch = &starter->run.watch;
    uint64_t before_ms = loop_now_ms(starter->env.loop);
    if (watch->traffic == NULL) {
        watch->traffic = os_traffic_create(starter->env.os);
    }
    os_traffic_look(watch->traffic, cage_group(starter), family);
    watch->next_net_ms = rest_until(starter, before_ms, NET_MS);
}

static struct cage_taken what_is_taken(const struct starter *starter)
{
    const struct starter_watch *watch = &starter->run.watch;
    /* What was killed takes nothing any more. */
    int64_t memory_kib = watch->oom_kills > 0 && watch->group_peak_kib > watch->memory_kib
                             ? watch->group_peak_kib
                             : watch->memory_kib;
    int64_t limit_kib = cage_memory_limit_mib(starter) * 1024;
    if (starter->run.ckpt.pid > 0 && watch->oom_kills == 0 && memory_kib > limit_kib) {
        memory_kib = limit_kib; /* judged when its copy is gone */
    }
    return (struct cage_taken){
        .oom_kills = watch->oom_kills,
        .limit_hits = watch->limit_hits,
        .memory_mib = (memory_kib + 1023) / 1024,
        .memory_limit_mib = cage_memory_limit_mib(starter),
        .disk_kib = watch->disk_kib,
        .disk_limit_kib = disk_limit_kib(starter),
        .files = watch->files - OWN_FILES_MAX,
        .files_limit = config_int(starter->env.config, "JOB_MAX_FILES"),
    };
}

static bool judge_use(struct starter *starter, hold_f hold)
{
    struct cage_verdict verdict;
    const struct cage_taken taken = what_is_taken(starter);
    cage_plan_judge(slot_name(starter), &taken, &verdict);
    if (verdict.code != 0) {
        hold(starter, verdict.code, verdict.subcode, verdict.reason);
    }
    return verdict.code != 0;
}

bool watch_is_too_much(const struct starter *starter, int64_t bytes)
{
    int64_t limit_kib = disk_limit_kib(starter);
    return limit_kib > 0 && bytes / 1024 > limit_kib;
}

void watch_hold_input(struct starter *starter, int64_t bytes)
{
    starter->run.watch.disk_kib = bytes / 1024;
    (void)judge_use(starter, job_run_hold); /* it was asked before */
}

/* ---- what is told */

void watch_report(const struct starter *starter, struct ad *args)
{
    const struct starter_watch *watch = &starter->run.watch;
    const struct os_exit *exit = &starter->run.process.exit;
    int64_t ran_s = job_run_length_s(starter);
    int64_t wall_s = ran_s > 0 ? ran_s : 1;
    /* What wait4() calls its peak counts us in, from before the exec: the cgroup knows better. */
    int64_t peak_kib = exit->max_rss_kib;
    if (watch->has_memory && watch->group_peak_kib > 0 && watch->group_peak_kib < peak_kib) {
        peak_kib = watch->group_peak_kib;
    }
    keep_larger(&peak_kib, watch->memory_peak_kib);
    double user_s, system_s;
    cpu_times(starter, &user_s, &system_s);
    ad_set_real(args, "RemoteUserCpu", user_s);
    ad_set_real(args, "RemoteSysCpu", system_s);
    ad_set_real(args, "CpusUsage", (user_s + system_s) / (double)wall_s);
    ad_set_int(args, "MemoryUsage", (peak_kib + 1023) / 1024);
    ad_set_int(args, "ResidentSetSize", peak_kib);
    if (watch->looked) { /* of one that was never looked at while it ran its peak says too much */
        ad_set_int(args, "ImageSize", watch->image_kib > peak_kib ? watch->image_kib : peak_kib);
    }
    ad_set_int(args, "DiskUsage", watch->disk_kib);
    ad_set_int(args, "ScratchDirFileCount", watch->files);
    ad_set_int(args, "NumPids", watch->processes);
    if (watch->traffic != NULL) {
        uint64_t received, sent;
        os_traffic_total(watch->traffic, &received, &sent);
        ad_set_real(args, "NetworkInputMb", (double)received / MEGABYTE);
        ad_set_real(args, "NetworkOutputMb", (double)sent / MEGABYTE);
    }
    joules_report(starter, args);
    ad_set_real(args, "BytesRecvd", (double)starter->run.bytes.received);
    ad_set_real(args, "BytesSent", (double)starter->run.bytes.sent);
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next one is newer */
}

void watch_tell(struct starter *starter)
{
    if (starter->shadow == NULL || !wire_is_ready(starter->shadow)) {
        return;
    }
    struct ad *args = ad_create();
    watch_report(starter, args);
    const struct wire_body body = {.args = args};
    (void)wire_call(starter->shadow, VERB_JOB_USAGE, &body, 0, ignore_answer,
                    NULL); /* else: the next time */
    ad_destroy(args);
}

/* ---- when */

/* Holds the running job: kills it, and the run ends with that report. */
static void hold_running(struct starter *starter, int code, int subcode, const char *reason)
{
    if (starter->run.end.hold != NULL || starter->run.stop.how != RUNS_ON ||
        starter->run.phase != STARTER_RUN) {
        return;
    }
    job_run_note_hold(starter, code, subcode, reason);
    watch_tell(starter); /* a hold says why, not how much */
    cage_kill(starter);  /* whose end is told then goes on with job_end_held() */
}

/* Sets the timer of the next measurement: soon if the job works or people use it. */
static void rest_a_while(struct starter *starter, uint64_t now_ms)
{
    struct starter_watch *watch = &starter->run.watch;
    uint64_t received = 0, sent = 0, tell_ms = watch->next_tell_ms;
    if (watch->traffic != NULL) {
        os_traffic_total(watch->traffic, &received, &sent);
    }
    const struct watch_work work = {.cpu_s = watch->user_cpu_s + watch->system_cpu_s,
                                    .processes = watch->living,
                                    .memory_kib = watch->memory_kib,
                                    .disk_kib = watch->disk_kib,
                                    .traffic_bytes = received + sent};
    bool always = starter->run.script != SCRIPT_JOB || starter->run.ckpt.pid > 0 ||
                  ad_bool_or(starter->run.job, "InteractiveJob", false);
    watch->pause_ms =
        always ? WATCH_LOOK_MS : watch_plan_pause(watch->pause_ms, &watch->work, &work);
    watch->work = work;
    uint64_t pause_ms = watch->pause_ms;
    if (!always && now_ms + pause_ms > tell_ms) { /* what is told is of that moment */
        pause_ms = tell_ms > now_ms + WATCH_LOOK_MS ? tell_ms - now_ms : WATCH_LOOK_MS;
    }
    loop_timer_set(starter->timers[TIMER_WATCH], pause_ms);
}

enum watch_seen watch_look(struct starter *starter)
{
    enum watch_seen seen = WATCH_LOOKED;
    struct starter_watch *watch = &starter->run.watch;
    if (starter->run.phase != STARTER_RUN || starter->run.process.pid <= 0) {
        return WATCH_OVER;
    }
    struct os_figures family;
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    bool looked_before = watch->looked;
    look_at_processes(starter, &family);
    look_at_energy(starter);
    watch->looked = true;
    if (now_ms >= watch->next_walk_ms) {
        look_at_files(starter);
    }
    if (now_ms >= watch->next_net_ms) {
        look_at_network(starter, &family);
    }
    if (judge_use(starter, hold_running)) {
        return WATCH_OVER;
    }
    const struct cage_taken taken = what_is_taken(starter);
    if (cage_plan_is_machines_oom(&taken)) {
        cage_kill(starter); /* half a job is none; its end tells whose fault it was */
        return WATCH_OVER;
    }
    if (starter->run.script == SCRIPT_JOB && now_ms >= watch->next_tell_ms) {
        watch->next_tell_ms =
            now_ms + (uint64_t)config_duration_ms(starter->env.config, "STARTER_UPDATE_INTERVAL");
        watch_tell(starter);
        joules_tell(starter, true); /* its user's figure is to be the job's */
        seen = WATCH_TOLD;
    }
    joules_tell(starter, false);
    mem_trim(); /* the start's, the walk's: half of what a running job costs us */
    if (!looked_before) {
        mem_rejoin();
    }
    rest_a_while(starter, now_ms);
    return seen;
}

void watch_begin(struct starter *starter)
{
    struct starter_watch *watch = &starter->run.watch;
    watch->next_tell_ms =
        loop_now_ms(starter->env.loop) +
        (uint64_t)config_duration_ms(starter->env.config, "STARTER_INITIAL_UPDATE_INTERVAL");
    watch->pause_ms = WATCH_LOOK_MS;
    loop_timer_set(starter->timers[TIMER_WATCH], watch->pause_ms);
    joules_begin(starter);
    if (watch->machine_oom[1] == 0) {
        note_machines_oom(starter);
        note_machines_oom(starter);
    }
}

void watch_rest(struct starter *starter)
{
    loop_timer_stop(starter->timers[TIMER_WATCH]);
}

bool watch_end(struct starter *starter)
{
    struct os_figures family;
    loop_timer_stop(starter->timers[TIMER_WATCH]);
    look_at_processes(starter, &family);
    look_at_energy(starter);
    look_at_files(starter);
    bool was_killed = starter->run.watch.oom_kills > 0 || starter->run.process.exit.keeper_killed;
    return was_killed && judge_use(starter, hold_running);
}

bool watch_is_over_memory(const struct starter *starter)
{
    const struct cage_taken taken = what_is_taken(starter);
    return cage_plan_is_over_memory(&taken);
}

/* Notes a kill that no cgroup has counted, by what was measured before the end and by what the
 * kernel says of it: the job may have grown and died between two measurements. */
static void note_uncounted_kill(struct starter *starter, const struct os_exit *how)
{
    struct starter_watch *watch = &starter->run.watch;
    watch->oom_kills = 1;
    keep_larger(&watch->group_peak_kib, watch->memory_peak_kib);
    keep_larger(&watch->group_peak_kib, how->max_rss_kib);
}

bool watch_saw_machines_oom(struct starter *starter, const struct os_exit *how)
{
    struct os_figures family;
    uint64_t kills_before = starter->run.watch.machine_oom[0];
    look_at_processes(starter, &family);
    if (!starter->run.watch.has_oom && how->signal == SIGKILL && !PLANTED(oom_ends_job) &&
        os_oom_kills(starter->env.os) > kills_before) {
        note_uncounted_kill(starter, how);
    }
    const struct cage_taken taken = what_is_taken(starter);
    return cage_plan_is_machines_oom(&taken);
}

void watch_forget(struct starter *starter)
{
    os_traffic_destroy(starter->run.watch.traffic);
    starter->run.watch.traffic = NULL;
}
