/* bench/bare_job.h - runs one job without daemons, to measure the work on the job's machine that
 * cannot be avoided.
 *
 * This work is: make directories, a cgroup, and namespaces with the mounts of a job; start the
 * process; wait for its end; remove everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_BARE_JOB_H
#define BENCH_BARE_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os.h"
#include "base/os/os_cage.h"
#include "base/os/os_cgroup.h"
#include "base/os/os_run.h"
#include "bench/bench_env.h"
#include "classad/ad.h"
#include "starter/job/cage_plan.h"

#define BARE_JOBS 300

struct bare {
    struct loop *loop;
    struct os *os;
    char top[64];
    bool ended;
    bool leased; /* true: a job in namespaces has a lease */
};

static inline void bare_must(int rc, const struct err *err)
{
    if (rc != 0) {
        (void)fprintf(stderr, "bare job: %s\n", err->text);
        exit(1);
    }
}

static inline void bare_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct bare *bare = arg;
    (void)pid;
    (void)how;
    bare->ended = true;
}

static inline void bare_job(struct bare *bare, unsigned number, bool group, bool namespaces)
{
    static const char *const ARGV[] = {"/bin/true", NULL}, *const SCRATCH[] = {"/tmp", "/var/tmp"};
    struct err err = {""};
    char directory[128], sandbox[160], lease[160], name[64];
    (void)snprintf(directory, sizeof directory, "%s/dir_%u", bare->top, number);
    (void)snprintf(sandbox, sizeof sandbox, "%s/sandbox", directory);
    (void)snprintf(name, sizeof name, "bench-%d-%u", (int)getpid(), number);
    (void)snprintf(lease, sizeof lease, "%s/lease", directory);
    bare_must(os_mkdirs(bare->os, sandbox, 0700, &err), &err);
    struct os_cage cage = {.namespaces = namespaces, .user_namespace = getuid() != 0};
    if (bare->leased) {
        cage.lease_path = lease;
        cage.lease_end_ms = UINT32_MAX;
    }
    struct cage_view view = {0};
    const char *hide[] = {bare->top};
    const struct cage_place place = {.directory = directory,
                                     .sandbox = sandbox,
                                     .hide = hide,
                                     .hide_count = 1,
                                     .scratch = SCRATCH,
                                     .scratch_count = 2,
                                     .private_shm = true};
    const struct os_cgroup_limits limits = {.memory_bytes = (int64_t)128 << 20,
                                            .processes = 4096,
                                            .cpu_weight = 100};
    if (group) {
        bare_must(os_cgroup_create(bare->os, "roost-bench", name, &limits, &cage.cgroup, &err),
                  &err);
    }
    if (namespaces) {
        struct ad *job = ad_create();
        cage_plan_view(job, &place, &view);
        ad_destroy(job);
        for (size_t i = 0; i < view.name_count; i++) {
            bare_must(os_mkdirs(bare->os, view.names[i], 01777, &err), &err);
        }
        cage.mounts = view.mounts;
        cage.mount_count = view.mount_count;
    }
    const struct os_spawn spec = {.argv = ARGV,
                                  .cwd = sandbox,
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .kin = OS_SUBREAPER_JOB,
                                  .cage = &cage};
    pid_t pid;
    bare->ended = false;
    bare_must(os_spawn(bare->os, &spec, bare_ended, bare, &pid, &err), &err);
    loop_run_until(bare->loop, &bare->ended);
    if (group) {
        bare_must(os_cgroup_remove(cage.cgroup, 2000, &err), &err);
        os_cgroup_close(cage.cgroup);
    }
    cage_view_fini(&view);
    bare_must(os_remove_tree(bare->os, directory, &err), &err);
}

static inline double bare_cpu_s(void)
{
    double total = 0;
    static const int WHO[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (size_t i = 0; i < 2; i++) {
        struct rusage usage;
        (void)getrusage(WHO[i], &usage);
        total += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return total;
}

static inline double bare_now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct bare_cost {
    double wall_us, cpu_us;
};

static inline struct bare_cost bare_measure(struct bare *bare, bool group, bool namespaces)
{
    const unsigned jobs = (unsigned)part_of(BARE_JOBS);
    bare_job(bare, 0, group, namespaces);
    double began = bare_now_s(), cpu = bare_cpu_s();
    for (unsigned i = 1; i <= jobs; i++) {
        bare_job(bare, i, group, namespaces);
    }
    return (struct bare_cost){.wall_us = (bare_now_s() - began) * 1e6 / jobs,
                              .cpu_us = (bare_cpu_s() - cpu) * 1e6 / jobs};
}

static inline void bare_begin(struct bare *bare)
{
    struct err err = {""};
    *bare = (struct bare){0};
    (void)snprintf(bare->top, sizeof bare->top, "/tmp/roost-bench-XXXXXX");
    bare_must(mkdtemp(bare->top) == NULL ? -1 : 0, &err);
    bare_must(loop_create(&bare->loop, &err), &err);
    bare_must(os_create(bare->loop, &bare->os, &err), &err);
}

static inline void bare_end(struct bare *bare)
{
    struct err err = {""};
    bare_must(os_remove_tree(bare->os, bare->top, &err), &err);
    os_destroy(bare->os);
    loop_destroy(bare->loop);
}

#endif
