/* base/os/os.h - what a daemon asks of its machine: files, processes, facts.
 *
 * Two bodies: os_linux*.c and the simulator's (files in memory, processes that are daemons in the
 * same program or timed jobs).  File calls are synchronous and meant for small files and for worker
 * lanes; bulk data goes through struct os_file on a lane.
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

/* ---- the machine ----------------------------------------------------------------------------- */

#define OS_BOOT_ID_SIZE 37

struct os_machine {
    char hostname[256];
    /* ROOST_BOOT_ID where a power method gave this node one, else the kernel's */
    char boot_id[OS_BOOT_ID_SIZE];
    int64_t boot_time_s; /* when that boot began, seconds since 1970 */
    char arch[32];       /* HTCondor's word: "X86_64" */
    char opsys[32];      /* "LINUX" */
    char kernel[128];
    uint32_t cpus;
    int64_t memory_mib;
};

int os_machine(struct os *os, struct os_machine *ret, struct err *err);
/* Numbers of the CPUs that this process may use, ascending, at most max; returns how many. */
size_t os_cpu_numbers(struct os *os, uint32_t *ret, size_t max);
double os_load_average(struct os *os);                     /* one minute */
int64_t os_disk_free_kib(struct os *os, const char *path); /* negative errno on failure */

/* Seconds since somebody last typed; OS_NEVER_IDLE_S where there is nothing to type on.  The kernel
 * moves a terminal's time in steps of eight seconds while one types, at once after a pause. */
#define OS_NEVER_IDLE_S (INT64_MAX / 2)
struct os_idleness {
    int64_t keyboard_s; /* on any tty or pty, the console among them */
    int64_t console_s;  /* at the machine itself */
};
struct os_terminals {
    /* names below /dev that are the console; tty1 to tty63, the virtual ones, are in any case */
    const char *const *console;
    size_t console_count;
    bool sessions_only; /* of ttys and ptys only those that utmp or logind has a session on */
};
void os_idleness(struct os *os, const struct os_terminals *which, struct os_idleness *ret);

const char *os_getenv(struct os *os, const char *name); /* NULL when unset */
/* All of it: "NAME=value", NULL-terminated. */
const char *const *os_environment(struct os *os);
/* Seconds east of UTC of the local time zone at that moment. */
int32_t os_zone_offset_s(struct os *os, int64_t at_s);

/* ---- users ----------------------------------------------------------------------------------- */

uid_t os_uid(struct os *os); /* effective */
/* Gives up root for that account, for good and on all threads; without supplementary groups. */
int os_become(struct os *os, uid_t uid, gid_t gid, struct err *err);
/* -ENOENT */
int os_user_find(struct os *os, const char *name, uid_t *uid, gid_t *gid, struct err *err);
/* -ENOENT, -ENAMETOOLONG */
int os_user_name(struct os *os, uid_t uid, char *ret, size_t size, struct err *err);
/* The home directory of an account.  -ENOENT, -ENAMETOOLONG */
int os_user_home(struct os *os, const char *name, char *ret, size_t size, struct err *err);

/* ---- processes ------------------------------------------------------------------------------- */

struct os_exit {
    int status; /* exit status, or -1 when a signal ended it or the status is not ours to know */
    int signal; /* 0 when it exited */
    bool core;
    bool unknown; /* watched, not our child: neither status nor signal is known */
    double user_cpu_s, system_cpu_s;
    int64_t max_rss_kib;
};
typedef void (*os_exit_f)(void *arg, pid_t pid, const struct os_exit *how);

/* What a program is to us. */
enum os_kin {
    OS_CHILD,
    /* not our child: adopted by init (or by us, if we are a subreaper); the pid is known, its exit
     * is not reported */
    OS_DETACHED,
    /* the starter's job: descendants stay below us and are found by os_descendants_kill() */
    OS_SUBREAPER_JOB,
};

