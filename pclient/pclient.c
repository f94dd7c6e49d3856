/* pclient/pclient.c - see pclient.h.
 *
 * Design note: one queue of bytes goes out, so messages and answers cannot interrupt each other.
 * It is written once, after all callbacks of a moment, so that what belongs together costs one
 * system call.  Requests are read even when nobody reads the queue: the window of `follow` and the
 * limit of what is kept bound the job's output, not our reading.
 *
 * After `follow`, the lease counts from the moment in which a token was put into the queue, once
 * that token has come back.
 *
 * A request whose answer takes time (kill, reset, those about detached jobs) makes the requests
 * behind it wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pclient/pclient.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_console.h"
#include "base/os/os_enclose.h"
#include "base/os/os_output.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pclient/keep.h"
#include "pclient/protocol.h"

#define MS_PER_S       1000
#define INPUT_BYTES    ((size_t)16 << 10)  /* of one read */
#define QUEUE_ASK_MAX  ((size_t)128 << 20) /* ... while kept output can be asked for */
#define QUEUE_MAX      ((size_t)400 << 20) /* ... at all */
#define QUEUE_KEPT_MAX ((size_t)1 << 20)   /* most memory that an empty queue keeps */
#define TAKES_MAX      8                   /* of a stream of a job that runs, in one moment */

/* What was read and not looked at yet. */
struct input {
    struct os_console *console;
    struct strbuf bytes;
    size_t at;  /* where that begins */
    bool skips; /* the rest of a line that was too long is dropped */
    bool ended;
    char chunk[INPUT_BYTES];
};

enum queue_state {
    QUEUE_QUIET,
    QUEUE_DUE,     /* a call of flush_queue() is due */
    QUEUE_BLOCKED, /* the reader of our output is slow: we wait until something can be written */
};

/* What is not written yet. */
struct queue {
    struct os_output *output;
    struct strbuf bytes;
    size_t at;
    enum queue_state state;
};

/* Output that nobody has taken yet. */
struct kept {
    struct strbuf bytes;
    bool full_said;
};

/* The job, or what is known of the last one. */
struct current {
    struct job *job;      /* NULL: it has ended */
    bool done_said;       /* that none of its processes is left */
    struct kept kept[3];  /* [1] and [2] */
    struct strbuf status; /* of a job that has ended; empty: no job yet */
};

struct pclient {
    struct job_host host;
    struct pclient_options options;
    struct input in;
    struct queue out;
    struct current current;
    struct loop_timer *lease;
    uint64_t lease_from_ms;   /* the lease ends options.lease_s after that */
    uint64_t token, token_ms; /* the last token, and when it went out */
    bool follows;
    size_t window, under_way;   /* bytes of output that may be, and are, not dealt with yet */
    enum request_kind answered; /* whose answer is waited for; REQUEST_NONE: of none */
    bool stops;
    int exit_status;
};

static void read_waiting(void *arg);
static void pclient_stop(struct pclient *self, int exit_status);

/* ---- what goes out --------------------------------------------------------------------------- */

static size_t queue_bytes(const struct pclient *self)
{
    return self->out.bytes.length - self->out.at;
}

static void queue_written(struct queue *queue)
{
    if (queue->bytes.capacity > QUEUE_KEPT_MAX) {
        strbuf_fini(&queue->bytes);
        strbuf_init(&queue->bytes, QUEUE_MAX);
    }
    strbuf_clear(&queue->bytes);
    queue->at = 0;
}

static void flush_queue(void *arg)
{
    struct pclient *self = arg;
    struct queue *queue = &self->out;
    if (queue->bytes.failed) {
        (void)fprintf(stderr, "pclient: nobody reads the answers\n");
        loop_stop(self->host.loop, PCLIENT_FAILED);
        return;
    }
    while (queue_bytes(self) > 0) {
        ssize_t took =
            os_output_write(queue->output, queue->bytes.data + queue->at, queue_bytes(self));
        if (took == -EAGAIN) {
            break;
        }
        if (took < 0) {
            (void)fprintf(stderr, "pclient: standard output: %s\n", err_code_text((int)took));
            loop_stop(self->host.loop, PCLIENT_FAILED);
            return;
        }
        queue->at += (size_t)took;
    }
    queue->state = queue_bytes(self) > 0 ? QUEUE_BLOCKED : QUEUE_QUIET;
    os_output_want(queue->output, queue->state == QUEUE_BLOCKED);
    if (queue->state == QUEUE_QUIET) {
        queue_written(queue);
        if (self->stops) {
            loop_stop(self->host.loop, self->exit_status);
        }
    }
}

