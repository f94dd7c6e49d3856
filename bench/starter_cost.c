/* bench/starter_cost.c - what shutting a job in costs: the least that each job costs its machine.
 *
 * A bare loop, one job of /bin/true at a time: directories, cgroup, namespaces with the mounts of a
 * job, spawn, its end, removal of all; then the same without one or both of the walls, and with the
 * process that keeps the job's lease.  CPU time (ours and our children's) beside the wall's.
 *
 * SHORT: BENCH_PART=60
 * LINK: base starter
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/bare_job.h"

#define PAIRS 3

static void keep_least(struct bare_cost *least, struct bare_cost cost)
{
    least->cpu_us = cost.cpu_us < least->cpu_us ? cost.cpu_us : least->cpu_us;
    least->wall_us = cost.wall_us < least->wall_us ? cost.wall_us : least->wall_us;
}

int main(void)
{
    struct bare bare;
    bare_begin(&bare);
    struct bare_cost plain = bare_measure(&bare, false, false);
    bool root = getuid() == 0;
    struct bare_cost group = root ? bare_measure(&bare, true, false) : (struct bare_cost){0};
    struct bare_cost spaces = bare_measure(&bare, false, true);
    struct bare_cost both = root ? bare_measure(&bare, true, true) : spaces;
    struct bare_cost unleased = both, leased = {.cpu_us = 1e12, .wall_us = 1e12};
    for (int i = 0; i < PAIRS; i++) { /* the least of pairs: the difference is small */
        bare.leased = true;
        keep_least(&leased, bare_measure(&bare, root, true));
        bare.leased = false;
        keep_least(&unleased, bare_measure(&bare, root, true));
    }
    bare_end(&bare);
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
    printf("BENCH job_leased_cpu %.0f us ratio %.2f vs job_caged_cpu\n", leased.cpu_us,
           leased.cpu_us / unleased.cpu_us);
    printf("BENCH job_leased_wall %.0f us ratio %.2f vs job_caged_wall\n", leased.wall_us,
           leased.wall_us / unleased.wall_us);
    printf("BENCH job_caged_rate %.0f jobs/s\n", 1e6 / both.wall_us);
    return 0;
}
