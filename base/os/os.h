/* base/os/os.h - what a daemon asks of its machine: files, processes, facts.
 *
 * Two bodies: os_linux*.c and the simulator's (files in memory; a process is a daemon in the
 * same program, or a job that ends when its time is over).  File calls are synchronous, meant for
 * small files and for worker threads (lanes); large data goes through struct os_file on a lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_H
#define BASE_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct loop;
struct os;
struct os_cage;
struct os_terminal;

/* ---- facts about the machine ----------------------------------------------------------------- */

#define OS_BOOT_ID_SIZE 37 /* bytes of a boot id, with the zero */

struct os_machine {
    char hostname[256];
    /* Identifies this boot: the variable ROOST_BOOT_ID if a power method set it for this node, else
     * the kernel's boot id. */
    char boot_id[OS_BOOT_ID_SIZE];
    int64_t boot_time_s; /* when this boot began, seconds since 1970 */
    char arch[32];       /* as HTCondor names it: "X86_64" */
    char opsys[32];      /* as HTCondor names it: "LINUX" */
    char kernel[128];
    uint32_t cpus;
    int64_t memory_mib;
};

int os_machine(struct os *os, struct os_machine *ret, struct err *err);
/* Writes the directory of this program's file to ret, links resolved; "" if it is not known. */
void os_program_dir(struct os *os, char *ret, size_t size);
/* Writes the numbers of the CPUs that this process may use, ascending, at most max of them; returns
 * how many. */
size_t os_cpu_numbers(struct os *os, uint32_t *ret, size_t max);
double os_load_average(struct os *os); /* returns the kernel's load average of the last minute */
/* returns the free space, in KiB, of the file system that holds path; or -errno */
int64_t os_disk_free_kib(struct os *os, const char *path);
/* Writes where the file system that holds path is mounted, and what is mounted there:
 * "/var (/dev/sda2)"; path itself if that cannot be found.  Returns whether it is mounted for
 * reading only. */
bool os_disk_name(struct os *os, const char *path, char *ret, size_t size);

/* seconds of idleness that are reported for a machine without any terminal or keyboard */
#define OS_NEVER_IDLE_S (INT64_MAX / 2)
/* Seconds since somebody last used the machine.  While somebody types, the kernel updates a
 * terminal's time of access only every eight seconds; after a pause, at the first key. */
struct os_idleness {
    int64_t keyboard_s; /* seconds since the last input at any tty or pty, console included */
    int64_t console_s;  /* seconds since the machine's own keyboard or mouse was last used */
};
struct os_terminals {
    /* Names below /dev of terminals that belong to the console.  The virtual consoles tty1 to
     * tty63 always belong to it and need not be named. */
    const char *const *console;
    size_t console_count;
    bool sessions_only; /* true: ignore ttys and ptys without a session in utmp or logind */
};
void os_idleness(struct os *os, const struct os_terminals *which, struct os_idleness *ret);

/* Returns the value of an environment variable of this process; NULL: not set.  The caller must not
 * free it. */
const char *os_getenv(struct os *os, const char *name);
/* Returns the whole environment of this process: "NAME=value" ..., ended by NULL.  The caller must
 * not free it. */
const char *const *os_environment(struct os *os);
/* Returns how many seconds local time is ahead of UTC at the time at_s (seconds since 1970). */
int32_t os_zone_offset_s(struct os *os, int64_t at_s);

/* ---- users ----------------------------------------------------------------------------------- */

uid_t os_uid(struct os *os); /* returns the effective uid */
/* Changes this process from root to another account for ever, on all threads, without
 * supplementary groups.  Returns 0 or -errno. */
int os_become(struct os *os, uid_t uid, gid_t gid, struct err *err);
/* Finds the uid and gid of an account by its name.  Returns 0; -ENOENT: no such account. */
int os_user_find(struct os *os, const char *name, uid_t *uid, gid_t *gid, struct err *err);
/* Finds the name of an account by its uid.  Returns 0; -ENOENT: no such account; -ENAMETOOLONG:
 * size is too small. */