struct os_spawn {
    const char *const *argv; /* argv[0] is the path */
    /* "NAME=value", NULL-terminated; NULL: our own environment.  With change_user NULL is a PATH
     * and no more: /proc/PID/environ is the other account's to read */
    const char *const *env;
    const char *const *env_add; /* added to the above; may be NULL */
    const char *cwd;            /* NULL: ours */
    /* NULL: /dev/null; "-": ours; a FIFO that nobody has open is empty (and -ENXIO below) */
    const char *stdin_path;
    /* created or appended, as the user of the child, relative to cwd; NULL: /dev/null; "-": ours */
    const char *stdout_path;
    const char *stderr_path; /* the same */
    bool truncate_output;    /* instead of appending */
    /* instead of stdin_path: written to its standard input (at most 64 KiB); may be NULL */
    const char *input_text;
    bool new_session; /* setsid(): leader of a session and a process group of its own */
    enum os_kin kin;
    /* A copy of what os_prepare() started, where that is ready; argv[0] is the same, the streams
     * are /dev/null, and of the rest only env_add, cwd, new_session and kin are used. */
    bool prepared;
    bool no_new_privs;
    bool change_user; /* become uid/gid with no supplementary groups; needs root */
    uid_t uid;
    gid_t gid;
    int nice; /* added to ours */
    /* what it is shut in (base/os/os_cage.h); NULL: nothing.  -ENOTSUP: it could not be, and
     * nothing runs; -ENOSYS: the same, and it never will: there are no namespaces for us here;
     * -EPROTONOSUPPORT: nor filters of system calls. */
    const struct os_cage *cage;
    /* A process whose namespaces (PID, mounts, IPC, user) it joins; 0: ours stay.  With a cage only
     * if that makes no namespaces. */
    pid_t beside;
    struct os_terminal
        *terminal; /* its standard streams (base/os/os_terminal.h); NULL: the paths */
};

/* Starts a program; on_exit may be NULL.  -ENOENT, -EACCES etc. name the path: an exec that fails
 * is reported here, not as an exit status.  The child has descriptors 0-2 only, default signal
 * handling, and the limit of open files with which we were started. */
int os_spawn(struct os *os, const struct os_spawn *spec, os_exit_f on_exit, void *arg, pid_t *ret,
             struct err *err);
/* Runs a program to its end, and blocks as long: for what a daemon must know before it begins.
 * -ETIMEDOUT: it took longer than wait_ms, and it and its process group, or session, were killed.
 */
int os_run(struct os *os, const struct os_spawn *spec, unsigned wait_ms, struct os_exit *how,
           struct err *err);
/* Starts the program, whose main() calls prepared_main() (base/daemon/prepared.h), so that
 * os_spawn() can have copies of it, soon.  One at a time: another path ends the one before. Nothing
 * is said of a failure: programs are started without it, and the next call after some time tries
 * again. */
void os_prepare(struct os *os, const char *program);
/* The program's own process, where pid (as os_spawn() gave it) is that of its cage.  pid itself
 * when there is no cage; 0 when the program is gone. */
pid_t os_caged_pid(struct os *os, pid_t pid);
/* Calls on_exit when a process that is not our child ends (soon, when it is gone already or
 * start_time, unless 0, differs: a reused pid). */
int os_watch(struct os *os, pid_t pid, uint64_t start_time, os_exit_f on_exit, void *arg,
             struct err *err);
void os_forget(struct os *os, pid_t pid); /* no on_exit for it any more */
/* Clock ticks since boot at which the process began: with the pid it names a process once and for
 * all.  0 when there is none, or it is dead and not reaped. */
uint64_t os_start_time(struct os *os, pid_t pid);
/* 0, -ESRCH, -EPERM; a pid or group of 0 is a mistake (CHECK), a negative one nobody's. */
int os_kill(struct os *os, pid_t pid, int signal_number);
int os_kill_group(struct os *os, pid_t group, int signal_number);
pid_t os_pid(struct os *os); /* our own */
pid_t os_group(struct os *os);
/* Makes us the reaper of orphaned descendants (the starter). */
void os_become_subreaper(struct os *os);
/* Sends a signal once to every living descendant of ours, also to those that are born meanwhile;
 * returns how many got it. */
size_t os_descendants_kill(struct os *os, int signal_number);
/* running[i]: threads of the process roots[i] and its living descendants that run, want to, or wait
 * for a disk: what the kernel's load average counts, now.  One look at all processes for all roots.
 */
void os_families_running(struct os *os, const pid_t *roots, size_t count, int64_t *running);

/* Sends a signal (0: none) to every process, ourselves excepted, whose environment holds exactly
 * mark ("NAME=value"); returns how many there were.  For what a killed starter left behind. */
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

/* does not follow a final link; 0 or -errno, usual -ENOENT */
int os_stat(struct os *os, const char *path, struct os_stat *ret);
/* The whole file, zero-terminated (not counted in length), owned by the caller (mem_free).  -EFBIG
 * above max_bytes. */
int os_read_file(struct os *os, const char *path, size_t max_bytes, char **data, size_t *length,
                 struct err *err);
