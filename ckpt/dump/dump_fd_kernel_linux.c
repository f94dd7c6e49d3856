/* ckpt/dump/dump_fd_kernel_linux.c - open files that are the kernel's own: eventfd, timerfd,
 * signalfd, pidfd, epoll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump_fd.h"

#define CLOCKS_WAITED_FOR 10
#define CLOCK_WAIT_MS     1

/* ---- eventfd */

/* Kernels before 6.7 do not tell whether an eventfd is a semaphore: a semaphore gives one at a
 * time.  All who could wait for it are stopped, and it gets back what was read. */
static int try_semaphore(const struct open_file *file, uint64_t count, uint32_t *ret)
{
    uint64_t got = 0, more = count < 2 ? 2 : 0;
    int fd = fd_fetch(file);
    if (fd < 0) {
        return fd;
    }
    bool right = more == 0 || write(fd, &more, sizeof more) == (ssize_t)sizeof more;
    right = right && read(fd, &got, sizeof got) == (ssize_t)sizeof got;
    *ret = got == 1;
    for (uint64_t left = count + more - got; right && left > count; left--) {
        right = read(fd, &got, sizeof got) == (ssize_t)sizeof got;
    }
    uint64_t back = *ret != 0 && more == 0 ? 1 : *ret != 0 ? 0 : count;
    right = right && (back == 0 || write(fd, &back, sizeof back) == (ssize_t)sizeof back);
    (void)close(fd);
    return right ? 0 : -EIO;
}

static int save_event(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    const char *count = fd_info(file, "eventfd-count:");
    const char *semaphore = fd_info(file, "eventfd-semaphore:");
    saved->kind = CKPT_EVENT;
    if (count == NULL) {
        return fd_refuse(files, file, "the kernel does not show the count of this eventfd");
    }
    saved->value = strtoull(count, NULL, 16);
    if (semaphore != NULL) {
        saved->detail = strtoul(semaphore, NULL, 10) != 0;
        return 0;
    }
    int rc = try_semaphore(file, saved->value, &saved->detail);
    return rc != 0 ? fd_fail(files, file, rc) : 0;
}

/* ---- timerfd */

/* A timer that is due now looks like one that is not set; but one that is due expires soon. */
static void let_go_off(struct files *files, int fd)
{
    struct pollfd due = {.fd = fd, .events = POLLIN};
    if (files->clocks_waited_for++ < CLOCKS_WAITED_FOR) {
        (void)poll(&due, 1, CLOCK_WAIT_MS);
    }
}

/* /proc may be behind the time: reading the timer makes the kernel count first. */
static int save_clock(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    struct itimerspec spec;
    struct timespec now;
    struct open_file asked = *file;
    char path[64], text[1024];
    saved->kind = CKPT_CLOCK;
    int fd = fd_fetch(file);
    int rc = fd < 0 ? fd : timerfd_gettime(fd, &spec) != 0 ? -errno : 0;
    if (rc == 0 && spec.it_value.tv_sec == 0 && spec.it_value.tv_nsec == 0) {
        let_go_off(files, fd);
        rc = timerfd_gettime(fd, &spec) != 0 ? -errno : 0;
    }
    if (fd >= 0) {
        (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
        FILE *info = fopen(path, "re");
        size_t got = info != NULL ? fread(text, 1, sizeof text - 1, info) : 0;
        text[got] = '\0';
        if (info != NULL) {
            (void)fclose(info);
        }
        (void)close(fd);
    }
    if (rc != 0) {
        return fd_fail(files, file, rc);
    }
    asked.info = text;
    const char *clock = fd_info(&asked, "clockid:"), *ticks = fd_info(&asked, "ticks:"),
               *flags = fd_info(&asked, "settime flags:");
    if (clock == NULL || ticks == NULL || flags == NULL) {
        return fd_refuse(files, file, "the kernel does not show the state of this timer");
    }
    saved->clock = (int32_t)strtol(clock, NULL, 10);
    saved->value = strtoull(ticks, NULL, 10);
    saved->detail = (uint32_t)strtoul(flags, NULL, 8);
    saved->interval_s = spec.it_interval.tv_sec;
    saved->interval_ns = spec.it_interval.tv_nsec;
    saved->left_s = spec.it_value.tv_sec;
    saved->left_ns = spec.it_value.tv_nsec;
    bool armed = saved->left_s != 0 || saved->left_ns != 0;
    if (armed && saved->clock == CLOCK_REALTIME && (saved->detail & TFD_TIMER_ABSTIME) != 0 &&
        clock_gettime(CLOCK_REALTIME, &now) == 0) {
        int64_t ns = saved->left_ns + now.tv_nsec;
        saved->left_s += now.tv_sec + ns / 1000000000;
        saved->left_ns = ns % 1000000000;
    }
    return 0;
}

/* ---- signalfd, pidfd */

static int save_signals(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    const char *mask = fd_info(file, "sigmask:");
    saved->kind = CKPT_SIGNAL_FD;
    if (mask == NULL) {
        return fd_refuse(files, file, "the kernel does not show the signals of this signalfd");
    }
    saved->value = strtoull(mask, NULL, 16);
    return 0;
}

static int save_pidfd(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    const char *text = fd_info(file, "Pid:");
    saved->kind = CKPT_PIDFD;
    if (text == NULL) {
        return fd_refuse(files, file, "the kernel does not show the process of this pidfd");
    }
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    int32_t number = pid > 0 ? fd_inner_number(files, pid) : 0;
    if (pid >= 0 && number == 0) {
        return fd_refuse(files, file, "the pidfd refers to a process outside of the job");
    }
    saved->value = (uint64_t)(uint32_t)number;
    return 0;
}

int fd_save_kernels(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    static const struct {
        const char *name;
        int (*save)(struct files *files, const struct open_file *file, struct ckpt_file *saved);
        uint32_t kind; /* without more to save here */
    } KINDS[] = {{"[eventfd]", save_event, 0},      {"[timerfd]", save_clock, 0},
                 {"[signalfd]", save_signals, 0},   {"[pidfd]", save_pidfd, 0},
                 {"[eventpoll]", NULL, CKPT_EPOLL}, {"inotify", NULL, CKPT_INOTIFY}};
    const char *name = file->path + strlen("anon_inode:");
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(name, KINDS[i].name) == 0) {
            saved->kind = KINDS[i].kind;
            return KINDS[i].save != NULL ? KINDS[i].save(files, file, saved) : 0;
        }
    }
    return fd_refuse(files, file, "descriptors of this kind are not supported");
}

