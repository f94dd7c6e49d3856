/* starter/shell.c - programs beside the job, for `roost ssh`: docs/protocol/access.md.
 *
 * Such a program differs from the job's own processes only in its parent.  It is in the job's
 * namespaces and cgroup and runs as its account; so what it uses is counted and limited as the
 * job's, it is frozen with the job, and dies with it.  We hold its terminal or pipes.  Bytes are
 * transferred one request at a time: an owner who does not read gets no more, and a program that
 * does not read is not written to.
 *
 * There is no way back to a shell whose connection was lost: it is hung up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/shell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_terminal.h"
#include "base/signal_name.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/job/job_place.h"
#include "starter/starter.h"
#include "wire/wire.h"

#define SHELLS_MAX      8
#define SHELL_BYTES     ((size_t)64 << 10)
#define SHELL_WORDS_MAX 4096
#define HANG_UP_MS      3000 /* between SIGHUP and SIGKILL */
#define SIZE_MAX_TTY    10000
#define INTERACTIVE_S   180 /* for the owner of an interactive job to come */

struct shell {
    LIST_ENTRY(shell) entry;
    struct starter *starter;
    int64_t number;
    pid_t pid; /* and its process group; 0: gone */
    struct os_terminal *terminal;
    struct wire_request *read;  /* SHELL_READ that waits; NULL: none */
    struct wire_request *write; /* SHELL_WRITE whose bytes are not all written; NULL: none */
    size_t written;             /* of these */
    bool ended[3];              /* streams 1 and 2 are at their end */
    bool exited, hung_up;
    bool suspended_told;
    struct os_exit exit;
    struct loop_timer *kill_timer;
};

/* ---- its end --------------------------------------------------------------------------------- */

static void forget_requests(struct shell *shell)
{
    if (shell->read != NULL) {
        wire_reply_error(shell->read, -ESRCH, "the shell has ended");
    }
    if (shell->write != NULL) {
        wire_reply_error(shell->write, -EPIPE, "the shell has ended");
    }
    shell->read = shell->write = NULL;
}

static void shell_destroy(struct shell *shell)
{
    struct starter *starter = shell->starter;
    forget_requests(shell);
    if (shell->pid > 0) {
        os_forget(starter->env.os, shell->pid);
    }
    os_terminal_close(shell->terminal);
    loop_timer_destroy(shell->kill_timer);
    LIST_REMOVE(shell, entry);
    mem_free(shell);
}

static void kill_now(void *arg)
{
    struct shell *shell = arg;
    if (shell->pid > 0) {
        (void)os_kill_group(shell->starter->env.os, shell->pid, SIGKILL); /* gone: its exit comes */
    }
}

static void hang_up(struct shell *shell)
{
    struct os *os = shell->starter->env.os;
    shell->hung_up = true;
    forget_requests(shell);
    if (shell->pid <= 0) {
        shell_destroy(shell);
        return;
    }
    os_terminal_close(shell->terminal); /* the kernel tells what is on it */
    shell->terminal = NULL;
    (void)os_kill_group(os, shell->pid, SIGHUP);
    (void)os_kill_group(os, shell->pid, SIGCONT);
    loop_timer_set(shell->kill_timer, HANG_UP_MS);
}

/* A shell is killed with the job's namespace before we are told that the job has ended: so the
 * job's process itself is looked at. */
static bool job_is_gone(const struct starter *starter)
{
    return starter->run.phase > STARTER_RUN || starter->run.process.pid <= 0 ||
           os_start_time(starter->env.os, starter->run.process.job_pid) == 0;
}

