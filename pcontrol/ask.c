/* pcontrol/ask.c - a client of pcontrol's socket; see pcontrol.h and server.h.
 *
 * Design note: whoever starts a server and then a client should not have to wait in between until
 * the socket is there, so the client tries for a while.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_console.h"
#include "base/stream/stream.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "pcontrol/commands.h"
#include "pcontrol/pcontrol.h"
#include "pcontrol/script_line_plan.h"
#include "pcontrol/server.h"

#define CONNECT_MS   2000 /* for so long a server that is not there yet is waited for */
#define RECONNECT_MS 50

struct asking {
    const char *server;
    uint64_t line; /* of standard input; 0: the command is one of the command line */
    struct stream *stream;
    bool opened, closed;
    bool answered; /* also: the connection is made, or could not be made */
    int code;      /* why the connection could not be made */
    char why[ERR_TEXT_MAX];
    int status;
    bool leave;
};

/* ---- the answer -------------------------------------------------------------------------------
 */

/* An answer that cannot be printed is an error, and no further command is sent. */
static void print_answer(struct asking *asking, const char *text, size_t length)
{
    errno = 0;
    if ((length > 0 && fwrite(text, 1, length, stdout) != length) || fflush(stdout) != 0) {
        (void)fprintf(stderr, "pcontrol: standard output: %s\n", err_code_text(-errno));
        asking->closed = true;
        asking->status = COMMAND_FAILED;
    }
}

static void blame_line(const struct asking *asking, const char *why, size_t length)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    script_line_blame(asking->line, why, length, &text);
    (void)fputs(strbuf_text(&text), stderr);
    strbuf_fini(&text);
}

/* Takes an answer or a note out of the input.  Returns false if none is complete. */
static bool take_message(struct asking *asking)
{
    size_t length, text = 0, why = 0;
    int leave = 0;
    const char *data = stream_input(asking->stream, &length);
    const char *newline = memchr(data, '\n', length);
    if (newline == NULL || asking->answered) {
        return false;
    }
    size_t head = (size_t)(newline - data) + 1;
    if (head > 100 || sscanf(data, "%d %d %zu %zu\n", &asking->status, &leave, &text, &why) != 4) {
        asking->closed = true;
        return false;
    }
    if (length - head < text + why) {
        return false;
    }
    print_answer(asking, data + head, text);
    blame_line(asking, data + head + text, why);
    stream_consume(asking->stream, head + text + why);
    asking->leave = leave != 0;
    asking->answered = asking->status != SERVER_NOTE;
    return true;
}

static void take_answer(void *arg)
{
    while (take_message(arg)) {
    }
}

static void server_has_gone(void *arg, int code, const char *why)
{
    struct asking *asking = arg;
    if (!asking->opened) {
        asking->code = code != 0 ? code : -ECONNRESET;
        (void)snprintf(asking->why, sizeof(asking->why), "%s", why);
    } else if (!asking->answered) {
        char text[ERR_TEXT_MAX];
        (void)snprintf(text, sizeof(text), "the server at %s has ended", asking->server);
        blame_line(asking, text, strlen(text));
    }
    asking->closed = true;
    asking->answered = true;
    asking->status = COMMAND_FAILED;
}

/* ---- the connection ---------------------------------------------------------------------------
 */

static void server_is_there(void *arg)
{
    struct asking *asking = arg;
    asking->opened = true;
    asking->answered = true;
}

static void time_is_over(void *arg)
{
    struct asking *asking = arg;
    asking->answered = true;
}

static int connect_once(struct loop *loop, struct asking *asking, const char *address)
{
    static const struct stream_events EVENTS = {.opened = server_is_there,
                                                .readable = take_answer,
                                                .closed = server_has_gone};
    struct err err;
    asking->code = 0;
    asking->closed = false;
    asking->answered = false;
    int rc =
        stream_connect(loop, address, SERVER_ROUTE, NULL, &EVENTS, asking, &asking->stream, &err);
    if (rc != 0) {
        (void)snprintf(asking->why, sizeof(asking->why), "%s", err.text);
        return rc;
    }
    loop_run_until(loop, &asking->answered);
    if (!asking->opened) {
        stream_close(asking->stream);
        asking->stream = NULL;
    }
    return asking->code;
}

/* Returns 0; or -errno with err set, then there is no stream. */
static int connect_server(struct loop *loop, struct asking *asking, const char *address,
                          struct err *err)
{
    struct loop_timer *timer = loop_timer_create(loop, time_is_over, asking);
    uint64_t end_ms = loop_now_ms(loop) + CONNECT_MS;
    int rc;
    while ((rc = connect_once(loop, asking, address)) != 0 &&
           (rc == -ENOENT || rc == -ECONNREFUSED) && loop_now_ms(loop) < end_ms) {
        asking->answered = false;
        loop_timer_set(timer, RECONNECT_MS);
        loop_run_until(loop, &asking->answered);
    }
    loop_timer_destroy(timer);
    return rc == 0 ? 0
                   : err_set(err, rc, "no server answers at %s: %s", asking->server, asking->why);
}

