/* sim/sim_private.h - data structures shared by the simulator's implementations of base/.
 *
 * Rules: data of the simulator is allocated with sim_alloc(), never from a process's heap; data
 * handed to a daemon as its own is allocated with mem_alloc() while that process is current.  A
 * process's code is called only by sim_enter(), and that is the last thing that an event does,
 * because the process may have freed anything, or be dead, when sim_enter() returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SIM_PRIVATE_H
#define SIM_SIM_PRIVATE_H

#include <setjmp.h>

#include "base/loop.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/stream/stream.h"
#include "sim/sim.h"

#define SIM_SIGNALS     65
#define SIM_ENV_MAX     128
#define SIM_TRACE_LINES 4096
#define SIM_TRACE_TEXT  216  /* most bytes of a line's text, with the terminating zero */
#define SIM_PATH_MAX    4096 /* most bytes of a path, with the terminating zero */

/* ---- lists ----------------------------------------------------------------------------------- */

/* A circular list with a head.  An element can be removed without knowing its list. */
struct sim_link {
    struct sim_link *next, *prev;
    void *item;
};
void sim_list_init(struct sim_link *head);
/* Appends item at the end of the list; link connects item with the list. */
void sim_list_add(struct sim_link *head, struct sim_link *link, void *item);
/* removes the item of link from its list; does nothing if link is in no list */
void sim_list_remove(struct sim_link *link);
/* returns the first item; NULL: the list is empty */
void *sim_list_first(const struct sim_link *head);

void *sim_alloc(size_t size); /* memory of the simulator itself, zeroed; never NULL */
void *sim_realloc(void *block, size_t size);
char *sim_strdup(const char *text);
char *sim_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_free(void *block);

/* ---- events ---------------------------------------------------------------------------------- */

struct sim_event {
    uint64_t at_us, tie, seq;
    /* index in the heap of events; SIZE_MAX while the event is parked (sim_event_park()) */
    size_t slot;
    /* the event is cancelled when process ends, and waits while process is stopped; may be NULL */
    struct sim_process *process;
    struct sim_host *host; /* event is cancelled when the host loses power; may be NULL */
    struct sim_link link;  /* connects the event with the list of events of its process or host */
    struct sim *sim;
    bool even_stopped; /* call() is called even while the process is stopped */
    void (*call)(void *arg);
    void *arg;
};
struct sim_event *sim_at_process(struct sim_process *process, uint64_t at_us,
                                 void (*call)(void *arg), void *arg);
struct sim_event *sim_at_host(struct sim_host *host, uint64_t at_us, void (*call)(void *arg),
                              void *arg);
/* Takes the event out of the heap until sim_event_resume(); at_us stays. */
void sim_event_park(struct sim_event *event);
void sim_event_resume(struct sim_event *event, uint64_t at_us);

/* ---- the simulation -------------------------------------------------------------------------- */

/* One line of the trace. */
struct sim_trace_line {
    uint64_t at_us;
    char text[SIM_TRACE_TEXT];
};
struct sim_cut_link { /* state of the network link between two hosts */
    struct sim_host *a, *b;
    uint64_t cut_until_us, slow_until_us, slow_max_us;
    enum sim_cut how;
    /* Serial numbers of pieces of data on the link, for SIM_COUNT_REORDERED: the number of the
     * piece sent last, and the highest number delivered. */
    uint64_t sent_count, delivered_max;
};
struct sim {
    struct sim_options options;
    struct sim_observer also;
    const struct sim_program **programs;
    struct rng rng;
    uint64_t now_us, seq;
    struct sim_event **heap;
    size_t heap_count, heap_capacity;
    struct sim_host **hosts;
    size_t host_count;
    struct sim_link processes; /* living processes, in order of creation */
    uint64_t process_serial, connection_serial;
    struct sim_link connections;
    /* matrix with a row and a column for each host; entries are made when needed */
    struct sim_cut_link **links;
    size_t links_side;
    struct sim_process *current; /* process whose code runs; NULL: the simulator's own code */
    uint64_t counts[SIM_COUNT_MAX];
    uint64_t last_accident_us; /* when something broke last; 0: never */
    uint64_t promises_broken;  /* lines promise.broken in the logs of the daemons */
    struct sim_trace_line *trace;
    uint64_t trace_count, hash;
    bool ending;
};

/* Calls the callback `what` of both observers, with the further arguments, as the simulator and not
 * as the current process, so that what the callback allocates is not charged to this process. */
