/* pcontrol/console.c - see console.h.
 *
 * Design note: standard output may be a pipe whose reader is slow, for example a pager.  Nothing
 * may wait for it, as all pclients would lose their leases: what is printed goes through a buffer,
 * and no command is read while that is long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/console.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_console.h"
#include "base/os/os_output.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "pcontrol/commands.h"
#include "pcontrol/controller.h"
#include "pcontrol/edit_line.h"
#include "pcontrol/script_line_plan.h"

#define PROMPT      "pcontrol: "
#define READ_BYTES  ((size_t)64 << 10)
#define PRINTED_MAX ((size_t)1 << 20) /* not yet taken: no command is read */

enum console_phase {
    CONSOLE_READS,
    CONSOLE_SKIPS, /* the rest of a line of a script that is too long */
    CONSOLE_ENDED, /* the input has ended; what was read is carried out, then jobs are waited for */
    CONSOLE_LEAVES,
};

struct console {
    struct loop *loop;
    struct controller *controller;
    struct commands *commands;
    struct os_console *input;
    struct os_output *output;
    struct strbuf lines; /* read; the first lines_at bytes have been executed */
    size_t lines_at;
    uint64_t line; /* number of the line of a script that was executed last; of a person: 0 */
    struct strbuf printed; /* to be written */
    struct command_call *call;
    enum console_phase phase;
    bool is_person, failed, warned, output_gone;
    bool prompt_shown; /* of a person */
};

static void next_command(struct console *console);

/* ---- the prompt of a person -------------------------------------------------------------------
 */

static void hide_prompt(struct console *console)
{
    if (console->prompt_shown) {
        console->prompt_shown = false;
        edit_line_hide();
    }
}

/* Shows the prompt if nothing else is to be printed or done first. */
static void show_prompt(struct console *console)
{
    if (console->is_person && !console->prompt_shown && console->phase != CONSOLE_LEAVES &&
        console->call == NULL && console->printed.length == 0) {
        console->prompt_shown = true;
        edit_line_show();
    }
}

/* ---- printing ---------------------------------------------------------------------------------
 */

/* A person has seen what failed. */
static void end_program(struct console *console)
{
    bool failed = console->output_gone || (console->failed && !console->is_person);
    loop_stop(console->loop, failed ? 1 : 0);
}

/* Says an error of the line of that number. */
static void blame_line(uint64_t line, const char *why, size_t length)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    script_line_blame(line, why, length, &text);
    (void)fputs(strbuf_text(&text), stderr);
    strbuf_fini(&text);
}

static void complain(const char *text)
{
    blame_line(0, text, strlen(text));
}

/* Nobody can read the answers: pcontrol ends, and all jobs with it, as by "exit". */
static void lose_output(struct console *console, int rc)
{
    struct err err;
    (void)err_set(&err, rc, "standard output: %s", err_code_text(rc));
    complain(err.text);
    console->output_gone = true;
    console->phase = CONSOLE_LEAVES;
    strbuf_clear(&console->printed);
    os_console_want(console->input, false);
}

static void write_out(void *arg)
{
    struct console *console = arg;
    while (console->printed.length > 0 && !console->output_gone) {
        ssize_t took =
            os_output_write(console->output, console->printed.data, console->printed.length);
        if (took == -EAGAIN) {
            break;
        }
        if (took < 0) {
            lose_output(console, (int)took);
            break;
        }
        console->printed.length -= (size_t)took;
        memmove(console->printed.data, console->printed.data + took, console->printed.length);
    }
    os_output_want(console->output, console->printed.length > 0);
    if (console->phase == CONSOLE_LEAVES && console->printed.length == 0) {
        end_program(console);
    } else if (console->call == NULL) {
        next_command(console);
    }
    show_prompt(console);
}

void console_say(struct console *console, const char *line)
{
    hide_prompt(console);
    complain(line);
    show_prompt(console);
}

/* ---- leaving ----------------------------------------------------------------------------------
 */

static void leave_console(struct console *console)
{
    size_t left = controller_jobs_left(console->controller);
    if (console->is_person && left > 0 && !console->warned) {
        char text[100];
        (void)snprintf(text, sizeof(text), "jobs that are not done: %zu; exit again to end them",
                       left);
        complain(text);
        console->warned = true;
        return;
    }
    console->phase = CONSOLE_LEAVES;
    os_console_want(console->input, false);
    if (console->printed.length == 0) {
        end_program(console);
    }
}

/* ---- commands ---------------------------------------------------------------------------------
 */

static void command_is_done(void *arg, const struct command_answer *answer)
{
    struct console *console = arg;
    console->call = NULL;
    strbuf_append(&console->printed, answer->text.data, answer->text.length);
    if (answer->why.length > 0) {
        blame_line(console->line, answer->why.data, answer->why.length);
    }
    console->failed = console->failed || answer->status != COMMAND_DONE;
    if (answer->leave) {
        leave_console(console);
    } else {
        console->warned = false;
    }
    write_out(console);
}

static void say_note(void *arg, const char *text)
{
    console_say(arg, text);
}

static void run_line(struct console *console, const char *text, size_t length)
{
    struct vec words = {0};
    struct err err;
    console->line += console->is_person ? 0 : 1;
    if (script_line_read(text, length, &words, &err) != 0) {
        blame_line(console->line, err.text, strlen(err.text));
        console->failed = true;
    } else if (words.count > 0) {
        console->call = commands_run(console->commands, (char *const *)words.items, words.count,
                                     NULL, command_is_done, say_note, console);
    }
    vec_fini(&words, mem_free);
}

