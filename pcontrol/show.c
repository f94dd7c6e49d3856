/* pcontrol/show.c - see show.h.
 *
 * Times are those of the seed's Object and Machine: start (when the last run, or the connection,
 * began), accumulated (seconds in BUSY), timer (seconds in the present state).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/show.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pcontrol/controller.h"
#include "pcontrol/output.h"

#define MS_PER_S 1000.0
#define WHY_MAX  600

static double timer_s(const struct controller *controller, uint64_t since_ms)
{
    return (double)(loop_now_ms(controller_loop(controller)) - since_ms) / MS_PER_S;
}

static double job_accum_s(const struct pjob *job)
{
    double now_s = job->state == PJOB_BUSY ? timer_s(job->controller, job->state_ms) : 0;
    return (double)job->accum_ms / MS_PER_S + now_s;
}

static double host_accum_s(const struct phost *host)
{
    bool busy = host->state == PHOST_BUSY || host->state == PHOST_BUSY_OFF;
    return (double)host->accum_ms / MS_PER_S +
           (busy ? timer_s(host->controller, host->state_ms) : 0);
}

/* Writes why a job is as it is, or "". */
static const char *job_why(const struct pjob *job, char *buffer)
{
    if (job->state == PJOB_PENDING) {
        char wait[WHY_MAX / 2];
        controller_explain(job, wait, sizeof(wait));
        (void)snprintf(buffer, WHY_MAX, "%s%s%s", wait, job->why != NULL ? "; " : "",
                       job->why != NULL ? job->why : "");
        return buffer;
    }
    const char *trouble = controller_trouble(job);
    if (trouble != NULL) {
        (void)snprintf(buffer, WHY_MAX, "%s; it is tried again each second", trouble);
        return buffer;
    }
    if (job->state == PJOB_BUSY && job->host != NULL && job->host->silent_since_ms != 0) {
        (void)snprintf(buffer, WHY_MAX,
                       "HUNG: host %s has not answered for %.0f s more than allowed",
                       job->host->name->name, timer_s(job->controller, job->host->silent_since_ms));
        return buffer;
    }
    return job->why != NULL ? job->why : "";
}