int os_user_name(struct os *os, uid_t uid, char *ret, size_t size, struct err *err);
/* Writes the home directory of an account to ret.  Returns 0; -ENOENT: no such account;
 * -ENAMETOOLONG: size is too small. */
int os_user_home(struct os *os, const char *name, char *ret, size_t size, struct err *err);

/* ---- processes ------------------------------------------------------------------------------- */

struct os_exit {
    int status; /* exit status; -1: a signal ended the process, or the status is unknown */
    int signal; /* the signal that ended the process; 0: it exited by itself */
    bool core;  /* true: the process left a core file */
    /* True: neither status nor signal is known, because the process is not a child of this one and
     * was only watched by os_watch(). */
    bool unknown;
    /* True: something killed the keeper of the program's cage (base/os/os_cage.h), and with it the
     * program.  status and signal are the keeper's, not the program's. */
    bool keeper_killed;
    double user_cpu_s, system_cpu_s;
    int64_t max_rss_kib;
};
typedef void (*os_exit_f)(void *arg, pid_t pid, const struct os_exit *how);

/* How a started program is related to the process that calls os_spawn(). */
enum os_kin {
    OS_CHILD,
    /* Not a child of the caller: the init process adopts it (or the caller does, if that called
     * os_become_subreaper()). os_spawn() returns its pid, but its exit is not reported. */
    OS_DETACHED,
    /* A child of the caller; the caller is the starter of a job.  When one of the job's processes
     * loses its parent, the caller becomes its parent, so that os_descendants_kill() still finds
     * it. */
    OS_SUBREAPER_JOB,
    /* A child of the caller that the kernel kills (SIGKILL) when the caller ends, in whatever way.
     * What that child has started is not killed. */
    OS_BOUND_CHILD,
};

/* What to start, and how.  All strings and arrays are borrowed for the call; a zeroed field means
 * the default. */
struct os_spawn {
    const char *const *argv; /* argv[0] is the path, unless `file` is set; ended by NULL */
    /* Path of the program's file; NULL: argv[0].  For what was found in PATH.  The simulator does
     * not know it. */
    const char *file;
    /* "NAME=value" ..., ended by NULL.  NULL: the environment of the process that calls os_spawn();
     * but with change_user only PATH, because the other account can read /proc/PID/environ. */
    const char *const *env;
    /* variables added to env, "NAME=value", ended by NULL; may be NULL */
    const char *const *env_add;
    const char *cwd; /* working directory; NULL: that of the process that calls os_spawn() */
    /* File for standard input.  NULL: /dev/null; "-": that of the process that calls os_spawn().  A
     * FIFO that nobody has open for writing reads as empty. */
    const char *stdin_path;
    /* File for standard output, opened as the child's user and relative to cwd: created, or
     * appended to.  NULL: /dev/null; "-": that of the process that calls os_spawn().  For a FIFO
     * that nobody reads os_spawn() returns -ENXIO. */
    const char *stdout_path;
    const char *stderr_path; /* file for standard error; rules as for stdout_path */
    /* true: the files stdout_path and stderr_path are emptied first, instead of appended to */
    bool truncate_output;
    /* Text of at most 64 KiB that the program reads as its standard input, instead of
     * stdin_path; may be NULL. */
    const char *input_text;
    /* true: the program calls setsid() and leads a session and a process group of its own */
    bool new_session;
    enum os_kin kin;
    /* True: start a copy of the process that os_prepare() started, if that process is ready;
     * argv[0] must be its path.  The copy's standard streams are /dev/null, and only env_add,
     * cwd, new_session and kin are used. */
    bool prepared;
    bool no_new_privs;
    bool change_user; /* true: run as uid and gid, without supplementary groups; needs root */
    uid_t uid;
    gid_t gid;
    int nice; /* added to the nice value of the process that calls os_spawn() */
    /* Namespaces, mounts, cgroup and limits for the program (base/os/os_cage.h); NULL: none.  If
     * one of them cannot be made, the program is not started, and os_spawn() returns -ENOSYS: this
     * process can never make namespaces; -EPROTONOSUPPORT: filters of system calls are not
     * possible; an error of err_is_shortage(): something could not be made just now; -ENOTSUP:
     * anything else could not be made. */
    const struct os_cage *cage;
    /* Pid of another process: the program joins its namespaces (PID, mounts, IPC, user); 0: the
     * program stays in those of the process that calls os_spawn().  May be combined with a cage
     * that makes no namespaces. */
    pid_t beside;
    /* Terminal or pipes for the program's standard streams (base/os/os_terminal.h); NULL:
     * stdin_path, stdout_path and stderr_path are used. */
    struct os_terminal *terminal;
};

