/* cli/cmd_top.c - `roost top`: machines and jobs, or this host's daemons, drawn again and again.
 *
 * On a terminal the command uses a screen of its own: q ends it, a blank asks for a new frame at
 * once, and a new size is drawn at once.  With -b, or when standard output is not a terminal,
 * frames are plain text, one frame unless -count says more.  A collector or schedd that goes away
 * is dialled again, and the frame says that it is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "cli/options_plan.h"
#include "cli/processes.h"
#include "cli/screen.h"
#include "cli/top_plan.h"
#include "wire/wire.h"

#define SLICE_MS     100
#define JOBS_MAX     1000 /* most running jobs in one frame */
#define DAEMONS_MAX  500
#define DELAY_MAX_MS 3600000

struct top {
    struct cli *cli;
    struct listing jobs; /* constraints on jobs */
    int64_t delay_ms, count;
    bool batch, daemons;
    const char *only; /* value of -schedd, this daemon only; NULL: all */
    struct terminal terminal;
    struct screen *screen;
    /* the daemons and their CPU times at the last look */
    struct top_daemon *list;
    double *cpu_s, *at_s;
    size_t daemon_count;
    struct vec words;
};

/* ---- arguments */

static bool take_daemon(struct top *top, const char *arg)
{
    static const char *const NAMES[] = {"schedd",  "startd",  "collector", "negotiator", "master",
                                        "rooster", "starter", "shadow",    "factory"};
    if (listing_is(arg, "daemons", 2)) {
        top->daemons = true;
        return true;
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (listing_is(arg, NAMES[i], 4)) {
            top->daemons = true;
            top->only = NAMES[i];
            return true;
        }
    }
    return false;
}

static int take_value(struct top *top, int *at)
{
    struct cli *cli = top->cli;
    const char *arg = cli->argv[*at];
    bool delay = listing_is(arg, "delay", 1), clusters = listing_is(arg, "clusters", 2);
    struct err err;
    int64_t value = 0;
    if (*at + 1 >= cli->argc) {
        return cli_usage(cli, "%s needs %s", arg,
                         delay      ? "seconds"
                         : clusters ? "the numbers of clusters"
                                    : "a number");
    }
    char *text = cli->argv[++*at];
    if (clusters) {
        vec_push(&top->words, text);
        return CLI_OK;
    }
    int rc =
        delay ? text_parse_duration_ms(text, &value, &err) : text_parse_int64(text, &value, &err);
    if (delay && rc == 0 && strspn(text, "0123456789") == strlen(text)) {
        value *= 1000; /* a bare number is of seconds, as condor_top's */
    }
    if (rc != 0 || value < 1 || (delay && value > DELAY_MAX_MS)) {
        return cli_usage(cli, "%s %s: %s", arg, text,
                         delay ? "expected a time such as 2, 500ms or 1m"
                               : "expected a number above 0");
    }
    *(delay ? &top->delay_ms : &top->count) = delay && value < SLICE_MS ? SLICE_MS : value;
    return CLI_OK;
}

static int parse_options(struct top *top)
{
    struct cli *cli = top->cli;
    struct err err;
    int status = CLI_OK;
    for (int i = 1; i < cli->argc && status == CLI_OK; i++) {
        char *arg = cli->argv[i];
        if (arg[0] != '-') {
            vec_push(&top->words, arg);
        } else if (listing_is(arg, "batch", 1)) {
            top->batch = true;
        } else if (listing_is(arg, "live", 2) || strcmp(arg, "-l") == 0) {
            /* of condor_top: it is so anyway */
        } else if (listing_is(arg, "delay", 1) || listing_is(arg, "clusters", 2) ||
                   listing_is(arg, "count", 3)) {
            status = take_value(top, &i);
        } else if (listing_is(arg, "constraint", 4)) {
            int rc = listing_plan_option(&top->jobs, cli->argc, cli->argv, &i, &listing_zone, &err);
            status = rc == 1 ? CLI_OK : cli_usage(cli, "%s", err.text);
        } else if (!take_daemon(top, arg) && !options_ignored("top", arg)) {
            status = cli_unknown(cli, arg);
        }
    }
    if (status == CLI_OK &&
        listing_jobs(&top->jobs, (char *const *)top->words.items, top->words.count, &err) != 0) {
        status = cli_usage(cli, "%s", err.text);
    }
    return status;
}

