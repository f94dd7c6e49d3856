/* ckpt/stub/descriptors.c - the job's open files: see fd.h.
 *
 * Each open file description is opened once, at some number above all that the job uses, and copied
 * to the numbers that shared it.  What the job was started with as 0 to 2 stays what the resuming
 * process was given (--stdio: as the job had it): a log that was redirected there has grown since,
 * and would be wound back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"
#include "ckpt/sum.h"

#define SPARE 8

/* ---- what the kinds use */

const struct ckpt_fd *fd_own(const struct stub *stub, uint32_t i)
{
    return STUB_ENTRY(stub, CKPT_FDS, struct ckpt_fd, stub->process->fds.first + i);
}

const struct ckpt_file *fd_file(const struct stub *stub, uint32_t index)
{
    return STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, index);
}

uint32_t fd_process(const struct stub *stub)
{
    return (uint32_t)(stub->process - STUB_ENTRY(stub, CKPT_PROCESSES, struct ckpt_process, 0));
}

bool fd_is_inherited(const struct stub *stub, const struct ckpt_file *file)
{
    return (file->stdio != 0 && (!stub->stdio || file->kind == CKPT_STDIO)) ||
           file->kind == CKPT_STDIO_AGAIN;
}

bool fd_is_late(const struct stub *stub, const struct ckpt_file *file)
{
    const char *path = stub_text(stub, file->path), *proc = "/proc/";
    if (file->kind == CKPT_PIDFD) {
        return file->value != 0;
    }
    while (*proc != '\0' && *path == *proc) {
        path++;
        proc++;
    }
    return file->kind == CKPT_FILE && *proc == '\0' && *path >= '0' && *path <= '9';
}

int fd_place(const struct stub *stub, uint32_t index)
{
    return stub->high + (int)index;
}

void fd_put_at(const struct stub *stub, long fd, int place)
{
    if (fd != place) {
        stub_must(stub, SYS3(dup3, fd, place, O_CLOEXEC),
                  "moving an open file to its descriptor number");
        (void)SYS1(close, fd);
    }
}

long fd_reopen(int number, uint32_t flags)
{
    struct stub_text path = {.length = 0};
    text_put(&path, "/proc/self/fd/");
    text_put_number(&path, number);
    flags &= ~(uint32_t)(O_NOFOLLOW | O_ASYNC);
    return SYS4(openat, AT_FDCWD, path.bytes, flags | O_CLOEXEC | O_NOCTTY, 0);
}

void fd_read_image(const struct stub *stub, void *to, uint64_t bytes, uint64_t offset)
{
    uint64_t done = 0;
    while (done < bytes) {
        long got = SYS4(pread64, stub->image, (char *)to + done, bytes - done, offset + done);
        if (got <= 0) {
            stub_fail(stub, "reading the image", "", got < 0 ? got : -EIO);
        }
        done += (uint64_t)got;
    }
}

void fd_check_sum(const struct stub *stub, const struct ckpt_extent *extent, const void *bytes)
{
    if (stub->sums && ckpt_sum_fast(0, bytes, extent->bytes) != extent->sum) {
        stub_fail_at(stub, "damaged image: bad checksum of the bytes at", extent->offset, -EIO);
    }
}

void fd_read_extent(const struct stub *stub, void *to, const struct ckpt_extent *extent)
{
    fd_read_image(stub, to, extent->bytes, extent->offset);
    fd_check_sum(stub, extent, to);
}

/* ---- one open file */

static bool is_open(int number)
{
    return SYS3(fcntl, number, F_GETFD, 0) >= 0;
}

static void open_again(const struct stub *stub, const struct ckpt_file *file, int place)
{
    int number = file->kind == CKPT_STDIO_AGAIN ? (int)file->detail : (int)file->stdio - 1;
    struct stat st;
    /* Of a file it would be wound back, and written over. */
    bool again =
        file->kind == CKPT_STDIO_AGAIN && SYS2(fstat, number, &st) == 0 && !S_ISREG(st.st_mode);
    long fd = again ? fd_reopen(number, file->flags) : -ENOENT;
    if (fd >= 0) {
        fd_put_at(stub, fd, place);
    } else {
        (void)SYS3(dup3, number, place, O_CLOEXEC); /* closed here: so it is there */
    }
}

