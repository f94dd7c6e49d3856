/* sim/sim.h - many machines, processes and connections in one process, on virtual time.
 *
 * Problem: that no job is lost or run twice while machines sleep, processes die and links break
 * cannot be tested by waiting for accidents.  The simulator links the daemons with other bodies of
 * base/mem.h, loop.h, stream.h, os.h and an SQLite VFS, all of them driven by one scheduler: a heap
 * of events ordered by (virtual time, seeded tie-break).  One seed is one run, exactly: delays,
 * orders, deaths.
 *
 * A process is entered in one place only (sim_enter() in sim/process_sim.c), so that ending it from
 * inside its own callback (loop_fatal) is a jump back to there.  kill -9 frees the process's heap
 * and closes what its kernel would close, without running any of its code.  A callback takes no
 * virtual time by itself; work on a lane and its done call are two events, between which the
 * process may die.
 *
 * Rejected: one operating system process per daemon under ptrace or a hypervisor (slow, and not
 * ours to order); threads with a scheduler lock (order depends on the kernel); stackful coroutines
 * (daemon code never blocks, so there is nothing for them to do).
 *
 * One simulation at a time in one program: mem_alloc() has no argument that tells whose heap it is,
 * so one static pointer in sim/mem_sim.c names the simulation that runs; the current process is a
 * field of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct daemon;
struct loop;
struct os;
struct rng;
struct strbuf;
struct sim;
struct sim_host;
struct sim_image;
struct sim_process;

#define SIM_MS ((uint64_t)1000) /* virtual time is counted in microseconds */
#define SIM_S  ((uint64_t)1000000)

/* ---- programs -------------------------------------------------------------------------------- */

#define SIM_STAYS (-1) /* start() returns this to go on living on its loop */

struct sim_env {
    struct sim *sim;
    struct sim_process *process;
    struct loop *loop;
    struct os *os;
    int argc;
    char *const *argv;
    const struct sim_program *program;
};
/* What os_spawn() finds behind a path whose file says "#!/sim/<name>". */
struct sim_program {
    const char *name;
    /* Runs in the process.  SIM_STAYS, or its exit status. */
    int (*start)(const struct sim_env *env, void **state);
    /* After loop_stop(), in the process; may be NULL. */
    void (*destroy)(void *state);
    /* How many words of argv stand before those of the program that it becomes at once; 0: it stays
     * what it is.  May be NULL. */
    size_t (*becomes)(const char *const *argv);
    /* os_run() of it, in the process that waits for it: its exit status, and what it says.  NULL:
     * nobody can wait for it. */
    int (*at_once)(struct os *os, const char *const *argv, struct strbuf *said);
    const void *data;
    bool timed; /* a job: time for which it is stopped does not count for its timers */
};
extern const struct sim_program sim_program_job;   /* "/sim/job SECONDS STATUS [OUTPUT TEXT]" */
extern const struct sim_program sim_program_steps; /* a job that can be checkpointed: work_sim.h */
extern const struct sim_program sim_program_image; /* what is left of it; goes on with it */
extern const struct sim_program sim_program_ckpt;  /* roost-ckpt: ckpt_sim.c */
extern const struct sim_program sim_program_env;   /* "/usr/bin/env tar --extract ..." */
extern const struct sim_program sim_program_wake;  /* "/sim/wake NODE" */
extern const struct sim_program sim_program_poweroff; /* "/sim/poweroff NODE" */
extern const struct sim_program sim_program_powered;  /* "/sim/powered NODE": status 0 on, 1 off */

/* ---- the run --------------------------------------------------------------------------------- */

enum sim_count {
    SIM_COUNT_EVENTS,
    SIM_COUNT_MESSAGES,  /* chunks of bytes delivered */
    SIM_COUNT_REORDERED, /* delivered before one that was sent earlier between the same hosts */
    SIM_COUNT_SPLIT,     /* one write that arrived in several pieces */
    SIM_COUNT_DELAYED,   /* held up for at least a second */
    SIM_COUNT_CONNECTS,
    SIM_COUNT_LINK_CUTS,
    SIM_COUNT_RESETS, /* connections ended by a cut */
    SIM_COUNT_SPAWNS,
    SIM_COUNT_KILLS, /* kill -9 by chaos */
    SIM_COUNT_POWER_CUTS,
    SIM_COUNT_BOOTS,
    SIM_COUNT_BOOT_FAILURES,
    SIM_COUNT_POWER_OFFS,
    SIM_COUNT_FATALS,       /* a process ended itself by loop_fatal() */
    SIM_COUNT_DISK_ERRORS,  /* injected write and fsync errors */
    SIM_COUNT_LOST_WRITES,  /* pages and directory changes that a power cut took back */
    SIM_COUNT_COMMIT_KILLS, /* kills while work was under way on a lane of the victim */
    SIM_COUNT_RESTARTS,     /* by a host's keeper */
    SIM_COUNT_SUSPENDS,     /* a machine stood still for a while */
    SIM_COUNT_MAX
};
const char *sim_count_name(enum sim_count count);

