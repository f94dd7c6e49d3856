/* base/os/os_family_linux.c - reads living processes from /proc: all of the machine, or those of
 * one family.
 *
 * Design note: each starter without a cgroup measures its job's processes again and again.  If each
 * read all processes of the machine, the cost would grow as the square of the number of jobs.  So a
 * family is walked down by /proc/PID/task/TID/children (proc(5), since Linux 3.5).  The kernel may
 * leave children out of such a list while others of the same parent end, and a process whose parent
 * ends moves to another list while the lists are read.  So where it matters the lists are read
 * again until no new process is found in them.  What is still missed is found at the next
 * measurement; who has to be sure, because he kills, reads all processes.  Rejected: connector
 * messages of forks and exits need CAP_NET_ADMIN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/os_linux.h"

#define FAMILY_PASSES_MAX 4    /* over the lists of children, while new processes appear */
#define PID_TEXT_MAX      16   /* bytes of one number in such a list, with what ends it */
#define LIST_BYTES        4096 /* read at once of such a list */

/* ---- one process ----------------------------------------------------------------------------- */

/* Fields are counted from the last parenthesis, because the name before it may contain anything:
 * 4 parent, 14 to 17 CPU times, 20 threads, 22 start time, 23 addressable bytes, 24 resident pages
 * (proc(5)). */
bool living_read_file(const char *path, struct living *ret)
{
    static const long KIB = 1024;
    char text[1024];
    if (os_read_small(path, text, sizeof text) <= 0) {
        return false;
    }
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] == '\0') {
        return false;
    }
    unsigned long long numbers[25] = {0};
    struct living living = {.state = at[2]};
    at = strchr(at + 1, ' ');
    for (int field = 3; field <= 24; field++) {
        if (at == NULL) {
            return false;
        }
        numbers[field] = strtoull(at + 1, NULL, 10);
        at = strchr(at + 1, ' ');
    }
    double ticks = (double)sysconf(_SC_CLK_TCK);
    living.pid = (pid_t)strtol(text, NULL, 10);
    living.parent = (pid_t)numbers[4];
    living.user_cpu_s = (double)(numbers[14] + numbers[16]) / ticks;
    living.system_cpu_s = (double)(numbers[15] + numbers[17]) / ticks;
    living.threads = (int64_t)numbers[20];
    living.start_time = numbers[22];
    living.image_kib = (int64_t)numbers[23] / KIB;
    living.rss_kib = (int64_t)numbers[24] * (sysconf(_SC_PAGESIZE) / KIB);
    living.is_keeper = strstr(text, "(roost-keeper)") != NULL;
    *ret = living;
    return true;
}

bool living_read(pid_t pid, struct living *ret)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return living_read_file(path, ret);
}

bool living_is_dead(char state)
{
    return state == 'Z' || state == 'X' || state == 'x';
}

/* ---- many ------------------------------------------------------------------------------------ */

static void population_add(struct population *population, const struct living *living)
{
    if (population->count == population->capacity) {
        population->capacity = population->capacity > 0 ? 2 * population->capacity : 16;
        population->all =
            mem_realloc(population->all, population->capacity * sizeof *population->all);
    }
    population->all[population->count++] = *living;
}

static int by_pid(const void *a, const void *b)
{
    pid_t first = ((const struct living *)a)->pid, second = ((const struct living *)b)->pid;
    return (first > second) - (first < second);
}

struct living *population_find(const struct population *population, pid_t pid)
{
    struct living key = {.pid = pid};
    return population->count == 0
               ? NULL
               : bsearch(&key, population->all, population->count, sizeof key, by_pid);
}

void population_read(struct population *population)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    population->count = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char *end;
        struct living living;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end == '\0' && pid > 0 && living_read((pid_t)pid, &living) &&
            !living_is_dead(living.state)) {
            population_add(population, &living);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory); /* only read from */
    }
    if (population->count > 0) {
        qsort(population->all, population->count, sizeof *population->all, by_pid);
    }
}

void population_mark(struct population *population, pid_t root)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < population->count; i++) {
            struct living *each = &population->all[i];
            const struct living *parent = population_find(population, each->parent);
            if (!each->ours && (each->parent == root || (parent != NULL && parent->ours))) {
                each->ours = more = true;
            }
        }
    }
}

/* ---- a family -------------------------------------------------------------------------------- */

/* The processes found so far; the first `sorted` of them are in the order of their pids. */
struct walk {
    struct population *found;
    size_t sorted;
};

static bool walk_knows(const struct walk *walk, pid_t pid)
{
    const struct population old = {.all = walk->found->all, .count = walk->sorted};
    if (population_find(&old, pid) != NULL) {
        return true;
    }
    for (size_t i = walk->sorted; i < walk->found->count; i++) {
        if (walk->found->all[i].pid == pid) {
            return true;
        }
    }
    return false;
}

/* Adds the processes of a list of children.  False: there is no such list. */
static bool add_list(struct walk *walk, pid_t pid, const char *thread)
{
    char path[64], text[LIST_BYTES + 1];
    struct living living;
    (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    size_t kept = 0; /* bytes of a number that the next read continues */
    ssize_t got;
    while ((got = read(fd, text + kept, LIST_BYTES - kept)) > 0) {
        char *at = text, *space;
        text[kept + (size_t)got] = '\0';
        while ((space = strchr(at, ' ')) != NULL) {
            pid_t child = (pid_t)strtol(at, NULL, 10);
            if (child > 0 && !walk_knows(walk, child) && living_read(child, &living)) {
                population_add(walk->found, &living);
            }
            at = space + 1;
        }
        kept = strlen(at);
        if (kept >= PID_TEXT_MAX) {
            break; /* not a list of numbers */
        }
        memmove(text, at, kept);
    }
    (void)close(fd); /* only read from */
    return true;
}

/* Each thread has a list of the children that it has started. */
static bool add_children(struct walk *walk, pid_t parent, int64_t threads)
{
    char path[64];
    bool known = false;
    if (threads <= 1) {
        (void)snprintf(path, sizeof path, "%d", (int)parent);
        return add_list(walk, parent, path);
    }
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        known = (entry->d_name[0] != '.' && add_list(walk, parent, entry->d_name)) || known;
    }
    if (directory != NULL) {
        (void)closedir(directory); /* only read from */
    }
    return known;
}

/* False: this kernel has no lists of children. */
static bool walk_family(struct walk *walk, const struct living *root, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        size_t before = walk->found->count;
        if (!add_children(walk, root->pid, root->threads)) {
            return false;
        }
        for (size_t i = 0; i < walk->found->count; i++) { /* it grows meanwhile */
            (void)add_children(walk, walk->found->all[i].pid, walk->found->all[i].threads);
        }
        if (walk->found->count == before) {
            break;
        }
        qsort(walk->found->all, walk->found->count, sizeof *walk->found->all, by_pid);
        walk->sorted = walk->found->count;
    }
    return true;
}

void population_read_family(struct population *family, pid_t root, bool again)
{
    struct walk walk = {.found = family};
    struct living living;
    size_t kept = 0;
    family->count = 0;
    bool walked =
        living_read(root, &living) && walk_family(&walk, &living, again ? FAMILY_PASSES_MAX : 1);
    if (!walked) { /* a kernel without CONFIG_PROC_CHILDREN */
        population_read(family);
        population_mark(family, root);
    }
    for (size_t i = 0; i < family->count; i++) {
        if (walked ? !living_is_dead(family->all[i].state) : family->all[i].ours) {
            family->all[kept++] = family->all[i];
        }
    }
    family->count = kept;
}
