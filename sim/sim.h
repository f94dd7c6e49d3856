/* sim/sim.h - simulates many machines, processes and connections in one process, on virtual time.
 *
 * Problem: waiting for accidents cannot test that no job is lost or run twice while machines sleep,
 * processes die and links break.  The simulator links the daemons with other implementations of
 * base/mem.h, loop.h, stream.h, os.h and an SQLite VFS.  One scheduler drives them all: a heap of
 * events ordered by (virtual time, random tie-break from the seed).  One seed gives exactly one
 * run: all delays, orders and deaths.
 *
 * A process is entered in one place only (sim_enter() in sim/process_sim.c).  Ending it from inside
 * its own callback (loop_fatal()) is a jump back to that place.  kill -9 frees the process's heap
 * and closes what its kernel would close, without running any of its code.  A callback takes no
 * virtual time.  Work on a lane (worker thread) and its done call are two events, between which the
 * process may die.
 *
 * Rejected: one operating system process for each daemon under ptrace or a hypervisor (slow, and
 * the simulator could not choose the order); threads with a scheduler lock (the kernel decides the
 * order); stackful coroutines (daemon code never blocks, so they have no use).
 *
 * There is only one simulation at a time in a program: mem_alloc() has no argument for the heap, so
 * a static pointer in sim/mem_sim.c names the running simulation; the current process is a field of
 * it.
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

#define SIM_MS ((uint64_t)1000) /* one millisecond; virtual time is in microseconds */
#define SIM_S  ((uint64_t)1000000)

/* ---- programs -------------------------------------------------------------------------------- */

#define SIM_STAYS (-1) /* start() returns this when the program continues on its event loop */

struct sim_env {
    struct sim *sim;
    struct sim_process *process;
    struct loop *loop;
    struct os *os;
    int argc;
    char *const *argv;
    const struct sim_program *program;
};
/* A simulated program: what os_spawn() runs for a file with the text "#!/sim/<name>". */
struct sim_program {
    const char *name;
    /* Starts the program, in its process, and sets *state for the other functions.  Returns
     * SIM_STAYS to go on, or the exit status of a program that ends at once. */
    int (*start)(const struct sim_env *env, void **state);
    /* Called in the process after loop_stop(); may be NULL. */
    void (*destroy)(void *state);
    /* For a program that at once executes another program named in its arguments: returns the
     * number of words of argv before the argv of the other program; 0: executes no other.  May be
     * NULL. */
    size_t (*becomes)(const char *const *argv);
    /* For os_run(): runs the program inside the process that called os_run(); returns the exit
     * status and appends the program's output to said.  NULL: os_run() cannot run this program. */
    int (*at_once)(struct os *os, const char *const *argv, struct strbuf *said);
    const void *data;
    bool timed; /* the program's timers stand still while its process is stopped (for jobs) */
};
/* a job, "/sim/job SECONDS STATUS [OUTPUT TEXT]": runs for SECONDS, writes TEXT as a line to its
 * standard output and exits with STATUS */
extern const struct sim_program sim_program_job;
/* a job that can be checkpointed, see work_sim.h */
extern const struct sim_program sim_program_steps;
extern const struct sim_program sim_program_image; /* a checkpoint image: continues its job */
extern const struct sim_program sim_program_ckpt;  /* simulated roost-ckpt (ckpt_sim.c) */
/* simulated "/usr/bin/env tar --extract ...": unpacks an archive of a job's files (work_sim.h) */
extern const struct sim_program sim_program_env;
extern const struct sim_program sim_program_wake; /* "/sim/wake NODE": switches the node on */
/* "/sim/poweroff NODE": switches the node off */
extern const struct sim_program sim_program_poweroff;
/* "/sim/powered NODE": exit status 0 when the node is on, 1 when off */
extern const struct sim_program sim_program_powered;

/* ---- the run --------------------------------------------------------------------------------- */

