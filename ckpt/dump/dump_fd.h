/* ckpt/dump/dump_fd.h - declarations shared by the source files that save a job's open files.
 *
 * dump_files_linux.c finds all open files, and which descriptors share one.  Each dump_fd_*_linux.c
 * decides for some kinds of files whether they can be saved, and saves them.  Data that waits in a
 * pipe or socket is copied without removing it, because the job may continue.
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
    uint32_t process; /* index of the process in dump.subjects */
    int fd;
    uint32_t flags;
    uint64_t offset;
    struct stat st;
    char *path;    /* path of the file as the job sees it; owned */
    char *info;    /* the text of /proc/PID/fdinfo/FD */
    size_t first;  /* index in files.items of the first descriptor that shares this open file */
    uint32_t file; /* index in the image's table of files */
    /* 1, 2, 3: the job was started with this open file as descriptor 0, 1, 2; 0: it was not. */
    uint32_t stdio;
};

struct stdio { /* one of the standard streams that the job was started with */
    bool is_there;
    bool is_saved;   /* true: the stream is in the image's table of files, at index `file` */
    uint32_t file;   /* if is_saved: index in the image's table of files */
    uint32_t access; /* O_RDONLY, O_WRONLY or O_RDWR */
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

/* ---- dump_fd_linux.c: for all kinds of open files */
/* Says that this open file cannot be saved: sets files->err to "process 7: descriptor 5, PATH: WHY"
 * and returns -EOPNOTSUPP. */
int fd_refuse(const struct files *files, const struct open_file *file, const char *why);
/* Says that this open file cannot be saved at the moment, but probably soon: sets files->err to
 * "process 7: descriptor 5, PATH: WHY" and returns -EBUSY. */
int fd_busy(const struct files *files, const struct open_file *file, const char *why);
/* Says that saving this open file failed with the negative errno rc: sets files->err to "process 7:
 * descriptor 5, PATH: " and the text of rc, and returns rc. */
int fd_fail(const struct files *files, const struct open_file *file, int rc);
/* Makes a new descriptor of the dumper for the job's open file, and returns it (pidfd_getfd()), to
 * be closed by the caller; or returns a negative errno. */
int fd_fetch(const struct open_file *file);
/* Finds the line of file->info (/proc/PID/fdinfo/FD) that begins with `name`.  Returns the text
 * behind the name; NULL: there is no such line. */
const char *fd_info(const struct open_file *file, const char *name);
/* Returns the number of a process or thread in the job's PID namespace; 0: it does not belong to
 * the job. id: its number in the dumper's PID namespace. */
int32_t fd_inner_number(const struct files *files, pid_t id);
/* Returns whether `other`, an open file of the job with the same inode as `file`, is what the
 * caller of fd_has_other() looks for, such as the other end of a pipe. */
typedef bool fd_matches_f(const struct open_file *other, const struct open_file *file);
/* Returns whether the job has an open file with the same inode as `file` for which matches(that
 * open file, file) returns true. */
bool fd_has_other(const struct files *files, const struct open_file *file, fd_matches_f *matches);
/* Saves one message of a socket, pipe or terminal as an extent of its own in the image, and adds
 * the extent to *saved. bytes: more than 0.  Returns 0 or -errno. */
int fd_put_message(struct files *files, struct ckpt_file *saved, const void *data, size_t bytes);

/* ---- dump_fd_disk_linux.c: regular files, directories, device files, and removed files */
/* Saves a regular file: fills in *saved, its kind included.  This and the other fd_save_...()
 * functions with these arguments return 0; -EOPNOTSUPP if the file cannot be saved; -EBUSY if it
 * cannot be saved at the moment; or another -errno.  On error, files->err says why. */
int fd_save_regular(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_folder(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_device(struct files *files, const struct open_file *file, struct ckpt_file *saved);
int fd_save_place(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Saves the path of the working directory of a process, as the process sees it.  Refuses a process
 * whose working directory was removed, or whose root directory or namespaces differ from those that
 * the job was started with.  Returns 0 or -errno. */
int fd_save_names(struct files *files, struct subject *subject);
/* Removes the job's root directory from the front of `path`, a path as the dumper sees it.  Returns
 * the path as the job sees it: a pointer into `path`, or "/". */
const char *fd_inside(const struct files *files, const struct subject *subject, const char *path);
/* ---- dump_fd_pipe_linux.c */
/* Saves a pipe or FIFO.  Returns as fd_save_regular(). */
int fd_save_pipe(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_terminal_linux.c */
/* Saves a character device, which may be a terminal.  Returns as fd_save_regular(). */
int fd_save_terminal(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Returns whether the open file is the terminal with the device number `device`, whatever its path;
 * true also if that cannot be found out, or if the open file is another kind of terminal than a
 * pseudo-terminal. */
bool fd_is_terminal_at(const struct open_file *file, dev_t device);
/* ---- dump_fd_socket_linux.c */
/* Saves one end of a socketpair; refuses all other sockets except connections to the job's door,
 * the socket for remote system calls.  Returns as fd_save_regular(). */
int fd_save_socket(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* ---- dump_fd_kernel_linux.c */
/* Saves an eventfd, timerfd, signalfd or pidfd, or an epoll or inotify without what it watches.
 * Returns as fd_save_regular(). */
int fd_save_kernels(struct files *files, const struct open_file *file, struct ckpt_file *saved);
/* Saves the list of descriptors that an epoll watches.  To be called when all open files of the job
 * are in the image's table of files.  Returns as fd_save_regular(). */
int fd_save_epoll_watches(struct files *files, const struct open_file *file);
/* ---- dump_fd_inotify_linux.c */
/* Saves the list of paths that an inotify watches.  Returns as fd_save_regular(). */
int fd_save_inotify(struct files *files, const struct open_file *file);
/* ---- dump_fd_lock_linux.c */
/* Saves the locks that the job holds on an open file.  Returns as fd_save_regular(). */
int fd_save_locks(struct files *files, const struct open_file *file);

#endif
