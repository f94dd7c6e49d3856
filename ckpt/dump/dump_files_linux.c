/* ckpt/dump/dump_files_linux.c - the open files of a job: see dump_fd.h.
 *
 * Which descriptors are one open file, of whatever processes, kcmp() tells; it also gives open
 * files an order, so that a job with thousands of them stands still no longer for it.
 *
 * What a job was started with as 0 to 2 is left to whoever resumes it, under whatever numbers the
 * job has it now: that is what its keeper has there.  A shell that reads a file as its standard
 * input has that file at 0, and gets it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <linux/major.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ckpt/dump/dump_fd.h"

#define NOT_REOPENED (O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC)
#define INFO_MAX     ((size_t)16 << 20)
#define PATH_BYTES   4096 /* most bytes of a path, with the terminating zero */

/* ---- what is open */

static int read_info(struct open_file *file)
{
    char path[64], chunk[PATH_BYTES];
    struct strbuf text;
    size_t got;
    (void)snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)file->subject->tracee.pid,
                   file->fd);
    FILE *info = fopen(path, "re");
    if (info == NULL) {
        return -errno;
    }
    strbuf_init(&text, INFO_MAX);
    while ((got = fread(chunk, 1, sizeof chunk, info)) > 0) {
        strbuf_append(&text, chunk, got);
    }
    (void)fclose(info);
    (void)strbuf_text(&text);
    file->info = strbuf_take(&text);
    if (file->info == NULL) {
        return -E2BIG;
    }
    const char *flags = fd_info(file, "flags:"), *offset = fd_info(file, "pos:");
    file->flags = flags != NULL ? (uint32_t)strtoul(flags, NULL, 8) : 0;
    file->offset = offset != NULL ? strtoull(offset, NULL, 10) : 0;
    return 0;
}

static int read_one(struct files *files, struct subject *subject, uint32_t process, int fd)
{
    char path[64], name[PATH_BYTES];
    pid_t pid = subject->tracee.pid;
    if (files->count == files->capacity) {
        files->capacity = files->capacity > 0 ? files->capacity * 2 : 16;
        files->items = mem_realloc(files->items, files->capacity * sizeof *files->items);
    }
    struct open_file *file = &files->items[files->count];
    *file =
        (struct open_file){.subject = subject, .process = process, .fd = fd, .first = files->count};
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t length = readlink(path, name, sizeof name - 1);
    int rc = length < 0 || stat(path, &file->st) != 0 ? -errno : read_info(file);
    if (rc != 0) {
        return err_set(files->err, rc, "process %d: descriptor %d: %s", (int)pid, fd,
                       err_code_text(rc));
    }
    name[length] = '\0';
    file->path = mem_strdup(fd_inside(files, subject, name));
    files->count++;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Lists the numbers of a process's descriptors, in order. */
static int list_numbers(struct files *files, const struct subject *subject, int **ret,
                        size_t *ret_count)
{
    char path[64];
    const struct dirent *entry;
    size_t count = 0, capacity = 0;
    int *numbers = NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)subject->tracee.pid);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return err_set(files->err, -errno, "%s: %s", path, err_code_text(-errno));
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (count == capacity) {
            capacity = capacity > 0 ? capacity * 2 : 64;
            numbers = mem_realloc(numbers, capacity * sizeof *numbers);
        }
        numbers[count++] = (int)strtol(entry->d_name, NULL, 10);
    }
    (void)closedir(folder);
    if (count > 0) {
        qsort(numbers, count, sizeof *numbers, by_number);
    }
    *ret = numbers;
    *ret_count = count;
    return 0;
}

static int read_all(struct files *files, uint32_t process)
{
    struct subject *subject = files->dump->subjects[process];
    int *numbers = NULL;
    size_t count = 0;
    int rc = list_numbers(files, subject, &numbers, &count);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_one(files, subject, process, numbers[i]);
    }
    mem_free(numbers);
    return rc;
}

/* ---- which of them are one open file */

