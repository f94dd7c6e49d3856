/* ckpt/files/mapped_linux.c - which files a job has mapped: see mapped_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/mapped_linux.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"

#define DEPTH_MAX 200

static void add_inode(struct mapped *mapped, ino_t inode)
{
    if (mapped->count == mapped->capacity) {
        mapped->capacity = mapped->capacity > 0 ? mapped->capacity * 2 : 64;
        mapped->inodes = mem_realloc(mapped->inodes, mapped->capacity * sizeof *mapped->inodes);
    }
    mapped->inodes[mapped->count++] = inode;
}

/* Returns the inode of a shared mapping, by its line in /proc/PID/maps; 0: it is not shared.  A
 * shared mapping can be made writable at any time. */
static ino_t shared_in(const char *line)
{
    char access[8];
    uint64_t inode;
    bool shared = sscanf(line, "%*s %7s %*s %*s %" SCNu64, access, &inode) == 2 &&
                  strchr(access, 's') != NULL;
    return shared ? (ino_t)inode : 0;
}

static void look_at_maps(struct mapped *mapped, pid_t pid)
{
    char path[64], line[512];
    bool begins = true;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) { /* it has ended, or it is not to be known */
        mapped->is_all = mapped->is_all || errno != ENOENT;
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        ino_t inode = begins ? shared_in(line) : 0;
        if (inode != 0) {
            add_inode(mapped, inode);
        }
        begins = strchr(line, '\n') != NULL; /* names may be longer */
    }
    (void)fclose(file);
}

static void look_at_family(struct mapped *mapped, pid_t pid, unsigned depth);

/* Looks at all children except one. */
static void look_at_children(struct mapped *mapped, pid_t pid, pid_t but, unsigned depth)
{
    char path[288];
    const struct dirent *task;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = depth <= DEPTH_MAX ? opendir(path) : NULL;
    mapped->is_all = mapped->is_all || depth > DEPTH_MAX;
    while (tasks != NULL && (task = readdir(tasks)) != NULL) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(path, "re") : NULL;
        int child;
        while (file != NULL && fscanf(file, "%d", &child) == 1) {
            if (child != but) {
                look_at_family(mapped, (pid_t)child, depth);
            }
        }
        if (file != NULL) {
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

static void look_at_family(struct mapped *mapped, pid_t pid, unsigned depth)
{
    look_at_maps(mapped, pid);
    look_at_children(mapped, pid, 0, depth + 1);
}

static int by_number(const void *a, const void *b)
{
    ino_t x = *(const ino_t *)a, y = *(const ino_t *)b;
    return x < y ? -1 : x > y;
}

void mapped_look(struct mapped *mapped, pid_t job, pid_t keeper)
{
    mapped->count = 0;
    mapped->is_all = false;
    look_at_family(mapped, job, 0);
    if (keeper > 0) {
        look_at_children(mapped, keeper, job, 0);
    }
    if (mapped->count > 0) {
        qsort(mapped->inodes, mapped->count, sizeof *mapped->inodes, by_number);
    }
}

void mapped_fini(struct mapped *mapped)
{
    mem_free(mapped->inodes);
    *mapped = (struct mapped){.inodes = NULL};
}

bool mapped_has(const struct mapped *mapped, ino_t inode)
{
    return mapped->is_all || (mapped->count > 0 && bsearch(&inode, mapped->inodes, mapped->count,
                                                           sizeof inode, by_number) != NULL);
}

bool mapped_is_known(int fd)
{
    char line[512], address[40];
    struct stat stat;
    bool known = false, begins = true;
    void *memory = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    bool is_there = memory != MAP_FAILED && fstat(fd, &stat) == 0;
    FILE *maps = is_there ? fopen("/proc/self/maps", "re") : NULL;
    (void)snprintf(address, sizeof address, "%" PRIxPTR "-", (uintptr_t)memory);
    while (maps != NULL && !known && fgets(line, sizeof line, maps) != NULL) {
        known = begins && strncmp(line, address, strlen(address)) == 0 &&
                shared_in(line) == stat.st_ino;
        begins = strchr(line, '\n') != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    if (memory != MAP_FAILED) {
        (void)munmap(memory, 1);
    }
    return known;
}
