/* sim/client.h - the people of the simulated pool: one who submits, one who looks whether all is
 * there.
 *
 * A program on the central machine that talks the real protocol: batches of jobs to the schedd over
 * its Unix socket, queries to schedd and collector.  A submission whose answer was lost is looked
 * up before it is tried again, as a careful user would.
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
    uint64_t at_us;        /* when it is submitted */
    unsigned first, count; /* numbers of its jobs */
    unsigned *seconds;     /* how long each runs, count of them */
    unsigned cpus;         /* that each asks for */
    unsigned fame;         /* SimFame, which the Rank of some machines looks at */
    const char *machines;  /* that will do: part of the Requirements; NULL: all */
    bool checkpoints;      /* jobs of work_sim.h, with checkpoint = true */
    unsigned attempts;
    bool acknowledged, under_way;
};

/* Whole answers; ads are valid during the call.  began_us: when the question was asked. */
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
    const char *program, *directory; /* the jobs' Cmd and Iwd */
    const char *steps_program;       /* Cmd of those with checkpoints */
    uint64_t audit_us;               /* between two looks */
    struct client_batch *batches;
    size_t batch_count;
    struct client_events events;
};

/* Its data is a struct client, which must outlive the run. */
extern const struct sim_program sim_program_client;
void client_program(struct sim_program *program, struct client *client);

#endif