static void tell_end(struct shell *shell)
{
    struct ad *args = ad_create();
    ad_set_bool(args, "Exited", true);
    if (shell->exit.signal != 0) {
        ad_set_int(args, "ExitSignal", shell->exit.signal);
    } else {
        ad_set_int(args, "ExitCode", shell->exit.status);
    }
    if (job_is_gone(shell->starter)) {
        ad_set_string(args, "Reason", "the job has ended");
    }
    const struct wire_body body = {.args = args};
    wire_reply_ok(shell->read, &body);
    shell->read = NULL;
    ad_destroy(args);
    shell_destroy(shell);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool tell_suspended(struct shell *shell)
{
    bool frozen = shell->starter->run.process.frozen;
    if (shell->read == NULL || shell->suspended_told == frozen) {
        return false;
    }
    struct ad *args = ad_create();
    ad_set_bool(args, "Suspended", frozen);
    const struct wire_body body = {.args = args};
    shell->suspended_told = frozen;
    wire_reply_ok(shell->read, &body);
    shell->read = NULL;
    ad_destroy(args);
    return true;
}

/* Answers the SHELL_READ with what the stream has.  False: it has nothing now. */
static bool give_output(struct shell *shell, int stream)
{
    char data[SHELL_BYTES];
    if (shell->ended[stream]) {
        return false;
    }
    ssize_t got = os_terminal_read(shell->terminal, stream, data, sizeof data);
    if (got <= 0) {
        shell->ended[stream] = got == 0;
        return false;
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Stream", stream);
    const struct wire_body body = {.args = args, .blob = data, .blob_length = (size_t)got};
    wire_reply_ok(shell->read, &body);
    shell->read = NULL;
    ad_destroy(args);
    return true;
}

static void finish_write(struct shell *shell, int status)
{
    struct wire_request *request = shell->write;
    shell->write = NULL;
    if (status == 0) {
        if (ad_bool_or(wire_request_args(request), "Eof", false)) {
            os_terminal_end_input(shell->terminal);
        }
        wire_reply_ok(request, NULL);
    } else {
        wire_reply_error(request, status, "the program does not read its input any more");
    }
}

static void take_input(struct shell *shell)
{
    size_t length = 0;
    const char *data = wire_request_blob(shell->write, &length);
    while (shell->written < length) {
        ssize_t took =
            os_terminal_write(shell->terminal, data + shell->written, length - shell->written);
        if (took == -EAGAIN) {
            return;
        }
        if (took < 0) {
            finish_write(shell, (int)took);
            return;
        }
        shell->written += (size_t)took;
    }
    finish_write(shell, 0);
}

/* Does what can be done now.  May destroy the shell. */
static void serve_shell(struct shell *shell)
{
    if (shell->hung_up) {
        return;
    }
    if (shell->write != NULL) {
        take_input(shell);
    }
    if (shell->read != NULL && !tell_suspended(shell) && !give_output(shell, 1) &&
        !give_output(shell, 2) && shell->exited) {
        tell_end(shell); /* what is still open is held by what it left behind */
        return;
    }
    bool reads = shell->read != NULL;
    os_terminal_want(shell->terminal, shell->write != NULL, reads && !shell->ended[1],
                     reads && !shell->ended[2]);
}

static void terminal_ready(void *arg)
{
    serve_shell(arg);
}

static void on_exit_of_shell(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    struct shell *shell;
    LIST_FOREACH(shell, &starter->run.shells.list, entry)
    {
        if (shell->pid == pid) {
            break;
        }
    }
    if (shell == NULL) {
        return;
    }
    shell->pid = 0;
    shell->exited = true;
    shell->exit = *how;
    log_info(starter->env.log, "shell.ended", "a program beside the job has ended",
             LOG_TEXT("job", starter->run.job_id), LOG_INT("status", how->status),
             LOG_INT("signal", how->signal));
    if (shell->hung_up) {
        shell_destroy(shell);
    } else {
        serve_shell(shell);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint16_t size_of(const struct ad *args, const char *name, int64_t otherwise)
{
    int64_t size = ad_int_or(args, name, otherwise);
    return (uint16_t)(size < 1 || size > SIZE_MAX_TTY ? otherwise : size);
}

static void push_text(struct vec *entries, const char *name, const char *value)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s=%s", name, value);
    vec_push(entries, strbuf_take(&text));
}

static int make_argv(const struct ad *args, struct starter *starter, struct vec *argv,
                     struct err *err)
{
    struct ad_value list;
    struct os_stat stat;
    (void)ad_eval_attr(args, NULL, "Command", NULL, &list); /* absent: no elements */
    size_t count = ad_value_count(&list);
    int rc = count > SHELL_WORDS_MAX
                 ? err_set(err, -E2BIG, "the command has more than %d words", SHELL_WORDS_MAX)
                 : 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            vec_push(argv, mem_strdup(item.string.text));
        } else {
            rc = err_set(err, -EINVAL, "Command must be a list of strings");
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    if (rc == 0 && count == 0) {
        bool bash = os_stat(starter->env.os, "/bin/bash", &stat) == 0;
        vec_push(argv, mem_strdup(bash ? "/bin/bash" : "/bin/sh"));
    }
    vec_push(argv, NULL);
    return rc;
}

static int start_program(struct shell *shell, const struct ad *args, struct err *err)
{
    struct starter *starter = shell->starter;
    struct vec argv = {0}, entries = {0};
    const struct os_terminal_spec terminal = {
        .tty = ad_bool_or(args, "Tty", false),
        .rows = size_of(args, "Rows", 24),
        .columns = size_of(args, "Columns", 80),
        .ready = terminal_ready,
        .arg = shell,
    };
    int rc = make_argv(args, starter, &argv, err);
    rc = rc != 0 ? rc : job_place_environment(starter, &entries, err);
    rc = rc != 0 ? rc : os_terminal_open(starter->env.os, &terminal, &shell->terminal, err);
    if (rc == 0) {
        if (terminal.tty) {
            push_text(&entries, "TERM", ad_string_or(args, "Term", "dumb"));
        }
        vec_push(&entries, NULL);
        shell->ended[2] = terminal.tty;
        struct os_spawn spec = job_place_spec(starter);
        spec.argv = (const char *const *)argv.items;
        spec.env = (const char *const *)entries.items;
        spec.cwd = job_place_directory(starter);
        spec.terminal = shell->terminal;
        spec.kin = OS_SUBREAPER_JOB;
        rc = cage_spawn_beside(starter, &spec, on_exit_of_shell, &shell->pid, err);
    }
    vec_fini(&argv, mem_free);
    vec_fini(&entries, mem_free);
    return rc;
}

static int may_open(const struct starter *starter, struct err *err)
{
    const struct shell *shell;
    size_t count = 0;
    LIST_FOREACH(shell, &starter->run.shells.list, entry)
    {
        count++;
    }
    if (count >= SHELLS_MAX) {
        return err_set(err, -EBUSY, "job %s already has %d open shells", starter->run.job_id,
                       SHELLS_MAX);
    }
    if (starter->run.phase < STARTER_RUN) {
        return err_set(err, -ESRCH, "the input of job %s is still being transferred",
                       starter->run.job_id);
    }
    if (starter->run.phase > STARTER_RUN || starter->run.process.pid <= 0 ||
        starter->run.script != SCRIPT_JOB) {
        return err_set(err, -ESRCH, "the program of job %s is not running%s", starter->run.job_id,
                       starter->run.phase > STARTER_RUN ? " any more" : " now");
    }
    if (starter->run.process.frozen) {
        return err_set(err, -EBUSY,
                       "job %s is suspended, and a shell would be suspended, too; try again when "
                       "the job continues",
                       starter->run.job_id);
    }
    return 0;
}

static void open_shell(struct starter *starter, struct wire_request *request)
{
    struct err err = {{0}};
    int rc = may_open(starter, &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
        return;
    }
    struct shell *shell = mem_zalloc(sizeof *shell);
    starter->run.end.odd = true; /* the next job gets a starter that had no guests */
    shell->starter = starter;
    shell->number = ++starter->run.shells.last_number;
    shell->kill_timer = loop_timer_create(starter->env.loop, kill_now, shell);
    LIST_INSERT_HEAD(&starter->run.shells.list, shell, entry);
    rc = start_program(shell, wire_request_args(request), &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
        shell_destroy(shell);
        return;
    }
    log_info(starter->env.log, "shell.started", "started a program beside the job for its owner",
             LOG_TEXT("job", starter->run.job_id), LOG_INT("pid", shell->pid));
    struct ad *args = ad_create();
    ad_set_int(args, "Shell", shell->number);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void send_signal(struct shell *shell, const char *name)
{
    int number = signal_name_number(name);
    pid_t group = shell->pid > 0 ? os_terminal_foreground(shell->terminal) : 0;
    /* The kernel tells a group of another namespace as we know it. */
    group = group > 1 ? group : shell->pid;
    if (number > 0 && group > 1) {
        (void)os_kill_group(shell->starter->env.os, group, number); /* gone: its exit comes */
    }
}

static void write_shell(struct shell *shell, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    size_t length = 0;
    (void)wire_request_blob(request, &length);
    if (ad_bool_or(args, "HangUp", false)) {
        wire_reply_ok(request, NULL);
        hang_up(shell);
        return;
    }
    if (ad_has(args, "Rows")) {
        os_terminal_resize(shell->terminal, size_of(args, "Rows", 24),
                           size_of(args, "Columns", 80));
    }
    if (ad_has(args, "Signal")) {
        send_signal(shell, ad_string_or(args, "Signal", ""));
    }
    if (length == 0 && !ad_bool_or(args, "Eof", false)) {
        wire_reply_ok(request, NULL);
    } else if (shell->write != NULL || length > SHELL_BYTES) {
        wire_reply_error(request, -EBUSY, "SHELL_WRITE takes at most %zu bytes at a time",
                         SHELL_BYTES);
    } else {
        shell->write = request;
        shell->written = 0;
        serve_shell(shell);
    }
}

void shells_handle(struct starter *starter, struct wire_request *request)
{
    int64_t number = ad_int_or(wire_request_args(request), "Shell", 0);
    struct shell *shell;
    if (wire_request_verb(request) == VERB_SHELL_OPEN) {
        open_shell(starter, request);
        return;
    }
    LIST_FOREACH(shell, &starter->run.shells.list, entry)
    {
        if (shell->number == number && !shell->hung_up) {
            break;
        }
    }
    if (shell == NULL) {
        wire_reply_error(request, -ESRCH, "the shell has ended");
    } else if (wire_request_verb(request) == VERB_SHELL_WRITE) {
        write_shell(shell, request);
    } else if (shell->read != NULL) {
        wire_reply_error(request, -EBUSY, "only one SHELL_READ at a time");
    } else {
        shell->read = request;
        serve_shell(shell);
    }
}

void shells_note_frozen(struct starter *starter)
{
    struct shell *shell = LIST_FIRST(&starter->run.shells.list);
    while (shell != NULL) {
        struct shell *next = LIST_NEXT(shell, entry);
        serve_shell(shell);
        shell = next;
    }
}

void shells_look(struct starter *starter)
{
    bool waits = starter->run.shells.last_number == 0 &&
                 loop_since_s(starter->env.loop, starter->run.process.started_ms) < INTERACTIVE_S;
    if (LIST_EMPTY(&starter->run.shells.list) && !waits && starter->run.stop.how == RUNS_ON &&
        !starter->run.process.frozen && starter->run.script == SCRIPT_JOB &&
        ad_bool_or(starter->run.job, "InteractiveJob", false)) {
        log_info(starter->env.log, "shell.none", "the interactive job has no shell left and ends",
                 LOG_TEXT("job", starter->run.job_id),
                 LOG_INT("shells", starter->run.shells.last_number));
        (void)os_kill(starter->env.os, starter->run.process.pid,
                      SIGTERM); /* gone: its end is on its way, else the next look */
    }
}

void shells_hang_up(struct starter *starter)
{
    struct shell *shell = LIST_FIRST(&starter->run.shells.list);
    while (shell != NULL) {
        struct shell *next = LIST_NEXT(shell, entry);
        if (!shell->hung_up) {
            hang_up(shell);
        }
        shell = next;
    }
}

void shells_close(struct starter *starter)
{
    while (!LIST_EMPTY(&starter->run.shells.list)) {
        struct shell *shell = LIST_FIRST(&starter->run.shells.list);
        kill_now(shell);
        if (!shell->exited) {
            shell->exit = (struct os_exit){.status = -1, .signal = SIGKILL};
        }
        if (shell->read != NULL && !give_output(shell, 1) && !give_output(shell, 2)) {
            tell_end(shell);
        } else {
            shell_destroy(shell);
        }
    }
}