#define SIM_TELL(sim, what, ...)                                                       \
    do {                                                                               \
        const struct sim_observer *told_[] = {&(sim)->options.observer, &(sim)->also}; \
        for (unsigned i_ = 0; i_ < 2 && !(sim)->ending; i_++) {                        \
            if (told_[i_]->what != NULL) {                                             \
                struct sim_process *was_current_ = (sim)->current;                     \
                (sim)->current = NULL;                                                 \
                told_[i_]->what(told_[i_]->arg, __VA_ARGS__);                          \
                (sim)->current = was_current_;                                         \
            }                                                                          \
        }                                                                              \
    } while (0)

/* ---- heaps (mem_sim.c) ----------------------------------------------------------------------- */

/* The header of a block allocated in a process's heap. */
struct sim_block {
    struct sim_block *next, *prev;
    struct sim_heap *heap;
    size_t size;
};
struct sim_heap {
    struct sim_block blocks; /* head of the circular list of allocated blocks */
    size_t count;
    struct sim_link foreign; /* objects registered by mem_on_drop(), oldest first */
};
void sim_mem_use(struct sim *sim); /* makes sim the running simulation; NULL: no simulation runs */
struct sim *sim_mem_running(void); /* the running simulation, or NULL */
void sim_heap_init(struct sim_heap *heap);
/* Releases the objects registered by mem_on_drop(), newest first, then all blocks. */
void sim_heap_drop(struct sim_heap *heap);

/* ---- hosts ----------------------------------------------------------------------------------- */

struct sim_service {
    char **argv;
    bool kept;
    struct sim_host *host;
    pid_t pid;
    pid_t told_pid; /* its process when the host's last shutdown began */
    struct sim_event *restart;
};
struct sim_journal_entry { /* a directory change that a power cut may undo */
    struct sim_node *dir, *before, *after;
    char *name;
};
/* What is wrong with a machine for a while (host_faults.h). */
struct sim_host_faults {
    uint64_t spawns_until_us, disk_until_us, names_until_us;
    int spawn_code, disk_code;
    uint64_t disk_room;                 /* bytes that a full disk still takes */
    const struct sim_host *name_of_all; /* what names resolve to; NULL: they do not resolve */
    uint64_t oom_kills;                 /* since boot, as the kernel counts them */
    int last_errno;                     /* of the last disk operation of SQLite that failed */
};
struct sim_host {
    struct sim *sim;
    char *name, *vfs_name;
    size_t index;
    uint32_t cpus, cpus_now; /* CPUs as configured; CPUs that the host has since its last boot */
    int64_t memory_mib;
    uint64_t boot_min_ms, boot_max_ms, stop_max_ms;
    unsigned fail_boots;
    struct sim_temper temper;
    enum sim_power power;
    char boot_id[OS_BOOT_ID_SIZE];
    uint64_t booted_us, suspended_us, suspended_until_us;
    int64_t wall_skew_ms;
    int64_t wall_wrong_ms; /* sim_host_set_clock() */
    pid_t last_pid;
    struct sim_service *services[16];
    size_t service_count;
    struct sim_link events, processes;
    struct sim_node *root;
    struct sim_journal_entry *journal;
    /* journal_limit: a power cut keeps a random number of the oldest journal entries, from 0 to
     * this, and undoes all later entries */
    size_t journal_count, journal_capacity, journal_limit;
    unsigned fail_writes, fail_syncs, cut_ops;
    uint64_t disk_error_us; /* when one of these failed last; 0: never */
    uint64_t full_until_us; /* the disk is full until this time */
    struct sim_host_faults faults;
    bool owner_came, owner_is_there;
    uint64_t owner_left_us;
    bool failing; /* the host is losing power at this moment: its disk operations fail */
    bool lost_power;
    bool unclean;  /* it went down at once, and has not come up since */
    bool all_told; /* the host shuts down, and all its processes were told to end */
    struct sim_link listeners;
    uint16_t last_port;
    struct sim_vfs *vfs;
};
int64_t sim_host_wall_ms(const struct sim_host *host);
uint64_t sim_host_up_us(const struct sim_host *host);
void sim_hosts_destroy(struct sim *sim);
void sim_host_child_ended(struct sim_host *host, pid_t pid, int status, int signal_number);

/* ---- processes (process_sim.c) --------------------------------------------------------------- */