/* ---- the request ------------------------------------------------------------------------------
 */

static int send_words(struct asking *asking, const char *cwd, char *const *words, size_t count)
{
    struct strbuf request;
    strbuf_init(&request, SERVER_LENGTH + SERVER_REQUEST_MAX);
    strbuf_append(&request, "\0\0\0", SERVER_LENGTH);
    strbuf_append(&request, cwd, strlen(cwd) + 1);
    for (size_t i = 0; i < count; i++) {
        strbuf_append(&request, words[i], strlen(words[i]) + 1);
    }
    if (request.failed) {
        struct err err;
        (void)err_set(&err, -E2BIG, "the command has more than %zu bytes", SERVER_REQUEST_MAX);
        blame_line(asking, err.text, strlen(err.text));
        strbuf_fini(&request);
        return -E2BIG;
    }
    size_t size = request.length - SERVER_LENGTH;
    for (size_t i = 0; i < SERVER_LENGTH; i++) {
        request.data[i] = (char)(size >> (8 * (SERVER_LENGTH - 1 - i)) & 0xff);
    }
    int rc = stream_write(asking->stream, request.data, request.length);
    strbuf_fini(&request);
    return rc;
}

static int ask_words(struct loop *loop, struct asking *asking, const char *cwd, char *const *words,
                     size_t count)
{
    asking->answered = false;
    if (send_words(asking, cwd, words, count) != 0) {
        return COMMAND_FAILED;
    }
    loop_run_until(loop, &asking->answered);
    return asking->status;
}

/* A person at a terminal is asked before jobs are ended. */
static int ask_person(struct loop *loop, struct asking *asking, const char *cwd, char *const *words,
                      size_t count)
{
    char idle[] = "-idle", reply[20];
    bool ends = count == 1 && (strcmp(words[0], "exit") == 0 || strcmp(words[0], "quit") == 0);
    if (ends && os_console_is_tty()) {
        char *const careful[] = {words[0], idle};
        int status = ask_words(loop, asking, cwd, careful, ARRAY_COUNT(careful));
        if (status != COMMAND_FAILED || asking->closed || asking->leave) {
            return status;
        }
        (void)fputs("pcontrol: end them, and the server? (yes or no) ", stderr);
        if (fgets(reply, sizeof(reply), stdin) == NULL || strncmp(reply, "yes", 3) != 0) {
            return status;
        }
    }
    return ask_words(loop, asking, cwd, words, count);
}

/* Reads a line of standard input, without its newline; of one that is too long only the first
 * SCRIPT_LINE_MAX + 1 bytes are kept.  Returns false at the end. */
static bool read_line(struct strbuf *line)
{
    int byte;
    strbuf_clear(line);
    while ((byte = getc(stdin)) != EOF && byte != '\n') {
        if (line->length <= SCRIPT_LINE_MAX) {
            strbuf_putc(line, (char)byte);
        }
    }
    return byte == '\n' || line->length > 0;
}

/* Sends the lines of standard input, one after the other. */
static int ask_lines(struct loop *loop, struct asking *asking, const char *cwd)
{
    struct strbuf line;
    int status = COMMAND_DONE;
    strbuf_init(&line, 0);
    while (!asking->closed && !asking->leave && read_line(&line)) {
        struct vec words = {0};
        struct err err;
        int one = COMMAND_DONE;
        asking->line++;
        if (script_line_read(strbuf_text(&line), line.length, &words, &err) != 0) {
            blame_line(asking, err.text, strlen(err.text));
            one = COMMAND_USAGE;
        } else if (words.count > 0) {
            one = ask_person(loop, asking, cwd, (char *const *)words.items, words.count);
        }
        status = one != COMMAND_DONE ? COMMAND_FAILED : status;
        vec_fini(&words, mem_free);
    }
    strbuf_fini(&line);
    return status;
}

int pcontrol_ask(struct loop *loop, struct os *os, const char *server, char *const *words,
                 size_t count, struct err *err)
{
    struct asking asking = {.server = server};
    struct strbuf address;
    char *path = NULL, *cwd = NULL;
    int status = COMMAND_FAILED;
    strbuf_init(&address, 0);
    if (os_absolute(os, server, &path, err) == 0 && os_absolute(os, "./", &cwd, err) == 0) {
        strbuf_printf(&address, "unix:%s", path);
        if (connect_server(loop, &asking, strbuf_text(&address), err) == 0) {
            status = count > 0 ? ask_person(loop, &asking, cwd, words, count)
                               : ask_lines(loop, &asking, cwd);
            stream_close(asking.stream);
        }
    }
    strbuf_fini(&address);
    mem_free(path);
    mem_free(cwd);
    return status;
}
