/* sim/operator.h - an administrator of a simulated pool who uses the requests of `roost power`.
 *
 * He switches machines on by name, tells machines to sleep, and asks for their states and the
 * energy report, over the real protocol as the command line does: the rooster is found by its ad
 * and asked through the collector.  The test gives him tasks from outside.  A task that fails
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
    OPERATOR_ON,     /* send POWER_ON for machine `name` */
    OPERATOR_TEST,   /* send POWER_ON for machine `name`, as a self-test */
    OPERATOR_SLEEP,  /* send POWER_DOWN to machine `name`; never sent again */
    OPERATOR_STATES, /* send POWER_STATUS; the reply has the ads of all nodes */
    OPERATOR_ENERGY, /* send QUERY for ads of type Energy whose Kind is `name` */
};

/* Receives the answer to a task: arg and name of the task, status of the reply, and its ads, which
 * are valid during the call.  Called outside of any simulated process. */
typedef void (*operator_answer_f)(void *arg, const char *name, int status, struct ad *const *ads,
                                  size_t count);

struct operator_task {
    enum operator_what what;
    char name[32];
    uint64_t until_us; /* not tried again after this time */
    operator_answer_f answered;
    void *arg;
    /* the next two fields are only for operator.c */
    uint64_t not_before_us;
    bool under_way;
};

struct operator
{
    const char *collector_address; /* "tcp:..." */
    const char *token_path, *ca_path, *keys_path;
    struct operator_task *tasks; /* tasks that wait to be sent; allocated with sim_alloc() */
    size_t count, capacity;
};

/* Sets *program to the operator's program; its data is `who`, which must outlive the run. */
void operator_program(struct sim_program *program, struct operator* who);
void operator_add(struct operator* who, const struct operator_task *task);
void operator_fini(struct operator* who);

#endif
