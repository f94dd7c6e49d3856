/* ckpt/free_memory_linux.c - see free_memory_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/free_memory_linux.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KIB        1024U
#define PATH_BYTES (PATH_MAX + 64) /* most bytes of a path, with the terminating zero */
/* most bytes of a cgroup's directory, with the terminating zero */
#define FOLDER_BYTES (PATH_BYTES + PATH_MAX)
/* most bytes of the path of a file in it, with the terminating zero */
#define PLACE_BYTES (FOLDER_BYTES + 32)
#define NOT_LIMITED UINT64_MAX

/* Adds up the numbers after these words at the beginning of lines.  False: none is there. */
static bool sum_of(const char *path, const char *const words[2], uint64_t *ret)
{
    char line[256];
    bool any = false;
    FILE *file = fopen(path, "re");
    *ret = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        for (int i = 0; i < 2; i++) {
            uint64_t number;
            size_t length = strlen(words[i]);
            if (strncmp(line, words[i], length) == 0 &&
                sscanf(line + length, " %" SCNu64, &number) == 1) {
                *ret += number;
                any = true;
            }
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return any;
}

/* Reads a file that contains one number.  False: no such file, or it contains "max". */
static bool number_in(const char *folder, const char *name, uint64_t *ret)
{
    char path[PLACE_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    bool there = file != NULL && fscanf(file, "%" SCNu64, ret) == 1;
    if (file != NULL) {
        (void)fclose(file);
    }
    return there;
}

static uint64_t of_machine(const char *root)
{
    static const char *const WORDS[] = {"MemAvailable:", "SwapFree:"};
    char path[PATH_BYTES];
    uint64_t kib;
    (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
    return sum_of(path, WORDS, &kib) ? kib * KIB : NOT_LIMITED;
}

static uint64_t of_group(const char *folder)
{
    static const char *const FILES[] = {"inactive_file ", "active_file "};
    char path[PLACE_BYTES];
    uint64_t limit, used, files;
    if (!number_in(folder, "memory.max", &limit) || !number_in(folder, "memory.current", &used)) {
        return NOT_LIMITED;
    }
    (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
    used -= sum_of(path, FILES, &files) && files < used ? files : 0;
    return limit > used ? limit - used : 0;
}

/* Reads "0::/PATH" in the list of the process's cgroups.  False: it is in none, or in one that
 * cannot be seen from here. */
static bool group_path(const char *root, pid_t pid, char *ret, size_t size)
{
    static const char *const UNIFIED = "0::/";
    char path[PATH_BYTES];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/proc/%d/cgroup", root, (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(ret, (int)size, file) != NULL) {
        ret[strcspn(ret, "\n")] = '\0';
        found = strncmp(ret, UNIFIED, strlen(UNIFIED)) == 0 && strstr(ret, "/..") == NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (found) {
        memmove(ret, ret + strlen(UNIFIED) - 1, strlen(ret + strlen(UNIFIED) - 1) + 1);
    }
    return found;
}

uint64_t free_memory(const char *root, pid_t pid)
{
    char group[PATH_MAX], folder[FOLDER_BYTES];
    uint64_t least = of_machine(root);
    bool more = group_path(root, pid, group, sizeof group);
    while (more) {
        (void)snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, group);
        uint64_t left = of_group(folder);
        least = left < least ? left : least;
        char *slash = strrchr(group, '/'); /* to the one above */
        more = slash != NULL && group[1] != '\0';
        if (more) {
            slash[slash == group ? 1 : 0] = '\0';
        }
    }
    return least;
}
