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
#include "bench/bare_job.h"

int main(void)
{
    struct bare bare;
    bare_begin(&bare);
    struct bare_cost plain = bare_measure(&bare, false, false);
    bool root = getuid() == 0;
    struct bare_cost group = root ? bare_measure(&bare, true, false) : (struct bare_cost){0};
    struct bare_cost spaces = bare_measure(&bare, false, true);
    struct bare_cost both = root ? bare_measure(&bare, true, true) : spaces;
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
    printf("BENCH job_caged_rate %.0f jobs/s\n", 1e6 / both.wall_us);
    return 0;
}