/* ---- asking */

static int ask_slots(struct top *top, struct cli_reply *reply, struct err *err)
{
    struct listing all = {0};
    int rc = cli_collector(top->cli, err);
    return rc != 0 ? rc
                   : listing_query(top->cli, top->cli->collector, NULL, "Machine", &all,
                                   top_slot_names, NULL, reply, err);
}

static int ask_jobs(struct top *top, struct cli_reply *batches, struct cli_reply *jobs,
                    struct err *err)
{
    struct cli *cli = top->cli;
    struct listing running = {.limit = JOBS_MAX};
    int rc = cli_schedd(cli, err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->schedd, NULL, "JobBatch", &top->jobs, NULL, NULL,
                                 batches, err);
    for (size_t i = 0; i < top->jobs.constraints.count; i++) {
        listing_also(&running, top->jobs.constraints.items[i]);
    }
    listing_also(&running, "JobStatus == 2 || JobStatus == 6 || JobStatus == 7");
    struct ad *args = ad_create();
    ad_set_bool(args, "WholeIfComputed", true);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->schedd, NULL, "Job", &running, top_job_names, args, jobs,
                                 err);
    ad_destroy(args);
    listing_fini(&running);
    return rc;
}

static void frame_of_pool(struct top *top, const struct ad_context *context, struct strbuf *out)
{
    struct cli_reply slots = {0}, batches = {0}, jobs = {0};
    struct err slot_err = {.text = ""}, job_err = {.text = ""};
    int rc = ask_slots(top, &slots, &slot_err);
    int job_rc = ask_jobs(top, &batches, &jobs, &job_err);
    struct top_facts facts = {.pool = "?",
                              .slots = (const struct ad *const *)slots.ads.items,
                              .slot_count = slots.ads.count,
                              .batches = (const struct ad *const *)batches.ads.items,
                              .batch_count = batches.ads.count,
                              .jobs = (const struct ad *const *)jobs.ads.items,
                              .job_count = jobs.ads.count,
                              .trouble = rc != 0       ? slot_err.text
                                         : job_rc != 0 ? job_err.text
                                                       : NULL};
    if (batches.args != NULL) {
        facts.pool = ad_string_or(batches.args, "Name", "?");
        jobs_plan_read_totals(batches.args, "", &facts.totals);
    }
    top_plan_frame(&facts, &top->terminal, context, out);
    cli_reply_fini(&slots);
    cli_reply_fini(&batches);
    cli_reply_fini(&jobs);
}

struct look {
    struct top *top;
    struct top_daemon *list;
    double *cpu_s, *at_s;
    size_t count;
};

/* The daemon's CPU use in percent since the last look or, at the first look, since it began. */
static double daemon_percent(const struct top *top, const struct top_daemon *daemon,
                             const struct process *process)
{
    for (size_t i = 0; i < top->daemon_count; i++) {
        double passed = process->age_s - top->at_s[i];
        if (top->list[i].pid == daemon->pid && passed > 0.01) {
            return 100 * (process->cpu_s - top->cpu_s[i]) / passed;
        }
    }
    return process->age_s > 0 ? 100 * process->cpu_s / process->age_s : 0;
}

static void add_daemon(void *arg, const char *node, const char *name, pid_t pid)
{
    struct look *look = arg;
    struct process process;
    const char *only = look->top->only;
    if (look->count >= DAEMONS_MAX || (only != NULL && strncmp(name, only, strlen(only)) != 0) ||
        !process_look(look->top->cli, pid, &process)) {
        return;
    }
    struct top_daemon *daemon = &look->list[look->count];
    *daemon = (struct top_daemon){.pid = pid,
                                  .memory_kib = process.memory_kib,
                                  .threads = process.threads,
                                  .age_s = process.age_s};
    (void)snprintf(daemon->node, sizeof daemon->node, "%s", node);
    (void)snprintf(daemon->name, sizeof daemon->name, "%s", name);
    daemon->cpu_percent = daemon_percent(look->top, daemon, &process);
    look->cpu_s[look->count] = process.cpu_s;
    look->at_s[look->count++] = process.age_s;
}

