/* sim/daemon_sim.c - see daemon_sim.h.
 *
 * What daemon_main() does with a real loop is done here with a simulated one; their log goes into
 * the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/daemon_sim.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config.h"
#include "base/config_os.h"
#include "base/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "sim/sim_private.h"
#include "collector/collector.h"
#include "master/master.h"
#include "negotiator/negotiator.h"
#include "rooster/rooster.h"
#include "schedd/schedd.h"
#include "startd/startd.h"
#include "starter/starter.h"

struct run {
    const struct daemon *daemon;
    struct sim_process *process;
    struct daemon_env env;
    struct config *config;
    struct os_lock *lock;
    void *state;
    char name[128];
    bool stopping;
};

static void log_write_line(void *context, const char *line, size_t length)
{
    struct sim_process *process = context;
    const char *text = length > 24 ? line + 24 : line; /* without the time */
    sim_trace(process->sim, process, "%.*s", (int)(line + length - text) - 1, text);
    SIM_TELL(process->sim, log_line, process, line, length);
}

static int64_t utc_ms(void *context)
{
    const struct sim_process *process = context;
    return sim_host_wall_ms(process->host);
}

static void told_to_stop(void *arg)
{
    struct run *run = arg;
    if (run->stopping || run->daemon->stop == NULL) {
        loop_stop(run->env.loop, 0);
        return;
    }
    run->stopping = true;
    run->daemon->stop(run->state);
}

static void told_to_end(void *arg)
{
    struct run *run = arg;
    loop_stop(run->env.loop, 0);
}

static int load(struct run *run, struct os *os, struct err *err)
{
    struct config_source source = config_source_os(os);
    char subsystem[64];
    size_t length = strlen(run->daemon->name);
    CHECK(length < sizeof(subsystem));
    for (size_t i = 0; i <= length; i++) {
        char c = run->daemon->name[i];
        subsystem[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    const struct config_macro macros[] = {
        {"HOSTNAME", run->process->host->name},
        {"FULL_HOSTNAME", run->process->host->name},
    };
    struct config_options options = {
        .subsystem = subsystem,
        .tables = run->daemon->tables,
        .table_count = run->daemon->table_count,
        .macros = macros,
        .macro_count = ARRAY_COUNT(macros),
    };
    return config_load(&source, &options, &run->config, err);
}

static void run_destroy(void *state)
{
    struct run *run = state;
    if (run->state != NULL) {
        run->daemon->destroy(run->state);
    }
    os_unlock(run->lock);
    log_destroy(run->env.log);
    config_destroy(run->config);
    mem_free(run);
}

static int refuse(struct run *run, int status, const struct err *err)
{
    sim_trace(run->process->sim, run->process, "cannot start: %s", err->text);
    run_destroy(run);
    return status;
}

static int daemon_program_start(const struct sim_env *env, void **state)
{
    struct run *run = mem_zalloc(sizeof(*run));
    struct err err = {""};
    const char *instance = NULL;
    int first = 1;
    run->daemon = env->program->data;
    run->process = env->process;
    for (; first + 1 < env->argc && strcmp(env->argv[first], "-instance") == 0; first += 2) {
        instance = env->argv[first + 1];
    }
    (void)snprintf(run->name, sizeof(run->name), "%s%s%s", run->daemon->name,
                   instance != NULL ? "." : "", instance != NULL ? instance : "");
    if (load(run, env->os, &err) != 0) {
        return refuse(run, 1, &err);
    }
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s.lock", config_path(run->config, "LOCK"), run->name);
    bool many = strcmp(run->daemon->name, "starter") == 0 && instance == NULL;
    if (!many && os_lock(env->os, path, &run->lock, NULL, &err) != 0) {
        return refuse(run, 3, &err);
    }
    struct log_sink sink = {.write = log_write_line, .context = env->process};
    struct log_clock clock = {.utc_ms = utc_ms, .context = env->process};
    run->env = (struct daemon_env){
        .loop = env->loop,
        .os = env->os,
        .log = log_create(run->name, LOG_LEVEL_INFO, sink, clock),
        .config = run->config,
        .name = run->name,
        .argc = env->argc - first,
        .argv = env->argv + first,
    };
    loop_on_signal(env->loop, SIGTERM, told_to_stop, run);
    loop_on_signal(env->loop, SIGINT, told_to_stop, run);
    loop_on_signal(env->loop, SIGQUIT, told_to_end, run);
    if (run->daemon->start(&run->env, &run->state, &err) != 0) {
        run->state = NULL;
        return refuse(run, 1, &err);
    }
    *state = run;
    return SIM_STAYS;
}

#define DAEMON(folder_)                                                                   \
    {                                                                                     \
        .name = "roost-" #folder_, .start = daemon_program_start, .destroy = run_destroy, \
        .data = &folder_##_daemon                                                         \
    }

static const struct sim_program PROGRAMS[] = {
    DAEMON(collector), DAEMON(master), DAEMON(negotiator), DAEMON(rooster),
    DAEMON(schedd),    DAEMON(startd), DAEMON(starter),
};

const struct sim_program *sim_daemon_program(size_t index)
{
    return index < ARRAY_COUNT(PROGRAMS) ? &PROGRAMS[index] : NULL;
}