static long open_kind(const struct stub *stub, const struct ckpt_file *file)
{
    uint32_t flags = O_CLOEXEC | (file->flags & O_NONBLOCK);
    switch (file->kind) {
    case CKPT_NAMELESS:
        return fd_open_nameless(stub, file);
    case CKPT_EPOLL:
        return stub_must(stub, SYS1(epoll_create1, EPOLL_CLOEXEC), "creating an epoll");
    case CKPT_EVENT:
        return fd_open_event(stub, file);
    case CKPT_CLOCK:
        return fd_open_clock(stub, file);
    case CKPT_SIGNAL_FD:
        return fd_open_signals(stub, file);
    case CKPT_INOTIFY:
        return stub_must(stub, SYS1(inotify_init1, flags), "creating an inotify");
    case CKPT_PIDFD:
        return fd_open_pidfd(stub, file);
    default:
        return fd_open_named(stub, file);
    }
}

static void open_one(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = fd_file(stub, index);
    int place = fd_place(stub, index);
    if (is_open(place)) {
        return;
    }
    if (fd_is_inherited(stub, file)) {
        open_again(stub, file, place);
    } else if (file->kind == CKPT_FILE && file->id != 0) {
        stub_must(stub, SYS3(dup3, fd_place(stub, (uint32_t)file->id - 1), place, O_CLOEXEC),
                  "getting an open file that processes share");
    } else if (file->kind == CKPT_PIPE) {
        fd_open_pipe(stub, index);
    } else if (file->kind == CKPT_SOCKET) {
        fd_open_sockets(stub, index);
    } else if (file->kind == CKPT_TERMINAL) {
        fd_open_terminal(stub, index);
    } else {
        long fd = open_kind(stub, file);
        bool named = file->kind == CKPT_FILE || file->kind == CKPT_NAMELESS;
        bool seeks = S_ISREG(file->mode) || S_ISDIR(file->mode) || S_ISBLK(file->mode);
        if (named && seeks && file->offset != 0 && (file->flags & O_PATH) == 0) {
            long rc = SYS3(lseek, fd, file->offset, SEEK_SET);
            if (SYS_FAILED(rc)) {
                stub_fail(stub, "setting the position in", stub_text(stub, file->path), rc);
            }
        }
        fd_put_at(stub, fd, place);
    }
}

/* ---- all of them */

static long far_from(const struct stub *stub, int fd, int number)
{
    return stub_must(stub, SYS3(fcntl, fd, F_DUPFD_CLOEXEC, number),
                     "moving a descriptor out of the way");
}

static int highest_number(const struct stub *stub)
{
    int highest = STUB_STDIO - 1;
    uint32_t fds = (uint32_t)stub->head->tables[CKPT_FDS].count;
    uint32_t watches = (uint32_t)stub->head->tables[CKPT_WATCHES].count;
    for (uint32_t i = 0; i < fds; i++) {
        const struct ckpt_fd *fd = STUB_ENTRY(stub, CKPT_FDS, struct ckpt_fd, i);
        highest = fd->fd > highest ? fd->fd : highest;
    }
    for (uint32_t i = 0; i < watches; i++) {
        const struct ckpt_watch *watch = STUB_ENTRY(stub, CKPT_WATCHES, struct ckpt_watch, i);
        bool is_descriptor = watch->file != CKPT_NOBODY;
        highest = is_descriptor && watch->number > highest ? watch->number : highest;
    }
    return highest;
}

/* Descriptor numbers from here on are ours, above all that the job uses.  Below there must be room
 * for what is open for a moment: the kernel gives the lowest number, and that must not be a
 * place. */
static void find_room(struct stub *stub)
{
    uint64_t limits[2] = {0, UINT64_MAX};
    stub->file_count = (uint32_t)stub->head->tables[CKPT_FILES].count;
    int highest = highest_number(stub);
    stub->high = (highest > STUB_STDIO + SPARE ? highest : STUB_STDIO + SPARE) + 1;
    if (SYS4(prlimit64, 0, RLIMIT_NOFILE, NULL, limits) == 0) {
        limits[0] = limits[1];
        (void)SYS4(prlimit64, 0, RLIMIT_NOFILE, limits, NULL); /* the job's own comes later */
    }
    int image = stub->high + (int)stub->file_count, say = image + 1, out = image + 2;
    if ((uint64_t)out + 4 >= limits[1]) {
        stub_fail_at(stub, "the limit of open files (RLIMIT_NOFILE) is too low here; the job needs",
                     (uint64_t)out + 4, -EMFILE);
    }
    stub->say = is_open(stub->say) ? stub->say : stub->image; /* what is said there is lost */
    long far[3] = {far_from(stub, stub->image, out + 1), far_from(stub, stub->say, out + 1),
                   stub->out >= 0 ? far_from(stub, stub->out, out + 1) : -1};
    (void)SYS3(close_range, STUB_STDIO, out, 0);
    stub_must(stub, SYS3(dup3, far[0], image, O_CLOEXEC), "moving the descriptor of the image");
    stub_must(stub, SYS3(dup3, far[1], say, O_CLOEXEC), "moving the descriptor for messages");
    stub->image = image;
    stub->say = say;
    if (stub->out >= 0) {
        stub_must(stub, SYS3(dup3, far[2], out, O_CLOEXEC),
                  "moving the descriptor for reports to the parent process");
        stub->out = out;
    }
    (void)SYS3(close_range, out + 1, ~0U, 0);
}

