/* sim/pilot_sim.c - roost-pilot as a simulated program: pilot.c itself, with other system calls.
 *
 * What a site starts for a glidein.  Its startd and starters are the programs of these names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pilot/pilot.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "pilot/pilot_plan.h"
#include "sim/sim_private.h"

#define USAGE 2

int pilot_link_self(const char *path, struct err *err)
{
    const struct sim_process *process = sim_mem_running()->current;
    const char *slash = strrchr(path, '/');
    (void)err;
    sim_program_put(process->host, path, slash != NULL ? slash + 1 : path);
    return 0;
}

int pilot_parent(void)
{
    return (int)sim_mem_running()->current->parent;
}

/* A simulated startd is told nothing when its keeper dies: the site ends what the glidein left. */
void pilot_end_with_parent(void)
{
}

static int start_pilot(const struct sim_env *env, void **state)
{
    struct pilot_options options;
    struct pilot *pilot = NULL;
    struct err err = {""};
    if (pilot_plan_options(env->argc, env->argv, &options, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return USAGE;
    }
    if (pilot_create(env->loop, env->os, &options, &pilot, &err) != 0) {
        sim_trace(env->sim, env->process, "%s", err.text);
        return 1;
    }
    *state = pilot;
    return SIM_STAYS;
}

static void destroy_pilot(void *state)
{
    pilot_destroy(state);
}

const struct sim_program sim_program_pilot = {.name = "roost-pilot",
                                              .start = start_pilot,
                                              .destroy = destroy_pilot};
