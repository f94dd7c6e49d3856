/* sim/programs_sim.c - the programs of a simulated machine that are not daemons.
 *
 * /sim/job SECONDS STATUS [OUTPUT TEXT]: runs so long, writes TEXT (a line) to its standard output,
 * exits. /sim/wake NODE: has the machine of that name come up, some time later. /sim/poweroff NODE:
 * has it shut down in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/sim_private.h"

#define USAGE           2
#define COMMAND_MIN_MS  5 /* how long the commands themselves take */
#define COMMAND_MAX_MS  400
#define JOB_SECONDS_MAX 1e7

/* ---- job ------------------------------------------------------------------------------------- */

static void job_done(void *arg)
{
    struct sim_process *process = arg;
    const char *text = process->argc > 4 ? process->argv[4] : NULL;
    if (text != NULL && process->stdout_path != NULL) {
        struct sim_node *node = sim_tree_find(process->host, process->stdout_path);
        char *line = sim_text("%s\n", text);
        if (node != NULL) {
            (void)sim_node_write(node, node->size, line, strlen(line));
        }
        sim_free(line);
    }
    int64_t status = 0;
    (void)text_parse_int64(process->argv[2], &status, NULL);
    loop_stop(&process->loop, (int)(status & 0xff));
}

static int job_start(const struct sim_env *env, void **state)
{
    struct sim_process *process = env->process;
    double seconds = 0;
    int64_t status = 0;
    *state = NULL;
    if (env->argc < 3 || text_parse_double(env->argv[1], &seconds, NULL) != 0 ||
        text_parse_int64(env->argv[2], &status, NULL) != 0 || !(seconds >= 0) ||
        seconds > JOB_SECONDS_MAX) {
        return USAGE;
    }
    process->job_key = sim_strdup(env->argc > 4 ? env->argv[4] : "");
    SIM_TELL(env->sim, job_started, process, process->job_key);
    loop_timer_set(loop_timer_create(env->loop, job_done, process), (uint64_t)(seconds * 1000.0));
    return SIM_STAYS;
}

const struct sim_program sim_program_job = {.name = "job", .start = job_start, .timed = true};

/* ---- wake, poweroff -------------------------------------------------------------------------- */

static void wake_done(void *arg)
{
    struct sim_process *process = arg;
    struct sim_host *host = sim_host_find(process->sim, process->argv[1]);
    sim_host_boot(host);
    loop_stop(&process->loop, 0);
}

static void poweroff_done(void *arg)
{
    struct sim_process *process = arg;
    struct sim_host *host = sim_host_find(process->sim, process->argv[1]);
    sim_host_shut_down(host);
    loop_stop(&process->loop, 0);
}

static int start_command(const struct sim_env *env, void (*done)(void *arg))
{
    if (env->argc != 2 || sim_host_find(env->sim, env->argv[1]) == NULL) {
        return USAGE;
    }
    loop_timer_set(loop_timer_create(env->loop, done, env->process),
                   sim_between(env->sim, COMMAND_MIN_MS, COMMAND_MAX_MS));
    return SIM_STAYS;
}

static int wake_start(const struct sim_env *env, void **state)
{
    *state = NULL;
    int status = start_command(env, wake_done);
    if (status == SIM_STAYS) {
        SIM_TELL(env->sim, wake_asked, sim_host_find(env->sim, env->argv[1]));
    }
    return status;
}

static int poweroff_start(const struct sim_env *env, void **state)
{
    *state = NULL;
    int status = start_command(env, poweroff_done);
    if (status == SIM_STAYS) {
        SIM_TELL(env->sim, poweroff_asked, sim_host_find(env->sim, env->argv[1]));
    }
    return status;
}

const struct sim_program sim_program_wake = {.name = "wake", .start = wake_start};
const struct sim_program sim_program_poweroff = {.name = "poweroff", .start = poweroff_start};