/* Starts a program.  Returns 0 and sets *ret to its pid; or -errno.  A failed exec is reported
 * here, as -ENOENT, -EACCES etc. with err naming the path, not as an exit status. on_exit, unless
 * NULL, is called when the program ends.  The child has only the descriptors 0-2, default signal
 * handling, and the limit of open files with which this process was started. */
int os_spawn(struct os *os, const struct os_spawn *spec, os_exit_f on_exit, void *arg, pid_t *ret,
             struct err *err);
/* Runs a program to its end and blocks until then: for facts that a daemon must know before it
 * begins.  Returns 0 and sets *how; -ETIMEDOUT: the program took longer than wait_ms and was killed
 * with its process group; or an error of os_spawn(). */
int os_run(struct os *os, const struct os_spawn *spec, unsigned wait_ms, struct os_exit *how,
           struct err *err);
/* Starts a program that prepares itself: its main() calls prepared_main() (base/daemon/prepared.h),
 * and os_spawn() can soon start copies of the prepared process.  A caller has at most one prepared
 * process; a call with another path ends the earlier one.  Failures are not reported: programs are
 * then started normally, and a later call tries again. */
void os_prepare(struct os *os, const char *program);
/* Returns the pid of a program that os_spawn() started.  pid: the pid that os_spawn() gave; for a
 * program in a cage that is the pid of the cage's keeper (base/os/os_cage.h), else the program's
 * own.  Returns 0 if the program is in a cage and has ended. */
pid_t os_caged_pid(struct os *os, pid_t pid);
/* Calls on_exit when a process that is not a child of this one ends. start_time (from
 * os_start_time()) makes sure that the pid was not reused by another process; 0: any process with
 * this pid.  If the process has ended already, or its start time differs, on_exit is called soon.
 * Returns 0 or -errno. */
int os_watch(struct os *os, pid_t pid, uint64_t start_time, os_exit_f on_exit, void *arg,
             struct err *err);
/* Makes sure that the callback on_exit given for this process to os_spawn() or os_watch() is not
 * called; the process itself goes on. */
void os_forget(struct os *os, pid_t pid);
/* Returns when the process started, in clock ticks since boot: together with the pid this
 * identifies a process for ever.  Returns 0 if there is no such process, or it is dead and not
 * reaped. */
uint64_t os_start_time(struct os *os, pid_t pid);
/* Sends a signal to a process.  For the pid of a cage's keeper (base/os/os_cage.h) every signal but
 * SIGKILL goes to the program in the cage.  Returns 0; -ESRCH: no such process, or pid is negative;
 * -EPERM: this process may not signal it.  Pid 0 is a mistake of the caller (CHECK). */
int os_kill(struct os *os, pid_t pid, int signal_number);
/* Sends a signal to all processes of a process group.  Returns 0; -ESRCH: no such group; -EPERM:
 * this process may not signal any of them. */