static void for_objects(const struct stub *stub,
                        void (*act)(const struct stub *stub, uint32_t index))
{
    for (uint32_t i = 0; i < stub->file_count; i++) {
        if (fd_file(stub, i)->kind == CKPT_MEMORY_FILE) {
            act(stub, i);
        }
    }
}

void stub_open_files(struct stub *stub)
{
    find_room(stub);
    for_objects(stub, fd_make_object);
    for (uint32_t i = 0; i < stub->file_count; i++) {
        const struct ckpt_file *file = fd_file(stub, i);
        if (file->kind != CKPT_MEMORY_FILE && !fd_is_late(stub, file)) {
            open_one(stub, i);
        }
    }
    for_objects(stub, fd_finish_object);
    fd_lock_files(stub);
    fd_add_watches(stub, CKPT_NOBODY);
}

int stub_memory_file(const struct stub *stub, uint32_t file)
{
    return fd_place(stub, file);
}

static void close_high(const struct stub *stub)
{
    if (stub->file_count > 0) {
        (void)SYS3(close_range, stub->high, stub->high + (int)stub->file_count - 1, 0);
    }
}

void stub_forget_files(const struct stub *stub)
{
    close_high(stub);
}

/* ---- of a process */

static bool has_number(const struct stub *stub, int number)
{
    for (uint32_t i = 0; i < stub->process->fds.count; i++) {
        if (fd_own(stub, i)->fd == number) {
            return true;
        }
    }
    return false;
}

static void copy_to_number(const struct stub *stub, const struct ckpt_fd *fd)
{
    long rc = SYS3(dup3, fd_place(stub, fd->file), fd->fd, fd->cloexec != 0 ? O_CLOEXEC : 0);
    if (rc < 0 && !fd_is_inherited(stub, fd_file(stub, fd->file))) {
        stub_fail(stub, "setting the descriptor number of", "", rc);
    }
}

void stub_make_descriptors(struct stub *stub)
{
    struct ckpt_span fds = stub->process->fds;
    for (uint32_t i = 0; i < fds.count; i++) {
        if (!fd_is_late(stub, fd_file(stub, fd_own(stub, i)->file))) {
            copy_to_number(stub, fd_own(stub, i));
        }
    }
    for (uint32_t i = 0; i < fds.count; i++) {
        if (fd_is_late(stub, fd_file(stub, fd_own(stub, i)->file))) {
            open_one(stub, fd_own(stub, i)->file);
            copy_to_number(stub, fd_own(stub, i));
        }
    }
    for (int number = 0; number < STUB_STDIO; number++) {
        if (!has_number(stub, number)) {
            (void)SYS1(close, number);
        }
    }
    fd_add_watches(stub, fd_process(stub));
    const char *cwd = stub_text(stub, stub->process->cwd);
    long rc = SYS1(chdir, cwd);
    if (rc != 0) {
        stub_fail(stub, "changing to the working directory", cwd, rc);
    }
}

/* Sets who gets a signal when something can be read or written. */
static void set_owner(const struct ckpt_fd *fd, const struct ckpt_file *file)
{
    struct f_owner_ex owner = {.pid = file->owner};
    owner.type = (enum __pid_type)file->owner_kind;
    if (file->owner_signal != 0) {
        (void)SYS3(fcntl, fd->fd, F_SETSIG, file->owner_signal);
    }
    (void)SYS3(fcntl, fd->fd, F_SETOWN_EX, &owner); /* it may have ended: then nobody is told */
    if ((file->flags & O_ASYNC) != 0) {
        long flags = SYS3(fcntl, fd->fd, F_GETFL, 0);
        (void)SYS3(fcntl, fd->fd, F_SETFL, flags | O_ASYNC);
    }
}

void stub_finish_descriptors(const struct stub *stub)
{
    if (fd_process(stub) == 0) {
        for_objects(stub, fd_seal_object);
    }
    close_high(stub);
    fd_lock_ranges(stub); /* after the last close(): that gives up a process's locks of a file */
    for (uint32_t i = 0; i < stub->process->fds.count; i++) {
        const struct ckpt_fd *fd = fd_own(stub, i);
        const struct ckpt_file *file = fd_file(stub, fd->file);
        if (!fd_is_inherited(stub, file) && (file->owner != 0 || (file->flags & O_ASYNC) != 0)) {
            set_owner(fd, file);
        }
    }
}