static int compare_files(const struct open_file *a, const struct open_file *b)
{
    if (a->st.st_dev != b->st.st_dev || a->st.st_ino != b->st.st_ino) {
        bool less = a->st.st_dev != b->st.st_dev ? a->st.st_dev < b->st.st_dev
                                                 : a->st.st_ino < b->st.st_ino;
        return less ? -1 : 1;
    }
    long rc =
        syscall(SYS_kcmp, a->subject->tracee.pid, b->subject->tracee.pid, KCMP_FILE, a->fd, b->fd);
    return rc == 0 ? 0 : rc == 1 ? -1 : 1;
}

static int by_file(const void *a, const void *b)
{
    const struct open_file *x = *(struct open_file *const *)a, *y = *(struct open_file *const *)b;
    int order = compare_files(x, y);
    return order != 0 ? order : x < y ? -1 : x > y;
}

/* Finds the descriptors that share an open file: after sorting they stand together, the first one
 * before the others. */
static void find_firsts(struct files *files)
{
    struct open_file **sorted = mem_alloc((files->count + 1) * sizeof(struct open_file *));
    for (size_t i = 0; i < files->count; i++) {
        sorted[i] = &files->items[i];
    }
    if (files->count > 1) {
        qsort(sorted, files->count, sizeof(struct open_file *), by_file);
    }
    for (size_t i = 1; i < files->count; i++) {
        if (compare_files(sorted[i - 1], sorted[i]) == 0) {
            sorted[i]->first = sorted[i - 1]->first;
        }
    }
    mem_free(sorted);
}

/* Two or three of the standard streams may be one open file, and be different ones when the job is
 * resumed: the descriptor's own number is preferred. */
static void choose_stdio(const struct files *files, struct open_file *file, pid_t keeper)
{
    const int order[] = {file->fd, STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO};
    for (size_t i = 0; i < sizeof order / sizeof order[0] && file->stdio == 0; i++) {
        int number = order[i];
        const struct stdio *stdio = number < DUMP_STDIO ? &files->stdio[number] : NULL;
        if (stdio != NULL && stdio->is_there && file->st.st_ino == stdio->st.st_ino &&
            file->st.st_dev == stdio->st.st_dev &&
            syscall(SYS_kcmp, file->subject->tracee.pid, keeper, KCMP_FILE, file->fd, number) ==
                0) {
            file->stdio = (uint32_t)number + 1;
        }
    }
}

/* The job was started with what its keeper has as 0 to 2.  Without a keeper, or if we may not look
 * at it: with what the first process has there. */
static void find_stdio(struct files *files)
{
    char link_path[64], byte;
    (void)snprintf(link_path, sizeof link_path, "/proc/%d/exe", (int)files->dump->keeper);
    pid_t keeper = readlink(link_path, &byte, 1) == 1 ? files->dump->keeper : 0;
    keeper = keeper > 0 ? keeper : files->dump->subjects[0]->tracee.pid;
    for (int number = 0; number < DUMP_STDIO; number++) {
        struct stdio *stdio = &files->stdio[number];
        char path[64];
        struct stat link;
        (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)keeper, number);
        stdio->is_there = lstat(path, &link) == 0 && stat(path, &stdio->st) == 0;
        if (stdio->is_there) {
            stdio->access = (link.st_mode & S_IWUSR) == 0   ? O_RDONLY
                            : (link.st_mode & S_IRUSR) == 0 ? O_WRONLY
                                                            : O_RDWR;
        }
    }
    for (size_t i = 0; i < files->count; i++) {
        choose_stdio(files, &files->items[i], keeper);
    }
}

/* ---- saving */

static bool is_terminal(mode_t mode, dev_t device)
{
    unsigned number = major(device);
    return S_ISCHR(mode) && (number == TTY_MAJOR || number == TTYAUX_MAJOR ||
                             (number >= UNIX98_PTY_SLAVE_MAJOR &&
                              number < UNIX98_PTY_SLAVE_MAJOR + UNIX98_PTY_MAJOR_COUNT));
}

