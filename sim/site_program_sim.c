/* sim/site_program_sim.c - the program of a simulated site: speaks docs/protocol/site.md.
 *
 * One request at a time.  It remembers nothing: all that is true of the site is in struct sim_site.
 * What it does wrong, it does by the temper of its site.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "sim/sim_private.h"
#include "sim/site_sim.h"
#include "site/site_request.h"

#define ANSWER_MIN_MS 5 /* the time that a request takes */
#define ANSWER_MAX_MS 900
#define LATE_MAX_S    50 /* until a submission lands whose answer is lost: before its deadline */

struct program {
    struct sim_process *process;
    struct sim_site *site;
    struct loop_timer *work;
    struct strbuf in;
    bool hangs, is_last; /* it answers no more; its input has ended */
};

static bool by_chance(const struct program *program, unsigned per_mille)
{
    return per_mille > 0 && sim_chance(program->process->sim, per_mille);
}

/* The site is none of the process's: what it keeps must not be in the process's heap. */
static struct sim_process *step_out(struct sim *sim)
{
    struct sim_process *was = sim->current;
    sim->current = NULL;
    return was;
}

static void answer(struct program *program, struct strbuf *line)
{
    if (by_chance(program, program->site->temper.garbage)) {
        strbuf_clear(line);
        strbuf_puts(line, "squeue: error: Unable to contact slurm controller");
    }
    strbuf_putc(line, '\n');
    sim_pipes_write(program->process, 1, strbuf_text(line), line->length);
}

static void answer_error(struct program *program, int64_t id, const char *error, const char *text)
{
    struct strbuf line;
    strbuf_init(&line, 0);
    strbuf_printf(&line, "{\"id\":%lld,\"error\":\"%s\",\"text\":\"%s\"}", (long long)id, error,
                  text);
    answer(program, &line);
    strbuf_fini(&line);
}

static void answer_number(struct program *program, int64_t id, const char *name, unsigned number)
{
    struct strbuf line;
    strbuf_init(&line, 0);
    strbuf_printf(&line, "{\"id\":%lld,\"%s\":%u}", (long long)id, name, number);
    answer(program, &line);
    strbuf_fini(&line);
}

/* ---- operations -------------------------------------------------------------------------------*/

static void take_order(struct program *program, const struct site_request *request, unsigned first,
                       unsigned last, uint64_t after_us)
{
    struct sim *sim = program->process->sim;
    const struct site_order order = {.batch = request->batch,
                                     .secret = request->secret,
                                     .arguments = request->arguments,
                                     .argument_count = request->argument_count,
                                     .count = (unsigned)request->count,
                                     .lifetime_s = request->lifetime_s};
    struct sim_process *was = step_out(sim);
    site_take(program->site, &order, first, last, after_us);
    sim->current = was;
}

static void do_submit(struct program *program, const struct site_request *request)
{
    struct sim_site *site = program->site;
    const struct site_temper *temper = &site->temper;
    struct sim *sim = program->process->sim;
    unsigned count = (unsigned)request->count;
    struct sim_process *was = step_out(sim);
    site_asked(site, request->batch, count);
    sim->current = was;
    if (by_chance(program, temper->fails)) {
        answer_error(program, request->id, "fails", "the controller does not answer");
    } else if (by_chance(program, temper->refuses) ||
               (temper->full_at > 0 && site_living(site) + count > temper->full_at)) {
        answer_error(program, request->id, "refuses", "the quota is used up");
    } else if (by_chance(program, temper->dies)) {
        unsigned part = (unsigned)sim_between(sim, 0, count);
        if (part > 0) {
            take_order(program, request, 1, part, 0);
        }
        loop_stop(&program->process->loop, 3);
    } else if (by_chance(program, temper->loses)) {
        take_order(program, request, 1, count, sim_between(sim, 0, LATE_MAX_S * SIM_S));
        program->hangs = true;
    } else {
        take_order(program, request, 1, count, 0);
        answer_number(program, request->id, "taken", count);
    }
}

