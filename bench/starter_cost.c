/* bench/starter_cost.c - what shutting a job in costs: the least that each job costs its machine.
 *
 * A bare loop, one job of /bin/true at a time: directories, cgroup, namespaces with the mounts of a
 * job, spawn, its end, removal of all; then the same without one or both of the walls.  CPU time
 * (ours and our children's) beside the wall's.
 *
 * LINK: base starter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os.h"
#include "base/os_cage.h"
#include "base/os_cgroup.h"
#include "base/os_run.h"
#include "classad/ad.h"
#include "starter/cage_plan.h"

#define JOBS 300

struct bench {
    struct loop *loop;
    struct os *os;
    char top[64];
    bool ended;
};

static void must(int rc, const struct err *err)
{
    if (rc != 0) {
        fprintf(stderr, "starter_cost: %s\n", err->text);
        exit(1);
    }
}

static void ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct bench *bench = arg;
    (void)pid;
    (void)how;
    bench->ended = true;
}

static void one_job(struct bench *bench, unsigned number, bool group, bool namespaces)
{
    static const char *const ARGV[] = {"/bin/true", NULL}, *const SCRATCH[] = {"/tmp", "/var/tmp"};
    struct err err = {""};
    char directory[128], sandbox[160], name[64];
    (void)snprintf(directory, sizeof directory, "%s/dir_%u", bench->top, number);
    (void)snprintf(sandbox, sizeof sandbox, "%s/sandbox", directory);
    (void)snprintf(name, sizeof name, "bench-%d-%u", (int)getpid(), number);
    must(os_mkdirs(bench->os, sandbox, 0700, &err), &err);
    struct os_cage cage = {.namespaces = namespaces, .user_namespace = getuid() != 0};
    struct cage_view view = {0};
    const char *hide[] = {bench->top};
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
        must(os_cgroup_create(bench->os, "roost-bench", name, &limits, &cage.cgroup, &err), &err);
    }
    if (namespaces) {
        struct ad *job = ad_create();
        cage_plan_view(job, &place, &view);
        ad_destroy(job);
        for (size_t i = 0; i < view.name_count; i++) {
            must(os_mkdirs(bench->os, view.names[i], 01777, &err), &err);
        }
        cage.mounts = view.mounts;
        cage.mount_count = view.mount_count;
    }
    const struct os_spawn spec = {.argv = ARGV,
                                  .cwd = sandbox,
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .subreaper_job = true,
                                  .cage = &cage};
    pid_t pid;
    bench->ended = false;
    must(os_spawn(bench->os, &spec, ended, bench, &pid, &err), &err);
    loop_run_until(bench->loop, &bench->ended);
    if (group) {
        must(os_cgroup_remove(cage.cgroup, 2000, &err), &err);
        os_cgroup_close(cage.cgroup);
    }
    cage_view_fini(&view);
    must(os_remove_tree(bench->os, directory, &err), &err);
}

static double cpu_s(void)
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

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct cost {
    double wall_us, cpu_us;
};

static struct cost measure(struct bench *bench, bool group, bool namespaces)
{
    one_job(bench, 0, group, namespaces);
    double began = now_s(), cpu = cpu_s();
    for (unsigned i = 1; i <= JOBS; i++) {
        one_job(bench, i, group, namespaces);
    }
    return (struct cost){.wall_us = (now_s() - began) * 1e6 / JOBS,
                         .cpu_us = (cpu_s() - cpu) * 1e6 / JOBS};
}

int main(void)
{
    struct bench bench = {0};
    struct err err = {""};
    (void)snprintf(bench.top, sizeof bench.top, "/tmp/roost-bench-XXXXXX");
    must(mkdtemp(bench.top) == NULL ? -1 : 0, &err);
    must(loop_create(&bench.loop, &err), &err);
    must(os_create(bench.loop, &bench.os, &err), &err);
    struct cost plain = measure(&bench, false, false);
    bool root = getuid() == 0;
    struct cost group = root ? measure(&bench, true, false) : (struct cost){0};
    struct cost spaces = measure(&bench, false, true);
    struct cost both = root ? measure(&bench, true, true) : spaces;
    must(os_remove_tree(bench.os, bench.top, &err), &err);
    os_destroy(bench.os);
    loop_destroy(bench.loop);
    printf("BENCH job_plain_cpu %.0f us\n", plain.cpu_us);
    if (root) {
        printf("BENCH job_cgroup_cpu %.0f us ratio %.2f vs job_plain_cpu\n", group.cpu_us,
               group.cpu_us / plain.cpu_us);
    }
    printf("BENCH job_namespaces_cpu %.0f us ratio %.2f vs job_plain_cpu\n", spaces.cpu_us,
           spaces.cpu_us / plain.cpu_us);
    printf("BENCH job_caged_cpu %.0f us ratio %.2f vs job_plain_cpu\n", both.cpu_us,
           both.cpu_us / plain.cpu_us);
    printf("BENCH job_caged_wall %.0f us ratio %.2f vs job_plain_wall %.0f us\n", both.wall_us,
           both.wall_us / plain.wall_us, plain.wall_us);
    printf("BENCH job_caged_rate %.0f jobs/s\n", 1e6 / both.wall_us);
    return 0;
}