/* What the simulator counts during a run. */
enum sim_count {
    SIM_COUNT_EVENTS,
    SIM_COUNT_MESSAGES, /* pieces of data delivered on simulated connections */
    /* pieces of data delivered after a piece that was sent later between the same hosts */
    SIM_COUNT_REORDERED,
    SIM_COUNT_SPLIT,   /* writes that arrived in several pieces */
    SIM_COUNT_DELAYED, /* pieces of data delayed by at least a second */
    SIM_COUNT_CONNECTS,
    SIM_COUNT_LINK_CUTS,
    SIM_COUNT_RESETS, /* connections ended by a cut of their link */
    SIM_COUNT_SPAWNS,
    SIM_COUNT_KILLS, /* processes killed as by kill -9 */
    SIM_COUNT_POWER_CUTS,
    SIM_COUNT_BOOTS,
    SIM_COUNT_BOOT_FAILURES,
    SIM_COUNT_POWER_OFFS,
    SIM_COUNT_FATALS,       /* processes that ended themselves by loop_fatal() */
    SIM_COUNT_DISK_ERRORS,  /* injected write and fsync errors */
    SIM_COUNT_LOST_WRITES,  /* pages and directory changes undone by a power cut */
    SIM_COUNT_COMMIT_KILLS, /* kills while the victim's lane (worker thread) was at work */
    SIM_COUNT_RESTARTS,     /* restarts of failed services (programs that a host starts at boot) */
    SIM_COUNT_SUSPENDS,     /* machines that stood still for a while */
    /* the faults of sim/host_faults.h */
    SIM_COUNT_SPAWN_FAILURES, /* programs that could not be started */
    SIM_COUNT_OOM_KILLS,      /* processes that the kernel killed for lack of memory */
    SIM_COUNT_KEEPER_KILLS,   /* keepers of a cage (base/os/os_cage.h) that were killed */
    SIM_COUNT_LEASE_KILLS,    /* jobs that the timer of their lease ended */
    SIM_COUNT_STANDS,         /* processes that were stopped for a while */
    SIM_COUNT_DISK_REFUSALS,  /* operations that a full, failing or read-only disk refused */
    SIM_COUNT_ROW_FLIPS,      /* rows of a store in which a bit was flipped */
    SIM_COUNT_NAME_FAILURES,  /* names that were not resolved, or to another machine */
    SIM_COUNT_CLIENT_KILLS,   /* clients that were killed just after they asked for something */
    SIM_COUNT_CLOCK_SETS,     /* times that a machine's wall clock was set */
    SIM_COUNT_MAX
};
const char *sim_count_name(enum sim_count count);

enum sim_power { SIM_HOST_OFF, SIM_HOST_BOOTING, SIM_HOST_ON, SIM_HOST_STOPPING };

/* Callbacks about what happens; each may be NULL. */
struct sim_observer {
    void (*stepped)(void *arg);
    /* A job program started or ended; finished: false if it was killed; key is its argument TEXT
     * (see sim_program_job). */
    void (*job_started)(void *arg, struct sim_process *process, const char *key);
    void (*job_ended)(void *arg, struct sim_process *process, const char *key, bool finished);
    void (*wake_asked)(void *arg, struct sim_host *host);
    void (*poweroff_asked)(void *arg, struct sim_host *host);
    void (*power_changed)(void *arg, struct sim_host *host, enum sim_power was);
    /* the host switches off now; orderly: its processes were told and could end before */
    void (*host_stops)(void *arg, struct sim_host *host, bool orderly);
    void (*process_ended)(void *arg, struct sim_process *process, int status, int signal_number);
    /* A process writes bytes to a connection; they are not delivered yet.  connection: its serial
     * number; by_client: the process is the end that dialled; route: that of the connection. */
    void (*sent)(void *arg, struct sim_process *from, uint64_t connection, bool by_client,
                 const char *route, const void *data, size_t length);
    void (*log_line)(void *arg, struct sim_process *process, const char *line, size_t length);
    /* a process wrote the whole file with os_write_file(), or put it there with os_rename() */
    void (*file_placed)(void *arg, struct sim_process *process, const char *path);
    /* process dumper has read the job's state and now writes the image; writing may still fail */
    void (*image_made)(void *arg, struct sim_process *dumper, const struct sim_process *job,
                       const struct sim_image *image);
    void *arg;
};

struct sim_options {
    uint64_t seed;
    /* additional programs, NULL-terminated; the built-in programs (job, wake, ...) always exist */
    const struct sim_program *const *programs;
    struct sim_observer observer;
    bool verbose; /* print the trace to stdout */
    /* The machines can end a job at the end of its lease (os_cage_can_lease()). */
    bool lease_timers;
};
struct sim *sim_create(const struct sim_options *options);
/* Adds a second observer; call at most once, before anything runs. */
void sim_observe(struct sim *sim, const struct sim_observer *also);
/* ends all processes and frees the simulation; NULL is allowed */
void sim_destroy(struct sim *sim);

