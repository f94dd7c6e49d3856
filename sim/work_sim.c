/* sim/work_sim.c - see work_sim.h: the job itself, from its start or from an image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/work_sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "sim/sim_private.h"

#define USAGE     2
#define LOST      125 /* per mille of images that cannot continue here */
#define STEPS_MAX 100000

struct work {
    struct sim_image now; /* the job's state except its time */
    struct sim_process *process;
    struct sim_event *event; /* end of the current step */
};

void sim_say(struct sim_process *process, const char *format, ...)
{
    const char *path = process->stderr_path != NULL ? process->stderr_path : process->stdout_path;
    struct sim_node *node = path != NULL ? sim_tree_find(process->host, path) : NULL;
    char line[800];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    sim_trace(process->sim, process, "%.*s", (int)strcspn(line, "\n"), line);
    if (node != NULL) {
        (void)sim_node_write(node, node->size, line,
                             strlen(line)); /* its disk is gone: it is silent */
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void begin_step(struct work *work, uint64_t in_us);

static void write_line(struct work *work)
{
    char path[SIM_PATH_MAX], line[48];
    struct sim_image *now = &work->now;
    struct sim_node *node = sim_process_path(work->process, now->out, path)
                                ? sim_tree_find(work->process->host, path)
                                : NULL;
    int length = snprintf(line, sizeof(line), "%u %u\n", now->number, now->done);
    if (node != NULL && node->type == SIM_FILE) {
        (void)sim_node_write(node, now->offset, line, (size_t)length); /* the judge sees it */
    }
    now->offset += (uint64_t)length;
}

static void step_done(void *arg)
{
    struct work *work = arg;
    work->now.done++;
    write_line(work);
    if (work->now.done == work->now.steps) {
        loop_stop(&work->process->loop, (int)(work->now.status & 0xff));
    } else {
        begin_step(work, SIM_STEP_US);
    }
}

static void step_event(void *arg)
{
    struct work *work = arg;
    work->event = NULL;
    (void)sim_enter(work->process, step_done, work);
}

static void begin_step(struct work *work, uint64_t in_us)
{
    struct sim_process *process = work->process;
    work->event = sim_at_process(process, process->sim->now_us + in_us, step_event, work);
}

/* Starts the job's process; observers are told before its first step. */
static int begin_work(const struct sim_env *env, const struct sim_image *from, void **state)
{
    struct work *work = mem_zalloc(sizeof(*work));
    work->now = *from;
    work->process = env->process;
    *state = work;
    env->process->state = work;
    env->process->job_key = sim_text("%u", from->number);
    begin_step(work, from->rest_us);
    SIM_TELL(env->sim, job_started, env->process, env->process->job_key);
    return SIM_STAYS;
}

static int steps_start(const struct sim_env *env, void **state)
{
    struct sim_process *process = env->process;
    struct sim_image from = {.rest_us = SIM_STEP_US};
    double seconds = 0;
    int64_t status = 0, number = 0;
    if (env->argc != 5 || process->stdout_seen == NULL ||
        text_parse_double(env->argv[1], &seconds, NULL) != 0 ||
        text_parse_int64(env->argv[2], &status, NULL) != 0 ||
        text_parse_int64(env->argv[4], &number, NULL) != 0 || !(seconds > 0) ||
        seconds * SIM_S > (double)(STEPS_MAX * SIM_STEP_US)) {
        return USAGE;
    }
    from.number = (unsigned)number;
    from.steps = (unsigned)((uint64_t)(seconds * SIM_S) / SIM_STEP_US);
    from.steps = from.steps > 0 ? from.steps : 1;
    from.status = (unsigned)status;
    (void)snprintf(from.out, sizeof(from.out), "%s", process->stdout_seen);
    (void)snprintf(from.features, sizeof(from.features), "%s", sim_host_features(process->host));
    return begin_work(env, &from, state);
}

/* Starts the job from an image, which is the executed file itself. */
static int image_start(const struct sim_env *env, void **state)
{
    struct sim_process *process = env->process;
    char path[SIM_PATH_MAX];
    struct sim_image image;
    size_t length = 0;
    const char *data = sim_process_path(process, env->argv[0], path)
                           ? sim_file_get(process->host, path, &length)
                           : NULL;
    if (!sim_image_decode(data, length, &image) || image.base_id != 0) {
        sim_say(process, "cannot resume: it is not whole\n");
        return LOST;
    }
    if (!sim_features_suit(image.features, sim_host_features(process->host))) {
        sim_say(process, "cannot resume: this machine lacks one of %s\n", image.features);
        return LOST;
    }
    if (!sim_process_path(process, image.out, path) ||
        sim_file_get(process->host, path, NULL) == NULL) {
        sim_say(process, "cannot resume: %s is gone\n", image.out);
        return LOST;
    }
    return begin_work(env, &image, state);
}

const struct sim_program sim_program_steps = {.name = "steps", .start = steps_start, .timed = true};
const struct sim_program sim_program_image = {.name = SIM_IMAGE_PROGRAM,
                                              .start = image_start,
                                              .timed = true};

bool sim_work_look(const struct sim_process *process, struct sim_image *ret)
{
    const struct work *work = process->state;
    if ((process->program != &sim_program_steps && process->program != &sim_program_image) ||
        work == NULL) {
        return false;
    }
    uint64_t now_us = process->sim->now_us, awake_us = process->host->suspended_until_us;
    now_us = process->stopped ? process->stopped_us : now_us > awake_us ? now_us : awake_us;
    *ret = work->now;
    if (work->event == NULL) { /* it ends */
        ret->rest_us = SIM_STEP_US;
        return true;
    }
    uint64_t rest_us = work->event->at_us > now_us ? work->event->at_us - now_us : 0;
    ret->rest_us = rest_us < SIM_STEP_US ? rest_us : SIM_STEP_US;
    return true;
}
