/* base/os/os_figures.h - what processes and directories of a job take, where no cgroup counts it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_FIGURES_H
#define BASE_OS_OS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os;

struct os_figures {
    int64_t processes;
    int64_t rss_kib;                 /* shared pages are counted in each process that has them */
    int64_t image_kib;               /* addressable */
    double user_cpu_s, system_cpu_s; /* of those that live and what they have reaped */
};
/* Of all our living descendants, as /proc has them; keepers of cages (base/os/os_cage.h) are left
 * out, as their memory is ours.  exact costs a walk of each process's pages. */
void os_descendants_figures(struct os *os, bool exact, struct os_figures *ret);

struct os_tree_figures {
    int64_t disk_kib; /* as allocated */
    int64_t files;    /* of any kind, without the top */
    bool complete;    /* false: there were more than max_files */
};
/* Never follows links.  What cannot be read counts as nothing. */
void os_tree_figures(struct os *os, const char *path, int64_t max_files,
                     struct os_tree_figures *ret);

#endif
