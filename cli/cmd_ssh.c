/* cli/cmd_ssh.c - `roost ssh`: a shell, or a command, beside a running job.
 *
 * The worker needs no sshd and no open port: keys and output use the connections that the schedd
 * and the job's starter have anyway (docs/protocol/access.md).  At any time, at most one request
 * for output and one with input are unanswered; no other flow control is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_console.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/access.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/ssh_plan.h"
#include "wire/wire.h"

#define SSH_FAILED  255 /* exit status of our own failures, like ssh */
#define KEYS        16384
#define RETRY_MS    1000
#define PATIENCE_MS 30000

/* Whether the program gets a terminal; it gets none if we have none. */
enum ssh_terminal {
    SSH_TERMINAL_FOR_SHELL, /* for a shell, not for a command */
    SSH_TERMINAL_ALWAYS,    /* -t */
    SSH_TERMINAL_NEVER,     /* -T, with or without -t */
};

struct ssh {
    struct cli *cli;
    char job_id[64];
    struct vec command; /* words of the command; borrowed */
    bool auto_retry;
    enum ssh_terminal terminal;
    bool tty; /* the program gets a terminal */
    struct wire *wire;
    int64_t shell;
    struct os_console *console;
    struct ssh_escape escape;
    bool over, no_more_input;
    int status;
    char why[ERR_TEXT_MAX]; /* message to print after the terminal is restored; "": none */
};

static void finish_session(struct ssh *ssh, int status, const char *why)
{
    if (!ssh->over) {
        ssh->over = true;
        ssh->status = status;
        (void)snprintf(ssh->why, sizeof ssh->why, "%s", why);
    }
}

