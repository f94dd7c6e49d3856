/* starter/job/watch.h - what the job takes.
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

/* What was seen of the job so far. */
struct starter_watch {
    uint64_t next_walk_ms, next_slow_ms, next_tell_ms;
    bool has_memory; /* its cgroup counts memory */
    bool looked;     /* while it ran */
    int64_t memory_kib, memory_peak_kib, group_peak_kib, image_kib;
    int64_t disk_kib, files, processes;
    double user_cpu_s, system_cpu_s;
    uint64_t oom_kills;
    struct os_traffic *traffic; /* NULL: nothing was looked at yet */
    uint64_t next_net_ms;
};

enum watch_seen {
    WATCH_OVER, /* nothing runs any more */
    WATCH_LOOKED,
    WATCH_TOLD, /* and told what the job takes */
};
enum watch_seen watch_look(struct starter *starter); /* when TIMER_WATCH has run out */
/* Whatever runs in the cage is watched: a script, a program that fetches a URL, the job. */
void watch_begin(struct starter *starter);
void watch_rest(struct starter *starter); /* what ran is over, and the job is not */
/* Is so much input more than the disk that the job has?  Then it is to be held. */
bool watch_is_too_much(const struct starter *starter, int64_t bytes);
void watch_hold_input(struct starter *starter, int64_t bytes);
/* A last look, before the cage is emptied; true if it led to a hold. */
bool watch_end(struct starter *starter);
void watch_tell(struct starter *starter); /* JOB_USAGE */
void watch_report(const struct starter *starter, struct ad *args);
void watch_forget(struct starter *starter); /* the run is over */

#endif