/* Replaces path in one step (temporary file, rename); durable: with fsync of file and directory. */
int os_write_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                  bool durable, struct err *err);
/* Writes what is there anew in its place where it is a file of ours with one name and that mode,
 * which spares a file system a file to make and one to forget; else as os_write_file().  Not in one
 * step: for readers that are told when it is done.  Not durable. */
int os_rewrite_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                    struct err *err);
/* with parents; existing is fine */
int os_mkdirs(struct os *os, const char *path, mode_t mode, struct err *err);
/* a file, link or empty directory; absent is fine */
int os_remove(struct os *os, const char *path, struct err *err);
/* Never follows links nor enters other file systems (-EXDEV); absent is fine. */
int os_remove_tree(struct os *os, const char *path, struct err *err);
/* Makes a directory that somebody else had as good as new: empty, ours, with that mode.  -ESTALE:
 * it is empty, but what stuck to it a new one would not have (attributes, access lists, flags, a
 * size that it grew to): it is to be removed.  A directory with the name kept (NULL: none) stays in
 * it, made as good as new in the same way.  As os_remove_tree() otherwise, but -ENOENT. */
int os_renew_directory(struct os *os, const char *path, const char *kept, mode_t mode,
                       struct err *err);
int os_rename(struct os *os, const char *from, const char *to, bool durable, struct err *err);
/* a link itself, not its target */
int os_chown(struct os *os, const char *path, uid_t uid, gid_t gid, struct err *err);
int os_chmod(struct os *os, const char *path, mode_t mode, struct err *err);
/* Names in a directory, sorted, without . and ..; each call gives one name. */
int os_list(struct os *os, const char *path, void (*each)(void *arg, const char *name), void *arg,
            struct err *err);
/* The path from the root: a relative one is put behind the working directory.  Nothing needs to be
 * there.  Owned by the caller (mem_free). */
int os_absolute(struct os *os, const char *path, char **ret, struct err *err);
bool os_is_network_fs(struct os *os, const char *path);

struct os_file;
enum os_open {
    OS_READ,
    OS_WRITE_NEW, /* fails if there */
    OS_WRITE_TRUNCATE,
    OS_APPEND, /* -ELOOP: the name is a symbolic link */
    OS_WRITE,  /* what is there stays, but for what is written */
};
int os_file_open(struct os *os, const char *path, enum os_open how, mode_t mode,
                 struct os_file **ret, struct err *err);
/* For reading, with the rights of that account and group: what it may not read is -EACCES.  Of
 * root; anybody else opens as who he is.  Regular files only: -EINVAL. */
int os_file_open_as(struct os *os, const char *path, uid_t uid, gid_t gid, struct os_file **ret,
                    struct err *err);
/* 0..length bytes read (0 at the end), or -errno. */
ssize_t os_file_read(struct os_file *file, uint64_t offset, void *data, size_t length);
/* all of it, or -errno */
int os_file_write(struct os_file *file, uint64_t offset, const void *data, size_t length);
int os_file_sync(struct os_file *file);
int64_t os_file_size(const struct os_file *file);
int os_file_chmod(struct os_file *file, mode_t mode);
int os_file_chown(struct os_file *file, uid_t uid, gid_t gid);
/* all 0 when it cannot be had */
void os_file_stat(const struct os_file *file, struct os_stat *ret);
/* Locks the whole file against other processes that ask; until it is closed.  -EAGAIN: another has
 * it; another errno: its file system knows no locks. */
int os_file_lock(struct os_file *file);
void os_file_close(struct os_file *file); /* NULL is allowed */

/* An exclusive lock on a file that names its holder (first line its pid, second its start time);
 * released when the process dies, however it dies; the file stays.  -EAGAIN when another process
 * has it: then *holder, unless holder is NULL, is its pid (0 when it could not be read). */
struct os_lock;
int os_lock(struct os *os, const char *path, struct os_lock **ret, pid_t *holder, struct err *err);
/* Appends a line to what the lock file says of its holder ("ready"). */
void os_lock_note(struct os_lock *lock, const char *line);
void os_unlock(struct os_lock *lock); /* NULL is allowed */
/* The pid that holds the lock now, 0 when nobody does, -1 when the holder has not written it yet.
 */
pid_t os_lock_holder(struct os *os, const char *path);

/* The SQLite VFS through which this machine's stores go: NULL for SQLite's own. */
const char *os_sqlite_vfs(struct os *os);

#endif
