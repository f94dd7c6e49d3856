/* sim/pool.h - a whole simulated pool and one day of its life.
 *
 * There are one central machine (master, collector, negotiator, schedd with its shadows, rooster,
 * the client) and N nodes (master, startd, starters).  The day: every node boots once, finds
 * nothing to do and goes to sleep; a quiet time without jobs; batches of jobs while chaos.h injects
 * faults; then a calm (a time without faults) in which every job must complete and every node must
 * go to sleep again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct client_batch;
struct judge;
struct strbuf;
struct tap;

/* Callbacks and times for a scenario other than the usual day with random faults (chaos.h). */
struct pool_story {
    unsigned awake_max; /* number of machines that may stay awake at the end */
    bool clocks;        /* in every second seed wall clocks are set during the day (chaos.h) */
    /* length of the day; longest time without faults after the day, at whose end all jobs must be
     * done; time between audits (queries of queue, history and collector) */
    uint64_t day_s, calm_s, audit_s;
    /* appends lines to the central machine's configuration */
    void (*central)(void *arg, struct strbuf *config);
    /* For node `number`: appends lines to its configuration and changes its options in *host. */
    void (*node)(void *arg, unsigned number, struct sim_host_options *host, struct strbuf *config);
    /* Called when all machines exist and nothing runs yet.  dawn_us: end of the quiet time without
     * jobs with which the day begins. */
    void (*begins)(void *arg, struct sim *sim, struct judge *judge, uint64_t dawn_us);
    bool (*is_over)(void *arg); /* returns false while the time without faults must continue */
    void (*ends)(void *arg);    /* called at the end to check the last promises */
    /* Returns whether somebody asked for the machine `host` by name, so that it may be woken
     * without a job. */
    bool (*is_ordered)(void *arg, const struct sim_host *host);
    /* The callbacks is_taken_away, is_output and job_seen are passed on in struct judge_options
     * (sim/check.h); each may be NULL. */
    bool (*is_taken_away)(void *arg, unsigned number);
    bool (*is_output)(void *arg, unsigned number, const char *text);
    void (*job_seen)(void *arg, uint64_t began_us, unsigned number, const struct ad *ad);
    bool (*is_excused)(void *arg, unsigned number);
    /* Called with the collector's offline ads, as struct client_events; may be NULL. */
    void (*offline_seen)(void *arg, uint64_t began_us, struct ad *const *ads, size_t count);
    /* Machines that begins() adds after the nodes, which chaos.h may break, too.  Not 0: there are
     * tokens for a factory and for its glideins. */
    unsigned farm_hosts;
    void *arg;
};

struct pool_options {
    uint64_t seed;
    unsigned nodes, jobs;
    bool chaos;
    /* run the program that preempts slots at random (tyrant.h); if `chaos` is true, only for half
     * of the seeds */
    bool tyrant;
    /* during the day, hold and release all jobs and drain machines several times a second
     * (steward.h) */
    bool hasty;
    /* Faults of these kinds during the day (bits of enum fault_kind, faults.h); 0: none. */
    unsigned faults;
    unsigned pause_s; /* longest pause between two faults, seconds; 0: chosen by the seed */
    bool trace;       /* print the whole trace to stdout */
    /* Batches of jobs to use instead of random batches; their at_us counts from the end of the
     * quiet time with which the day begins.  Borrowed. */
    const struct client_batch *batches;
    size_t batch_count;
    /* configuration of all nodes; NULL: the nodes get different configurations */
    const char *node_config;
    unsigned node_cpus;             /* CPUs of each node; used only if node_config is set */
    const struct pool_story *story; /* another scenario; NULL: the usual day with random faults */
    /* an additional program on the central machine; NULL: none */
    const struct sim_program *program;
    /* a program that only daemons start; NULL: none */
    const struct sim_program *helper;
    /* A tap that also receives all bytes, for tests that act at a certain message; NULL: none.  Its
     * callbacks may schedule events but not kill processes. */
    struct tap *tap;
    void (*begins)(void *arg, struct sim *sim); /* called before anything runs; may be NULL */
    void *arg;
};

struct pool_result {
    char verdict[512]; /* "" when no promise was broken */
    /* results of the scenario (struct pool_story) as one line of text; "": none */
    char figures[640];
    uint64_t hash, end_us;
    uint64_t counts[SIM_COUNT_MAX];
    unsigned completed, wakes, runs, audits, pieces, preemptions, reclaims;
    uint64_t prompt; /* how many times a free slot was compared with an idle job (witness.h) */
};

/* Runs one simulation and fills in *ret.  After a broken promise, the last lines of the trace are
 * printed to stdout. */
void pool_run(const struct pool_options *options, struct pool_result *ret);

#endif
