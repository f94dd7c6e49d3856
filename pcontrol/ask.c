/* pcontrol/ask.c - a client of pcontrol's socket; see pcontrol.h and server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/stream/stream.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "pcontrol/commands.h"
#include "pcontrol/pcontrol.h"
#include "pcontrol/script_line_plan.h"
#include "pcontrol/server.h"

struct asking {
    const char *server;
    uint64_t line; /* of standard input; 0: the command is one of the command line */
    struct stream *stream;
    bool answered, closed;
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

/* Takes the answer out of the input when it is complete. */
static void take_answer(void *arg)
{
    struct asking *asking = arg;
    size_t length, text = 0, why = 0;
    int leave = 0;
    const char *data = stream_input(asking->stream, &length);
    const char *newline = memchr(data, '\n', length);
    if (newline == NULL || asking->answered) {
        return;
    }
    size_t head = (size_t)(newline - data) + 1;
    if (head > 100 || sscanf(data, "%d %d %zu %zu\n", &asking->status, &leave, &text, &why) != 4) {
        asking->closed = true;
        return;
    }
    if (length - head < text + why) {
        return;
    }
    print_answer(asking, data + head, text);
    blame_line(asking, data + head + text, why);
    stream_consume(asking->stream, head + text + why);
    asking->leave = leave != 0;
    asking->answered = true;
}

static void server_has_gone(void *arg, int code, const char *why)
{
    struct asking *asking = arg;
    if (!asking->answered) {
        (void)fprintf(stderr, "pcontrol: no server answers at %s: %s%s\n", asking->server, why,
                      code == 0 ? " (only the user who started it, and root, may ask it)" : "");
    }
    asking->closed = true;
    asking->answered = true;
    asking->status = COMMAND_FAILED;
}

static void nothing_to_do(void *arg)
{
    (void)arg;
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
            one = ask_words(loop, asking, cwd, (char *const *)words.items, words.count);
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
    static const struct stream_events EVENTS = {.opened = nothing_to_do,
                                                .readable = take_answer,
                                                .closed = server_has_gone};
    struct asking asking = {.server = server};
    struct strbuf address;
    char *path = NULL, *cwd = NULL;
    int status = COMMAND_FAILED;
    strbuf_init(&address, 0);
    if (os_absolute(os, server, &path, err) == 0 && os_absolute(os, "./", &cwd, err) == 0) {
        strbuf_printf(&address, "unix:%s", path);
        int rc = stream_connect(loop, strbuf_text(&address), SERVER_ROUTE, NULL, &EVENTS, &asking,
                                &asking.stream, err);
        if (rc != 0) {
            (void)err_prefix(err, rc, "no server answers at %s", server);
        } else {
            status = count > 0 ? ask_words(loop, &asking, cwd, words, count)
                               : ask_lines(loop, &asking, cwd);
            stream_close(asking.stream);
        }
    }
    strbuf_fini(&address);
    mem_free(path);
    mem_free(cwd);
    return status;
}
