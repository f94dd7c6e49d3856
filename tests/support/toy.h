/* tests/support/toy.h - small programs for tests of the simulator: a C function as a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_TOY_H
#define TESTS_SUPPORT_TOY_H

#include "sim/sim.h"

/* The data of a toy program: the function that runs in the process after its start. */
struct toy {
    void (*start)(const struct sim_env *env, void *arg);
    void *arg;
};

static inline int toy_start(const struct sim_env *env, void **state)
{
    const struct toy *toy = env->program->data;
    *state = NULL;
    toy->start(env, toy->arg);
    return SIM_STAYS;
}

#define TOY(name_, toy_)                                    \
    {                                                       \
        .name = (name_), .start = toy_start, .data = (toy_) \
    }

/* Makes a simulation that knows these programs and has no host yet. */
static inline struct sim *toy_sim(uint64_t seed, const struct sim_program *const *programs)
{
    struct sim_options options = {.seed = seed, .programs = programs};
    return sim_create(&options);
}

/* Adds a host that is on and has a file /bin/<name> for each of the programs, and /sim/job. */
static inline struct sim_host *toy_host(struct sim *sim, const char *name,
                                        const struct sim_program *const *programs)
{
    struct sim_host_options options = {.name = name, .cpus = 4};
    struct sim_host *host = sim_host_create(sim, &options);
    for (size_t i = 0; programs[i] != NULL; i++) {
        char path[64] = "/bin/";
        size_t at = 5;
        for (const char *c = programs[i]->name; *c != '\0' && at + 1 < sizeof(path); c++) {
            path[at++] = *c;
        }
        path[at] = '\0';
        sim_program_put(host, path, programs[i]->name);
    }
    sim_program_put(host, "/sim/job", "job");
    sim_host_boot_now(host);
    return host;
}

static inline struct sim_process *toy_spawn(struct sim_host *host, const char *path)
{
    const char *argv[] = {path, NULL};
    return sim_spawn(host, argv);
}

#endif