static void append_time(struct strbuf *out, int64_t wall_ms)
{
    char text[TEXT_UTC_MAX];
    text_utc_ms(wall_ms, text);
    strbuf_puts(out, wall_ms != 0 ? text : "-");
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void append_end(const struct pjob *job, struct strbuf *out)
{
    strbuf_puts(out, pjob_states_name(job->state));
    if (job->state == PJOB_EXIT || job->state == PJOB_CRASH) {
        strbuf_printf(out, " %d", job->end.code);
    }
}

void show_job_line(const struct pjob *job, struct strbuf *out)
{
    char why[WHY_MAX];
    strbuf_printf(out, "job %llu ", (unsigned long long)job->id);
    append_end(job, out);
    if (job->state == PJOB_BUSY && job->host != NULL) {
        strbuf_printf(out, " on %s", job->host->name->name);
    }
    const char *text = job_why(job, why);
    strbuf_printf(out, "%s%s\n", text[0] != '\0' ? ": " : "", text);
}

struct left { /* jobs of one state that have not ended */
    size_t count;
    char why[WHY_MAX]; /* of the first one that has a reason */
};

static void count_left(const struct pjob *job, struct left *states)
{
    if (job == NULL || job->state < PJOB_PENDING || job->state > PJOB_DONE) {
        return;
    }
    struct left *left = &states[job->state - PJOB_PENDING];
    left->count++;
    if (left->why[0] == '\0') {
        char why[WHY_MAX];
        (void)snprintf(left->why, sizeof(left->why), "%s", job_why(job, why));
    }
}

size_t show_left(const struct controller *controller, const uint64_t *ids, size_t count,
                 struct strbuf *out)
{
    struct left states[PJOB_DONE - PJOB_PENDING + 1] = {0};
    size_t total = 0;
    const struct pjob *job;
    for (size_t i = 0; i < count; i++) {
        count_left(controller_find_job(controller, ids[i]), states);
    }
    TAILQ_FOREACH(job, controller_jobs(controller), entry)
    {
        if (ids == NULL) {
            count_left(job, states);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(states); i++) {
        total += states[i].count;
    }
    if (total == 0) {
        return 0;
    }
    strbuf_printf(out, "waits for %zu job%s", total, total == 1 ? "" : "s");
    const char *gap = ": ";
    for (size_t i = 0; i < ARRAY_COUNT(states); i++) {
        const struct left *left = &states[i];
        if (left->count > 0) {
            strbuf_printf(out, "%s%zu %s%s%s%s", gap, left->count,
                          pjob_states_name(PJOB_PENDING + (enum pjob_state)i),
                          left->why[0] != '\0' ? " (" : "", left->why,
                          left->why[0] != '\0' ? ")" : "");
            gap = ", ";
        }
    }
    return total;
}

static void append_output(const struct pjob *job, int at, const char *name, struct strbuf *out)
{
    const struct output *output = job->outputs[at];
    size_t length = 0;
    uint64_t dropped = 0;
    strbuf_printf(out, "  %-9s ", name);
    if (output == NULL) {
        strbuf_puts(out, "0 bytes");
    } else {
        (void)output_bytes(output, &length, &dropped);
        strbuf_printf(out, "%llu bytes", (unsigned long long)output_total(output));
    }
    if (job->wish.paths[at] != NULL) {
        strbuf_printf(out, " to %s", job->wish.paths[at]);
    }
    if (dropped > 0) {
        strbuf_printf(out, ", of which the first %llu were dropped", (unsigned long long)dropped);
    }
    strbuf_putc(out, '\n');
}

static const char *command_of(const struct pjob *job)
{
    const char *command = job->wish.command; /* begins with "-- ", for the pclient */
    return strncmp(command, "-- ", 3) == 0 ? command + 3 : command;
}

static void job_text(const struct pjob *job, struct strbuf *out)
{
    show_job_line(job, out);
    strbuf_printf(out, "  command   %s\n", command_of(job));
    if (job->wish.place != PJOB_ANYWHERE) {
        strbuf_printf(out, "  host      %s%s\n", job->wish.host,
                      job->wish.place == PJOB_NEEDS ? " (no other)" : " (or another)");
    }
    if (job->last_host != NULL) {
        strbuf_printf(out, "  ran on    %s, PID %lld\n", job->last_host, (long long)job->pid);
    }
    strbuf_puts(out, "  submitted ");
    append_time(out, job->submitted_wall_ms);
    strbuf_puts(out, "\n  start     ");
    append_time(out, job->start_wall_ms);
    strbuf_printf(out, "\n  accum     %.3f s in BUSY\n  timer     %.3f s in %s\n", job_accum_s(job),
                  timer_s(job->controller, job->state_ms), pjob_states_name(job->state));
    strbuf_printf(out, "  runs      %u; %u failed, %u lost\n", job->runs, job->failures,
                  job->losses);
    if (job->state == PJOB_EXIT || job->state == PJOB_CRASH) {
        strbuf_printf(out, "  usage     %.3f s user, %.3f s system, %lld KiB\n",
                      job->end.user_cpu_s, job->end.system_cpu_s, (long long)job->end.max_rss_kib);
    }
    append_output(job, 0, "stdout", out);
    append_output(job, 1, "stderr", out);
}

#define JOB_COLUMNS "%-8s %-9s %-24s %-24s %s\n"

static void job_row(const struct pjob *job, struct strbuf *out)
{
    char id[32], start[TEXT_UTC_MAX];
    struct strbuf state;
    strbuf_init(&state, 0);
    append_end(job, &state);
    (void)snprintf(id, sizeof(id), "%llu", (unsigned long long)job->id);
    text_utc_ms(job->start_wall_ms, start);
    strbuf_printf(out, JOB_COLUMNS, id, strbuf_text(&state),
                  job->host != NULL        ? job->host->name->name
                  : job->last_host != NULL ? job->last_host
                                           : "-",
                  job->start_wall_ms != 0 ? start : "-", command_of(job));
    strbuf_fini(&state);
}

static void host_line(const struct phost *host, struct strbuf *out)
{
    char start[TEXT_UTC_MAX];
    text_utc_ms(host->start_wall_ms, start);
    strbuf_printf(out, "%-24s %-8s %-24s %10.1f %10.1f", host->name->name,
                  phost_states_name(host->state), host->start_wall_ms != 0 ? start : "-",
                  host_accum_s(host), timer_s(host->controller, host->state_ms));
    if (host->job != NULL) {
        strbuf_printf(out, " job %llu", (unsigned long long)host->job->id);
    }
    if (host->silent_since_ms != 0) {
        strbuf_puts(out, " HUNG");
    }
    if (host->state == PHOST_DOWN) {
        strbuf_printf(out, " %s",
                      host->why != NULL  ? host->why
                      : host->dial_waits ? "waits for its turn to be connected to"
                      : host->dialling   ? "is being connected to"
                                         : "hosts are stopped");
    }
    strbuf_putc(out, '\n');
}

static void host_head(struct strbuf *out)
{
    strbuf_printf(out, "%-24s %-8s %-24s %10s %10s\n", "HOST", "STATE", "START", "ACCUM", "TIMER");
}

static void queues_text(const struct controller *controller, struct strbuf *out)
{
    strbuf_printf(out, "jobs  (%s):", controller_runs_jobs(controller) ? "run" : "stopped");
    for (enum pjob_state state = PJOB_PENDING; state < PJOB_DEL; state++) {
        strbuf_printf(out, " %s %zu", pjob_states_name(state),
                      controller_job_count(controller, state));
    }
    strbuf_printf(out, "\nhosts (%s):", controller_runs_hosts(controller) ? "run" : "stopped");
    for (enum phost_state state = PHOST_OFF; state < PHOST_DEL; state++) {
        strbuf_printf(out, " %s %zu", phost_states_name(state),
                      controller_host_count(controller, state));
    }
    strbuf_putc(out, '\n');
    const struct phost *host;
    if (!TAILQ_EMPTY(controller_hosts(controller))) {
        host_head(out);
    }
    TAILQ_FOREACH(host, controller_hosts(controller), all_entry)
    {
        host_line(host, out);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *text_json(const char *text)
{
    json_t *ret = json_string(text);
    return ret != NULL ? ret : json_string("(not UTF-8)");
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? text_json(text) : json_null();
}

static json_t *time_json(int64_t wall_ms)
{
    return wall_ms == 0 ? json_null() : json_real((double)wall_ms / MS_PER_S);
}

static json_t *job_json(const struct pjob *job)
{
    char why[WHY_MAX];
    json_t *ret = json_object();
    (void)json_object_set_new(ret, "JobID", json_integer((json_int_t)job->id));
    (void)json_object_set_new(ret, "State", json_string(pjob_states_name(job->state)));
    (void)json_object_set_new(ret, "Command", text_json(command_of(job)));
    (void)json_object_set_new(ret, "Reason", text_json(job_why(job, why)));
    if (job->last_host != NULL) {
        (void)json_object_set_new(ret, "Machine", text_json(job->last_host));
        (void)json_object_set_new(ret, "PID", json_integer(job->pid));
    }
    if (job->state == PJOB_EXIT) {
        (void)json_object_set_new(ret, "ExitCode", json_integer(job->end.code));
    } else if (job->state == PJOB_CRASH) {
        (void)json_object_set_new(ret, "Signal", json_integer(job->end.code));
    }
    (void)json_object_set_new(ret, "Submitted", time_json(job->submitted_wall_ms));
    (void)json_object_set_new(ret, "Start", time_json(job->start_wall_ms));
    (void)json_object_set_new(ret, "Accumulated", json_real(job_accum_s(job)));
    (void)json_object_set_new(ret, "Timer", json_real(timer_s(job->controller, job->state_ms)));
    (void)json_object_set_new(ret, "Priority", json_integer(job->wish.priority));
    (void)json_object_set_new(ret, "Timeout",
                              job->wish.timeout_ms > 0
                                  ? json_real((double)job->wish.timeout_ms / MS_PER_S)
                                  : json_null());
    (void)json_object_set_new(ret, "Retries", json_integer(job->wish.retries));
    (void)json_object_set_new(ret, "WantedHost", text_or_null(job->wish.host));
    (void)json_object_set_new(ret, "OtherHosts", json_boolean(job->wish.place != PJOB_NEEDS));
    (void)json_object_set_new(ret, "Stdout", text_or_null(job->wish.paths[0]));
    (void)json_object_set_new(ret, "Stderr", text_or_null(job->wish.paths[1]));
    (void)json_object_set_new(ret, "Runs", json_integer(job->runs));
    (void)json_object_set_new(ret, "Failures", json_integer(job->failures));
    (void)json_object_set_new(ret, "Losses", json_integer(job->losses));
    (void)json_object_set_new(ret, "UserCpu", json_real(job->end.user_cpu_s));
    (void)json_object_set_new(ret, "SystemCpu", json_real(job->end.system_cpu_s));
    static const char *const NAMES[2][2] = {{"StdoutBytes", "StdoutDropped"},
                                            {"StderrBytes", "StderrDropped"}};
    for (int i = 0; i < 2; i++) {
        size_t length = 0;
        uint64_t dropped = 0, total = 0;
        if (job->outputs[i] != NULL) {
            (void)output_bytes(job->outputs[i], &length, &dropped);
            total = output_total(job->outputs[i]);
        }
        (void)json_object_set_new(ret, NAMES[i][0], json_integer((json_int_t)total));
        (void)json_object_set_new(ret, NAMES[i][1], json_integer((json_int_t)dropped));
    }
    return ret;
}

static json_t *host_json(const struct phost *host)
{
    json_t *ret = json_object();
    (void)json_object_set_new(ret, "Machine", text_json(host->name->name));
    (void)json_object_set_new(ret, "State", json_string(phost_states_name(host->state)));
    (void)json_object_set_new(ret, "Start", time_json(host->start_wall_ms));
    (void)json_object_set_new(ret, "Accumulated", json_real(host_accum_s(host)));
    (void)json_object_set_new(ret, "Timer", json_real(timer_s(host->controller, host->state_ms)));
    (void)json_object_set_new(ret, "Runs", json_integer((json_int_t)host->runs));
    (void)json_object_set_new(ret, "Hung", json_boolean(host->silent_since_ms != 0));
    (void)json_object_set_new(ret, "Reason", text_json(host->why != NULL ? host->why : ""));
    (void)json_object_set_new(ret, "JobID",
                              host->job != NULL ? json_integer((json_int_t)host->job->id)
                                                : json_null());
    return ret;
}

static json_t *queues_json(const struct controller *controller)
{
    json_t *ret = json_object(), *jobs = json_object(), *hosts = json_object(),
           *entries = json_array();
    for (enum pjob_state state = PJOB_PENDING; state < PJOB_DEL; state++) {
        (void)json_object_set_new(jobs, pjob_states_name(state),
                                  json_integer(
                                      (json_int_t)controller_job_count(controller, state)));
    }
    for (enum phost_state state = PHOST_OFF; state < PHOST_DEL; state++) {
        (void)json_object_set_new(hosts, phost_states_name(state),
                                  json_integer(
                                      (json_int_t)controller_host_count(controller, state)));
    }
    const struct phost *host;
    TAILQ_FOREACH(host, controller_hosts(controller), all_entry)
    {
        (void)json_array_append_new(entries, host_json(host));
    }
    (void)json_object_set_new(ret, "JobsRun", json_boolean(controller_runs_jobs(controller)));
    (void)json_object_set_new(ret, "HostsRun", json_boolean(controller_runs_hosts(controller)));
    (void)json_object_set_new(ret, "Jobs", jobs);
    (void)json_object_set_new(ret, "Hosts", hosts);
    (void)json_object_set_new(ret, "Machines", entries);
    return ret;
}

static int append_chunk(const char *data, size_t length, void *arg)
{
    strbuf_append(arg, data, length);
    return 0;
}

static void append_json(json_t *json, struct strbuf *out)
{
    (void)json_dump_callback(json, append_chunk, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
    strbuf_putc(out, '\n');
    json_decref(json);
}

/* ---- both -------------------------------------------------------------------------------------
 */

void show_queues(const struct controller *controller, bool json, struct strbuf *out)
{
    if (json) {
        append_json(queues_json(controller), out);
    } else {
        queues_text(controller, out);
    }
}

void show_jobs(const struct controller *controller, bool json, struct strbuf *out)
{
    const struct pjob *job;
    if (!json) {
        strbuf_printf(out, JOB_COLUMNS, "JOBID", "STATE", "HOST", "START", "COMMAND");
    }
    TAILQ_FOREACH(job, controller_jobs(controller), entry)
    {
        if (json) {
            append_json(job_json(job), out);
        } else {
            job_row(job, out);
        }
    }
}

void show_job(const struct pjob *job, bool json, struct strbuf *out)
{
    if (json) {
        append_json(job_json(job), out);
    } else {
        job_text(job, out);
    }
}

void show_machine(const struct phost_name *name, bool json, struct strbuf *out)
{
    const struct phost *host;
    if (json) {
        json_t *entries = json_array();
        TAILQ_FOREACH(host, &name->entries, entry)
        {
            (void)json_array_append_new(entries, host_json(host));
        }
        append_json(entries, out);
        return;
    }
    host_head(out);
    TAILQ_FOREACH(host, &name->entries, entry)
    {
        host_line(host, out);
    }
}
