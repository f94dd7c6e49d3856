/* base/os/os.h - what a daemon asks of its machine: files, processes, facts.
 *
 * Two bodies: os_linux*.c and the simulator's (files in memory, processes that are daemons in the
 * same program or timed jobs).  File calls are synchronous, meant for small files and for worker
 * threads (lanes); large data goes through struct os_file on a lane.
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
/* Writes the numbers of the CPUs that this process may use, ascending, at most max of them; returns
 * how many. */
size_t os_cpu_numbers(struct os *os, uint32_t *ret, size_t max);
double os_load_average(struct os *os);                     /* of the last minute */
int64_t os_disk_free_kib(struct os *os, const char *path); /* negative errno on failure */

#define OS_NEVER_IDLE_S (INT64_MAX / 2) /* idle time of a machine that has nothing to type on */
/* Seconds since somebody last typed.  While somebody types the kernel updates a terminal's time
 * every eight seconds only; after a pause it does so at once. */
struct os_idleness {
    int64_t keyboard_s; /* on any tty or pty, including the console */
    int64_t console_s;  /* at the machine's own keyboard and mouse */
};
struct os_terminals {
    /* Names below /dev that belong to the console; tty1 to tty63, the virtual consoles, always
     * do. */
    const char *const *console;
    size_t console_count;
    bool sessions_only; /* ignore ttys and ptys without a session in utmp or logind */
};
void os_idleness(struct os *os, const struct os_terminals *which, struct os_idleness *ret);

const char *os_getenv(struct os *os, const char *name); /* NULL when unset */
/* The whole environment: "NAME=value" ..., ended by NULL.  Borrowed. */
const char *const *os_environment(struct os *os);
/* Returns how many seconds local time is ahead of UTC at that moment. */
int32_t os_zone_offset_s(struct os *os, int64_t at_s);

/* ---- users ----------------------------------------------------------------------------------- */

uid_t os_uid(struct os *os); /* the effective uid */
/* Changes from root to that account for ever, on all threads, without supplementary groups.  0 or
 * -errno. */
int os_become(struct os *os, uid_t uid, gid_t gid, struct err *err);
/* Finds an account by name.  -ENOENT: no such account. */
int os_user_find(struct os *os, const char *name, uid_t *uid, gid_t *gid, struct err *err);
/* Finds an account's name by its uid.  -ENOENT: no such account; -ENAMETOOLONG: size is too
 * small. */
int os_user_name(struct os *os, uid_t uid, char *ret, size_t size, struct err *err);
/* Gives the home directory of an account.  -ENOENT: no such account; -ENAMETOOLONG. */
int os_user_home(struct os *os, const char *name, char *ret, size_t size, struct err *err);

/* ---- processes ------------------------------------------------------------------------------- */

struct os_exit {
    int status; /* exit status; -1: a signal ended the process, or the status is unknown */
    int signal; /* 0: the process exited by itself */
    bool core;  /* it left a core file */
    /* It was not our child but watched (os_watch()): neither status nor signal is known. */
    bool unknown;
    double user_cpu_s, system_cpu_s;
    int64_t max_rss_kib;
};
typedef void (*os_exit_f)(void *arg, pid_t pid, const struct os_exit *how);

/* How a started program is related to us. */
enum os_kin {
    OS_CHILD,
    /* Not our child: init adopts it (or we do, if we are a subreaper).  Its pid is known, its exit
     * is not reported. */
    OS_DETACHED,
    /* The starter's job: its descendants stay below us and os_descendants_kill() finds them. */
    OS_SUBREAPER_JOB,
};

/* What to start, and how.  All strings and arrays are borrowed for the call; a zeroed field means
 * the default. */
struct os_spawn {
    const char *const *argv; /* argv[0] is the path; ended by NULL */
    /* "NAME=value" ..., ended by NULL.  NULL: our own environment; but with change_user only PATH,
     * because the other account can read /proc/PID/environ. */
    const char *const *env;
    const char *const *env_add; /* added to env; may be NULL */
    const char *cwd;            /* NULL: our own */
    /* NULL: /dev/null; "-": our own.  A FIFO that nobody has open for writing reads as empty. */
    const char *stdin_path;
    /* Created or appended to, as the child's user; relative to cwd.  NULL: /dev/null; "-": our own.
     * A FIFO that nobody reads is -ENXIO. */
    const char *stdout_path;
    const char *stderr_path; /* the same for standard error */
    bool truncate_output;    /* truncate these two instead of appending */
    /* Instead of stdin_path: a text of at most 64 KiB for its standard input; may be NULL. */
    const char *input_text;
    bool new_session; /* setsid(): it leads a session and a process group of its own */
    enum os_kin kin;
    /* Start a copy of the process that os_prepare() started, if it is ready; argv[0] must be the
     * same path.  Its standard streams are /dev/null, and only env_add, cwd, new_session and kin
     * are used. */
    bool prepared;
    bool no_new_privs;
    bool change_user; /* run as uid and gid, without supplementary groups; needs root */
    uid_t uid;
    gid_t gid;
    int nice; /* added to our own */
    /* Namespaces, mounts, cgroup and limits for it (base/os/os_cage.h); NULL: none.  If they cannot
     * be made nothing runs: -ENOTSUP; -ENOSYS: we can never have namespaces here; -EPROTONOSUPPORT:
     * no filters of system calls. */
    const struct os_cage *cage;
    /* The pid of a process whose namespaces (PID, mounts, IPC, user) it joins; 0: ours.  A cage may
     * be given as well if it makes no namespaces. */
    pid_t beside;
    /* Its standard streams (base/os/os_terminal.h); NULL: the paths above. */
    struct os_terminal *terminal;
};

