/* base/os/os_prepare_linux.c - asks a prepared process for copies of itself: see prepared.h.
 *
 * An order is answered within the time of a fork(); we wait for that, as for the exec of any other
 * program.  A prepared process that lets us wait longer is killed.  If its copy exists after all,
 * it finds out by itself that it is one too many: it gets no lock, or is killed by its mark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"
#include "base/daemon/prepared.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define ANSWER_MS 2000
#define AGAIN_MS  60000 /* after one that failed */

struct prepared {
    char *program;
    int fd; /* -1: it is gone */
    pid_t pid;
    bool ready;
    uint64_t began_ms;
};

/* Gives up the prepared process; its copies continue. */
static void give_up(struct prepared *prepared)
{
    if (prepared->fd >= 0) {
        close(prepared->fd);
        prepared->fd = -1;
    }
}

void prepared_end(struct os *os)
{
    if (os->prepared != NULL) {
        give_up(os->prepared);
        mem_free(os->prepared->program);
        mem_free(os->prepared);
        os->prepared = NULL;
    }
}

static void prepared_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct os *os = arg;
    (void)how; /* told to, or not: programs are started without it */
    if (os->prepared != NULL && os->prepared->pid == pid) {
        give_up(os->prepared);
    }
}

static void put_room(struct strbuf *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        strbuf_putc(text, '-');
    }
}

static void start_prepared(struct os *os, struct prepared *prepared)
{
    int fds[2];
    struct strbuf argument, variable;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return;
    }
    strbuf_init(&argument, 0);
    strbuf_init(&variable, 0);
    put_room(&argument, PREPARED_ARG_BYTES);
    strbuf_puts(&variable, PREPARED_ROOM "=");
    put_room(&variable, PREPARED_ENV_BYTES);
    const char *argv[] = {prepared->program, PREPARED_ARGUMENT, strbuf_text(&argument), NULL};
    const char *env_add[] = {strbuf_text(&variable), NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .new_session = true};
    if (spawn_watched(os, &spec, fds[1], prepared_ended, os, &prepared->pid, NULL) == 0) {
        prepared->fd = fds[0];
    } else {
        close(fds[0]);
    }
    close(fds[1]);
    strbuf_fini(&argument);
    strbuf_fini(&variable);
}

void os_prepare(struct os *os, const char *program)
{
    uint64_t now_ms = loop_now_ms(os->loop);
    struct prepared *prepared = os->prepared;
    if (prepared != NULL && strcmp(prepared->program, program) == 0 &&
        (prepared->fd >= 0 || now_ms - prepared->began_ms < AGAIN_MS)) {
        return;
    }
    prepared_end(os);
    prepared = mem_zalloc(sizeof(*prepared));
    prepared->program = mem_strdup(program);
    prepared->fd = -1;
    prepared->began_ms = now_ms;
    os->prepared = prepared;
    start_prepared(os, prepared);
}

/* Reads one answer within wait_ms.  False: there is none. */
static bool read_answer(struct prepared *prepared, int wait_ms, struct prepared_answer *ret)
{
    struct pollfd wait = {.fd = prepared->fd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&wait, 1, wait_ms);
    } while (ready < 0 && errno == EINTR);
    ssize_t got = ready > 0 ? recv(prepared->fd, ret, sizeof(*ret), MSG_DONTWAIT) : 0;
    if (got == (ssize_t)sizeof(*ret)) {
        return true;
    }
    if (ready != 0 || wait_ms > 0) {
        (void)kill(prepared->pid, SIGKILL); /* it is our child: nobody else has that pid */
        give_up(prepared);
    }
    return false;
}

static uint32_t put_strings(struct strbuf *text, const char *const *strings)
{
    uint32_t count = 0;
    for (; strings != NULL && strings[count] != NULL; count++) {
        strbuf_append(text, strings[count], strlen(strings[count]) + 1);
    }
    return count;
}

static bool send_order(const struct prepared *prepared, const struct os_spawn *spec)
{
    struct strbuf text;
    struct prepared_order head = {0};
    strbuf_init(&text, 0);
    strbuf_append(&text, &head, sizeof(head));
    strbuf_append(&text, spec->cwd, strlen(spec->cwd) + 1);
    head.argument_count = put_strings(&text, spec->argv);
    head.variable_count = put_strings(&text, spec->env_add);
    size_t length = text.length;
    char *data = strbuf_take(&text);
    memcpy(data, &head, sizeof(head));
    bool sent = length <= PREPARED_ORDER_BYTES &&
                send(prepared->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
    mem_free(data);
    strbuf_fini(&text);
    return sent;
}

bool prepared_spawn(struct os *os, const struct os_spawn *spec, pid_t *ret)
{
    struct prepared *prepared = os->prepared;
    struct prepared_answer answer = {0};
    CHECK(spec->kin == OS_DETACHED && spec->new_session && spec->cwd != NULL &&
          !spec->change_user && spec->cage == NULL && spec->env == NULL);
    if (prepared == NULL || prepared->fd < 0 || strcmp(prepared->program, spec->argv[0]) != 0) {
        return false;
    }
    prepared->ready = prepared->ready || read_answer(prepared, 0, &answer);
    if (!prepared->ready || !send_order(prepared, spec) ||
        !read_answer(prepared, ANSWER_MS, &answer) || answer.error != 0 || answer.pid <= 0) {
        return false;
    }
    *ret = (pid_t)answer.pid;
    return true;
}