static void keep_daemons(struct top *top, struct top_daemon *list, double *cpu_s, double *at_s,
                         size_t count)
{
    mem_free(top->list);
    mem_free(top->cpu_s);
    mem_free(top->at_s);
    top->list = list;
    top->cpu_s = cpu_s;
    top->at_s = at_s;
    top->daemon_count = count;
}

static void frame_of_daemons(struct top *top, const struct ad_context *context, struct strbuf *out)
{
    struct look look = {.top = top,
                        .list = mem_zalloc(DAEMONS_MAX * sizeof *look.list),
                        .cpu_s = mem_zalloc(DAEMONS_MAX * sizeof(double)),
                        .at_s = mem_zalloc(DAEMONS_MAX * sizeof(double))};
    process_daemons(top->cli, add_daemon, &look);
    top_plan_daemons(look.list, look.count, &top->terminal, context, out);
    keep_daemons(top, look.list, look.cpu_s, look.at_s, look.count);
}

static void make_frame(struct top *top, struct strbuf *out)
{
    const struct ad_context context = listing_context(top->cli);
    strbuf_init(out, LISTING_TEXT_MAX);
    if (top->daemons) {
        frame_of_daemons(top, &context, out);
    } else {
        frame_of_pool(top, &context, out);
    }
}

/* ---- drawing */

static int print_frames(struct top *top)
{
    int status = CLI_OK;
    for (int64_t i = 0; i < top->count && status == CLI_OK; i++) {
        struct strbuf out;
        if (i > 0) {
            cli_pause(top->cli, (uint64_t)top->delay_ms);
        }
        make_frame(top, &out);
        strbuf_puts(&out, i + 1 < top->count ? "\n" : "");
        status = listing_write(top->cli, &out);
    }
    return status;
}

static int draw_frame(struct top *top)
{
    struct strbuf out, drawn;
    make_frame(top, &out);
    strbuf_init(&drawn, LISTING_TEXT_MAX);
    screen_draw(strbuf_text(&out), &drawn);
    strbuf_fini(&out);
    return listing_write(top->cli, &drawn);
}

/* Waits for a key until the next frame is due.  A change of the terminal's size ends the wait. */
static enum screen_key wait_for_key(struct top *top)
{
    for (int64_t waited = 0; waited < top->delay_ms; waited += SLICE_MS) {
        enum screen_key key = screen_key(top->screen);
        struct terminal now = listing_terminal(top->cli, false);
        if (key != SCREEN_KEY_NONE) {
            return key;
        }
        if (now.columns != top->terminal.columns || now.rows != top->terminal.rows) {
            return SCREEN_KEY_AGAIN;
        }
        cli_pause(top->cli, SLICE_MS);
    }
    return SCREEN_KEY_AGAIN;
}

static int run_screen(struct top *top)
{
    struct err err;
    if (screen_begin(&top->screen, &err) != 0) {
        return cli_fail(top->cli, "%s; use -b to print without a terminal", err.text);
    }
    int status = CLI_OK;
    int64_t frames = 0;
    do {
        top->terminal = listing_terminal(top->cli, false);
        status = draw_frame(top);
        frames++;
    } while (status == CLI_OK && (top->count == 0 || frames < top->count) &&
             wait_for_key(top) != SCREEN_KEY_QUIT);
    screen_end(top->screen);
    return status;
}

int cmd_top(struct cli *cli)
{
    struct top top = {.cli = cli, .delay_ms = 2000};
    struct err err;
    int status = parse_options(&top);
    if (status == CLI_OK && cli_config_nodes(cli, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK && !top.daemons && cli_schedd(cli, &err) != 0) {
        status = cli_fail(cli, "%s", err.text); /* to begin with all is to be well */
    } else if (status == CLI_OK) {
        top.terminal = listing_terminal(cli, false);
        bool screen = top.terminal.columns > 0 && !top.batch;
        if (!screen) {
            top.terminal = (struct terminal){0};
            top.count = top.count > 0 ? top.count : 1;
        }
        status = screen ? run_screen(&top) : print_frames(&top);
    }
    keep_daemons(&top, NULL, NULL, NULL, 0);
    vec_fini(&top.words, NULL);
    listing_fini(&top.jobs);
    return status;
}