int os_kill_group(struct os *os, pid_t group, int signal_number);
pid_t os_pid(struct os *os); /* returns the pid of this process */
pid_t os_group(struct os *os);
/* Makes this process the parent of its orphaned descendants; for the starter. */
void os_become_subreaper(struct os *os);
/* Sends a signal once to each living descendant of this process, also to those that start while
 * this function runs.  Returns how many got the signal. */
size_t os_descendants_kill(struct os *os, int signal_number);
/* Sends a signal once to each living child of this process, not to the children's children; orphans
 * that a subreaper has adopted are children.  Returns how many got the signal. */
size_t os_children_kill(struct os *os, int signal_number);
/* For each roots[i], counts into running[i] the threads of that process and its living descendants
 * that run, are ready to run, or wait for a disk: what the kernel's load average counts.  Looks at
 * these processes only. */
void os_families_running(struct os *os, const pid_t *roots, size_t count, int64_t *running);

/* Sends a signal (0: none) to each process except this one whose environment contains exactly mark
 * ("NAME=value"); returns how many such processes there are.  Finds what a killed starter left
 * behind. */
size_t os_marked_kill(struct os *os, const char *mark, int signal_number);

/* ---- files ----------------------------------------------------------------------------------- */

struct os_stat {
    bool is_dir, is_file, is_link;
    int64_t size_bytes;
    int64_t mtime_s;
    mode_t mode; /* permission bits */
    uid_t uid;
    gid_t gid;
};

/* Gives facts about a path.  A final link is not followed: its own facts are given.  Returns 0;
 * -ENOENT: nothing is there; or another -errno. */
int os_stat(struct os *os, const char *path, struct os_stat *ret);
/* Reads a whole file. *data is zero-terminated, the zero is not counted in *length; the caller
 * frees *data with mem_free().  Returns 0; -EFBIG: more than max_bytes; or another -errno. */
int os_read_file(struct os *os, const char *path, size_t max_bytes, char **data, size_t *length,
                 struct err *err);
/* Replaces or makes the file `path` in one step (temporary file, rename). durable true: fsyncs the
 * file and its directory.  Returns 0 or -errno. */
int os_write_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                  bool durable, struct err *err);
/* Overwrites the file `path` in place if it is a regular file that belongs to the user of this
 * process and has only one name and the mode `mode`; otherwise replaces it as os_write_file() does.
 * To overwrite is cheaper than a new file, but neither durable nor in one step: for files that
 * others read only after the caller has told them to.  Returns 0 or -errno. */
int os_rewrite_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                    struct err *err);
/* Makes a directory and its missing parents, all with this mode.  Returns 0, also if the directory
 * exists already; or -errno. */
int os_mkdirs(struct os *os, const char *path, mode_t mode, struct err *err);
/* Removes a file, a link or an empty directory.  Returns 0, also if nothing is there; or -errno. */
int os_remove(struct os *os, const char *path, struct err *err);
/* Removes a directory and all below it.  Never follows links.  Returns 0, also if nothing is there;
 * -EXDEV: another file system is mounted below, and is not entered; or another -errno. */
int os_remove_tree(struct os *os, const char *path, struct err *err);
/* Makes the used directory `path` as good as a new one: empty, owned by the user of this process,
 * with this mode. kept: the name of a directory in it that stays and is made as good as new, too;
 * NULL: none.  Returns 0; -ESTALE: the directory is empty, but still has something that a new one
 * would not have (attributes, access lists, flags, a grown size), and must be removed; -ENOENT:
 * there is no such directory; or an error of os_remove_tree(). */
int os_renew_directory(struct os *os, const char *path, const char *kept, mode_t mode,
                       struct err *err);
int os_rename(struct os *os, const char *from, const char *to, bool durable, struct err *err);
/* Changes the owner of a file; for a link, the owner of the link itself.  Returns 0 or -errno. */
int os_chown(struct os *os, const char *path, uid_t uid, gid_t gid, struct err *err);
int os_chmod(struct os *os, const char *path, mode_t mode, struct err *err);
/* Calls each() for every name in a directory but "." and "..", sorted.  Returns 0 or -errno. */
int os_list(struct os *os, const char *path, void (*each)(void *arg, const char *name), void *arg,
            struct err *err);
