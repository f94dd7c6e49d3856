/* pcontrol/link.c - see link.h.
 *
 * Design note: a link that is closed lives on, without an owner, until its transport has ended, so
 * that the pclient hears "exit" and no zombie or orphan is left.  All bytes go through two buffers;
 * nothing blocks.  The owner pulls what has come: so a link never calls its owner in the middle of
 * something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/link.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_terminal.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pclient/protocol.h"

#define READ_BYTES  ((size_t)64 << 10) /* of one read */
#define READS_MAX   4                  /* before others get their turn */
#define INPUT_MAX   ((size_t)1 << 20)
#define OUTPUT_MAX  ((size_t)8 << 20)
#define WORDS_BYTES 300  /* of the last words of a transport: the end of its standard error */
#define LINGER_MS   5000 /* from "exit" until the transport is killed */
#define LAST_MS     2000 /* from the end of its output until the transport must have ended */
#define PINGS       4    /* in one lease, and until a pclient that does not answer is HUNG */
#define NONCE_BYTES 8
#define MS_PER_S    1000

enum link_phase {
    PHASE_DIALS,
    PHASE_UP,
    PHASE_LOST,
    PHASE_TOLD /* the owner knows that it is lost */
};

struct link {
    LIST_ENTRY(link) entry;
    struct loop *loop;
    struct os *os;
    struct link_spec spec;
    loop_f ready; /* NULL: closed */
    void *arg;
    struct os_terminal *terminal;
    pid_t pid; /* of the transport; -1: it has just ended; 0: that was told */
    struct strbuf in, out;
    size_t in_at; /* bytes of `in` that have been read */
    struct link_reader reader;
    char words[WORDS_BYTES];     /* the last ones of the transport */
    char why[WORDS_BYTES + 100]; /* it is lost */
    char token[LINK_TOKEN_MAX];
    uint64_t token_ms, safe_ms; /* when the last token came; see link_safe_ms() */
    size_t under_way;           /* bytes of output that came and were not acknowledged */
    enum link_phase phase;
    bool is_silent, silence_told;
    bool output_ended, words_ended; /* standard output and error of the transport */
    struct loop_timer *timer, *ping, *silence;
};

static void free_link(struct link *link)
{
    LIST_REMOVE(link, entry);
    loop_timer_destroy(link->timer);
    loop_timer_destroy(link->ping);
    loop_timer_destroy(link->silence);
    os_terminal_close(link->terminal);
    strbuf_fini(&link->in);
    strbuf_fini(&link->out);
    mem_free(link);
}

static void ask_for_more(struct link *link)
{
    os_terminal_want(link->terminal, link->out.length > 0, !link->output_ended, !link->words_ended);
}

static void end_transport(struct link *link)
{
    if (link->pid > 0) {
        (void)os_kill_group(link->os, link->pid, SIGKILL);
        (void)os_kill(link->os, link->pid, SIGKILL);
    }
}

/* To be called last in a callback of the loop: the owner may close the link, which may free it. */
static void tell_owner(struct link *link)
{
    if (link->ready != NULL) {
        link->ready(link->arg);
    }
}