/* Sees to it that the queue is written soon. */
static void flush_soon(struct pclient *self)
{
    if (self->out.state == QUEUE_QUIET) {
        self->out.state = QUEUE_DUE;
        loop_defer(self->host.loop, flush_queue, self);
    }
}

static void answer(struct pclient *self, const char *line)
{
    strbuf_puts(&self->out.bytes, line);
    strbuf_putc(&self->out.bytes, '\n');
    flush_soon(self);
}

static void refuse(struct pclient *self, const struct err *why)
{
    strbuf_printf(&self->out.bytes, "%s %s\n", PCLIENT_REFUSED, why->text);
    flush_soon(self);
}

static void answer_bytes(struct pclient *self, const char *data, size_t length)
{
    strbuf_printf(&self->out.bytes, "NBYTES %zu\n", length);
    strbuf_append(&self->out.bytes, data, length);
    flush_soon(self);
}

/* ---- the job --------------------------------------------------------------------------------- */

static size_t job_room(struct pclient *self, int stream)
{
    struct kept *kept = &self->current.kept[stream];
    if (self->follows) {
        return self->window > self->under_way ? self->window - self->under_way : 0;
    }
    size_t room = self->options.buffer_bytes - kept->bytes.length;
    if (room == 0 && !kept->full_said) {
        kept->full_said = true;
        (void)fprintf(stderr,
                      "pclient: %zu bytes of the job's standard %s are kept; it waits until "
                      "somebody takes them\n",
                      kept->bytes.length, stream == 1 ? "output" : "error");
    }
    return room;
}

static void job_output(struct pclient *self, int stream, const char *data, size_t length)
{
    if (self->follows) {
        strbuf_printf(&self->out.bytes, "%s %zu\n", stream == 1 ? PCLIENT_OUT : PCLIENT_ERR,
                      length);
        strbuf_append(&self->out.bytes, data, length);
        self->under_way += length;
        flush_soon(self);
    } else {
        strbuf_append(&self->current.kept[stream].bytes, data, length);
    }
}

/* Takes output as far as there is room. */
static void take_output(struct pclient *self, int stream)
{
    struct job *job = self->current.job;
    const char *data;
    size_t length;
    for (int i = 0; i < TAKES_MAX || job_phase(job) != JOB_RUNS; i++) {
        length = job_take(job, stream, job_room(self, stream), &data);
        if (length == 0) {
            return;
        }
        job_output(self, stream, data, length);
    }
}

static void drop_output(struct pclient *self, int stream)
{
    struct kept *kept = &self->current.kept[stream];
    strbuf_fini(&kept->bytes);
    strbuf_init(&kept->bytes, self->options.buffer_bytes);
    kept->full_said = false;
}

static void drop_job(struct pclient *self)
{
    strbuf_clear(&self->current.status);
    drop_output(self, 1);
    drop_output(self, 2);
}

/* Answers the request that waits for the end of the job, and goes on. */
static void answer_waiting(struct pclient *self)
{
    self->answered = REQUEST_NONE;
    answer(self, PCLIENT_OK);
    loop_defer(self->host.loop, read_waiting, self);
}

/* No process of the job is left. */
static void job_done(struct pclient *self)
{
    if (!self->current.done_said && self->follows) {
        answer(self, PCLIENT_DONE);
    }
    self->current.done_said = true;
    if (self->answered == REQUEST_RESET) {
        job_drop_output(self->current.job);
    } else if (self->answered == REQUEST_KILL) {
        answer_waiting(self); /* not later: what the output waits for is behind it */
    }
}

static void job_ended(struct pclient *self)
{
    struct current *current = &self->current;
    enum request_reason why;
    const struct os_exit *how = job_how(current->job, &why);
    strbuf_clear(&current->status);
    request_plan_status(&current->status, how->status, how->signal, why);
    if (self->follows) {
        strbuf_printf(&self->out.bytes, "%s %s %.3f %.3f %" PRId64 "\n", PCLIENT_END,
                      strbuf_text(&current->status), how->user_cpu_s, how->system_cpu_s,
                      how->max_rss_kib);
        flush_soon(self);
    }
    job_destroy(current->job);
    current->job = NULL;
    if (self->answered == REQUEST_RESET) {
        drop_job(self);
        answer_waiting(self);
    }
}