/* ---- what an epoll watches */

struct entry {
    int number;
    uint32_t events;
    uint64_t data, inode;
    uint32_t nth; /* of those that were added under that number */
};

static bool is_watched(const struct open_file *file, const struct open_file *target,
                       const struct entry *entry)
{
    struct kcmp_epoll_slot slot = {.efd = (uint32_t)file->fd,
                                   .tfd = (uint32_t)entry->number,
                                   .toff = entry->nth};
    return target->st.st_ino == entry->inode &&
           syscall(SYS_kcmp, target->subject->tracee.pid, file->subject->tracee.pid, KCMP_EPOLL_TFD,
                   target->fd, &slot) == 0;
}

/* Mostly the number still refers to the file that was added. */
static const struct open_file *find_watched(const struct files *files, const struct open_file *file,
                                            const struct entry *entry)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < files->count; i++) {
            const struct open_file *target = &files->items[i];
            bool likely = target->fd == entry->number && target->subject == file->subject;
            if (likely == (pass == 0) && is_watched(file, target, entry)) {
                return target;
            }
        }
    }
    return NULL;
}

/* Finds a process that has both, for what can be added only when there are processes. */
static uint32_t find_process(const struct files *files, uint32_t epoll, uint32_t target)
{
    for (uint32_t process = 0; process < files->dump->count; process++) {
        bool has_epoll = false, has_target = false;
        for (size_t i = 0; i < files->count; i++) {
            const struct open_file *one = &files->items[i];
            has_epoll = has_epoll || (one->process == process && one->file == epoll);
            has_target = has_target || (one->process == process && one->file == target);
        }
        if (has_epoll && has_target) {
            return process;
        }
    }
    return CKPT_NOBODY;
}

static int save_entry(struct files *files, const struct open_file *file, const struct entry *entry)
{
    const struct open_file *target = find_watched(files, file, entry);
    if (target == NULL) {
        return fd_refuse(files, file,
                         "the epoll watches a file that no process of the job has open");
    }
    const struct ckpt_file *saved = tables_at(&files->dump->tables, CKPT_FILES, target->file);
    struct ckpt_watch watch = {.in = file->file,
                               .file = target->file,
                               .process = CKPT_NOBODY,
                               .number = entry->number,
                               .events = entry->events,
                               .data = entry->data};
    if (saved->kind == CKPT_PIDFD && saved->value != 0) {
        watch.process = find_process(files, file->file, target->file);
        if (watch.process == CKPT_NOBODY) {
            return fd_refuse(files, file,
                             "the epoll watches a pidfd, and no process of the job has both open");
        }
    }
    (void)tables_add(&files->dump->tables, CKPT_WATCHES, &watch);
    return 0;
}

/* "tfd:        4 events: 80000019 data:                4  pos:0 ino:328a8d5 sdev:f" */
static bool parse_entry(const char *line, struct entry *ret)
{
    *ret = (struct entry){.nth = 0};
    return sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64 " pos:%*d ino:%" SCNx64,
                  &ret->number, &ret->events, &ret->data, &ret->inode) == 4;
}

int fd_save_epoll_watches(struct files *files, const struct open_file *file)
{
    struct entry *entries = NULL;
    size_t count = 0, capacity = 0;
    int rc = 0;
    for (const char *line = file->info; rc == 0 && line != NULL && *line != '\0';) {
        struct entry entry;
        if (parse_entry(line, &entry)) {
            for (size_t i = 0; i < count; i++) {
                entry.nth += entries[i].number == entry.number ? 1 : 0;
            }
            if (count == capacity) {
                capacity = capacity > 0 ? capacity * 2 : 16;
                entries = mem_realloc(entries, capacity * sizeof *entries);
            }
            entries[count++] = entry;
            rc = save_entry(files, file, &entry);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    mem_free(entries);
    return rc;
}
