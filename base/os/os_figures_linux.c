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

#define TREE_DEPTH_MAX  64 /* descriptors in use; a job that digs deeper is not counted there */
#define GENERATIONS_MAX 4096
#define VMSTAT_BYTES    16384

struct person {
    pid_t pid, parent;
    bool ours, is_keeper;
    int64_t image_kib, rss_kib;
    double user_s, system_s;
};

struct crowd {
    struct person *all;
    size_t count, capacity;
};

/* Reads /proc/PID/stat; fields are counted from the last parenthesis (proc(5)): 4 parent, 14 to 17
 * CPU times, 23 addressable bytes, 24 resident pages. */
static bool read_person(pid_t pid, struct person *ret)
{
    static const long KIB = 1024;
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (os_read_small(path, text, sizeof text) <= 0) {
        return false;
    }
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X') {
        return false;
    }
    double ticks = (double)sysconf(_SC_CLK_TCK);
    *ret = (struct person){.pid = pid};
    ret->is_keeper = strstr(text, "(roost-keeper)") != NULL;
    for (int field = 3; field <= 24 && (at = strchr(at + 1, ' ')) != NULL; field++) {
        long long number = strtoll(at + 1, NULL, 10);
        if (field == 4) {
            ret->parent = (pid_t)number;
        } else if (field == 14 || field == 16) {
            ret->user_s += (double)number / ticks;
        } else if (field == 15 || field == 17) {
            ret->system_s += (double)number / ticks;
        } else if (field == 23) {
            ret->image_kib = number / KIB;
        } else if (field == 24) {
            ret->rss_kib = number * (sysconf(_SC_PAGESIZE) / KIB);
        }
    }
    return true;
}

static void read_crowd(struct crowd *crowd)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        char *end;
        struct person person;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end != '\0' || pid <= 0 || !read_person((pid_t)pid, &person)) {
            continue;
        }
        if (crowd->count == crowd->capacity) {
            crowd->capacity = crowd->capacity > 0 ? 2 * crowd->capacity : 512;
            crowd->all = mem_realloc(crowd->all, crowd->capacity * sizeof *crowd->all);
        }
        crowd->all[crowd->count++] = person;
    }
    if (proc != NULL) {
        (void)closedir(proc); /* only read from */
    }
}

static int by_pid(const void *a, const void *b)
{
    pid_t first = ((const struct person *)a)->pid, second = ((const struct person *)b)->pid;
    return (first > second) - (first < second);
}

static bool descends_from(const struct crowd *crowd, const struct person *person, pid_t from)
{
    for (int i = 0; person != NULL && i < GENERATIONS_MAX; i++) {
        if (person->parent == from) {
            return true;
        }
        struct person key = {.pid = person->parent};
        person = bsearch(&key, crowd->all, crowd->count, sizeof key, by_pid);
    }
    return false;
}

/* Returns the proportional share of pages (Pss), or the figure of /proc/PID/stat if that cannot be
 * read. */
static int64_t exact_kib(const struct person *person)
{
    char path[64], text[2048];
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)person->pid);
    const char *at = os_read_small(path, text, sizeof text) > 0 ? strstr(text, "\nPss:") : NULL;
    return at != NULL ? strtoll(at + 5, NULL, 10) : person->rss_kib;
}

void os_descendants_figures(struct os *os, bool exact, struct os_figures *ret)
{
    struct crowd crowd = {0};
    pid_t self = getpid();
    (void)os;
    *ret = (struct os_figures){0};
    read_crowd(&crowd);
    if (crowd.count > 0) {
        qsort(crowd.all, crowd.count, sizeof *crowd.all, by_pid);
    }
    for (size_t i = 0; i < crowd.count; i++) {
        const struct person *each = &crowd.all[i];
        if (!descends_from(&crowd, each, self)) {
            continue;
        }
        ret->user_cpu_s += each->user_s;
        ret->system_cpu_s += each->system_s;
        if (!each->is_keeper) {
            ret->processes++;
            ret->rss_kib += exact ? exact_kib(each) : each->rss_kib;
            ret->image_kib += each->image_kib;
        }
    }
    mem_free(crowd.all);
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
