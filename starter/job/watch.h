/* starter/job/watch.h - measures what the job uses: memory, CPU, disk, network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_WATCH_H
#define STARTER_JOB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct os_traffic;
struct starter;

/* What was measured so far.  Times are loop times in ms. */
struct starter_watch {
    /* When to walk the directories, look at all processes of the machine, tell the shadow. */
    uint64_t next_walk_ms, next_slow_ms, next_tell_ms;
    bool has_memory; /* the job's cgroup counts memory */
    bool looked;     /* measured at least once while something ran */
    int64_t memory_kib, memory_peak_kib, group_peak_kib, image_kib;
    int64_t disk_kib, files, processes;
    double user_cpu_s, system_cpu_s;
    uint64_t oom_kills;         /* processes that the kernel killed for lack of memory */
    struct os_traffic *traffic; /* counts bytes of TCP connections; NULL: not begun */
    uint64_t next_net_ms;       /* when to count these again */
};

enum watch_seen {
    WATCH_OVER,   /* nothing runs any more, or the job was just held and killed */
    WATCH_LOOKED, /* measured */
    WATCH_TOLD,   /* measured, and the shadow was told */
};
/* Measures, holds the job if it uses too much, and tells the shadow if that is due.  Callback of
 * TIMER_WATCH. */
enum watch_seen watch_look(struct starter *starter);
/* Begins to measure; called when a script, a URL program or the job has started in the cage. */
void watch_begin(struct starter *starter);
/* Stops measuring until the next watch_begin(). */
void watch_rest(struct starter *starter);
/* Returns whether so many bytes of input exceed the disk space of the job's slot. */
bool watch_is_too_much(const struct starter *starter, int64_t bytes);
/* Holds the job because its input, `bytes`, exceeds its disk space. */
void watch_hold_input(struct starter *starter, int64_t bytes);
/* Measures a last time, before the cage is emptied.  True: the job is to be held for what it
 * used. */
bool watch_end(struct starter *starter);
/* Sends JOB_USAGE to the shadow, if it is connected. */
void watch_tell(struct starter *starter);
/* Adds what was measured to args. */
void watch_report(const struct starter *starter, struct ad *args);
/* Frees what measuring needs; called at the end of the run. */
void watch_forget(struct starter *starter);

#endif