/* The simulator's body of struct loop (base/loop.h). */
struct loop {
    struct sim_process *process;
    struct rng rng, secrets;
    struct sim_link timers, lanes;
    struct sim_link deferred;
    int64_t wall_offset_ms; /* base/wall_offset.h */
    bool stopping;
    int exit_status;
    struct {
        loop_f call;
        void *arg;
    } signals[SIM_SIGNALS];
};
struct os {
    struct sim_process *process;
};
struct sim_watch { /* a request to be told when a process ends */
    struct sim_link of_watcher, of_watched;
    struct sim_process *watcher;
    pid_t pid;
    os_exit_f call;
    void *arg;
    bool child;
    struct os_exit how;
    struct sim_event *event; /* event that reports the end; NULL: the process has not ended */
};
struct sim_bind { /* a bind mount: the process sees `from` at the path `to` */
    char *from, *to;
};
struct sim_process {
    struct sim *sim;
    struct sim_host *host;
    const struct sim_program *program;
    /* connect the process with the lists of living processes of the simulation and of its host */
    struct sim_link link, of_host;
    uint64_t serial, start_time, started_us;
    pid_t pid, parent, group;
    bool started, dead, subreaper, stopped;
    uint64_t stopped_us, pending_signals;
    uint64_t stood_us; /* total time for which the process was stopped */
    int argc;
    char **argv, **env;
    char *cwd; /* working directory, as the process sees it */
    /* paths of the files of standard output and standard error, on the host */
    char *stdout_path, *stderr_path;
    /* path of the file of standard output, as the process sees it */
    char *stdout_seen;
    struct sim_bind *binds;
    size_t bind_count;
    uid_t uid;
    gid_t gid;
    struct sim_heap heap;
    struct loop loop;
    struct os os;
    void *state;
    jmp_buf *escape; /* set while the process's code runs; longjmp() to it ends the process */
    int end_status, end_signal;
    struct sim_link events;
    /* watches that this process set; watches that others set on this process */
    struct sim_link watches, watched;
    struct sim_link streams, listeners, incomings, locks, files, vfs_files;
    struct sim_link pipes;        /* to programs that it started (struct os_terminal) */
    struct os_terminal *standard; /* its own standard streams, if they are pipes; or NULL */
    unsigned lane_work;           /* number of lane works that are under way */
    unsigned kill_ops;
    bool failing; /* the process is being killed at this moment */
    /* The process has namespaces of its own, and so a keeper; its keeper was killed. */
    bool caged, keeper_killed;
    char *lease_path; /* FIFO through which the end of its lease moves; NULL: no lease */
    struct sim_event *lease_event;
    char *job_key;
};
struct sim_spawn {
    const char *const *argv;
    const struct os_spawn *spec; /* options of os_spawn(); NULL: defaults */
    struct sim_process *parent;  /* NULL: child of the host's init */
};
int sim_process_create(struct sim_host *host, const struct sim_spawn *how,
                       struct sim_process **ret);
/* Finds the first process in the list (of a host or of the run) for which is_one() is true; NULL:
 * none. */
struct sim_process *sim_process_first(const struct sim_link *list,
                                      bool (*is_one)(const struct sim_process *process,
                                                     const void *arg),
                                      const void *arg);
/* Converts a path as the process sees it to a path on its host, in out; false: the path is too
 * long. */
bool sim_process_path(const struct sim_process *process, const char *path, char out[SIM_PATH_MAX]);
/* Sets a variable of the process's environment, which its children inherit: "NAME=value". */
void sim_process_env(struct sim_process *process, const char *assignment);
/* Returns the program that the file contains; NULL: the file contains no known program. */
const struct sim_program *sim_program_find(struct sim *sim, const struct sim_node *node);
/* Ends a process, killed by signal_number or (if 0) with exit status `status`, as a kernel does:
 * releases everything that the process has and runs none of its code. */
void sim_process_end(struct sim_process *process, int status, int signal_number);
/* Sends a signal to the process; an event delivers the signal later. */
void sim_process_signal(struct sim_process *process, int signal_number);
/* Ends the process whose code runs now, from inside this code, killed by signal_number or (if 0)
 * with exit status `status`. */
_Noreturn void sim_process_escape(struct sim_process *process, int status, int signal_number);
void sim_watch_add(struct sim_process *watcher, struct sim_process *watched, pid_t pid,
                   os_exit_f call, void *arg, bool child);

/* Lets the process stand still, as SIGSTOP does, and continue for_us microseconds later. */
void sim_process_stand(struct sim_process *process, uint64_t for_us);
/* Begins, or moves, the lease of a process with a keeper; end_ms: as in struct os_cage. */
void sim_process_lease(struct sim_process *process, uint64_t end_ms);

/* ---- pipes (os_terminal_sim.c) --------------------------------------------------------------- */

