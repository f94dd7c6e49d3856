/* ckpt/dump/dump_linux.c - makes the image of a running job: see dump_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/dump/dump_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/follow/follow_linux.h"
#include "ckpt/image/frame.h"
#include "ckpt/free_memory_linux.h"
#include "ckpt/image/image.h"
#include "ckpt/image/image_linux.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/stub_code.h"
#include "ckpt/sum.h"

/* Where windows are looked for: far from where programs, heaps, libraries and stacks are put. */
#define WINDOW_FIRST   UINT64_C(0x1000000000)
#define WINDOW_STEP    UINT64_C(0x0100000000)
#define WINDOW_LAST    UINT64_C(0x7f0000000000)
#define TRIES          13 /* after the first one */
#define FIRST_PAUSE_NS 2500000

/* ---- the frame: ELF, stub, tables */

/* Returns whether nobody has anything there, except an earlier window. */
static bool is_window(const struct dump *dump, uint64_t at)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        bool was = subject->before != NULL && image_head(subject->before)->window == at;
        if (!was && !maps_is_free(&subject->maps, at, at + FRAME_WINDOW_MAX)) {
            return false;
        }
    }
    return true;
}

static bool choose_window(const struct dump *dump, uint64_t *ret)
{
    /* Where it was, if it can be: a handler of the job's may return there. */
    const struct image *before = dump->subjects[0]->before;
    if (before != NULL && is_window(dump, image_head(before)->window)) {
        *ret = image_head(before)->window;
        return true;
    }
    for (uint64_t at = WINDOW_FIRST; at < WINDOW_LAST; at += WINDOW_STEP) {
        if (is_window(dump, at)) {
            *ret = at;
            return true;
        }
    }
    return false;
}

static int fill_head(struct dump *dump)
{
    struct utsname names;
    struct ckpt_head *head = &dump->head;
    if (getrandom(&head->id, sizeof head->id, 0) != (ssize_t)sizeof head->id) {
        return -EIO; /* so few bytes it always gives */
    }
    head->made_s = time(NULL);
    head->code_sum = ckpt_sum_by(dump->sums_fast, 0, stub_code, stub_code_bytes);
    if (dump->is_delta) {
        head->flags |= CKPT_DELTA;
        follow_base(dump->follow, dump);
    }
    if (uname(&names) == 0) {
        head->kernel = tables_text(&dump->tables, names.release);
        head->host = tables_text(&dump->tables, names.nodename);
    }
    return 0;
}

