/* base/os/os_figures.h - what the processes and directories of a job use, measured where no cgroup
 * counts it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_FIGURES_H
#define BASE_OS_OS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OS_FIGURES_PIDS 64

struct os;

struct os_figures {
    int64_t processes;
    /* resident memory, KiB; a shared page counts in each process that has it, unless
     * os_descendants_figures() was called with exact true */
    int64_t rss_kib;
    int64_t image_kib; /* size of the processes' address spaces, KiB */
    /* CPU time in seconds of the living processes and of the children that they have reaped. */
    double user_cpu_s, system_cpu_s;
    /* Who they were, keepers among them; pid_count 0: more than OS_FIGURES_PIDS, or none. */
    pid_t pids[OS_FIGURES_PIDS];
    size_t pid_count;
};
/* Measures all living descendants of this process by /proc.  Leaves out the keepers of cages
 * (base/os/os_cage.h), because their memory is that of this process. exact true: looks at each page
 * of memory, so that a shared page counts once; this costs time. */
void os_descendants_figures(struct os *os, bool exact, struct os_figures *ret);

struct os_tree_figures {
    int64_t disk_kib; /* disk space as allocated, KiB */
    int64_t files;    /* number of files and directories, without the top directory */
    bool complete;    /* false: counting stopped because there were more than max_files */
};
/* Measures the directory `path` and all below it, and stops when there are more than max_files
 * files and directories.  Never follows links.  What cannot be read counts as nothing. */
void os_tree_figures(struct os *os, const char *path, int64_t max_files,
                     struct os_tree_figures *ret);

/* Returns how many processes the kernel has killed for lack of memory since boot, on the whole
 * machine; 0 if that is not known. */
uint64_t os_oom_kills(struct os *os);

#endif