enum sim_power { SIM_HOST_OFF, SIM_HOST_BOOTING, SIM_HOST_ON, SIM_HOST_STOPPING };

/* What an observer is told; every pointer may be NULL. */
struct sim_observer {
    void (*stepped)(void *arg);
    /* a job program ran from start to end, or was killed: key is its TEXT */
    void (*job_started)(void *arg, struct sim_process *process, const char *key);
    void (*job_ended)(void *arg, struct sim_process *process, const char *key, bool finished);
    void (*wake_asked)(void *arg, struct sim_host *host);
    void (*poweroff_asked)(void *arg, struct sim_host *host);
    void (*power_changed)(void *arg, struct sim_host *host, enum sim_power was);
    /* the host stops at this moment; orderly: by its own poweroff */
    void (*host_stops)(void *arg, struct sim_host *host, bool orderly);
    void (*process_ended)(void *arg, struct sim_process *process, int status, int signal_number);
    /* bytes that a process hands to a connection, before they travel */
    void (*sent)(void *arg, struct sim_process *from, uint64_t connection, bool by_client,
                 const char *route, const void *data, size_t length);
    void (*log_line)(void *arg, struct sim_process *process, const char *line, size_t length);
    /* a file got this content by os_write_file() or by os_rename() */
    void (*file_placed)(void *arg, struct sim_process *process, const char *path);
    /* dumper has looked at that job, and writes the image now; it may not come to its end */
    void (*image_made)(void *arg, struct sim_process *dumper, const struct sim_process *job,
                       const struct sim_image *image);
    void *arg;
};

struct sim_options {
    uint64_t seed;
    const struct sim_program *const *programs; /* NULL-terminated; job, wake, ... come along */
    struct sim_observer observer;
    bool verbose; /* the trace goes to stdout as it is made */
};
struct sim *sim_create(const struct sim_options *options);
/* One more who is told; may be called once, before anything runs. */
void sim_observe(struct sim *sim, const struct sim_observer *also);
void sim_destroy(struct sim *sim); /* kills everything that runs; NULL is allowed */

uint64_t sim_now_us(const struct sim *sim);
/* Runs the next event; false when there is none before until_us: then the time is until_us. */
bool sim_step(struct sim *sim, uint64_t until_us);
void sim_run_for(struct sim *sim, uint64_t us);

/* Calls call(arg) outside of any process at that time. */
struct sim_event;
struct sim_event *sim_at(struct sim *sim, uint64_t at_us, void (*call)(void *arg), void *arg);
void sim_cancel(struct sim_event *event); /* NULL is allowed; not after it fired */

struct rng *sim_rng(struct sim *sim);
uint64_t sim_between(struct sim *sim, uint64_t low, uint64_t high); /* low..high, both included */
bool sim_chance(struct sim *sim, unsigned per_mille);
void sim_count(struct sim *sim, enum sim_count count);
uint64_t sim_counted(const struct sim *sim, enum sim_count count);

