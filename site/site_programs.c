/* site/site_programs.c - see site_programs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_programs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os_terminal.h"

#define READ_BYTES 16384
#define LOOK_MS    100 /* how often deadlines are looked at */

struct site_set {
    struct loop *loop;
    struct os *os;
    struct site_program *programs;
    size_t count, at_once;
    size_t next, running; /* the first that is not started yet; how many run */
    uint64_t end_ms;
    struct loop_timer *timer;
    bool done;
};

static void kill_program(struct site_program *program, enum site_end end)
{
    if (program->pid > 0) {
        program->end = end;
        (void)os_kill_group(program->set->os, program->pid, SIGKILL);
    }
}

/* Returns whether a whole line of the output, from `scanned` on, begins with the text. */
static bool has_line(struct site_program *program, const char *text)
{
    const char *out = strbuf_text(&program->out);
    const char *end;
    while ((end = strchr(out + program->scanned, '\n')) != NULL) {
        const char *line = out + program->scanned;
        program->scanned = (size_t)(end - out) + 1;
        if (strncmp(line, text, strlen(text)) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes what may be written now.  Returns whether more is to be written as soon as it can be. */
static bool write_steps(struct site_program *program)
{
    while (program->step < program->step_count) {
        const struct site_step *step = &program->steps[program->step];
        if (program->written == 0 && step->await != NULL && !has_line(program, step->await)) {
            return false;
        }
        while (program->written < step->length) {
            ssize_t took = os_terminal_write(program->terminal, step->text + program->written,
                                             step->length - program->written);
            if (took == -EAGAIN) {
                return true;
            }
            if (took < 0) { /* its exit status says why */
                program->step = program->step_count;
                break;
            }
            program->written += (size_t)took;
        }
        program->written = 0;
        program->step++;
    }
    os_terminal_end_input(program->terminal);
    return false;
}

static void note_complaint(struct site_program *program, const char *data, size_t length)
{
    size_t have = strlen(program->complaint);
    for (size_t i = 0; i < length; i++) {
        if (data[i] == '\n' || data[i] == '\r') {
            have = have > 0 && program->complaint[have - 1] != '\n' && have + 1 < SITE_COMPLAINT_MAX
                       ? (program->complaint[have] = '\n', have + 1)
                       : have;
            continue;
        }
        if (have > 0 && program->complaint[have - 1] == '\n') {
            program->complaint[have - 1] = ' ';
            have = program->joins_lines ? have : 0; /* else the last line counts */
        }
        if (have + 1 < SITE_COMPLAINT_MAX) {
            program->complaint[have++] = (char)(data[i] >= 0 && data[i] < ' ' ? ' ' : data[i]);
        }
    }
    program->complaint[have] = '\0';
}

static void read_streams(struct site_program *program)
{
    char data[READ_BYTES];
    ssize_t got, errors;
    while ((errors = os_terminal_read(program->terminal, 2, data, sizeof(data))) > 0) {
        note_complaint(program, data, (size_t)errors);
    }
    while ((got = os_terminal_read(program->terminal, 1, data, sizeof(data))) > 0) {
        strbuf_append(&program->out, data, (size_t)got);
    }
    if (program->out.failed) {
        kill_program(program, SITE_FLOODED);
    }
    bool writes = program->pid > 0 && write_steps(program);
    os_terminal_want(program->terminal, writes, got == -EAGAIN, errors == -EAGAIN);
}

static void stream_is_ready(void *arg)
{
    read_streams(arg);
}

static void start_some(struct site_set *set);

static void program_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct site_program *program = arg;
    struct site_set *set = program->set;
    program->pid = 0;
    read_streams(program);
    (void)os_kill_group(set->os, pid, SIGKILL); /* what it has left in its group */
    os_terminal_close(program->terminal);
    program->terminal = NULL;
    program->how = *how;
    set->running--;
    start_some(set);
}

static void start_program(struct site_set *set, struct site_program *program)
{
    struct err err = {""};
    const struct os_terminal_spec pipes = {.ready = stream_is_ready, .arg = program};
    program->set = set;
    int rc = os_terminal_open(set->os, &pipes, &program->terminal, &err);
    if (rc == 0) {
        const struct os_spawn spawn = {.argv = program->argv,
                                       .new_session = true,
                                       .kin = OS_BOUND_CHILD,
                                       .terminal = program->terminal};
        rc = os_spawn(set->os, &spawn, program_ended, program, &program->pid, &err);
    }
    if (rc != 0) {
        os_terminal_close(program->terminal);
        program->terminal = NULL;
        program->end = SITE_UNSTARTED;
        (void)snprintf(program->complaint, sizeof(program->complaint), "%.*s",
                       SITE_COMPLAINT_MAX - 1, err.text);
        return;
    }
    program->end = SITE_ENDED;
    program->started_ms = loop_now_ms(set->loop);
    set->running++;
    read_streams(program);
}

static void start_some(struct site_set *set)
{
    while (set->next < set->count && set->running < set->at_once &&
           loop_now_ms(set->loop) < set->end_ms) {
        start_program(set, &set->programs[set->next++]);
    }
    set->done = set->running == 0;
}

static void look_at_clock(void *arg)
{
    struct site_set *set = arg;
    uint64_t now_ms = loop_now_ms(set->loop);
    for (size_t i = 0; i < set->next; i++) {
        struct site_program *program = &set->programs[i];
        bool late = program->steps_end_ms != 0 && now_ms >= program->steps_end_ms &&
                    program->step < program->step_count;
        late =
            late || (program->limit_ms != 0 && now_ms >= program->started_ms + program->limit_ms);
        if (late || now_ms >= set->end_ms) {
            kill_program(program, SITE_TIMEOUT);
        }
    }
    loop_timer_set(set->timer, LOOK_MS);
}

void site_programs_run(struct loop *loop, struct os *os, struct site_program *programs,
                       size_t count, size_t at_once, uint64_t end_ms)
{
    struct site_set set = {.loop = loop,
                           .os = os,
                           .programs = programs,
                           .count = count,
                           .at_once = at_once,
                           .end_ms = end_ms};
    for (size_t i = 0; i < count; i++) {
        programs[i].end = SITE_TIMEOUT;
        programs[i].complaint[0] = '\0';
        strbuf_init(&programs[i].out, SITE_OUTPUT_MAX);
    }
    set.timer = loop_timer_create(loop, look_at_clock, &set);
    loop_timer_set(set.timer, LOOK_MS);
    start_some(&set);
    loop_run_until(loop, &set.done);
    loop_timer_destroy(set.timer);
}

void site_program_fini(struct site_program *program)
{
    strbuf_fini(&program->out);
}

bool site_program_succeeded(const struct site_program *program)
{
    return program->end == SITE_ENDED && program->how.status == 0;
}

void site_program_why(const struct site_program *program, char *ret, size_t size)
{
    int length = (int)strcspn(program->complaint, "\n");
    const char *between = length > 0 ? ": " : "";
    switch (program->end) {
    case SITE_TIMEOUT:
        (void)snprintf(ret, size, "no answer in time%s%.*s", between, length, program->complaint);
        break;
    case SITE_FLOODED:
        (void)snprintf(ret, size, "printed more than %zu bytes", SITE_OUTPUT_MAX);
        break;
    case SITE_UNSTARTED:
        (void)snprintf(ret, size, "cannot be run: %.*s", length, program->complaint);
        break;
    case SITE_ENDED:
        (void)snprintf(ret, size, "%s %d%s%.*s",
                       program->how.signal != 0 ? "ended by signal" : "exit status",
                       program->how.signal != 0 ? program->how.signal : program->how.status,
                       between, length, program->complaint);
        break;
    }
}