static struct ad *of_shell(const struct ssh *ssh)
{
    struct ad *args = ad_create();
    ad_set_int(args, "Shell", ssh->shell);
    return args;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void read_more(struct ssh *ssh);

/* Writes all of the data, waiting while a pipe is full: the reader sets the pace. */
static bool write_stream(int stream, const char *data, size_t length)
{
    FILE *file = stream == 2 ? stderr : stdout;
    return fwrite(data, 1, length, file) == length && fflush(file) == 0;
}

static void shell_ended(struct ssh *ssh, const struct ad *args)
{
    int64_t number = ad_int_or(args, "ExitSignal", 0);
    const char *reason = ad_string_or(args, "Reason", "");
    if (number > 0 && reason[0] == '\0') {
        (void)snprintf(ssh->why, sizeof ssh->why, "ended by signal %d", (int)number);
        reason = ssh->why;
    }
    int status = number > 0 ? 128 + (int)number : (int)ad_int_or(args, "ExitCode", SSH_FAILED);
    char why[ERR_TEXT_MAX];
    (void)snprintf(why, sizeof why, "%s", number > 0 ? reason : "");
    finish_session(ssh, status, why);
}

static void got_output(void *arg, struct wire_reply *reply)
{
    struct ssh *ssh = arg;
    if (reply->status != 0) {
        finish_session(ssh, SSH_FAILED,
                       reply->status == -ESRCH ? "the job has ended" : reply->text);
        return;
    }
    if (reply->args == NULL) {
        finish_session(ssh, SSH_FAILED, "cannot understand the starter's answer");
        return;
    }
    if (ad_bool_or(reply->args, "Exited", false)) {
        shell_ended(ssh, reply->args);
        return;
    }
    if (ad_has(reply->args, "Suspended")) {
        bool stands = ad_bool_or(reply->args, "Suspended", false);
        (void)fprintf(stderr, "%sroost ssh: the job %s%s", ssh->tty ? "\r\n" : "",
                      stands ? "is suspended; this shell is suspended with the job" : "continues",
                      ssh->tty ? "\r\n" : "\n");
    }
    if (reply->blob_length > 0 &&
        !write_stream((int)ad_int_or(reply->args, "Stream", 1), reply->blob, reply->blob_length)) {
        finish_session(ssh, SSH_FAILED, "cannot write to standard output");
        return;
    }
    read_more(ssh);
}

static void read_more(struct ssh *ssh)
{
    struct ad *args = of_shell(ssh);
    const struct wire_body body = {.args = args};
    if (wire_call(ssh->wire, VERB_SHELL_READ, &body, 0, got_output, ssh) < 0) {
        finish_session(ssh, SSH_FAILED, "the connection was lost");
    }
    ad_destroy(args);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void input_taken(void *arg, struct wire_reply *reply)
{
    struct ssh *ssh = arg;
    if (reply->status != 0) {
        ssh->no_more_input = true; /* the program does not read any more; it may still write */
    }
    if (!ssh->over && !ssh->no_more_input) {
        os_console_want(ssh->console, true);
    }
}

static void send_input(struct ssh *ssh, const char *data, size_t length, bool end)
{
    struct ad *args = of_shell(ssh);
    if (end) {
        ad_set_bool(args, "Eof", true);
        ssh->no_more_input = true;
    }
    const struct wire_body body = {.args = args, .blob = data, .blob_length = length};
    os_console_want(ssh->console, false);
    if (wire_call(ssh->wire, VERB_SHELL_WRITE, &body, 0, input_taken, ssh) < 0) {
        finish_session(ssh, SSH_FAILED, "the connection was lost");
    }
    ad_destroy(args);
}

static void keys_typed(void *arg)
{
    struct ssh *ssh = arg;
    char typed[KEYS], sent[2 * KEYS];
    ssize_t got = os_console_read(ssh->console, typed, sizeof typed);
    if (got <= 0) {
        send_input(ssh, NULL, 0, true);
        return;
    }
    size_t length = (size_t)got;
    const char *data = typed;
    if (ssh->tty) {
        data = sent;
        if (!ssh_escape_keys(&ssh->escape, typed, (size_t)got, sent, &length)) {
            finish_session(ssh, SSH_FAILED, "ended by the user (~.)");
            return;
        }
    }
    if (length > 0) {
        send_input(ssh, data, length, false);
    }
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply;
}

static void tell_shell(struct ssh *ssh, struct ad *args)
{
    const struct wire_body body = {.args = args};
    if (ssh->wire != NULL && ssh->shell != 0) {
        (void)wire_call(ssh->wire, VERB_SHELL_WRITE, &body, 0, ignore_answer, NULL);
    }
    ad_destroy(args);
}

static void terminal_resized(void *arg)
{
    struct ssh *ssh = arg;
    uint16_t rows, columns;
    if (ssh->tty && os_console_size(&rows, &columns)) {
        struct ad *args = of_shell(ssh);
        ad_set_int(args, "Rows", rows);
        ad_set_int(args, "Columns", columns);
        tell_shell(ssh, args);
    }
}

static void send_signal(struct ssh *ssh, const char *name)
{
    struct ad *args = of_shell(ssh);
    ad_set_string(args, "Signal", name);
    tell_shell(ssh, args);
}

static void on_interrupt(void *arg)
{
    send_signal(arg, "SIGINT");
}

static void on_quit(void *arg)
{
    send_signal(arg, "SIGQUIT");
}

static void told_to_end(void *arg)
{
    finish_session(arg, 128 + SIGTERM, "terminated");
}

/* ---- opening --------------------------------------------------------------------------------- */

static void set_command(const struct ssh *ssh, struct ad *args)
{
    if (ssh->command.count == 0) {
        return;
    }
    struct strbuf line; /* as ssh: the words are a line of shell */
    strbuf_init(&line, 0);
    for (size_t i = 0; i < ssh->command.count; i++) {
        strbuf_printf(&line, "%s%s", i > 0 ? " " : "", (const char *)ssh->command.items[i]);
    }
    const char *const words[] = {"/bin/sh", "-c", strbuf_text(&line)};
    ad_set_strings(args, "Command", words, 3);
    strbuf_fini(&line);
}

static int open_shell(struct ssh *ssh, struct err *err)
{
    struct cli_reply reply;
    int rc = ssh->wire != NULL ? 0 : access_run(ssh->cli, "Shell", ssh->job_id, &ssh->wire, err);
    if (rc != 0) {
        return rc;
    }
    struct ad *args = ad_create();
    set_command(ssh, args);
    ad_set_bool(args, "Tty", ssh->tty);
    if (ssh->tty) {
        uint16_t rows = 24, columns = 80;
        const char *term = os_getenv(ssh->cli->os, "TERM");
        (void)os_console_size(&rows, &columns);
        ad_set_string(args, "Term", term != NULL ? term : "dumb");
        ad_set_int(args, "Rows", rows);
        ad_set_int(args, "Columns", columns);
    }
    const struct wire_body body = {.args = args};
    rc = cli_call(ssh->cli, ssh->wire, NULL, VERB_SHELL_OPEN, &body, 0, &reply, err);
    ssh->shell = reply.args != NULL ? ad_int_or(reply.args, "Shell", 0) : 0;
    cli_reply_fini(&reply);
    ad_destroy(args);
    return rc;
}

/* Opens the shell.  Waits for a starter that is just being connected and, with -auto-retry, for a
 * job that does not run yet. */
static int open_patiently(struct ssh *ssh, struct err *err)
{
    uint64_t until_ms = loop_now_ms(ssh->cli->loop) + PATIENCE_MS;
    int rc;
    while ((rc = open_shell(ssh, err)) != 0) {
        bool waits = ssh->auto_retry && (rc == -ESRCH || rc == -EBUSY);
        if (!waits && (!access_is_passing(rc) || loop_now_ms(ssh->cli->loop) > until_ms)) {
            return rc;
        }
        if (ssh->wire != NULL) { /* the run may be over: a new ticket */
            wire_close(ssh->wire);
            ssh->wire = NULL;
        }
        cli_pause(ssh->cli, RETRY_MS);
    }
    return 0;
}

static int run_session(struct ssh *ssh)
{
    struct loop *loop = ssh->cli->loop;
    struct err err;
    if (open_patiently(ssh, &err) != 0) {
        (void)cli_fail(ssh->cli, "%s", err.text);
        return SSH_FAILED;
    }
    if (os_console_open(loop, ssh->tty, keys_typed, ssh, &ssh->console, &err) != 0) {
        (void)cli_fail(ssh->cli, "%s", err.text);
        return SSH_FAILED;
    }
    loop_on_signal(loop, SIGWINCH, terminal_resized, ssh);
    loop_on_signal(loop, SIGINT, on_interrupt, ssh);
    loop_on_signal(loop, SIGQUIT, on_quit, ssh);
    loop_on_signal(loop, SIGTERM, told_to_end, ssh);
    loop_on_signal(loop, SIGHUP, told_to_end, ssh);
    terminal_resized(ssh); /* it may have changed meanwhile */
    os_console_want(ssh->console, true);
    read_more(ssh);
    loop_run_until(loop, &ssh->over);
    os_console_close(ssh->console);
    if (ssh->why[0] != '\0') {
        (void)fprintf(stderr, "roost ssh: job %s: %s\n", ssh->job_id, ssh->why);
    }
    return ssh->status;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int parse_options(struct ssh *ssh)
{
    struct cli *cli = ssh->cli;
    struct err err;
    int i = 1;
    for (; i < cli->argc && cli->argv[i][0] == '-'; i++) {
        if (strcmp(cli->argv[i], "-t") == 0) {
            ssh->terminal =
                ssh->terminal == SSH_TERMINAL_NEVER ? SSH_TERMINAL_NEVER : SSH_TERMINAL_ALWAYS;
        } else if (strcmp(cli->argv[i], "-T") == 0) {
            ssh->terminal = SSH_TERMINAL_NEVER;
        } else if (listing_is(cli->argv[i], "auto-retry", 1)) {
            ssh->auto_retry = true;
        } else {
            return cli_usage(cli, "unknown argument '%s'", cli->argv[i]);
        }
    }
    if (i >= cli->argc) {
        return cli_usage(cli, "no job named");
    }
    if (access_job_id(cli->argv[i], ssh->job_id, sizeof ssh->job_id, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    for (i++; i < cli->argc; i++) {
        vec_push(&ssh->command, cli->argv[i]);
    }
    ssh->tty = os_console_is_tty() && ssh->terminal != SSH_TERMINAL_NEVER &&
               (ssh->command.count == 0 || ssh->terminal == SSH_TERMINAL_ALWAYS);
    return CLI_OK;
}

int cmd_ssh(struct cli *cli)
{
    struct ssh *ssh = mem_zalloc(sizeof *ssh);
    ssh->cli = cli;
    int status = parse_options(ssh);
    status = status == CLI_OK ? run_session(ssh) : status;
    vec_fini(&ssh->command, NULL);
    wire_close(ssh->wire);
    mem_free(ssh); /* the connection ends before the loop turns again */
    return status;
}

int ssh_when_it_runs(struct cli *cli, const char *job_id)
{
    struct ssh *ssh = mem_zalloc(sizeof *ssh);
    ssh->cli = cli;
    ssh->auto_retry = true;
    ssh->tty = os_console_is_tty();
    (void)snprintf(ssh->job_id, sizeof ssh->job_id, "%s", job_id); /* fits */
    int status = run_session(ssh);
    vec_fini(&ssh->command, NULL);
    wire_close(ssh->wire);
    mem_free(ssh);
    return status;
}
