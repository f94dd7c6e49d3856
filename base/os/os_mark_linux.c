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
#include "base/os/os_mark.h"
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

/* What was read of a process, with a zero behind it. */
struct text {
    char *data;
    size_t length, capacity;
};

static void read_text(int fd, struct text *text)
{
    text->length = 0;
    for (;;) {
        if (text->length + 1 >= text->capacity) {
            if (text->capacity >= ENVIRON_BYTES_MAX) {
                break;
            }
            text->capacity = text->capacity == 0 ? 16384 : text->capacity * 2;
            text->data = mem_realloc(text->data, text->capacity);
        }
        ssize_t got = read(fd, text->data + text->length, text->capacity - text->length - 1);
        if (got <= 0) {
            break;
        }
        text->length += (size_t)got;
    }
    text->data[text->length] = '\0';
    (void)close(fd); /* only read from */
}

static int open_of(pid_t pid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool process_has_mark(pid_t pid, const char *mark, struct text *text)
{
    int fd = open_of(pid, "environ");
    if (fd < 0) { /* gone, another user's, or a starter that lets nobody look into it */
        fd = open_of(pid, "cmdline");
        mark = strchr(mark, '=') != NULL ? strchr(mark, '=') + 1 : mark;
    }
    if (fd < 0) {
        return false;
    }
    read_text(fd, text);
    return environ_has(text->data, text->length, mark, strlen(mark));
}

/* Reads the next name in /proc that is another process's pid; false: there is none. */
static bool next_process(DIR *proc, pid_t *ret)
{
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL) {
        int64_t pid;
        if (text_parse_int64(entry->d_name, &pid, NULL) == 0 && pid > 1 && pid != getpid()) {
            *ret = (pid_t)pid;
            return true;
        }
    }
    return false;
}

size_t os_marked_kill(struct os *os, const char *mark, int signal_number)
{
    (void)os; /* there is one /proc */
    DIR *proc = opendir("/proc");
    if (proc == NULL) {
        return 0;
    }
    size_t count = 0;
    struct text text = {0};
    pid_t pid;
    while (next_process(proc, &pid)) {
        if (process_has_mark(pid, mark, &text)) {
            count++;
            (void)kill(pid, signal_number); /* it may be gone by now: that is what we want */
        }
    }
    mem_free(text.data);
    (void)closedir(proc);
    return count;
}

void os_mark_each(const char *name, void (*each)(void *arg, pid_t pid, const char *value),
                  void *arg)
{
    DIR *proc = opendir("/proc");
    struct text text = {0};
    size_t length = strlen(name);
    pid_t pid;
    while (proc != NULL && next_process(proc, &pid)) {
        int fd = open_of(pid, "environ");
        if (fd < 0) {
            continue;
        }
        read_text(fd, &text);
        for (size_t at = 0; at < text.length; at += strlen(text.data + at) + 1) {
            if (strncmp(text.data + at, name, length) == 0) {
                each(arg, pid, text.data + at + length);
                break;
            }
        }
    }
    mem_free(text.data);
    if (proc != NULL) {
        (void)closedir(proc);
    }
}
