/* sim/pool.h - a whole simulated pool and one day of its life.
 *
 * One central machine (master, collector, negotiator, schedd with its shadows, rooster, the client)
 * and N nodes (master, startd, starters).  The day: every node comes up once, finds nothing to do
 * and goes to sleep; a quiet time; batches of jobs, while chaos does its worst; a calm in which
 * everything must be completed and every node must sleep again.
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

/* Another story than the day of chaos. */
struct pool_story {
    unsigned awake_max;              /* so many machines may stay awake in the end */
    uint64_t day_s, calm_s, audit_s; /* calm: at most, once the day is over */
    void (*central)(void *arg, struct strbuf *config); /* adds to it */
    /* Of the number-th machine: adds to its configuration, fills in what is not as usual. */
    void (*node)(void *arg, unsigned number, struct sim_host_options *host, struct strbuf *config);
    /* All machines are there, nothing runs yet. */
    void (*begins)(void *arg, struct sim *sim, struct judge *judge, uint64_t dawn_us);
    bool (*is_over)(void *arg); /* nothing is to come: else the calm goes on */
    void (*ends)(void *arg);    /* the last promises */
    /* Somebody asked for that machine by name: it may be woken without a job. */
    bool (*is_ordered)(void *arg, const struct sim_host *host);
    /* As of struct judge_options; may be NULL. */
    bool (*is_taken_away)(void *arg, unsigned number);
    bool (*is_output)(void *arg, unsigned number, const char *text);
    void (*job_seen)(void *arg, uint64_t began_us, unsigned number, const struct ad *ad);
    void *arg;
};

struct pool_options {
    uint64_t seed;
    unsigned nodes, jobs;
    bool chaos;
    bool tyrant;      /* somebody has slots preempted at random; with chaos: in half of the seeds */
    unsigned pause_s; /* at most, between two things that go wrong; 0: by seed */
    bool trace;       /* every line of it to stdout */
    /* Instead of batches at random: at_us is counted from the dawn; borrowed. */
    const struct client_batch *batches;
    size_t batch_count;
    const char *node_config; /* every machine's, instead of one of several kinds; NULL: those */
    unsigned node_cpus;      /* with node_config */
    const struct pool_story *story;    /* NULL: a day of chaos */
    const struct sim_program *program; /* one more on the central machine; NULL: none */
    /* A tap that is given all bytes, as the judge is: for tests that strike at a certain message.
     * NULL: none.  Its calls may schedule, not kill. */
    struct tap *tap;
    void (*begins)(void *arg, struct sim *sim); /* may be NULL: before anything runs */
    void *arg;
};

struct pool_result {
    char verdict[512]; /* "" when no promise was broken */
    char figures[640]; /* of a story; "": none */
    uint64_t hash, end_us;
    uint64_t counts[SIM_COUNT_MAX];
    unsigned completed, wakes, runs, audits, pieces, preemptions, reclaims;
};

/* Runs one day.  On a broken promise the last lines of the trace are on stdout. */
void pool_run(const struct pool_options *options, struct pool_result *ret);

#endif
