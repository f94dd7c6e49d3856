/* sim/operator.h - an administrator of a simulated pool: what he does with `roost power`.
 *
 * He orders machines on by name, tells machines to sleep, asks for their states and for the energy,
 * over the real protocol, as the command line does: the rooster is found by its ad and asked
 * through the collector.  Whoever tells the story gives him tasks from outside; one that fails
 * because somebody does not answer is tried again until its time is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_OPERATOR_H
#define SIM_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct ad_list;

enum operator_what {
    OPERATOR_ON,     /* POWER_ON of the machine of that name */
    OPERATOR_TEST,   /* the same, as a test */
    OPERATOR_SLEEP,  /* POWER_DOWN to that machine, once: answered with its status */
    OPERATOR_STATES, /* POWER_STATUS: all nodes' ads */
    OPERATOR_ENERGY, /* QUERY of type Energy; name is its Kind */
};

/* Called outside of any process; the ads are valid during the call. */
typedef void (*operator_answer_f)(void *arg, const char *name, int status, struct ad *const *ads,
                                  size_t count);

struct operator_task {
    enum operator_what what;
    char name[32];
    uint64_t until_us; /* not tried again later than that */
    operator_answer_f answered;
    void *arg;
    /* his own */
    uint64_t not_before_us;
    bool under_way;
};

struct operator
{
    const char *collector_address; /* "tcp:..." */
    const char *token_path, *ca_path, *keys_path;
    struct operator_task *tasks; /* of the simulator's heap */
    size_t count, capacity;
};

/* The program of his; its data is the operator, which must outlive the run. */
void operator_program(struct sim_program *program, struct operator* who);
void operator_add(struct operator* who, const struct operator_task *task);
void operator_fini(struct operator* who);

#endif