/* Makes the pipes the standard streams of the child. */
void sim_pipes_attach(struct os_terminal *pipes, struct sim_process *child);
/* Has heard(arg) called in the child when its standard input has something, or ends. */
void sim_pipes_hear(struct sim_process *child, loop_f heard, void *arg);
/* Reads the child's standard input.  Returns 1..length bytes; 0: end; -EAGAIN: nothing yet. */
ssize_t sim_pipes_read(struct sim_process *child, void *data, size_t length);
/* Writes to stream 1 or 2 of the child; what nobody can read any more is dropped. */
void sim_pipes_write(struct sim_process *child, int stream, const void *data, size_t length);
/* Closes the process's ends of pipes, as a kernel does; its events are cancelled already. */
void sim_pipes_drop(struct sim_process *process);

void sim_loop_init(struct loop *loop, struct sim_process *process);
void sim_loop_drop(struct loop *loop); /* frees timers and lanes; calls no callbacks */

/* ---- files (tree_sim.c) ---------------------------------------------------------------------- */

/* The types of a file (struct sim_node). */
enum sim_node_type { SIM_DIR, SIM_FILE, SIM_SOCKET };
struct sim_page { /* the old contents of a page that is not synced yet */
    size_t number;
    unsigned char *before; /* NULL: the page was past the end of the file */
};
#define SIM_PAGE 4096
struct sim_node {
    struct sim_host *host;
    char *name;
    struct sim_node *parent; /* directory of this node; NULL: the root, or not in the tree */
    enum sim_node_type type;
    unsigned refs;
    mode_t mode;
    uid_t uid;
    gid_t gid;
    int64_t mtime_s;
    struct sim_node **children; /* entries of a directory, sorted by name */
    size_t child_count, child_capacity;
    unsigned char *data; /* contents: size bytes and a zero byte */
    size_t size, capacity;
    size_t allocated; /* bytes of the disk that are kept for this file, beyond its contents */
    struct sim_page *dirty;
    size_t dirty_count, dirty_capacity, size_before;
    bool is_dirty;
    struct sim_process *locker;     /* process that holds os_lock() on this file */
    struct sim_vfs_file *vfs_files; /* open handles of this file in the SQLite VFS */
};
struct sim_node *sim_node_create(struct sim_host *host, enum sim_node_type type, mode_t mode);
void sim_node_ref(struct sim_node *node);
void sim_node_unref(struct sim_node *node); /* NULL is allowed */
/* Returns the file or directory at path, borrowed; NULL: no such path. */
struct sim_node *sim_tree_find(struct sim_host *host, const char *path);
/* Returns the directory that contains the last part of path, and copies the last part to name;
 * NULL: no such directory. */
struct sim_node *sim_tree_parent(struct sim_host *host, const char *path, char *name, size_t size);
struct sim_node *sim_dir_get(const struct sim_node *dir, const char *name);
/* Sets an entry of a directory; node NULL removes the name.  The change goes into the journal. */
void sim_dir_set(struct sim_node *dir, const char *name, struct sim_node *node);
int sim_tree_mkdirs(struct sim_host *host, const char *path, mode_t mode);
int sim_node_write(struct sim_node *node, uint64_t offset, const void *data, size_t length);
int sim_node_truncate(struct sim_node *node, size_t size);
/* Syncs the file and all directory changes of its host.  Returns 0; -EIO: the sync was made to
 * fail, or the host loses power or the calling process is killed at this moment. */
int sim_node_sync(struct sim_node *node);
int sim_tree_sync_dirs(struct sim_host *host);
/* Makes changes of names durable, which gives the room of removed files back. */
void sim_tree_commit(struct sim_host *host);
void sim_tree_sync_all(struct sim_host *host);
/* does what a power cut does to the disk: some unsynced changes are undone, chosen at random */
void sim_tree_crash(struct sim_host *host);
void sim_tree_destroy(struct sim_host *host);
/* Sets out to path made absolute (a relative path begins at the directory cwd), without "." and
 * ".."; false when the result is too long. */
bool sim_path(const char *cwd, const char *path, char out[SIM_PATH_MAX]);

void sim_vfs_create(struct sim_host *host);
void sim_vfs_destroy(struct sim_host *host);
/* Closes the process's open files of the SQLite VFS, as a kernel does at the end of a process. */
void sim_vfs_files_drop(struct sim_process *process);
/* Closes the process's struct os_file and struct os_lock, as a kernel does at the end of a process.
 */
void sim_files_drop(struct sim_process *process);

/* ---- network --------------------------------------------------------------------------------- */

/* Closes the process's sockets, as a kernel does at the end of a process. */
void sim_net_drop_process(struct sim_process *process);
/* Ends all connections of the host to other hosts, without notice to them. */
void sim_net_drop_host(struct sim_host *host);
void sim_net_destroy(struct sim *sim);
struct sim_cut_link *sim_link_between(struct sim *sim, struct sim_host *a, struct sim_host *b);

#endif