/* One line of the trace, part of the run's hash.  host and process may be NULL. */
void sim_trace(struct sim *sim, const struct sim_process *process, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t sim_trace_hash(const struct sim *sim);
/* Writes the last lines of the trace to a descriptor; safe after an abort. */
void sim_trace_dump(const struct sim *sim, int fd, unsigned lines);

/* ---- hosts ----------------------------------------------------------------------------------- */

struct sim_host_options {
    const char *name;
    uint32_t cpus;
    int64_t memory_mib;
    uint64_t boot_min_ms, boot_max_ms; /* how long it takes to come up */
};
struct sim_host *sim_host_create(struct sim *sim, const struct sim_host_options *options);
struct sim_host *sim_host_find(struct sim *sim, const char *name); /* NULL */
struct sim_host *sim_host_at(struct sim *sim, size_t index);       /* NULL past the end */
enum sim_power sim_host_power(const struct sim_host *host);
/* Host option: the index-th boot from now on does not come up (0: the next). */
void sim_host_fail_boots(struct sim_host *host, unsigned count);

/* How a machine takes being switched: how many times in a thousand something goes wrong with it. */
struct sim_temper {
    unsigned wake_fails, sleep_fails; /* the program says so, and does nothing */
    unsigned wake_lies, sleep_lies;   /* it says that all is well, and does nothing */
    unsigned status_lies;             /* the one that is asked says the opposite, or nothing */
    unsigned boots_late;              /* it takes up to late_max_us longer */
    unsigned boots_less;              /* it comes up with half of its CPUs */
    unsigned crashes; /* it loses its power within crash_max_us, and has it back or not */
    unsigned dump_fails, dump_hangs; /* roost-ckpt dump says so, or never ends */
    uint64_t late_max_us, crash_max_us;
    bool is_dead; /* it comes up no more: it hangs for a while, or stays off */
};
void sim_host_temper(struct sim_host *host, const struct sim_temper *temper);

/* What the machine starts at boot, and again: when kept, whenever it ends with anything but 0; else
 * when nothing but jobs is left on the machine. */
void sim_host_service(struct sim_host *host, const char *const *argv, bool kept);
void sim_host_boot_now(struct sim_host *host);  /* up at once */
void sim_host_boot(struct sim_host *host);      /* comes up after its boot time, if it is off */
void sim_host_shut_down(struct sim_host *host); /* orderly: SIGTERM, then off; disks synced */
void sim_host_power_cut(
    struct sim_host *host); /* at once: processes and unsynced writes are gone */

/* Its owner sits at it, or has left it. */
void sim_host_owner(struct sim_host *host, bool is_there);

/* Stands still so long, as a closed laptop or a stopped guest does: its clock of the boot goes on,
 * its processes and its network do not. */
void sim_host_suspend(struct sim_host *host, uint64_t for_us);

/* Files: direct access for tests and scenario; contents count as synced. */
void sim_file_put(struct sim_host *host, const char *path, const void *data, size_t length,
                  mode_t mode);
/* NULL when there is none; valid until the next change */
const char *sim_file_get(struct sim_host *host, const char *path, size_t *length);
void sim_program_put(struct sim_host *host, const char *path, const char *program);
/* The next `count` writes (of stores and files) or fsyncs on this host fail. */
void sim_disk_fail(struct sim_host *host, unsigned writes, unsigned syncs);
/* There is no room for files for so long; what is small (a record, a store) still finds some. */
void sim_disk_fill(struct sim_host *host, uint64_t for_us);
/* Power is cut in the middle of the ops-th write or sync of this host's disk from now on (1: the
 * next): that one and all after it have no effect; what the process then still does reaches nobody.
 */
void sim_disk_power_cut(struct sim_host *host, unsigned ops);
/* The same for kill -9 of one process: what it wrote before stays. */
void sim_disk_kill(struct sim_process *process, unsigned ops);

/* ---- processes ------------------------------------------------------------------------------- */

/* Starts one as a child of the host's init.  NULL when there is no such file or program. */
struct sim_process *sim_spawn(struct sim_host *host, const char *const *argv);
struct sim_process *sim_process_find(struct sim_host *host, pid_t pid); /* living; NULL */
/* Walks the living processes of all hosts in order of creation: at = 0 first; NULL at the end. */
struct sim_process *sim_process_next(struct sim *sim, uint64_t *at);
pid_t sim_process_pid(const struct sim_process *process);
uint64_t sim_process_serial(const struct sim_process *process); /* unique in the run */
const char *sim_process_program(const struct sim_process *process);
struct sim_host *sim_process_host(const struct sim_process *process);
const char *sim_process_arg(const struct sim_process *process, int index); /* NULL past the end */
void *sim_process_state(const struct sim_process *process);                /* what start() made */
bool sim_process_in_lane(const struct sim_process *process);               /* work is under way */
void sim_kill(struct sim_process *process);                                /* kill -9, now */
/* Runs call(arg) in the process; false when it ended in it. */
bool sim_enter(struct sim_process *process, void (*call)(void *arg), void *arg);
size_t sim_process_blocks(const struct sim_process *process); /* of its heap, in use */

/* ---- links ----------------------------------------------------------------------------------- */

enum sim_cut {
    SIM_CUT_RESET, /* every connection over the link ends; the two sides learn at different times */
    SIM_CUT_SILENT, /* nothing arrives until the link is back, or an end gives up */
};
void sim_link_cut(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t for_us,
                  enum sim_cut how);
/* Messages between the two take up to this long, each for itself, until that time. */
void sim_link_slow(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t max_us,
                   uint64_t for_us);

#endif
