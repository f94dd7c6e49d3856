/* starter/job/watch.h - measures what the job uses: memory, CPU, disk, network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_WATCH_H
#define STARTER_JOB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "starter/job/watch_plan.h"

struct ad;
struct os_exit;
struct os_traffic;
struct starter;

/* What was measured so far, and when to measure next; times in ms of the loop's clock. */
struct starter_watch {
    /* next_walk_ms: when to count files and disk use in the job's directories; next_family_ms: when
     * to measure each of the job's processes; next_tell_ms: when to tell the shadow. */
    uint64_t next_walk_ms, next_family_ms, next_tell_ms;
    uint64_t pause_ms;      /* from the last measurement to the next one (watch_plan.h) */
    struct watch_work work; /* at the last measurement */
    bool has_memory;        /* true: the job's cgroup counts its memory */
    bool looked; /* true: measured at least once while a program of the run was running */
    int64_t memory_kib, memory_peak_kib, group_peak_kib, image_kib;
    int64_t disk_kib, files, processes; /* processes: the most that were seen */
    int64_t living;                     /* processes at the last measurement */
    double user_cpu_s, system_cpu_s;
    /* number of the job's processes that the kernel killed for lack of memory */
    uint64_t oom_kills;
    uint64_t limit_hits; /* how often the job reached the memory limit of its cgroup */
    bool has_oom;        /* true: the job's cgroup counts oom_kills */
    /* processes of the whole machine that the kernel killed for lack of memory, as it was when the
     * processes were measured the last time but one, and the last time */
    uint64_t machine_oom[2];
    /* counts the bytes of the job's TCP connections, owned; NULL: not begun */
    struct os_traffic *traffic;
    /* when to count the bytes of TCP connections again, ms of the loop's clock */
    uint64_t next_net_ms;
};

enum watch_seen {
    WATCH_OVER,   /* no program of the run is running, or the job was just held and killed */
    WATCH_LOOKED, /* measured */
    WATCH_TOLD,   /* measured, and the shadow was told */
};
/* Callback of TIMER_WATCH: measures what the job uses, holds the job if that is too much, and tells
 * the shadow if that is due. */
enum watch_seen watch_look(struct starter *starter);
/* Called when a script, a URL program or the job has started in the cage: begins to measure
 * regularly. */
void watch_begin(struct starter *starter);
/* Stops measuring until the next watch_begin(). */
void watch_rest(struct starter *starter);
/* Returns whether input of that many bytes exceeds the disk space of the job's slot. */
bool watch_is_too_much(const struct starter *starter, int64_t bytes);
/* Holds the job because the size of its input, `bytes`, exceeds the disk space of its slot. */
void watch_hold_input(struct starter *starter, int64_t bytes);
/* Measures a last time, before the cage is emptied.  Returns true if the job was killed after it
 * had exceeded its limit of memory, so that the job must be held; notes the hold unless the run was
 * told to stop. */
bool watch_end(struct starter *starter);
/* Called when a program of the run has ended, before the cage is emptied.  Returns true if the
 * kernel killed the job for the lack of memory of the whole machine, and not for what the job used.
 * Where no cgroup counts that, it is told from the machine's count and the signal in `how`. */
bool watch_saw_machines_oom(struct starter *starter, const struct os_exit *how);
/* Returns whether the job has exceeded its own limit of memory, or was killed because of it, by
 * what was measured so far. */
bool watch_is_over_memory(const struct starter *starter);
/* Tells the shadow what the job uses (JOB_USAGE), if connected. */
void watch_tell(struct starter *starter);
/* Adds what was measured, as attributes of the job ad, to args. */
void watch_report(const struct starter *starter, struct ad *args);
/* Called at the end of the run: frees what measuring needs. */
void watch_forget(struct starter *starter);

#endif
