/* base/os/os_figures_linux.c - measures what processes and directories use: see
 * base/os/os_figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_figures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/os_cage.h"
#include "base/os/os_linux.h"

#define TREE_DEPTH_MAX 64 /* descriptors in use; a job that digs deeper is not counted there */
#define VMSTAT_BYTES   16384

/* Returns the proportional share of pages (Pss), or the figure of /proc/PID/stat if that cannot be
 * read. */
static int64_t exact_kib(const struct living *person)
{
    char path[64], text[2048];
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)person->pid);
    const char *at = os_read_small(path, text, sizeof text) > 0 ? strstr(text, "\nPss:") : NULL;
    return at != NULL ? strtoll(at + 5, NULL, 10) : person->rss_kib;
}

void os_descendants_figures(struct os *os, bool exact, struct os_figures *ret)
{
    struct population family = {0};
    (void)os;
    *ret = (struct os_figures){0};
    population_read_family(&family, getpid(), true);
    for (size_t i = 0; i < family.count && family.count <= OS_FIGURES_PIDS; i++) {
        ret->pids[ret->pid_count++] = family.all[i].pid;
    }
    for (size_t i = 0; i < family.count; i++) {
        const struct living *each = &family.all[i];
        ret->user_cpu_s += each->user_cpu_s;
        ret->system_cpu_s += each->system_cpu_s;
        if (!each->is_keeper) {
            ret->processes++;
            ret->rss_kib += exact ? exact_kib(each) : each->rss_kib;
            ret->image_kib += each->image_kib;
        }
    }
    mem_free(family.all);
}

/* ---- directories ----------------------------------------------------------------------------- */

struct count {
    struct os_tree_figures *ret;
    int64_t max_files;
};

static void count_entries(struct count *count, int fd, int depth)
{
    DIR *directory = fdopendir(fd); /* takes fd */
    if (directory == NULL) {
        close(fd);
        return;
    }
    const struct dirent *entry;
    while (count->ret->complete && (entry = readdir(directory)) != NULL) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (++count->ret->files > count->max_files) {
            count->ret->complete = false;
        }
        count->ret->disk_kib +=
            st.st_blocks / 2 / (st.st_nlink > 1 && !S_ISDIR(st.st_mode) ? (int64_t)st.st_nlink : 1);
        if (S_ISDIR(st.st_mode) && depth < TREE_DEPTH_MAX) {
            int inner = openat(dirfd(directory), entry->d_name,
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0) {
                count_entries(count, inner, depth + 1);
            }
        }
    }
    (void)closedir(directory); /* only read from */
}

void os_tree_figures(struct os *os, const char *path, int64_t max_files,
                     struct os_tree_figures *ret)
{
    struct count count = {.ret = ret, .max_files = max_files};
    (void)os;
    *ret = (struct os_tree_figures){.complete = true};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        count_entries(&count, fd, 0);
    }
}

uint64_t os_oom_kills(struct os *os)
{
    (void)os;
    char text[VMSTAT_BYTES];
    if (os_read_small("/proc/vmstat", text, sizeof text) <= 0) {
        return 0;
    }
    const char *at = strstr(text, "\noom_kill ");
    return at != NULL ? strtoull(at + strlen("\noom_kill "), NULL, 10) : 0;
}
