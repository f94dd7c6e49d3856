/* sim/daemon_sim.c - see daemon_sim.h.
 *
 * This does with a simulated loop what daemon_main() does with a real one.  The log goes into the
 * trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/daemon_sim.h"

#include "base/check.h"
#include "base/daemon/daemon_run.h"
#include "base/err.h"
#include "base/log.h"
#include "collector/collector.h"
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

static void write_line(void *context, const char *line, size_t length)
{
    struct sim_process *process = context;
    const char *text = length > TIME_LENGTH ? line + TIME_LENGTH : line;
    sim_trace(process->sim, process, "%.*s", (int)(line + length - text) - 1, text);
    SIM_TELL(process->sim, log_line, process, line, length);
}

static int start_daemon(const struct sim_env *env, void **state)
{
    const struct log_sink sink = {.write = write_line, .context = env->process};
    struct daemon_run *run = NULL;
    struct err err = {""};
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
    DAEMON(collector), DAEMON(master), DAEMON(negotiator), DAEMON(rooster),
    DAEMON(schedd),    DAEMON(shadow), DAEMON(startd),     DAEMON(starter),
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
