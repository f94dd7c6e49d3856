/* sim/client.h - the user of the simulated pool: submits jobs and checks regularly that all of them
 * exist.
 *
 * A program on the central machine that uses the real protocol: it submits batches of jobs to the
 * schedd over its Unix socket and queries schedd and collector.  When the answer to a submission is
 * lost, it looks whether the jobs are in the queue before it tries again, as a careful user would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;

struct client_batch {
    uint64_t at_us;        /* time when the client submits the batch */
    unsigned first, count; /* number of the batch's first job, and how many jobs it has */
    unsigned *seconds;     /* run time of each job, seconds; `count` numbers */
    unsigned cpus;         /* CPUs that each job requests */
    unsigned fame;         /* attribute SimFame of the jobs, which the Rank of some machines uses */
    /* expression for Requirements that selects machines; NULL: all machines */
    const char *machines;
    const char *limits; /* ConcurrencyLimits of the jobs; NULL: none */
    /* The client removes the batch's jobs at this time, as soon as they are acknowledged; 0: never
     */
    uint64_t remove_us;
    uint64_t removed_us; /* when the schedd acknowledged that; 0: not yet */
    bool checkpoints;    /* checkpointable jobs (work_sim.h) with checkpoint = true */
    unsigned attempts;
    bool acknowledged, under_way;
};

/* Callbacks with complete answers to the client's queries; the ads are valid during the call.
 * began_us: time when the query was sent. */
struct client_events {
    void (*jobs)(void *arg, uint64_t began_us, struct ad *const *queue, size_t queue_count,
                 struct ad *const *history, size_t history_count);
    void (*offline)(void *arg, uint64_t began_us, struct ad *const *ads, size_t count);
    void (*refused)(void *arg, unsigned batch, int status, const char *text);
    void *arg;
};

struct client {
    const char *schedd_socket;     /* "unix:..." */
    const char *collector_address; /* "tcp:..." */
    const char *token_path, *ca_path;
    const char *program, *directory; /* Cmd and Iwd of the jobs */
    const char *steps_program;       /* Cmd of jobs with checkpoints */
    bool releases;                   /* releases held jobs at each audit */
    uint64_t audit_us; /* time between two audits (queries of queue, history and collector) */
    struct client_batch *batches;
    size_t batch_count;
    struct client_events events;
};

/* The program of the pool's user; its data is a struct client, which must outlive the run. */
extern const struct sim_program sim_program_client;
void client_program(struct sim_program *program, struct client *client);

#endif
