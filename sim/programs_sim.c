/* sim/programs_sim.c - the programs of a simulated machine that are not daemons.
 *
 *     /sim/job SECONDS STATUS [OUTPUT TEXT]   runs for so long, writes TEXT (a line) to its
 * standard output, and exits /sim/wake NODE                          switches a machine on; it
 * comes up some time later /sim/poweroff NODE                      shuts a machine down in order
 *     /sim/powered NODE                       status 0 if the machine is on, 1 if it is off
 *
 * The last three fail or report wrongly as the machine's temper says.
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
#define COMMAND_MIN_MS  5 /* shortest time that the commands themselves take */
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

/* ---- wake, poweroff, powered ----------------------------------------------------------------- */

/* Carries an order out, or only claims it, or fails, as the machine's temper says. */
static void order_done(struct sim_process *process, void (*order)(struct sim_host *host),
                       unsigned fails, unsigned lies)
{
    struct sim_host *host = sim_host_find(process->sim, process->argv[1]);
    bool failed = fails > 0 && sim_chance(process->sim, fails);
    bool lied = lies > 0 && sim_chance(process->sim, lies);
    if (!failed && !lied) {
        order(host);
    }
    loop_stop(&process->loop, failed ? 1 : 0);
}

static void wake_done(void *arg)
{
    struct sim_process *process = arg;
    const struct sim_temper *temper = &sim_host_find(process->sim, process->argv[1])->temper;
    order_done(process, sim_host_boot, temper->wake_fails, temper->wake_lies);
}

static void poweroff_done(void *arg)
{
    struct sim_process *process = arg;
    const struct sim_temper *temper = &sim_host_find(process->sim, process->argv[1])->temper;
    order_done(process, sim_host_shut_down, temper->sleep_fails, temper->sleep_lies);
}

static void powered_done(void *arg)
{
    enum { ON, OFF, DONT_KNOW };
    struct sim_process *process = arg;
    const struct sim_host *host = sim_host_find(process->sim, process->argv[1]);
    int status = host->power == SIM_HOST_OFF ? OFF : ON;
    if (host->temper.status_lies > 0 && sim_chance(process->sim, host->temper.status_lies)) {
        status = sim_chance(process->sim, 500) ? DONT_KNOW : 1 - status;
    }
    loop_stop(&process->loop, status);
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

static int powered_start(const struct sim_env *env, void **state)
{
    *state = NULL;
    return start_command(env, powered_done);
}

const struct sim_program sim_program_wake = {.name = "wake", .start = wake_start};
const struct sim_program sim_program_poweroff = {.name = "poweroff", .start = poweroff_start};
const struct sim_program sim_program_powered = {.name = "powered", .start = powered_start};
