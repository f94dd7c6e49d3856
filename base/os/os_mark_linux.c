/* base/os/os_mark_linux.c - finds the processes of a job by a mark in their environment.
 *
 * The starter is the parent of its job's orphans.  But when the starter itself was killed, its
 * job's processes belong to init, and those that became daemons are in no tree and no group of ours
 * any more.  Every process of a job inherits a variable that names the run; /proc/PID/environ shows
 * it to root and to the same user.  A process that cleans its environment escapes this (but not a
 * cgroup or a PID namespace, where there is one): so this is a second net, not the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/text.h"

#define ENVIRON_BYTES_MAX ((size_t)2 << 20) /* the kernel's own limit is of this size */

/* Returns whether `mark` is one of the zero-separated strings. */
static bool environ_has(const char *data, size_t length, const char *mark, size_t mark_length)
{
    size_t at = 0;
    while (at < length) {
        const char *end = memchr(data + at, '\0', length - at);
        size_t here = end != NULL ? (size_t)(end - (data + at)) : length - at;
        if (here == mark_length && memcmp(data + at, mark, mark_length) == 0) {
            return true;
        }
        at += here + 1;
    }
    return false;
}

static bool process_has_mark(pid_t pid, const char *mark, char **buffer, size_t *capacity)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) { /* gone, another user's, or a starter that lets nobody look into it */
        (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        mark = strchr(mark, '=') != NULL ? strchr(mark, '=') + 1 : mark;
    }
    if (fd < 0) {
        return false;
    }
    size_t length = 0;
    for (;;) {
        if (length == *capacity) {
            if (*capacity >= ENVIRON_BYTES_MAX) {
                break;
            }
            *capacity = *capacity == 0 ? 16384 : *capacity * 2;
            *buffer = mem_realloc(*buffer, *capacity);
        }
        ssize_t got = read(fd, *buffer + length, *capacity - length);
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    (void)close(fd); /* only read from */
    return environ_has(*buffer, length, mark, strlen(mark));
}

size_t os_marked_kill(struct os *os, const char *mark, int signal_number)
{
    (void)os; /* there is one /proc */
    DIR *proc = opendir("/proc");
    if (proc == NULL) {
        return 0;
    }
    size_t count = 0;
    char *buffer = NULL;
    size_t capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL) {
        int64_t pid;
        if (text_parse_int64(entry->d_name, &pid, NULL) != 0 || pid <= 1 || pid == getpid()) {
            continue;
        }
        if (process_has_mark((pid_t)pid, mark, &buffer, &capacity)) {
            count++;
            (void)kill((pid_t)pid, signal_number); /* it may be gone by now: that is what we want */
        }
    }
    mem_free(buffer);
    (void)closedir(proc);
    return count;
}