/* Starts a program. on_exit is called when it ends; may be NULL.  A failed exec is reported here,
 * as -ENOENT, -EACCES etc. with err naming the path, not as an exit status.  The child has only the
 * descriptors 0-2, default signal handling, and the limit of open files with which we were
 * started. */
int os_spawn(struct os *os, const struct os_spawn *spec, os_exit_f on_exit, void *arg, pid_t *ret,
             struct err *err);
/* Runs a program to its end and blocks until then: for facts that a daemon must know before it
 * begins.  -ETIMEDOUT: it took longer than wait_ms and was killed, with its process group or
 * session. */
int os_run(struct os *os, const struct os_spawn *spec, unsigned wait_ms, struct os_exit *how,
           struct err *err);
/* Starts a program that prepares itself: its main() calls prepared_main() (base/daemon/prepared.h),
 * and os_spawn() can soon start copies of it.  There is one at a time; another path ends the
 * earlier one.  Failures are not reported: programs are then started normally, and a later call
 * tries again. */
void os_prepare(struct os *os, const char *program);
/* Returns the pid of the program itself, when pid, as os_spawn() gave it, is that of its cage's
 * keeper (base/os/os_cage.h); pid itself when there is no cage; 0 when the program has ended. */
pid_t os_caged_pid(struct os *os, pid_t pid);
/* Calls on_exit when a process that is not our child ends. start_time, from os_start_time(),
 * recognises a reused pid; 0: any.  If the process has ended already, or its start time differs,
 * on_exit is called soon. */
int os_watch(struct os *os, pid_t pid, uint64_t start_time, os_exit_f on_exit, void *arg,
             struct err *err);
/* Drops the on_exit of that process; the process goes on. */
void os_forget(struct os *os, pid_t pid);
/* Returns when the process started, in clock ticks since boot: together with the pid this
 * identifies a process for ever.  0: no such process, or it is dead and not reaped. */
uint64_t os_start_time(struct os *os, pid_t pid);
/* Send a signal to a process, or to a process group.  For the pid of a cage's keeper every signal
 * but SIGKILL goes to the program in the cage.  0, -ESRCH or -EPERM.  A pid or group of 0 is a
 * mistake (CHECK); for a negative one nothing is sent: -ESRCH. */
int os_kill(struct os *os, pid_t pid, int signal_number);
int os_kill_group(struct os *os, pid_t group, int signal_number);
pid_t os_pid(struct os *os); /* our own */
pid_t os_group(struct os *os);
/* Makes us the parent of orphaned descendants, for the starter. */
void os_become_subreaper(struct os *os);
/* Sends a signal once to each living descendant of ours, also to those that are born meanwhile;
 * returns how many got it. */
size_t os_descendants_kill(struct os *os, int signal_number);
/* Sends a signal once to each living child of ours, not to the children's children; orphans that a
 * subreaper has adopted are children.  Returns how many got the signal. */
size_t os_children_kill(struct os *os, int signal_number);
/* For each roots[i], counts into running[i] the threads of that process and its living descendants
 * that run, are ready to run, or wait for a disk: what the kernel's load average counts.  Looks at
 * all processes once for all roots. */
void os_families_running(struct os *os, const pid_t *roots, size_t count, int64_t *running);

/* Sends a signal (0: none) to each process except us whose environment contains exactly mark
 * ("NAME=value"); returns how many there were.  Finds what a killed starter left behind. */
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

/* Gives facts about a path.  A final link is not followed: its own facts are given.  0 or -errno,
 * usually -ENOENT. */
int os_stat(struct os *os, const char *path, struct os_stat *ret);
/* Reads a whole file. *data is zero-terminated, the zero is not counted in *length; the caller
 * frees it with mem_free().  -EFBIG: more than max_bytes. */
int os_read_file(struct os *os, const char *path, size_t max_bytes, char **data, size_t *length,
                 struct err *err);
