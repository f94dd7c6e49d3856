/* sim/daemon_sim.c - see daemon_sim.h.
 *
 * This does with a simulated loop what daemon_main() does with a real one.  The log goes into the
 * trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/daemon_sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/daemon/daemon_run.h"
#include "base/err.h"
#include "base/log.h"
#include "collector/collector.h"
#include "factory/factory.h"
#include "master/master.h"
#include "negotiator/negotiator.h"
#include "rooster/rooster.h"
#include "schedd/schedd.h"
#include "shadow/shadow.h"
#include "sim/sim_private.h"
#include "startd/startd.h"
#include "starter/starter.h"

/* length of the time in a log line, which is left out because the trace has its own */
#define TIME_LENGTH 25

static const char BROKEN[] = " promise.broken ", AVOIDED[] = " machine.avoided ", FOR_S[] = " s=";

/* What a daemon says about the promise of time (witness.h).  A machine on which starters failed
 * gets no job for a while: until then the pool is not well. */
static void heed_line(struct sim *sim, const char *line, size_t length)
{
    sim->promises_broken += memmem(line, length, BROKEN, sizeof BROKEN - 1) != NULL ? 1 : 0;
    const char *avoided = memmem(line, length, AVOIDED, sizeof AVOIDED - 1);
    const char *seconds = avoided != NULL ? memmem(avoided, length - (size_t)(avoided - line),
                                                   FOR_S, sizeof FOR_S - 1)
                                          : NULL;
    if (seconds != NULL) { /* a line ends with a newline, which ends the number */
        sim_accident_until(sim,
                           sim->now_us + strtoull(seconds + sizeof FOR_S - 1, NULL, 10) * SIM_S);
    }
}

static void write_line(void *context, const char *line, size_t length)
{
    struct sim_process *process = context;
    const char *text = length > TIME_LENGTH ? line + TIME_LENGTH : line;
    sim_trace(process->sim, process, "%.*s", (int)(line + length - text) - 1, text);
    heed_line(process->sim, line, length);
    SIM_TELL(process->sim, log_line, process, line, length);
}

/* Programs that it starts read the same configuration, as daemon_main() sees to. */
static void pass_config_on(const struct sim_env *env)
{
    for (int i = 1; i + 1 < env->argc; i++) {
        if (strcmp(env->argv[i], "-config") == 0) {
            char *assignment = sim_text("ROOST_CONFIG=%s", env->argv[i + 1]);
            sim_process_env(env->process, assignment);
            sim_free(assignment);
        }
    }
}

static int start_daemon(const struct sim_env *env, void **state)
{
    const struct log_sink sink = {.write = write_line, .context = env->process};
    struct daemon_run *run = NULL;
    struct err err = {""};
    pass_config_on(env);
    int status = daemon_run_start(env->program->data, env->loop, env->os, &sink, env->argc,
                                  env->argv, &run, &err);
    if (status != 0) {
        sim_trace(env->sim, env->process, "cannot start: %s", err.text);
        return status;
    }
    *state = run;
    return SIM_STAYS;
}

static void destroy_daemon(void *state)
{
    daemon_run_destroy(state);
}

#define DAEMON(folder)                                                              \
    {                                                                               \
        .name = "roost-" #folder, .start = start_daemon, .destroy = destroy_daemon, \
        .data = &folder##_daemon                                                    \
    }

static const struct sim_program PROGRAMS[] = {
    DAEMON(collector), DAEMON(master), DAEMON(negotiator), DAEMON(rooster), DAEMON(schedd),
    DAEMON(shadow),    DAEMON(startd), DAEMON(starter),    DAEMON(factory),
};

const struct sim_program *sim_daemon_program(size_t index)
{
    return index < ARRAY_COUNT(PROGRAMS) ? &PROGRAMS[index] : NULL;
}

void *sim_daemon_state(const struct sim_process *process)
{
    const struct daemon_run *run = sim_process_state(process);
    return run != NULL ? daemon_run_state(run) : NULL;
}