static int write_frame(struct dump *dump, struct err *err)
{
    struct ckpt_head *head = &dump->head;
    struct strbuf bytes;
    unsigned char page[CKPT_STUB_OFFSET];
    uint64_t window, code = CKPT_STUB_OFFSET + stub_code_bytes, at = frame_round_up(dump->at);
    for (size_t i = 0; i < dump->count; i++) {
        (void)tables_add(&dump->tables, CKPT_PROCESSES, &dump->subjects[i]->process);
    }
    int rc = fill_head(dump);
    if (rc != 0) {
        return err_set(err, rc, "cannot get a random number for the image");
    }
    if (!choose_window(dump, &window) || !frame_lay_out(&dump->tables, head, window, code, at)) {
        return err_set(err, -ENOMEM, "process %d: no free address range between its mappings",
                       (int)dump->subjects[0]->tracee.pid);
    }
    strbuf_init(&bytes, CKPT_TABLES_MAX);
    rc = tables_write(&dump->tables, head, &bytes);
    rc = rc != 0 ? rc : new_file_write(dump->out, bytes.data, bytes.length, at);
    rc = rc == 0 && ftruncate(dump->out, (off_t)head->image_bytes) != 0 ? -errno : rc;
    rc = rc != 0 ? rc : new_file_write(dump->out, stub_code, stub_code_bytes, CKPT_STUB_OFFSET);
    if (rc == 0) {
        frame_elf(head, code, at, page);
        rc = new_file_write(dump->out, page, sizeof page, 0);
    }
    strbuf_fini(&bytes);
    return rc != 0 ? err_set(err, rc, "cannot write the image: %s", err_code_text(rc)) : 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns whether the process has a limit of file sizes: writing past it would send it a signal. */
static bool has_file_limit(pid_t pid)
{
    struct rlimit limit;
    return prlimit(pid, RLIMIT_FSIZE, NULL, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* Opens the image in the process that is copied, if that can open it: it may see other files than
 * we do. */
static void open_inside(struct dump *dump)
{
    struct tracee *source = dump->now->source;
    char full[PATH_MAX];
    struct stat ours, its;
    dump->now->inner = -1;
    if (has_file_limit(source->pid) || realpath(dump->file.path, full) == NULL ||
        strlen(full) >= CKPT_PAGE ||
        tracee_write(source, source->scratch, full, strlen(full) + 1) < 0) {
        return;
    }
    long fd = TRACEE_CALL(source, 0, SYS_openat, (uint64_t)AT_FDCWD, source->scratch,
                          O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    (void)snprintf(full, sizeof full, "/proc/%d/fd/%ld", (int)source->pid, fd);
    if (fstat(dump->out, &ours) == 0 && stat(full, &its) == 0 && ours.st_dev == its.st_dev &&
        ours.st_ino == its.st_ino) {
        dump->now->inner = source->guard.inner = (int)fd;
    } else {
        (void)TRACEE_CALL(source, 0, SYS_close, (uint64_t)fd);
    }
}

static void close_inside(struct dump *dump)
{
    if (dump->now->inner >= 0) {
        (void)TRACEE_CALL(dump->now->source, 0, SYS_close, (uint64_t)dump->now->inner);
        dump->now->inner = dump->now->source->guard.inner = -1;
    }
}

static bool is_alive(const struct subject *subject)
{
    return (subject->process.flags & CKPT_ZOMBIE) == 0;
}

/* ---- room on the disk */

/* Returns what the memory of a process would take at most; which pages are zeroes is not known
 * yet. */
static uint64_t memory_bytes(const struct dump *dump, const struct subject *subject)
{
    uint64_t bytes = 0;
    for (size_t i = 0; dump->is_delta && i < subject->runs.count; i++) {
        const struct page_run *run = &subject->runs.items[i];
        bytes += run->is_changed ? run->end - run->start : 0;
    }
    for (size_t i = 0; i < subject->maps.count; i++) {
        const struct map *map = &subject->maps.items[i];
        bool shared = (map->flags & CKPT_SHARED) != 0;
        bool is_files = map->name[0] == '/' && map->inode != 0;
        if (shared || !dump->is_delta) {
            bytes += is_files && !shared ? map->end - map->start : map->present_bytes;
        }
    }
    return bytes;
}

static int check_room(const struct dump *dump, struct err *err)
{
    uint64_t bytes = dump->at + tables_bytes(&dump->tables);
    for (size_t i = 0; i < dump->count; i++) {
        bytes += memory_bytes(dump, dump->subjects[i]);
    }
    return new_file_room(dump->out, dump->file.name, bytes, err);
}

/* Saves one process; from here on it is made to do system calls. */
static int dump_one(struct dump *dump, struct err *err)
{
    struct subject *subject = dump->now;
    const struct ckpt_process *was = subject->was;
    struct tracee_code lent = {.start = was != NULL ? was->vdso : 0,
                               .end = was != NULL ? was->vdso + was->vdso_bytes : 0};
    int rc = tracee_prepare(&subject->tracee, &subject->maps, &lent, err);
    for (size_t i = 0; rc == 0 && i < subject->stale_count; i++) {
        tracee_reap_copy(&subject->tracee, subject->stale[i]);
    }
    rc = rc != 0 ? rc : dump_threads(dump, err);
    return rc != 0 ? rc : dump_process(dump, err);
}

/* Saves all except the memory, for which the processes need not stand still. */
static int dump_states(struct dump *dump, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        dump->now = dump->subjects[i];
        if (is_alive(dump->now)) {
            rc = dump_check(dump, err);
            rc = rc != 0 ? rc : maps_read(dump->now->tracee.pid, &dump->now->maps, err);
            rc = rc != 0 ? rc : dump_regions(dump, err);
        }
    }
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        dump->now = dump->subjects[i];
        rc = is_alive(dump->now) ? dump_one(dump, err) : 0;
    }
    rc = rc != 0 ? rc : dump_files(dump, err);
    if (rc == 0 && dump->follow != NULL) {
        follow_look(dump->follow, dump);
    }
    rc = rc != 0 ? rc : check_room(dump, err);
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        dump->now = dump->subjects[i];
        rc = is_alive(dump->now) ? dump_memory(dump, true, err) : 0;
    }
    rc = rc != 0 ? rc : dump_shared(dump, err);
    if (rc == 0) {
        dump_machine(dump);
    }
    return rc;
}

/* A process, or its copy, that was killed meanwhile (by a machine that is out of memory) has been
 * read as if it had no memory: checks for that. */
static int check_whole(const struct dump *dump, int rc, struct err *err)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        char byte;
        if (is_alive(subject) && tracee_read(subject->source, subject->source->scratch, &byte,
                                             sizeof byte) != (ssize_t)sizeof byte) {
            return err_set(err, -ESRCH,
                           "no such process: %d; the process ended before it was saved",
                           (int)subject->tracee.pid);
        }
    }
    return rc;
}