/* Replaces the file in one step (temporary file, rename). durable: fsyncs file and directory. */
int os_write_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                  bool durable, struct err *err);
/* Overwrites the file in place if it is a regular file of ours with only one name and that mode;
 * otherwise like os_write_file().  Cheaper for the file system than a new file, but neither durable
 * nor in one step: for files whose readers wait until they are told. */
int os_rewrite_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                    struct err *err);
/* Makes a directory and its parents; an existing directory is a success. */
int os_mkdirs(struct os *os, const char *path, mode_t mode, struct err *err);
/* Removes a file, a link or an empty directory; success if nothing is there. */
int os_remove(struct os *os, const char *path, struct err *err);
/* Removes a directory and all below it.  Never follows links nor enters other file systems
 * (-EXDEV).  Success if nothing is there. */
int os_remove_tree(struct os *os, const char *path, struct err *err);
/* Makes a directory that somebody else has used as good as new: empty, ours, with that mode. kept:
 * the name of a directory in it that stays, made as good as new too; NULL: none.  -ESTALE: it is
 * empty, but has kept something that a new one would not have (attributes, access lists, flags, a
 * grown size): remove it.  -ENOENT: nothing is there.  Otherwise like os_remove_tree(). */
int os_renew_directory(struct os *os, const char *path, const char *kept, mode_t mode,
                       struct err *err);
int os_rename(struct os *os, const char *from, const char *to, bool durable, struct err *err);
/* Changes the owner; of a link, not of its target. */
int os_chown(struct os *os, const char *path, uid_t uid, gid_t gid, struct err *err);
int os_chmod(struct os *os, const char *path, mode_t mode, struct err *err);
/* Calls each() for every name in a directory, sorted, without "." and "..". */
int os_list(struct os *os, const char *path, void (*each)(void *arg, const char *name), void *arg,
            struct err *err);
/* Makes a path absolute: a relative one is appended to the working directory.  Nothing needs to
 * exist there.  The caller frees *ret with mem_free(). */
int os_absolute(struct os *os, const char *path, char **ret, struct err *err);
bool os_is_network_fs(struct os *os, const char *path);

struct os_file;
enum os_open {
    OS_READ,
    OS_WRITE_NEW, /* fails if the file exists */
    OS_WRITE_TRUNCATE,
    OS_APPEND, /* -ELOOP: the path is a symbolic link */
    OS_WRITE,  /* keeps the contents, except what is overwritten */
};
int os_file_open(struct os *os, const char *path, enum os_open how, mode_t mode,
                 struct os_file **ret, struct err *err);
/* Opens a file for reading with the rights of that user and group: -EACCES if they may not read it.
 * Only root can do this; other users open with their own rights.  -EINVAL: not a regular file. */
int os_file_open_as(struct os *os, const char *path, uid_t uid, gid_t gid, struct os_file **ret,
                    struct err *err);
/* Returns the number of bytes read, 0..length; 0: end of the file; or -errno. */
ssize_t os_file_read(struct os_file *file, uint64_t offset, void *data, size_t length);
/* Writes all of it: 0 or -errno. */
int os_file_write(struct os_file *file, uint64_t offset, const void *data, size_t length);
int os_file_sync(struct os_file *file);
int64_t os_file_size(const struct os_file *file);
int os_file_chmod(struct os_file *file, mode_t mode);
int os_file_chown(struct os_file *file, uid_t uid, gid_t gid);
/* Gives all 0 on failure. */
void os_file_stat(const struct os_file *file, struct os_stat *ret);
/* Locks the whole file, until it is closed, against other processes that lock it.  -EAGAIN: another
 * process has the lock; another -errno: the file system has no locks. */
int os_file_lock(struct os_file *file);
void os_file_close(struct os_file *file); /* NULL is allowed */

/* An exclusive lock on a file that names its holder: the first line is its pid, the second its
 * start time.  It is released when the process dies, however that happens; the file stays. */
struct os_lock;
/* Takes the lock.  -EAGAIN: another process has it; then *holder (may be NULL) is its pid, or 0 if
 * that cannot be read. */
int os_lock(struct os *os, const char *path, struct os_lock **ret, pid_t *holder, struct err *err);
/* Appends a line ("ready") to the lock file. */
void os_lock_note(struct os_lock *lock, const char *line);
void os_unlock(struct os_lock *lock); /* NULL is allowed */
/* Returns the pid of the process that holds the lock now; 0: nobody; -1: the holder has not written
 * its pid yet. */
pid_t os_lock_holder(struct os *os, const char *path);

/* Returns the name of the SQLite VFS (file layer) for stores on this machine; NULL: SQLite's
 * default. */
const char *os_sqlite_vfs(struct os *os);

#endif