static void do_look(struct program *program, const struct site_request *request)
{
    static const char *const STATES[] = {[SITE_QUEUED] = "queued",
                                         [SITE_HELD] = "held",
                                         [SITE_RUNNING] = "running",
                                         [SITE_ENDED] = "ended"};
    const struct sim_site *site = program->site;
    const struct site_temper *temper = &site->temper;
    bool whole = !by_chance(program, temper->halves), first = true;
    struct strbuf line;
    strbuf_init(&line, 0);
    strbuf_printf(&line, "{\"id\":%lld,\"complete\":%s,\"glideins\":[", (long long)request->id,
                  whole || temper->halves_complete ? "true" : "false");
    for (size_t i = 0; i < site->glideins.count; i++) {
        const struct farm_glidein *glidein = site->glideins.items[i];
        if (site_lists(glidein) && (whole || by_chance(program, 500))) {
            strbuf_printf(&line, "%s{\"name\":\"%s\",\"state\":\"%s\",\"id\":\"%zu\"}",
                          first ? "" : ",", glidein->name, STATES[glidein->state], i + 1);
            first = false;
        }
    }
    strbuf_puts(&line, "]}");
    answer(program, &line);
    strbuf_fini(&line);
}

static void do_remove(struct program *program, const struct site_request *request)
{
    struct sim *sim = program->process->sim;
    struct sim_process *was = step_out(sim);
    site_told_to_remove(program->site, request->name_count);
    for (size_t i = 0; i < request->name_count; i++) {
        struct farm_glidein *glidein = site_find(program->site, request->names[i]);
        if (glidein != NULL) {
            site_remove(glidein);
        }
    }
    sim->current = was;
    answer_number(program, request->id, "count", (unsigned)request->name_count);
}

static void do_request(struct program *program, const struct site_request *request)
{
    if (by_chance(program, program->site->temper.hangs)) {
        program->hangs = true;
        return;
    }
    switch (request->operation) {
    case SITE_BEGIN:
        answer_number(program, request->id, "settle", program->site->temper.settle_s);
        break;
    case SITE_SUBMIT:
        do_submit(program, request);
        break;
    case SITE_LOOK:
        do_look(program, request);
        break;
    case SITE_REMOVE:
        do_remove(program, request);
        break;
    case SITE_LOG:
        answer_error(program, request->id, "fails", "there is no log");
        break;
    }
}

/* ---- lines ------------------------------------------------------------------------------------*/

static void begin_next(struct program *program)
{
    bool some = program->in.length > 0 &&
                memchr(program->in.data, '\n', program->in.length) != NULL && !program->hangs;
    if (some && !loop_timer_is_set(program->work)) {
        loop_timer_set(program->work,
                       sim_between(program->process->sim, ANSWER_MIN_MS, ANSWER_MAX_MS));
    } else if (!some && program->is_last) {
        loop_stop(&program->process->loop, 0);
    }
}

static void do_line(void *arg)
{
    struct program *program = arg;
    struct site_request request;
    struct err err = {""};
    const char *end = memchr(program->in.data, '\n', program->in.length);
    size_t length = (size_t)(end - program->in.data);
    int rc = site_request_parse(program->in.data, length, &request, &err);
    program->in.length -= length + 1;
    memmove(program->in.data, program->in.data + length + 1, program->in.length);
    if (rc != 0) {
        answer_error(program, request.id, "wrong", err.text);
    } else {
        do_request(program, &request);
    }
    site_request_fini(&request);
    begin_next(program);
}

static void input_comes(void *arg)
{
    struct program *program = arg;
    char data[4096];
    ssize_t got;
    while ((got = sim_pipes_read(program->process, data, sizeof(data))) > 0) {
        strbuf_append(&program->in, data, (size_t)got);
    }
    program->is_last = got == 0; /* what came before is done, though nobody hears of it */
    begin_next(program);
}

static int start_program(const struct sim_env *env, void **state)
{
    const char *slash = strrchr(env->argv[0], '/');
    struct farm *farm = (struct farm *)(uintptr_t)env->program->data;
    struct program *program = mem_zalloc(sizeof(*program));
    program->process = env->process;
    program->site = farm_site_find(farm, slash != NULL ? slash + 1 : env->argv[0]);
    program->work = loop_timer_create(env->loop, do_line, program);
    strbuf_init(&program->in, 0);
    *state = program;
    sim_pipes_hear(env->process, input_comes, program);
    return program->site != NULL ? SIM_STAYS : 1;
}

void site_program(struct sim_program *program, struct farm *farm)
{
    *program = (struct sim_program){.name = "site", .start = start_program, .data = farm};
}
