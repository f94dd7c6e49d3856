/* pcontrol/server.c - see server.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/server.h"

#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/stream/stream.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "pcontrol/commands.h"

LIST_HEAD(client_list, client);

struct server {
    struct loop *loop;
    struct os *os;
    struct commands *commands;
    struct listener *listener;
    struct client_list clients;
};

struct client {
    LIST_ENTRY(client) entry;
    struct server *server;
    struct stream *stream;
    struct command_call *call;
    bool refused; /* another user's: its request is answered by that */
};

static void free_client(struct client *client)
{
    if (client->call != NULL) {
        command_cancel(client->call);
    }
    LIST_REMOVE(client, entry);
    stream_close(client->stream);
    mem_free(client);
}

static void next_request(struct client *client);

static int write_answer(struct client *client, const struct command_answer *answer)
{
    char head[100];
    int length = snprintf(head, sizeof(head), "%d %d %zu %zu\n", answer->status, answer->leave,
                          answer->text.length, answer->why.length);
    int rc = stream_write(client->stream, head, (size_t)length);
    rc = rc != 0 || answer->text.length == 0
             ? rc
             : stream_write(client->stream, answer->text.data, answer->text.length);
    rc = rc != 0 || answer->why.length == 0
             ? rc
             : stream_write(client->stream, answer->why.data, answer->why.length);
    return rc;
}

/* Sends what is written, and closes the connection. */
static void finish_client(struct client *client)
{
    LIST_REMOVE(client, entry);
    stream_finish(client->stream);
    mem_free(client);
}

static void send_answer(void *arg, const struct command_answer *answer)
{
    struct client *client = arg;
    struct server *server = client->server;
    client->call = NULL;
    int rc = write_answer(client, answer);
    if (answer->leave) {
        finish_client(client);
        loop_stop(server->loop, 0);
    } else if (rc != 0) {
        free_client(client);
    } else {
        next_request(client);
    }
}

/* A client that does not read gets no more of them. */
static void send_note(void *arg, const char *text)
{
    struct client *client = arg;
    if (stream_pending(client->stream) > 0) {
        return;
    }
    struct command_answer note = {.status = SERVER_NOTE};
    strbuf_init(&note.text, 0);
    strbuf_init(&note.why, 0);
    strbuf_puts(&note.why, text);
    (void)write_answer(client, &note); /* the end of the connection is told by a callback */
    strbuf_fini(&note.text);
    strbuf_fini(&note.why);
}

/* The client sends no further request after that. */
static void refuse_client(struct client *client)
{
    struct command_answer answer = {.status = COMMAND_FAILED, .leave = true};
    strbuf_init(&answer.text, 0);
    strbuf_init(&answer.why, 0);
    strbuf_puts(&answer.why, "only the user who started this server, and root, may ask it");
    (void)write_answer(client, &answer);
    finish_client(client);
    strbuf_fini(&answer.text);
    strbuf_fini(&answer.why);
}

/* Splits the request into its words; the last byte must be a zero.  Returns false if it is not. */
static bool read_words(const char *data, size_t length, struct vec *words)
{
    if (length == 0 || data[length - 1] != '\0') {
        return false;
    }
    for (size_t at = 0; at < length; at += strlen(data + at) + 1) {
        vec_push(words, mem_strdup(data + at));
    }
    return words->count >= 2;
}

static void next_request(struct client *client)
{
    size_t length;
    const uint8_t *data = stream_input(client->stream, &length);
    if (client->call != NULL || length < SERVER_LENGTH) {
        return;
    }
    size_t size = (size_t)data[0] << 24 | (size_t)data[1] << 16 | (size_t)data[2] << 8 | data[3];
    if (size > SERVER_REQUEST_MAX) {
        free_client(client);
        return;
    }
    if (length < SERVER_LENGTH + size) {
        return;
    }
    if (client->refused) {
        refuse_client(client);
        return;
    }
    struct vec words = {0};
    if (!read_words((const char *)data + SERVER_LENGTH, size, &words)) {
        vec_fini(&words, mem_free);
        free_client(client);
        return;
    }
    stream_consume(client->stream, SERVER_LENGTH + size);
    client->call = commands_run(client->server->commands, (char *const *)words.items + 1,
                                words.count - 1, words.items[0], send_answer, send_note, client);
    vec_fini(&words, mem_free);
}

static void client_is_readable(void *arg)
{
    next_request(arg);
}

static void client_has_left(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    free_client(arg);
}

static void nothing_to_do(void *arg)
{
    (void)arg;
}

static void client_comes(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {.opened = nothing_to_do,
                                                .readable = client_is_readable,
                                                .closed = client_has_left};
    struct server *server = arg;
    if (strcmp(incoming_route(incoming), SERVER_ROUTE) != 0) {
        incoming_refuse(incoming);
        return;
    }
    struct client *client = mem_zalloc(sizeof(*client));
    client->server = server;
    client->stream = incoming_accept(incoming, NULL, &EVENTS, client);
    uid_t uid = 0;
    pid_t pid;
    if (client->stream == NULL) {
        mem_free(client);
        return;
    }
    LIST_INSERT_HEAD(&server->clients, client, entry);
    client->refused =
        !stream_peer_uid(client->stream, &uid, &pid) || (uid != os_uid(server->os) && uid != 0);
    if (!client->refused) {
        stream_known(client->stream);
    }
    stream_set_input_max(client->stream, SERVER_LENGTH + SERVER_REQUEST_MAX);
}

int server_open(struct loop *loop, struct os *os, const char *path, struct commands *commands,
                struct server **ret, struct err *err)
{
    struct strbuf address;
    struct server *server = mem_zalloc(sizeof(*server));
    char *absolute = NULL;
    server->loop = loop;
    server->os = os;
    server->commands = commands;
    LIST_INIT(&server->clients);
    int rc = os_absolute(os, path, &absolute, err);
    if (rc == 0) {
        strbuf_init(&address, 0);
        strbuf_printf(&address, "unix:%s", absolute);
        rc = listener_create(loop, strbuf_text(&address), client_comes, server, &server->listener,
                             err);
        strbuf_fini(&address);
        mem_free(absolute);
    }
    if (rc != 0) {
        mem_free(server);
        return rc;
    }
    *ret = server;
    return 0;
}

void server_close(struct server *server)
{
    if (server != NULL) {
        while (!LIST_EMPTY(&server->clients)) {
            free_client(LIST_FIRST(&server->clients));
        }
        listener_destroy(server->listener);
        mem_free(server);
    }
}