static bool is_again(const struct stdio *stdio, const struct open_file *file)
{
    bool terminal = is_terminal(file->st.st_mode, file->st.st_rdev);
    bool own = terminal && strcmp(file->path, "/dev/tty") == 0; /* whichever that is */
    if (terminal) {
        bool is_own = own && (major(stdio->st.st_rdev) == TTYAUX_MAJOR ||
                              fd_is_terminal_at(file, stdio->st.st_rdev));
        return is_terminal(stdio->st.st_mode, stdio->st.st_rdev) &&
               (is_own || stdio->st.st_rdev == file->st.st_rdev);
    }
    return S_ISFIFO(file->st.st_mode) && stdio->st.st_ino == file->st.st_ino &&
           stdio->st.st_dev == file->st.st_dev && (file->flags & O_ACCMODE) == stdio->access;
}

/* Another opening of what will be another one's at resumption: of a terminal, by whatever name; of
 * the same end of a pipe.  The number of that one, or -1.  It may be no terminal then: what is
 * written to rather goes where messages go. */
static int find_again(const struct files *files, const struct open_file *file)
{
    bool reads = (file->flags & O_ACCMODE) == O_RDONLY;
    for (int i = 0; i < DUMP_STDIO; i++) {
        int number = reads ? i : DUMP_STDIO - 1 - i;
        if (files->stdio[number].is_there && is_again(&files->stdio[number], file)) {
            return number;
        }
    }
    return -1;
}

static int save_kind(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    if (file->path[0] != '/' && strncmp(file->path, "anon_inode:", strlen("anon_inode:")) == 0) {
        return fd_save_kernels(files, file, saved);
    }
    if ((file->flags & O_PATH) != 0) {
        return fd_save_place(files, file, saved);
    }
    int again = file->stdio == 0 ? find_again(files, file) : -1;
    switch (file->st.st_mode & S_IFMT) {
    case S_IFREG:
        return fd_save_regular(files, file, saved);
    case S_IFDIR:
        return fd_save_folder(files, file, saved);
    case S_IFIFO:
    case S_IFCHR:
    case S_IFSOCK:
        if (again >= 0) {
            saved->kind = CKPT_STDIO_AGAIN;
            saved->detail = (uint32_t)again;
            return 0;
        }
        return S_ISFIFO(file->st.st_mode)   ? fd_save_pipe(files, file, saved)
               : S_ISSOCK(file->st.st_mode) ? fd_save_socket(files, file, saved)
                                            : fd_save_terminal(files, file, saved);
    default:
        return fd_refuse(files, file, "descriptors of this kind are not supported");
    }
}

/* Saves who gets a signal when something can be read. */
static int save_owner(const struct files *files, const struct open_file *file,
                      struct ckpt_file *saved)
{
    struct f_owner_ex owner = {.pid = 0};
    if ((file->flags & O_ASYNC) == 0 && saved->kind != CKPT_PIPE && saved->kind != CKPT_SOCKET) {
        return 0;
    }
    int fd = fd_fetch(file);
    if (fd < 0) {
        return fd_fail(files, file, fd);
    }
    if (fcntl(fd, F_GETOWN_EX, &owner) == 0 && owner.pid != 0) {
        saved->owner_kind = (uint32_t)owner.type;
        saved->owner = fd_inner_number(files, owner.pid);
        saved->owner_signal = fcntl(fd, F_GETSIG);
    }
    (void)close(fd);
    return 0;
}

/* Finds the same open file under another standard number that is saved: 1 and its index; 0:
 * none. */
static uint64_t find_twin(const struct files *files, const struct open_file *file)
{
    const struct open_file *first = &files->items[file->first];
    bool saved = first != file && first->stdio != 0 && files->stdio[first->stdio - 1].is_saved;
    return saved ? (uint64_t)files->stdio[first->stdio - 1].file + 1 : 0;
}

/* True for failures that are ours (the image cannot be written, a resource is missing): nothing is
 * wrong with the open file. */
static bool is_ours(int rc)
{
    return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EIO || rc == -ENOMEM ||
           rc == -EMFILE || rc == -ENFILE;
}