/* Makes a path absolute: a relative path is appended to the working directory.  The path need not
 * exist.  The caller frees *ret with mem_free().  Returns 0 or -errno. */
int os_absolute(struct os *os, const char *path, char **ret, struct err *err);
bool os_is_network_fs(struct os *os, const char *path);
/* Returns whether the path, or what a link there leads to, is a device, such as /dev/null. */
bool os_is_device(struct os *os, const char *path);

struct os_file;
enum os_open {
    OS_READ,
    OS_WRITE_NEW, /* creates the file; -EEXIST if it exists */
    OS_WRITE_TRUNCATE,
    OS_APPEND, /* creates the file or appends to it; -ELOOP if the path is a symbolic link */
    OS_WRITE,  /* creates the file, or overwrites parts of it and keeps the rest */
};
int os_file_open(struct os *os, const char *path, enum os_open how, mode_t mode,
                 struct os_file **ret, struct err *err);
/* Opens a file for reading with the rights of the user uid and group gid.  Only root can do this;
 * other users open with their own rights.  Returns 0; -EACCES: the user may not read the file;
 * -EINVAL: not a regular file; or another -errno. */
int os_file_open_as(struct os *os, const char *path, uid_t uid, gid_t gid, struct os_file **ret,
                    struct err *err);
/* Returns the number of bytes read, 0..length; 0: end of the file; or -errno. */
ssize_t os_file_read(struct os_file *file, uint64_t offset, void *data, size_t length);
/* Writes all bytes of data.  Returns 0 or -errno. */
int os_file_write(struct os_file *file, uint64_t offset, const void *data, size_t length);
int os_file_sync(struct os_file *file);
/* Takes room on the disk for the first `length` bytes, which need not be written.  Returns 0;
 * -EOPNOTSUPP: this file system cannot do it; -ENOSPC; or another -errno. */
int os_file_allocate(struct os_file *file, uint64_t length);
int64_t os_file_size(const struct os_file *file);
int os_file_chmod(struct os_file *file, mode_t mode);
int os_file_chown(struct os_file *file, uid_t uid, gid_t gid);
/* Gives facts about the open file in *ret; all fields are 0 on failure. */
void os_file_stat(const struct os_file *file, struct os_stat *ret);
/* Locks the whole file, until it is closed, against locks of other processes.  Returns 0;
 * -EAGAIN: another process has the lock; another -errno: the file system has no locks. */
int os_file_lock(struct os_file *file);
void os_file_close(struct os_file *file); /* NULL is allowed */
/* Closes the file, too.  Returns 0; or -errno: a file server refuses only now what was written. */
int os_file_end(struct os_file *file);

/* An exclusive lock on a file that names the holder of the lock: its first line is the holder's
 * pid, its second line the holder's start time.  The lock is released when the holder dies,
 * however that happens; the file stays. */
struct os_lock;
/* Takes the lock on the file `path`, which is made if it does not exist.  Returns 0; -EAGAIN:
 * another process has the lock, and *holder (holder may be NULL) is its pid, or 0 if that cannot be
 * read; or another -errno. */
int os_lock(struct os *os, const char *path, struct os_lock **ret, pid_t *holder, struct err *err);
/* Appends a line, such as "ready", to the lock file.  A failure to write is ignored. */
void os_lock_note(struct os_lock *lock, const char *line);
void os_unlock(struct os_lock *lock); /* releases the lock; NULL is allowed */
/* Returns the pid of the process that holds the lock on the file `path` now; 0: nobody; -1: the
 * holder has not written its pid yet. */
pid_t os_lock_holder(struct os *os, const char *path);

/* Returns the name of the SQLite VFS (file layer) for stores on this machine; NULL: SQLite's
 * default. */
const char *os_sqlite_vfs(struct os *os);

#endif