static int dump_memories(struct dump *dump, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        dump->now = dump->subjects[i];
        if (is_alive(dump->now)) {
            if (dump->now->taken == NULL) {
                open_inside(dump);
            }
            rc = dump_memory(dump, false, err);
            close_inside(dump);
        }
    }
    return rc;
}

/* Returns whether there is memory for copies, in case the job writes to all of its memory before
 * they end.  If not, the job stands still instead: otherwise the kernel might kill it, with results
 * that no image holds yet. */
static bool has_room_for_copies(const struct dump *dump)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < dump->count; i++) {
        const struct maps *maps = &dump->subjects[i]->maps;
        for (size_t j = 0; j < maps->count; j++) {
            bool copied = (maps->items[j].flags & (CKPT_SHARED | CKPT_DONTFORK)) == 0;
            bytes += copied ? maps->items[j].anonymous_bytes : 0;
        }
    }
    return bytes <= dump->memory_left;
}

/* Makes copies of the processes.  False: impossible, for lack of processes or memory. */
static bool copy_processes(struct dump *dump, int *rc, struct err *err)
{
    *rc = 0;
    if (!has_room_for_copies(dump)) {
        return false;
    }
    for (size_t i = 0; *rc == 0 && i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if (is_alive(subject)) {
            *rc = tracee_copy(&subject->tracee, &subject->copy, err);
            subject->source = *rc == 0 ? &subject->copy : subject->source;
        }
    }
    if (*rc != -EAGAIN && *rc != -ENOMEM) {
        return true;
    }
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if (subject->copy.pid > 0) {
            tracee_drop_copy(&subject->tracee, &subject->copy);
            subject->source = &subject->tracee;
        }
    }
    *rc = 0;
    return false;
}

static int do_while_still(const struct dump_options *options, struct err *err)
{
    return options->while_still != NULL ? options->while_still(options->still_arg, err) : 0;
}

static void end_copies(struct dump *dump)
{
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if (subject->copy.pid > 0) {
            tracee_end_copy(&subject->copy, subject->tracee.pid);
        }
    }
}

/* They go on as soon as there are copies of them, or of what has changed if that is little, or,
 * where there can be none, when all is written; freed_ns: then. */
