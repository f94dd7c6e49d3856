/* ckpt/dump/dump_fd.h - what the files share that save open files of various kinds.
 *
 * dump_files_linux.c finds all open files, and which descriptors share one.  Each dump_fd_*_linux.c
 * decides for some kinds whether they can be saved, and saves them.  Nothing is read that the job
 * would read: the job may continue.
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

#define DUMP_STDIO 3 /* descriptors from this number on are not standard streams */

struct open_file { /* a descriptor of a process */
    struct subject *subject;
    uint32_t process; /* its index */
    int fd;
    uint32_t flags;
    uint64_t offset;
    struct stat st;
    char *path;     /* as the job sees it */
    char *info;     /* the text of /proc/PID/fdinfo/FD */
    size_t first;   /* index of the first descriptor that shares this open file */
    uint32_t file;  /* index in the table of files */
    uint32_t stdio; /* 1 to 3: the job was started with this open file as 0 to 2; 0: not */
};

struct stdio { /* one of the standard streams that the job was started with */
    bool is_there;
    bool is_saved;   /* the two fields below are valid */
    uint32_t file;   /* index in the table of files */
    uint32_t access; /* O_RDONLY ... */
    struct stat st;
};

struct files { /* all descriptors of the job */
    struct dump *dump;
    struct open_file *items;
    size_t count, capacity;
    struct stdio stdio[DUMP_STDIO];
    unsigned clocks_waited_for;
    struct err *err;
};

/* Sets err to "process 7: descriptor 5, PATH: WHY" and returns -EOPNOTSUPP: this open file cannot
 * be saved. */
int fd_refuse(const struct files *files, const struct open_file *file, const char *why);
/* The same with -EBUSY: this open file is in a state that will soon be over. */
int fd_busy(const struct files *files, const struct open_file *file, const char *why);
/* The same with the error code rc and its text. */
int fd_fail(const struct files *files, const struct open_file *file, int rc);
/* Returns a descriptor of ours for the same open file, or a negative errno. */
int fd_fetch(const struct open_file *file);
/* Returns the text that follows `name` at the beginning of a line of its fdinfo; NULL: there is no
 * such line. */
const char *fd_info(const struct open_file *file, const char *name);
/* Returns the number that a process or thread has in the job's namespace; id is its number in ours.
 * 0: it is not the job's. */
int32_t fd_inner_number(const struct files *files, pid_t id);
/* Tells whether both are the same thing, opened separately. */
typedef bool fd_matches_f(const struct open_file *other, const struct open_file *file);
/* Returns whether the job has another opening of the same thing, as `matches` judges. */
bool fd_has_other(const struct files *files, const struct open_file *file, fd_matches_f *matches);
/* Saves a message that waits to be read as an extent of its own; bytes > 0.  0 or -errno. */
int fd_put_message(struct files *files, struct ckpt_file *saved, const void *data, size_t bytes);

/* Each of these fills in what is saved of the open file, kind included, or refuses it. */
/* ---- dump_fd_disk_linux.c: what has a name, and what had one */
/* Each fd_save_...() fills in what is saved of an open file, its kind included.  0, -EOPNOTSUPP if
 * it cannot be saved, -EBUSY if it cannot be saved at the moment, or another -errno; err is set. */
int fd_save_regular(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_folder(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_device(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_place(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Saves the working directory and similar paths of a process, as the process sees them; refuses
 * paths that will not exist on resuming. */
int fd_save_names(struct files *files, struct subject *subject);
/* Converts a path as we see it into the job's view, which begins at the job's root directory. */
const char *fd_inside(const struct files *files, const struct subject *subject, const char *path);
/* ---- dump_fd_pipe_linux.c */
int fd_save_pipe(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_terminal_linux.c */
/* For any character device, terminal or not. */
int fd_save_terminal(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Returns whether the descriptor is of the terminal `device`, whatever its name; true also if that
 * cannot be found out. */
bool fd_is_terminal_at(const struct open_file *file, dev_t device);
/* ---- dump_fd_socket_linux.c */
int fd_save_socket(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_kernel_linux.c: eventfd, timerfd, signalfd, pidfd, epoll */
int fd_save_kernels(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Saves what an epoll watches.  Call it when all files are in the table. */
int fd_save_epoll_watches(struct files *files, const struct open_file *file);
/* ---- dump_fd_inotify_linux.c */
int fd_save_inotify(struct files *files, const struct open_file *file);
/* ---- dump_fd_lock_linux.c */
int fd_save_locks(struct files *files, const struct open_file *file);

#endif
