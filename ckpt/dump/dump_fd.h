/* ckpt/dump/dump_fd.h - what the kinds of open files share while an image is made.
 *
 * dump_files_linux.c finds out what is open, and which descriptors are one open file; each other
 * dump_fd_*_linux.c says of some kinds whether they can be saved, and saves them.  Nothing is taken
 * out of what the job will read: it may go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_DUMP_FD_H
#define CKPT_DUMP_DUMP_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ckpt/dump/dump.h"
#include "ckpt/format.h"

#define DUMP_STDIO 3 /* descriptors from here on are ordinary ones */

struct open_file { /* a descriptor of a process */
    struct subject *subject;
    uint32_t process; /* its index */
    int fd;
    uint32_t flags;
    uint64_t offset;
    struct stat st;
    char *path;     /* as the job sees it */
    char *info;     /* what fdinfo says */
    size_t first;   /* which one is the first of this open file */
    uint32_t file;  /* index in the table of files */
    uint32_t stdio; /* 1 to 3: it is what the job was started with as 0 to 2 */
};

struct stdio { /* what the job was started with */
    bool is_there;
    bool is_saved;
    uint32_t file;   /* then: index in the table of files */
    uint32_t access; /* O_RDONLY ... */
    struct stat st;
};

struct files {
    struct dump *dump;
    struct open_file *items;
    size_t count, capacity;
    struct stdio stdio[DUMP_STDIO];
    unsigned clocks_waited_for;
    struct err *err;
};

/* -EOPNOTSUPP: "process 7: descriptor 5, PATH: WHY". */
int fd_refuse(const struct files *files, const struct open_file *file, const char *why);
/* The same, but -EBUSY: it will be over soon. */
int fd_busy(const struct files *files, const struct open_file *file, const char *why);
/* The same, with an error's text. */
int fd_fail(const struct files *files, const struct open_file *file, int rc);
/* The open file itself, for us to look at; or a negative errno. */
int fd_fetch(const struct open_file *file);
/* The line of its fdinfo that begins with that, behind it; NULL: there is none. */
const char *fd_info(const struct open_file *file, const char *name);
/* The number, in its namespace, of a process or thread of the job that has this one here; 0: none
 * of the job's. */
int32_t fd_inner_number(const struct files *files, pid_t id);
/* Is there something in the job that is the same thing as that, but another opening of it? */
typedef bool fd_matches_f(const struct open_file *other, const struct open_file *file);
bool fd_has_other(const struct files *files, const struct open_file *file, fd_matches_f *matches);
/* One that waits to be read, as an extent of its own; bytes > 0. */
int fd_put_message(struct files *files, struct ckpt_file *saved, const void *data, size_t bytes);

/* Each of these fills in what is saved of the open file, kind included, or refuses it. */
/* ---- dump_fd_disk_linux.c: what has a name, and what had one */
int fd_save_regular(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_folder(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_device(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_place(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Where a process works, as it sees that itself; refuses what will not be there. */
int fd_save_names(struct files *files, struct subject *subject);
/* Paths are as we see them; the job's begin at its own root. */
const char *fd_inside(const struct files *files, const struct subject *subject, const char *path);
/* ---- dump_fd_pipe_linux.c */
int fd_save_pipe(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_terminal_linux.c */
/* A device of characters, which may be none. */
int fd_save_terminal(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Is it a descriptor of that one, whatever its name is?  True, too, when that cannot be told. */
bool fd_is_terminal_at(const struct open_file *file, dev_t device);
/* ---- dump_fd_socket_linux.c */
int fd_save_socket(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_kernel_linux.c: eventfd, timerfd, signalfd, pidfd, epoll */
int fd_save_kernels(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* What an epoll watches, once all files are in the table. */
int fd_save_epoll_watches(struct files *files, const struct open_file *file);
/* ---- dump_fd_inotify_linux.c */
int fd_save_inotify(struct files *files, const struct open_file *file);
/* ---- dump_fd_lock_linux.c */
int fd_save_locks(struct files *files, const struct open_file *file);

#endif