/* Sees what has become of the job, which may be that it has ended. */
static void job_look(void *arg)
{
    struct pclient *self = arg;
    struct job *job = self->current.job;
    if (job == NULL) {
        return;
    }
    if (job_phase(job) != JOB_RUNS) {
        job_done(self);
    }
    take_output(self, 1);
    take_output(self, 2);
    if (job_phase(job) == JOB_ENDED) {
        job_ended(self);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* What a program outside has answered; it is the answer to the request that waits. */
static void outside_answered(void *arg, char *text, size_t length)
{
    struct pclient *self = arg;
    self->answered = REQUEST_NONE;
    if (length > 0 && text[length - 1] == '\n') {
        strbuf_append(&self->out.bytes, text, length);
    } else {
        strbuf_printf(&self->out.bytes, "%s the program outside ended without an answer\n",
                      PCLIENT_REFUSED);
    }
    mem_free(text);
    flush_soon(self);
    loop_defer(self->host.loop, read_waiting, self);
}

/* Has a request about detached jobs answered outside (keep.h). */
static void ask_outside(struct pclient *self, const struct request *request)
{
    struct vec words = {0};
    struct err err = {""};
    keep_words(request, self->options.no_namespaces, &words);
    int rc = os_enclosure_launch(self->host.enclosure, self->host.loop,
                                 (const char *const *)words.items, outside_answered, self, &err);
    if (rc == 0) {
        self->answered = REQUEST_JOBS;
    } else {
        refuse(self, &err);
    }
    vec_fini(&words, mem_free);
}

static void do_job(struct pclient *self, const struct request *request)
{
    const struct job_spec spec = {.argv = request->argv, .timeout_ms = request->timeout_ms};
    struct err err = {""};
    if (request->mark != NULL) {
        ask_outside(self, request);
        return;
    }
    if (self->current.job != NULL) {
        (void)err_set(&err, -EBUSY, "job %d runs", (int)job_pid(self->current.job));
        refuse(self, &err);
        return;
    }
    drop_job(self);
    self->under_way = 0; /* of an earlier job's output nobody may want to know any more */
    self->current.done_said = false;
    if (job_start(&self->host, &spec, job_look, self, &self->current.job, &err) != 0) {
        refuse(self, &err);
        return;
    }
    strbuf_printf(&self->out.bytes, "%d\n", (int)job_pid(self->current.job));
    flush_soon(self);
}

static void do_status(struct pclient *self)
{
    struct current *current = &self->current;
    answer(self, current->job != NULL          ? "BUSY"
                 : current->status.length == 0 ? "NONE"
                                               : strbuf_text(&current->status));
}

static void do_output(struct pclient *self, int stream, bool take)
{
    if (queue_bytes(self) > QUEUE_ASK_MAX) {
        struct err err;
        (void)err_set(&err, -EAGAIN, "%zu bytes of earlier answers are not read yet",
                      queue_bytes(self));
        refuse(self, &err);
        return;
    }
    struct strbuf *kept = &self->current.kept[stream].bytes;
    answer_bytes(self, strbuf_text(kept), kept->length);
    if (take) {
        drop_output(self, stream);
        job_look(self);
    }
}

static void do_kill(struct pclient *self, const struct request *request)
{
    struct err err;
    if (request->mark != NULL) {
        ask_outside(self, request);
    } else if (self->current.job == NULL) {
        (void)err_set(&err, -ESRCH, "no job runs");
        refuse(self, &err);
    } else {
        self->answered = REQUEST_KILL;
        job_kill(self->current.job, REASON_KILLED);
        job_look(self); /* perhaps none of its processes is left, and nothing will change */
    }
}

static void do_reset(struct pclient *self)
{
    if (self->current.job == NULL) {
        drop_job(self);
        answer(self, PCLIENT_OK);
        return;
    }
    self->answered = REQUEST_RESET;
    job_kill(self->current.job, REASON_KILLED);
    job_look(self); /* as do_kill() */
}

static uint64_t next_token(struct pclient *self)
{
    self->token_ms = loop_now_ms(self->host.loop);
    return ++self->token;
}

static void do_follow(struct pclient *self, const struct request *request)
{
    self->follows = true;
    self->window = (size_t)request->bytes;
    strbuf_printf(&self->out.bytes, "%s %s %d %s %" PRId64 " %" PRIu64 "\n", PCLIENT_FOLLOWS,
                  request->word, PCLIENT_VERSION,
                  os_enclosure_is_namespace(self->host.enclosure) ? PCLIENT_NAMESPACE
                                                                  : PCLIENT_SUBREAPER,
                  self->options.lease_s, next_token(self));
    flush_soon(self);
    job_look(self);
}

static void do_ack(struct pclient *self, size_t bytes)
{
    self->under_way -= bytes < self->under_way ? bytes : self->under_way;
    job_look(self);
}

static void set_lease(struct pclient *self, uint64_t from_ms)
{
    self->lease_from_ms = from_ms;
    os_enclosure_renew(self->host.enclosure, from_ms + (uint64_t)self->options.lease_s * MS_PER_S);
}

static void do_ping(struct pclient *self, const char *word)
{
    char token[TEXT_DECIMAL_MAX + 1];
    (void)snprintf(token, sizeof(token), "%" PRIu64, self->token);
    if (self->follows && word != NULL && strcmp(word, token) == 0) {
        set_lease(self, self->token_ms);
    }
    strbuf_printf(&self->out.bytes, "%s %" PRIu64 "\n", PCLIENT_PONG, next_token(self));
    flush_soon(self);
}

static void do_lease(struct pclient *self, int64_t lease_s)
{
    self->options.lease_s = lease_s;
    set_lease(self, self->lease_from_ms);
    loop_timer_set(self->lease, 0); /* it may end earlier than the timer */
    answer(self, PCLIENT_OK);
}

static void do_request(struct pclient *self, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_NONE:
        break;
    case REQUEST_JOB:
        do_job(self, request);
        break;
    case REQUEST_STATUS:
        do_status(self);
        break;
    case REQUEST_STDOUT:
    case REQUEST_STDERR:
        do_output(self, request->kind == REQUEST_STDOUT ? 1 : 2, request->take);
        break;
    case REQUEST_RESET:
        do_reset(self);
        break;
    case REQUEST_KILL:
        do_kill(self, request);
        break;
    case REQUEST_JOBS:
    case REQUEST_RENEW:
        ask_outside(self, request);
        break;
    case REQUEST_LEASE:
        do_lease(self, request->lease_s);
        break;
    case REQUEST_PING:
        do_ping(self, request->word);
        break;
    case REQUEST_FOLLOW:
        do_follow(self, request);
        break;
    case REQUEST_ACK:
        do_ack(self, (size_t)request->bytes);
        break;
    case REQUEST_HELP:
        answer_bytes(self, REQUEST_HELP_TEXT, strlen(REQUEST_HELP_TEXT));
        break;
    case REQUEST_EXIT:
        answer(self, PCLIENT_OK);
        pclient_stop(self, PCLIENT_ENDED);
        break;
    }
}

static void handle_line(struct pclient *self, const char *line, size_t length)
{
    struct request request;
    struct err err = {""};
    int rc = request_plan_parse(line, length, &request, &err);
    if (!self->follows && (rc != 0 || request.kind != REQUEST_NONE)) {
        set_lease(self, loop_now_ms(self->host.loop));
    }
    if (rc != 0) {
        refuse(self, &err);
    } else {
        do_request(self, &request);
    }
    request_fini(&request);
}

/* Handles the lines that are there, as far as none has to wait. */
static void read_requests(struct pclient *self)
{
    struct input *in = &self->in;
    while (!self->stops && self->answered == REQUEST_NONE) {
        const char *at = in->bytes.data + in->at;
        size_t length = in->bytes.length - in->at;
        const char *end = length > 0 ? memchr(at, '\n', length) : NULL;
        size_t line = end != NULL ? (size_t)(end - at) : length;
        if (line > PCLIENT_LINE_MAX && !in->skips) {
            struct err err;
            (void)err_set(&err, -E2BIG, "a line of more than %zu bytes", PCLIENT_LINE_MAX);
            refuse(self, &err);
            in->skips = true;
        }
        if (end == NULL) {
            in->at += in->skips ? length : 0;
            break;
        }
        in->at += line + 1;
        if (!in->skips) {
            handle_line(self, at, line);
        }
        in->skips = false;
    }
    if (in->at == in->bytes.length) {
        strbuf_clear(&in->bytes);
        in->at = 0;
    }
    bool waits = self->answered != REQUEST_NONE;
    os_console_want(in->console, !self->stops && !waits && !in->ended);
    if (in->ended && !waits && !self->stops) {
        pclient_stop(self, PCLIENT_ENDED); /* what is left is the beginning of a line */
    }
}

static void read_waiting(void *arg)
{
    read_requests(arg);
}

static void input_ready(void *arg)
{
    struct pclient *self = arg;
    struct input *in = &self->in;
    ssize_t got = os_console_read(in->console, in->chunk, sizeof(in->chunk));
    if (got == -EAGAIN) {
        os_console_want(in->console, true);
        return;
    }
    in->ended = got <= 0;
    if (got > 0) {
        if (in->at > 0) {
            memmove(in->bytes.data, in->bytes.data + in->at, in->bytes.length - in->at);
            in->bytes.length -= in->at;
            in->at = 0;
        }
        strbuf_append(&in->bytes, in->chunk, (size_t)got);
    }
    read_requests(self);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Ends the job at once, and us when all answers are written. */
static void pclient_stop(struct pclient *self, int exit_status)
{
    job_destroy(self->current.job);
    self->current.job = NULL;
    os_enclosure_kill_others(self->host.enclosure);
    self->answered = REQUEST_NONE;
    self->stops = true;
    self->exit_status = exit_status;
    flush_soon(self);
}

static void signal_arrived(void *arg)
{
    struct pclient *self = arg;
    os_enclosure_kill_others(self->host.enclosure);
    loop_stop(self->host.loop, PCLIENT_FAILED);
}

static void lease_look(void *arg)
{
    struct pclient *self = arg;
    uint64_t now_ms = loop_now_ms(self->host.loop);
    uint64_t end_ms = self->lease_from_ms + (uint64_t)self->options.lease_s * MS_PER_S;
    if (now_ms < end_ms) {
        loop_timer_set(self->lease, end_ms - now_ms);
        return;
    }
    os_enclosure_kill_others(self->host.enclosure);
    (void)fprintf(stderr, "pclient: nobody has renewed the lease of %" PRId64 " s\n",
                  self->options.lease_s);
    loop_stop(self->host.loop, PCLIENT_LEASE_OVER);
}

int pclient_create(const struct job_host *host, const struct pclient_options *options,
                   struct pclient **ret, struct err *err)
{
    struct pclient *self = mem_zalloc(sizeof(*self));
    self->host = *host;
    self->options = *options;
    strbuf_init(&self->in.bytes, PCLIENT_LINE_MAX + 2 * INPUT_BYTES);
    strbuf_init(&self->out.bytes, QUEUE_MAX);
    strbuf_init(&self->current.status, 0);
    strbuf_init(&self->current.kept[1].bytes, options->buffer_bytes);
    strbuf_init(&self->current.kept[2].bytes, options->buffer_bytes);
    self->lease = loop_timer_create(host->loop, lease_look, self);
    int rc = os_console_open(host->loop, false, input_ready, self, &self->in.console, err);
    rc = rc == 0 ? os_output_open(host->loop, flush_queue, self, &self->out.output, err) : rc;
    if (rc != 0) {
        pclient_destroy(self);
        return rc;
    }
    static const int SIGNALS[] = {SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++) {
        loop_on_signal(host->loop, SIGNALS[i], signal_arrived, self);
    }
    set_lease(self, loop_now_ms(host->loop));
    lease_look(self);
    os_console_want(self->in.console, true);
    *ret = self;
    return 0;
}

void pclient_destroy(struct pclient *pclient)
{
    if (pclient == NULL) {
        return;
    }
    job_destroy(pclient->current.job);
    os_console_close(pclient->in.console);
    os_output_close(pclient->out.output);
    loop_timer_destroy(pclient->lease);
    strbuf_fini(&pclient->in.bytes);
    strbuf_fini(&pclient->out.bytes);
    strbuf_fini(&pclient->current.status);
    strbuf_fini(&pclient->current.kept[1].bytes);
    strbuf_fini(&pclient->current.kept[2].bytes);
    mem_free(pclient);
}