uint64_t sim_now_us(const struct sim *sim);
/* Runs the next event and returns true.  False: there is no event up to until_us; the time is now
 * until_us. */
bool sim_step(struct sim *sim, uint64_t until_us);
void sim_run_for(struct sim *sim, uint64_t us);

struct sim_event;
/* Schedules call(arg) for time at_us, outside of any process; the returned event is only for
 * sim_cancel(). */
struct sim_event *sim_at(struct sim *sim, uint64_t at_us, void (*call)(void *arg), void *arg);
void sim_cancel(struct sim_event *event); /* NULL is allowed; not allowed after the event fired */

struct rng *sim_rng(struct sim *sim);
/* Returns a random number from low to high, both included. */
uint64_t sim_between(struct sim *sim, uint64_t low, uint64_t high);
bool sim_chance(struct sim *sim, unsigned per_mille);
void sim_count(struct sim *sim, enum sim_count count);
uint64_t sim_counted(const struct sim *sim, enum sim_count count);
/* Notes that something is broken until end_us. */
void sim_accident_until(struct sim *sim, uint64_t end_us);
/* Returns until when something was, or will be, broken: a process was killed, a machine lost power,
 * a disk failed, data was late by a second or more; a link is cut, a machine stands still, a disk
 * is full.  0: nothing was yet. */
uint64_t sim_last_accident_us(const struct sim *sim);

/* Adds a line to the trace, and the line's text to the hash of the run (sim_trace_hash()).  process
 * may be NULL. */