static int dump_running(struct dump *dump, const struct dump_options *options, uint64_t *freed_ns,
                        struct err *err)
{
    int rc = dump_states(dump, err);
    bool taken = rc == 0 && dump->is_delta && follow_take(dump->follow, dump);
    bool copied = rc == 0 && !taken && copy_processes(dump, &rc, err);
    rc = rc == 0 && taken ? check_whole(dump, rc, err) : rc;
    rc = rc != 0 ? rc : do_while_still(options, err);
    if (rc == 0 && !taken && !copied) {
        rc = check_whole(dump, dump_memories(dump, err), err);
    }
    for (size_t i = 0; i < dump->count; i++) {
        tracee_release(&dump->subjects[i]->tracee, false);
    }
    *freed_ns = now_ns();
    if (rc == 0 && options->freed != NULL) {
        options->freed(options->arg);
    }
    rc = rc == 0 && taken ? dump_memories(dump, err) : rc;
    rc = rc == 0 && copied ? check_whole(dump, dump_memories(dump, err), err) : rc;
    end_copies(dump);
    return rc;
}

/* They stand still until their memory is copied. */
static int dump_standing(struct dump *dump, const struct dump_options *options, struct err *err)
{
    int rc = dump_states(dump, err);
    rc = rc != 0 ? rc : do_while_still(options, err);
    return rc != 0 ? rc : check_whole(dump, dump_memories(dump, err), err);
}

static int dump_to(struct dump *dump, const struct dump_options *options, uint64_t *freed_ns,
                   struct err *err)
{
    int rc = options->kill ? dump_standing(dump, options, err)
                           : dump_running(dump, options, freed_ns, err);
    rc = rc != 0 ? rc : write_frame(dump, err);
    rc = rc != 0 ? rc : new_file_commit(&dump->file, 0700, err);
    if (options->kill) { /* only now is it safe */
        if (rc == 0 && options->end_signal != 0) {
            tracee_end(&dump->subjects[0]->tracee, options->end_signal);
        }
        dump_release_all(dump, rc == 0);
        *freed_ns = now_ns();
    }
    return rc;
}

static int dump_once(pid_t pid, const char *image, const struct dump_options *options,
                     struct dump_result *ret, struct err *err)
{
    struct dump dump = {.at = CKPT_STUB_OFFSET + stub_code_bytes,
                        .unseen = options->unseen,
                        .follow = options->follow,
                        .sums_fast = ckpt_sum_is_fast(),
                        .is_whole = options->whole};
    int rc = new_file_open(&dump.file, image, false, err);
    if (rc != 0) {
        return rc;
    }
    dump.out = dump.file.fd;
    tables_init(&dump.tables);
    if (dump.follow != NULL) {
        follow_expect(dump.follow);
    }
    dump.memory_left = options->kill ? 0 : free_memory("", pid);
    uint64_t began_ns = now_ns(), freed_ns = began_ns;
    rc = dump_hold_all(&dump, pid, err);
    rc = rc != 0 ? rc : dump_to(&dump, options, &freed_ns, err);
    dump_release_all(&dump, false); /* if they were not yet */
    if (dump.follow != NULL) {
        follow_done(dump.follow, &dump, image, rc == 0);
    }
    if (rc == 0 && ret != NULL) {
        *ret = (struct dump_result){.image_bytes = dump.head.image_bytes,
                                    .memory_bytes = dump.head.memory_bytes,
                                    .frozen_ns = freed_ns - began_ns,
                                    .is_delta = dump.is_delta};
    }
    new_file_close(&dump.file, false);
    dump_fini_subjects(&dump);
    dump_fini_shared(&dump);
    tables_fini(&dump.tables);
    return rc;
}

static bool has_ended(pid_t pid)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    bool ended = end.fd < 0 ? errno == ESRCH : poll(&end, 1, 0) > 0;
    if (end.fd >= 0) {
        (void)close(end.fd);
    }
    return ended;
}

/* Some states last for a moment only: between vfork() and exec, or while events wait to be read. */
int ckpt_dump(pid_t pid, const char *image, const struct dump_options *options,
              struct dump_result *ret, struct err *err)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
    int rc = dump_once(pid, image, options, ret, err);
    for (int i = 0; rc == -EBUSY && i < TRIES; i++) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec * 3 / 2; /* all in all, a second */
        rc = dump_once(pid, image, options, ret, err);
    }
    return rc != 0 && has_ended(pid) ? err_set(err, -ESRCH, "no such process: %d", (int)pid) : rc;
}