/* The owner hears it by link_next(), if it has not read something else before. */
static void become_lost(struct link *link, const char *why)
{
    if (link->phase < PHASE_LOST) {
        link->phase = PHASE_LOST;
        (void)snprintf(link->why, sizeof(link->why), "%s", why);
        loop_timer_stop(link->ping);
        loop_timer_stop(link->silence);
        end_transport(link);
    }
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static void send_out(struct link *link)
{
    while (link->out.length > 0) {
        ssize_t took = os_terminal_write(link->terminal, link->out.data, link->out.length);
        if (took == -EPIPE) {
            strbuf_clear(&link->out); /* its end is told by what can be read */
        }
        if (took <= 0) {
            break;
        }
        link->out.length -= (size_t)took;
        memmove(link->out.data, link->out.data + took, link->out.length);
    }
    if (link->out.length == 0 && link->ready == NULL) {
        os_terminal_end_input(link->terminal);
    }
    ask_for_more(link);
}

void link_send(struct link *link, const char *text, size_t length)
{
    bool idle = link->out.length == 0;
    strbuf_append(&link->out, text, length);
    if (link->out.failed) {
        become_lost(link, "the transport takes no more requests");
        loop_timer_set(link->timer, 0); /* tells the owner */
    } else if (idle) {
        send_out(link);
    }
}

/* Sends "WORD VALUE". */
static void send_words(struct link *link, const char *word, const char *value)
{
    char text[200];
    int length = snprintf(text, sizeof(text), "%s %s\n", word, value);
    CHECK(length > 0 && (size_t)length < sizeof(text));
    link_send(link, text, (size_t)length);
}

void link_ack(struct link *link, size_t length)
{
    char number[32];
    CHECK(length <= link->under_way);
    link->under_way -= length;
    (void)snprintf(number, sizeof(number), "%zu", length);
    send_words(link, PCLIENT_ACK, number);
}

/* From the moment in which a token is sent back, the pclient's lease may last until one lease after
 * that token; it was sent before it was received. */
static void send_ping(void *arg)
{
    struct link *link = arg;
    const struct link_spec *spec = &link->spec;
    link->safe_ms = link->token_ms + spec->lease_ms;
    send_words(link, PCLIENT_PING, link->token);
    if (link->phase < PHASE_LOST) {
        loop_timer_set(link->ping,
                       (spec->lease_ms < spec->silent_ms ? spec->lease_ms : spec->silent_ms) /
                           PINGS);
    }
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void become_silent(void *arg)
{
    struct link *link = arg;
    link->is_silent = true;
    tell_owner(link);
}

static void take_token(struct link *link, const struct link_message *message)
{
    memcpy(link->token, message->token, sizeof(link->token));
    link->token_ms = loop_now_ms(link->loop);
    loop_timer_set(link->silence, link->spec.silent_ms);
    link->is_silent = false;
}

/* A host that would keep a job longer than it was asked to is not used. */
static void become_up(struct link *link, const struct link_message *message)
{
    uint64_t lease_ms = (uint64_t)message->lease_s * MS_PER_S;
    if (lease_ms > link->spec.lease_ms) {
        char why[100];
        (void)snprintf(why, sizeof(why), "its pclient has a lease of %lld s instead of %llu s",
                       (long long)message->lease_s,
                       (unsigned long long)(link->spec.lease_ms / MS_PER_S));
        become_lost(link, why);
        return;
    }
    loop_timer_stop(link->timer);
    link->spec.lease_ms = lease_ms;
    link->phase = PHASE_UP;
    take_token(link, message);
    send_ping(link);
}

/* Drops what has been read. */
static void drop_read(struct link *link)
{
    link->in.length -= link->in_at;
    if (link->in.length > 0 && link->in_at > 0) {
        memmove(link->in.data, link->in.data + link->in_at, link->in.length);
    }
    link->in_at = 0;
}

/* Counts what the pclient sends of a job's output.  Returns false if it is more than it may send
 * before it was acknowledged. */
static bool count_output(struct link *link, const struct link_message *message)
{
    if (message->kind == LINK_ENDED) {
        link->under_way = 0; /* each job begins anew */
    } else if (message->kind == LINK_OUTPUT) {
        link->under_way += message->length;
    }
    return link->under_way <= PCLIENT_WINDOW;
}

/* Reads the next message of the pclient that the owner is to know.  Returns false if there is
 * none. */
static bool read_message(struct link *link, struct link_message *ret)
{
    while (link->phase < PHASE_LOST) {
        struct err err;
        size_t used;
        enum link_read read = link_plan_read(&link->reader, link->in.data + link->in_at,
                                             link->in.length - link->in_at, &used, ret, &err);
        link->in_at += used;
        if (read == LINK_MORE) {
            drop_read(link);
            return false;
        }
        if (read == LINK_BAD) {
            become_lost(link, err.text);
        } else if (ret->kind == LINK_PONG) {
            take_token(link, ret);
        } else if (!count_output(link, ret)) {
            become_lost(link, "its pclient sends more output than was acknowledged");
        } else {
            if (ret->kind == LINK_FOLLOWS) {
                become_up(link, ret);
            }
            return link->phase < PHASE_LOST;
        }
    }
    return false;
}

enum link_event link_next(struct link *link, struct link_message *message)
{
    if (read_message(link, message)) {
        return message->kind == LINK_FOLLOWS ? LINK_IS_UP : LINK_SAYS;
    }
    if (link->phase == PHASE_LOST) {
        link->phase = PHASE_TOLD;
        return LINK_IS_LOST;
    }
    if (link->phase == PHASE_UP && link->is_silent != link->silence_told) {
        link->silence_told = link->is_silent;
        return link->is_silent ? LINK_IS_SILENT : LINK_ANSWERS;
    }
    return LINK_NOTHING;
}

const char *link_why(const struct link *link)
{
    return link->why;
}

/* Keeps the last line that is not empty. */
static void take_words(struct link *link, const char *data, size_t length)
{
    while (length > 0 && text_is_gap(data[length - 1])) {
        length--;
    }
    size_t begin = length;
    while (begin > 0 && data[begin - 1] != '\n' && data[begin - 1] != '\r') {
        begin--;
    }
    if (length > begin) {
        size_t most = sizeof(link->words) - 1;
        size_t count = length - begin < most ? length - begin : most;
        memcpy(link->words, data + begin, count);
        link->words[count] = '\0';
        for (size_t i = 0; i < count; i++) {
            link->words[i] = link->words[i] >= 0 && link->words[i] < ' ' ? ' ' : link->words[i];
        }
    }
}

static void read_errors(struct link *link)
{
    char data[1024];
    ssize_t got;
    while ((got = os_terminal_read(link->terminal, 2, data, sizeof(data))) > 0) {
        take_words(link, data, (size_t)got);
    }
    link->words_ended = link->words_ended || got == 0;
}

/* Reads what has come; of a closed link it is dropped, so that the transport can end.  Returns
 * false if nothing more is there now. */
static bool read_output(struct link *link)
{
    for (int i = 0; i < READS_MAX && !link->output_ended; i++) {
        char data[READ_BYTES];
        ssize_t got = os_terminal_read(link->terminal, 1, data, sizeof(data));
        if (got == -EAGAIN) {
            return false;
        }
        if (got <= 0) {
            link->output_ended = true;
            loop_timer_set(link->timer, LAST_MS); /* the exit status comes, or it is killed */
            return false;
        }
        if (link->ready != NULL && link->phase < PHASE_LOST) {
            strbuf_append(&link->in, data, (size_t)got);
        }
        if ((size_t)got < sizeof(data)) {
            return false; /* most likely; else the loop comes back */
        }
    }
    return !link->output_ended;
}

static void terminal_is_ready(void *arg)
{
    struct link *link = arg;
    read_errors(link);
    (void)read_output(link);
    send_out(link);
    tell_owner(link);
}

/* What the transport said last on its standard error mostly tells why it has ended. */
static void transport_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct link *link = arg;
    char text[sizeof(link->why)];
    (void)pid;
    link->pid =
        -1; /* a signal would go to somebody else; and link_close() does not free the link */
    read_errors(link);
    for (bool more = true; more && link->ready != NULL && link->phase < PHASE_LOST;) {
        more = read_output(link); /* first what came before the end */
        tell_owner(link);
    }
    link->pid = 0;
    if (link->ready == NULL) {
        free_link(link);
        return;
    }
    (void)snprintf(text, sizeof(text), "%s (%s %d)",
                   link->words[0] != '\0' ? link->words : "the connection has ended",
                   how->signal != 0 ? "signal" : "exit status",
                   how->signal != 0 ? how->signal : how->status);
    become_lost(link, text);
    tell_owner(link);
}

static void time_is_over(void *arg)
{
    struct link *link = arg;
    char text[100];
    if (link->ready == NULL || link->phase == PHASE_UP || link->output_ended) {
        end_transport(link); /* transport_ended() goes on */
        return;
    }
    (void)snprintf(text, sizeof(text), "no answer of a pclient in %llu s",
                   (unsigned long long)(link->spec.connect_ms / MS_PER_S));
    become_lost(link, link->words[0] != '\0' ? link->words : text);
    tell_owner(link);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void greet_pclient(struct link *link)
{
    uint8_t random[NONCE_BYTES];
    char nonce[2 * NONCE_BYTES + 1], lease[32];
    loop_secret(link->loop, random, sizeof(random));
    text_hex(random, sizeof(random), nonce);
    link_reader_init(&link->reader, nonce);
    (void)snprintf(lease, sizeof(lease), "%llu",
                   (unsigned long long)(link->spec.lease_ms / MS_PER_S));
    send_words(link, PCLIENT_LEASE, lease); /* its answer comes before that to "follow" */
    send_words(link, PCLIENT_FOLLOW, nonce);
}

int link_open(struct loop *loop, struct os *os, const struct link_spec *spec,
              struct link_list *list, loop_f ready, void *arg, struct link **ret, struct err *err)
{
    struct link *link = mem_zalloc(sizeof(*link));
    link->loop = loop;
    link->os = os;
    link->spec = *spec;
    link->ready = ready;
    link->arg = arg;
    LIST_INSERT_HEAD(list, link, entry);
    strbuf_init(&link->in, INPUT_MAX + READS_MAX * READ_BYTES);
    strbuf_init(&link->out, OUTPUT_MAX);
    link->timer = loop_timer_create(loop, time_is_over, link);
    link->ping = loop_timer_create(loop, send_ping, link);
    link->silence = loop_timer_create(loop, become_silent, link);
    const struct os_terminal_spec pipes = {.tty = false, .ready = terminal_is_ready, .arg = link};
    int rc = os_terminal_open(os, &pipes, &link->terminal, err);
    if (rc == 0) {
        const struct os_spawn spawn = {.argv = spec->argv,
                                       .new_session = true,
                                       .terminal = link->terminal};
        rc = os_spawn(os, &spawn, transport_ended, link, &link->pid, err);
    }
    if (rc != 0) {
        free_link(link);
        return rc;
    }
    link->spec.argv = NULL; /* the caller's */
    loop_timer_set(link->timer, spec->connect_ms);
    greet_pclient(link);
    ask_for_more(link);
    *ret = link;
    return 0;
}

/* The link has no owner any more. */
static void let_go(struct link *link)
{
    link->ready = NULL;
    loop_timer_stop(link->ping);
    loop_timer_stop(link->silence);
    if (link->pid == 0) {
        free_link(link);
    }
}

void link_close(struct link *link)
{
    if (link == NULL) {
        return;
    }
    if (link->pid > 0 && link->phase < PHASE_LOST) {
        loop_timer_set(link->timer, LINGER_MS);
        link->ready = NULL; /* send_out() ends the transport's input behind the request */
        link_send(link, PCLIENT_EXIT "\n", strlen(PCLIENT_EXIT "\n"));
    }
    let_go(link);
}

void link_cut(struct link *link)
{
    if (link != NULL) {
        end_transport(link);
        let_go(link);
    }
}

void link_drop(struct link *link)
{
    CHECK(link->ready == NULL);
    if (link->pid > 0) {
        os_forget(link->os, link->pid); /* the end of its input ends it */
    }
    free_link(link);
}

uint64_t link_safe_ms(const struct link *link)
{
    return link->safe_ms;
}