static int save_file(struct files *files, struct open_file *file)
{
    struct ckpt_file saved = {.kind = CKPT_FILE,
                              .flags = file->flags & ~(uint32_t)NOT_REOPENED,
                              .mode = file->st.st_mode,
                              .stdio = file->stdio,
                              .offset = file->offset,
                              .bytes = (uint64_t)file->st.st_size};
    int rc = save_kind(files, file, &saved);
    if (rc != 0 && file->stdio != 0 && !is_ours(rc)) {
        rc = 0; /* a terminal, a pipe, a socket: whoever resumes has others */
        saved.kind = CKPT_STDIO;
        saved.extents.count = 0;
    }
    if (rc == 0 && saved.kind == CKPT_FILE && file->stdio != 0) {
        saved.id = find_twin(files, file);
    }
    rc = rc != 0 ? rc : save_owner(files, file, &saved);
    if (rc == 0) {
        saved.path = saved.path != 0 ? saved.path : tables_text(&files->dump->tables, file->path);
        file->file = tables_add(&files->dump->tables, CKPT_FILES, &saved);
    }
    return rc;
}

/* Of a terminal's slave that was opened by its master (TIOCGPTPEER) the kernel says so of each
 * descriptor, if it was asked for it then. */
static bool is_closed_on_exec(const struct open_file *file)
{
    bool told = (file->flags & O_CLOEXEC) != 0;
    if (!told || !S_ISCHR(file->st.st_mode)) {
        return told;
    }
    long flags = TRACEE_CALL(&file->subject->tracee, 0, SYS_fcntl, (uint64_t)file->fd, F_GETFD);
    return flags < 0 || (flags & FD_CLOEXEC) != 0;
}

static int save_all(struct files *files)
{
    struct dump *dump = files->dump;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < files->count; i++) {
        struct open_file *file = &files->items[i];
        struct ckpt_span *fds = &file->subject->process.fds;
        struct stdio *stdio = file->stdio != 0 ? &files->stdio[file->stdio - 1] : NULL;
        if (stdio != NULL && stdio->is_saved) {
            file->file = stdio->file;
        } else if (stdio == NULL && file->first != i) {
            file->file = files->items[file->first].file;
        } else {
            rc = save_file(files, file);
        }
        if (rc == 0 && stdio != NULL && !stdio->is_saved) {
            stdio->file = file->file;
            stdio->is_saved = true;
        }
        const struct ckpt_fd fd = {.fd = file->fd,
                                   .file = file->file,
                                   .cloexec = is_closed_on_exec(file)};
        uint32_t index = tables_add(&dump->tables, CKPT_FDS, &fd);
        fds->first =
            fds->count == 0 ? index : fds->first; /* those of a process follow each other */
        fds->count++;
    }
    return rc;
}

/* Saves open files that refer to others. */
static int save_links(struct files *files)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < files->count; i++) {
        const struct open_file *file = &files->items[i];
        const struct ckpt_file *saved = tables_at(&files->dump->tables, CKPT_FILES, file->file);
        if (file->first == i && saved->kind == CKPT_EPOLL) {
            rc = fd_save_epoll_watches(files, file);
        } else if (file->first == i && saved->kind == CKPT_INOTIFY) {
            rc = fd_save_inotify(files, file);
        }
        rc = rc != 0 || saved->kind == CKPT_STDIO ? rc : fd_save_locks(files, file);
    }
    return rc;
}

int dump_files(struct dump *dump, struct err *err)
{
    struct files files = {.dump = dump, .err = err};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        if ((dump->subjects[i]->process.flags & CKPT_ZOMBIE) == 0) {
            rc = fd_save_names(&files, dump->subjects[i]);
            rc = rc != 0 ? rc : read_all(&files, (uint32_t)i);
        }
    }
    if (rc == 0) {
        find_firsts(&files);
        find_stdio(&files);
        rc = save_all(&files);
        rc = rc != 0 ? rc : save_links(&files);
    }
    for (size_t i = 0; i < files.count; i++) {
        mem_free(files.items[i].path);
        mem_free(files.items[i].info);
    }
    mem_free(files.items);
    return rc;
}