void sim_trace(struct sim *sim, const struct sim_process *process, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t sim_trace_hash(const struct sim *sim);
/* Writes the last `lines` lines of the trace to descriptor fd; may be called after an abort. */
void sim_trace_dump(const struct sim *sim, int fd, unsigned lines);

/* ---- hosts ----------------------------------------------------------------------------------- */

struct sim_host_options {
    const char *name;
    uint32_t cpus;
    int64_t memory_mib;
    uint64_t boot_min_ms, boot_max_ms; /* shortest and longest boot time */
    /* longest time that a shutdown takes after all processes have ended; 0: none */
    uint64_t stop_max_ms;
};
struct sim_host *sim_host_create(struct sim *sim, const struct sim_host_options *options);
struct sim_host *sim_host_find(struct sim *sim, const char *name); /* NULL: no such host */
struct sim_host *sim_host_at(struct sim *sim, size_t index);       /* NULL past the end */
enum sim_power sim_host_power(const struct sim_host *host);
/* Makes the next `count` boots of the host fail. */
void sim_host_fail_boots(struct sim_host *host, unsigned count);

/* How reliably a machine executes power orders; the numbers are probabilities in thousandths. */
struct sim_temper {
    /* /sim/wake, or /sim/poweroff, reports a failure and does nothing */
    unsigned wake_fails, sleep_fails;
    /* /sim/wake, or /sim/poweroff, reports success and does nothing */
    unsigned wake_lies, sleep_lies;
    unsigned status_lies; /* /sim/powered reports the opposite state, or that it is not known */
    unsigned boots_late;  /* boots take up to late_max_us longer */
    unsigned boots_less;  /* the machine boots with half of its CPUs */
    /* the machine loses power within crash_max_us after boot; it boots again, or stays off */
    unsigned crashes;
    unsigned dump_fails, dump_hangs; /* `roost-ckpt dump` fails, or never ends */
    uint64_t late_max_us, crash_max_us;
    /* From its next boot on, the machine never comes up: each boot ends with the machine off; in
     * half of the cases, chosen at random, the boot hangs for 20 minutes before. */
    bool is_dead;
};
void sim_host_temper(struct sim_host *host, const struct sim_temper *temper);

/* Adds a program that the machine starts at boot.  kept true: the host restarts the program when a
 * signal or a status other than 0 ended it.  kept false: the host restarts the program when no
 * process is left except jobs and programs with kept true. */
void sim_host_service(struct sim_host *host, const char *const *argv, bool kept);
void sim_host_boot_now(struct sim_host *host); /* the host is on at once, without boot time */
/* if the host is off: makes it boot, which takes its boot time */
void sim_host_boot(struct sim_host *host);
/* Shuts the host down in order: SIGPWR to its services, SIGTERM to the other processes when these
 * have ended, disks are synced, then off. */
void sim_host_shut_down(struct sim_host *host);
/* Switches the host off at once: processes end, and some unsynced writes, chosen at random, are
 * lost. */
void sim_host_power_cut(struct sim_host *host);

/* The machine's owner begins (is_there true) or ends (false) to use the machine. */
void sim_host_owner(struct sim_host *host, bool is_there);

/* The machine stands still for for_us microseconds, as a closed laptop or a stopped virtual machine
 * does: its CLOCK_BOOTTIME goes on, but its processes and its network stand still. */
void sim_host_suspend(struct sim_host *host, uint64_t for_us);
/* Sets the machine's wall clock wrong by wrong_ms milliseconds; 0: right again.  Its CLOCK_BOOTTIME
 * goes on as before.  A boot does not mend the clock. */
void sim_host_set_clock(struct sim_host *host, int64_t wrong_ms);

/* Creates or replaces a file on the host's disk, for tests; its contents count as synced. */
void sim_file_put(struct sim_host *host, const char *path, const void *data, size_t length,
                  mode_t mode);
/* Returns the file's contents, valid until the file changes, and sets *length; NULL when there is
 * no such file. */
const char *sim_file_get(struct sim_host *host, const char *path, size_t *length);
void sim_program_put(struct sim_host *host, const char *path, const char *program);
/* Makes the next `writes` writes (of stores and files) and the next `syncs` fsyncs on this host
 * fail. */
void sim_disk_fail(struct sim_host *host, unsigned writes, unsigned syncs);
/* Makes the disk full for for_us microseconds; small writes (a record, a store) still succeed. */
void sim_disk_fill(struct sim_host *host, uint64_t for_us);
/* Cuts the power in the middle of the ops-th write or sync of this host's disk from now on (1: the
 * next).  That operation and all later operations on the disk have no effect, and nothing that a
 * process of the host still sends arrives.  ops 0: the power is not cut. */
void sim_disk_power_cut(struct sim_host *host, unsigned ops);
/* Kills the process (kill -9) at its ops-th write or sync from now on (1: the next); earlier writes
 * stay. */
void sim_disk_kill(struct sim_process *process, unsigned ops);

/* ---- processes ------------------------------------------------------------------------------- */

/* Starts a process as a child of the host's init.  NULL when there is no such file or program. */
struct sim_process *sim_spawn(struct sim_host *host, const char *const *argv);
/* Returns the living process with this pid; NULL: none. */
struct sim_process *sim_process_find(struct sim_host *host, pid_t pid);
/* Returns the next living process of all hosts, in order of creation; NULL at the end.  The caller
 * sets *at to 0 before the first call. */
struct sim_process *sim_process_next(struct sim *sim, uint64_t *at);
pid_t sim_process_pid(const struct sim_process *process);
uint64_t sim_process_serial(const struct sim_process *process); /* a number unique in the run */
const char *sim_process_program(const struct sim_process *process);
struct sim_host *sim_process_host(const struct sim_process *process);
/* argument `index` of the program (0: its name); NULL past the end */
const char *sim_process_arg(const struct sim_process *process, int index);
/* Returns what the program's start() put into *state. */
void *sim_process_state(const struct sim_process *process);
/* Returns whether work is under way on a lane (worker thread) of the process. */
bool sim_process_in_lane(const struct sim_process *process);
void sim_kill(struct sim_process *process); /* kill -9, now */
/* Runs call(arg) inside the process; false when the process ended during the call. */
bool sim_enter(struct sim_process *process, void (*call)(void *arg), void *arg);
/* number of allocated blocks in the process's heap */
size_t sim_process_blocks(const struct sim_process *process);

/* ---- links ----------------------------------------------------------------------------------- */

enum sim_cut {
    SIM_CUT_RESET,  /* all connections over the link end; the two sides notice at different times */
    SIM_CUT_SILENT, /* nothing arrives until the link is back, or an end gives up */
};
void sim_link_cut(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t for_us,
                  enum sim_cut how);
/* Delays all data between the two hosts by up to max_us; for_us: how long this lasts. */
void sim_link_slow(struct sim *sim, struct sim_host *a, struct sim_host *b, uint64_t max_us,
                   uint64_t for_us);

#endif