static void rest_is_done(void *arg, const struct command_answer *answer)
{
    struct console *console = arg;
    (void)answer;
    console->call = NULL;
    leave_console(console);
}

/* At the end of a script all jobs are waited for. */
static void script_has_ended(struct console *console)
{
    char wait[] = "wait";
    char *const words[] = {wait};
    console->call =
        commands_run(console->commands, words, 1, NULL, rest_is_done, say_note, console);
}

/* Drops what has been executed, when that is much, so that each byte is moved about once. */
static void drop_executed(struct console *console)
{
    struct strbuf *lines = &console->lines;
    if (console->lines_at >= READ_BYTES || console->lines_at == lines->length) {
        lines->length -= console->lines_at;
        if (lines->length > 0) {
            memmove(lines->data, lines->data + console->lines_at, lines->length);
        }
        console->lines_at = 0;
    }
}

/* Runs the lines that are there, until one of them takes time. */
static void next_command(struct console *console)
{
    struct strbuf *lines = &console->lines;
    while (console->call == NULL && console->phase != CONSOLE_LEAVES &&
           console->printed.length < PRINTED_MAX && console->lines_at < lines->length) {
        const char *line = lines->data + console->lines_at;
        size_t rest = lines->length - console->lines_at;
        const char *newline = memchr(line, '\n', rest);
        if (newline == NULL && console->phase != CONSOLE_ENDED) {
            if (rest <= SCRIPT_LINE_MAX) {
                break;
            }
            console->phase = CONSOLE_SKIPS; /* what is there is refused as too long */
        }
        size_t length = newline != NULL ? (size_t)(newline - line) : rest;
        console->lines_at += length + (newline != NULL ? 1 : 0);
        run_line(console, line, length);
    }
    drop_executed(console);
    bool idle = console->call == NULL && console->phase != CONSOLE_LEAVES;
    if (idle && console->phase == CONSOLE_ENDED && lines->length == 0) {
        script_has_ended(console);
    }
    os_console_want(console->input, idle && console->phase != CONSOLE_ENDED &&
                                        console->printed.length < PRINTED_MAX);
}

/* What is left of a line that is too long is dropped. */
static void take_input(struct console *console, const char *data, size_t length)
{
    size_t at = 0;
    if (console->phase == CONSOLE_SKIPS) {
        const char *newline = memchr(data, '\n', length);
        at = newline != NULL ? (size_t)(newline - data) + 1 : length;
        console->phase = newline != NULL ? CONSOLE_READS : CONSOLE_SKIPS;
    }
    strbuf_append(&console->lines, data + at, length - at);
    CHECK(!console->lines.failed); /* more is only read when less than one line is left */
}

static void input_can_be_read(void *arg)
{
    struct console *console = arg;
    if (console->is_person) {
        edit_line_read();
        return;
    }
    char data[READ_BYTES];
    ssize_t got = os_console_read(console->input, data, sizeof(data));
    if (got > 0) {
        take_input(console, data, (size_t)got);
    } else {
        console->phase = CONSOLE_ENDED;
    }
    next_command(console);
}

static void line_is_typed(void *arg, const char *text)
{
    struct console *console = arg;
    hide_prompt(console);
    if (text == NULL) {
        leave_console(console);
    } else {
        strbuf_puts(&console->lines, text);
        strbuf_putc(&console->lines, '\n');
        next_command(console);
    }
    show_prompt(console);
}

/* Ctrl-C ends a "wait"; else it drops the line, or ends a script. */
static void is_interrupted(void *arg)
{
    struct console *console = arg;
    if (console->call != NULL && console->is_person) {
        command_cancel(console->call);
        console->call = NULL;
        console->failed = true;
        complain("interrupted; the jobs go on");
        next_command(console);
        show_prompt(console);
    } else if (console->is_person) {
        edit_line_drop();
    } else {
        loop_stop(console->loop, 128 + SIGINT);
    }
}

/* Continued after Ctrl-Z: the shell has used the terminal meanwhile. */
static void is_continued(void *arg)
{
    struct console *console = arg;
    if (console->prompt_shown) {
        edit_line_drop();
    }
}

/* ---- life -------------------------------------------------------------------------------------
 */

int console_open(struct loop *loop, struct controller *controller, struct commands *commands,
                 struct console **ret, struct err *err)
{
    struct console *console = mem_zalloc(sizeof(*console));
    console->loop = loop;
    console->controller = controller;
    console->commands = commands;
    strbuf_init(&console->lines, SCRIPT_LINE_MAX + 2 * READ_BYTES);
    strbuf_init(&console->printed, 0);
    int rc = os_console_open(loop, false, input_can_be_read, console, &console->input, err);
    rc = rc != 0 ? rc : os_output_open(loop, write_out, console, &console->output, err);
    if (rc != 0) {
        console_close(console);
        return rc;
    }
    console->is_person = os_console_is_tty();
    loop_on_signal(loop, SIGINT, is_interrupted, console);
    if (console->is_person) {
        loop_on_signal(loop, SIGCONT, is_continued, console);
        edit_line_open(PROMPT, line_is_typed, console);
        console->prompt_shown = true;
    }
    os_console_want(console->input, true);
    *ret = console;
    return 0;
}

void console_close(struct console *console)
{
    if (console == NULL) {
        return;
    }
    if (console->is_person) {
        edit_line_close();
    }
    if (console->call != NULL) {
        command_cancel(console->call);
    }
    os_console_close(console->input);
    os_output_close(console->output);
    strbuf_fini(&console->lines);
    strbuf_fini(&console->printed);
    mem_free(console);
}
