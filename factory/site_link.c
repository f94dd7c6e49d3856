/* factory/site_link.c - see site_link.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site_link.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_terminal.h"
#include "base/strbuf.h"
#include "factory/site_words.h"

#define MS_PER_S     1000
#define GRACE_MS     2000 /* more, because the child keeps the deadline by itself */
#define READ_BYTES   ((size_t)64 << 10)
#define READS_MAX    16  /* of a stream, before others get their turn */
#define WORDS_BYTES  300 /* of a line of the child's standard error */
#define OUTPUT_MAX   ((size_t)8 << 20)
#define SETTLE_MAX_S 3600

enum link_phase {
    LINK_REST,   /* no request is open */
    LINK_BEGINS, /* the child was sent "begin" and the request */
    LINK_ASKED,  /* "begin" is answered */
    LINK_DONE    /* `answer` is there */
};

struct site_link {
    struct daemon_env env;
    char *name;
    const char *const *argv;
    const struct site_request *begin;
    loop_f ready;
    void *arg;
    struct os_terminal *terminal;
    pid_t pid; /* 0: no child */
    struct strbuf out, in;
    char words[WORDS_BYTES]; /* the last line of its standard error */
    size_t word_length;      /* of a line that has not ended yet */
    char line[WORDS_BYTES];
    enum link_phase phase;
    bool began; /* this child has answered "begin" */
    int64_t last_id;
    uint64_t settle_ms;
    struct site_answer answer;
    struct loop_timer *deadline, *tell;
};

static void tell_owner(void *arg)
{
    struct site_link *link = arg;
    link->ready(link->arg);
}

static void set_done(struct site_link *link)
{
    link->phase = LINK_DONE;
    loop_timer_stop(link->deadline);
    loop_timer_set(link->tell, 0);
}

static void close_streams(struct site_link *link)
{
    os_terminal_close(link->terminal);
    link->terminal = NULL;
    strbuf_clear(&link->in);
    strbuf_clear(&link->out);
    link->began = false;
    link->word_length = 0;
}

/* The child is no longer ours: whatever it says, nobody hears. */
static void end_child(struct site_link *link)
{
    if (link->pid > 0) {
        (void)os_kill_group(link->env.os, link->pid, SIGKILL);
        os_forget(link->env.os, link->pid);
        link->pid = 0;
    }
    close_streams(link);
}

static void give_up(struct site_link *link, const char *why)
{
    end_child(link);
    if (link->phase == LINK_BEGINS || link->phase == LINK_ASKED) {
        link->answer = (struct site_answer){.outcome = SITE_FAILS, .text = mem_strdup(why)};
        set_done(link);
    }
}

/* ---- what comes -------------------------------------------------------------------------------
 */

/* Logs the lines of the child's standard error. */
static void take_words(struct site_link *link, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool ends = data[i] == '\n';
        if (!ends && link->word_length + 1 < sizeof(link->line)) {
            bool shown = (unsigned char)data[i] >= ' ' && data[i] != '\x7f';
            link->line[link->word_length++] = shown ? data[i] : '?';
        }
        if (ends && link->word_length > 0) {
            link->line[link->word_length] = '\0';
            memcpy(link->words, link->line, link->word_length + 1);
            link->word_length = 0;
            log_info(link->env.log, "site.says", link->words, LOG_TEXT("site", link->name));
        }
    }
}

static void read_words(struct site_link *link)
{
    char data[1024];
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = os_terminal_read(link->terminal, 2, data, sizeof(data));
        take_words(link, data, got > 0 ? (size_t)got : 0);
    }
}

static void take_begin(struct site_link *link, struct site_answer *answer)
{
    if (answer->outcome != SITE_DONE) {
        link->answer = *answer;
        end_child(link);
        set_done(link);
        return;
    }
    int64_t settle_s = answer->settle_s < SETTLE_MAX_S ? answer->settle_s : SETTLE_MAX_S;
    link->settle_ms = (uint64_t)settle_s * MS_PER_S;
    link->began = true;
    link->phase = LINK_ASKED;
    site_answer_fini(answer);
}

/* Returns false if the child is given up. */
static bool take_line(struct site_link *link, const char *line, size_t length)
{
    struct site_answer answer;
    struct err err;
    if (site_words_parse(line, length, &answer, &err) != 0) {
        char why[ERR_TEXT_MAX + 100];
        (void)snprintf(why, sizeof(why), "the site's program said nonsense: %s", err.text);
        give_up(link, why);
        return false;
    }
    int64_t begin_id = link->last_id - 1;
    if (link->phase == LINK_BEGINS && answer.id == begin_id) {
        take_begin(link, &answer);
        return link->pid > 0;
    }
    if (link->phase == LINK_ASKED && answer.id == link->last_id) {
        link->answer = answer;
        set_done(link);
        return true;
    }
    site_answer_fini(&answer); /* too late */
    return true;
}

static void take_lines(struct site_link *link)
{
    size_t at = 0;
    const char *end;
    while (at < link->in.length &&
           (end = memchr(link->in.data + at, '\n', link->in.length - at)) != NULL) {
        size_t length = (size_t)(end - (link->in.data + at));
        if (!take_line(link, link->in.data + at, length)) {
            return; /* the buffer is empty */
        }
        at += length + 1;
    }
    link->in.length -= at;
    if (at > 0 && link->in.length > 0) {
        memmove(link->in.data, link->in.data + at, link->in.length);
    }
}

static void send_out(struct site_link *link)
{
    while (link->out.length > 0) {
        ssize_t took = os_terminal_write(link->terminal, link->out.data, link->out.length);
        if (took <= 0) {
            break; /* full, or the child ends, which is told in another way */
        }
        link->out.length -= (size_t)took;
        memmove(link->out.data, link->out.data + took, link->out.length);
    }
    os_terminal_want(link->terminal, link->out.length > 0, true, true);
}

static void streams_are_ready(void *arg)
{
    struct site_link *link = arg;
    char data[READ_BYTES];
    ssize_t got = -EAGAIN;
    read_words(link);
    for (int i = 0; i < READS_MAX && link->terminal != NULL; i++) {
        got = os_terminal_read(link->terminal, 1, data, sizeof(data));
        if (got <= 0) {
            break;
        }
        strbuf_append(&link->in, data, (size_t)got);
        if (link->in.failed) {
            give_up(link, "the site's program sends a line of more than 8 MiB");
            return;
        }
        take_lines(link);
    }
    if (link->terminal == NULL) {
        return;
    }
    if (got == 0) {
        os_terminal_want(link->terminal, false, false, false); /* child_ended() comes */
    } else {
        send_out(link);
    }
}

static void child_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct site_link *link = arg;
    char why[WORDS_BYTES + 100];
    (void)pid;
    link->pid = 0;
    streams_are_ready(link); /* what it said last */
    (void)snprintf(why, sizeof(why), "the site's program has ended (%s %d)%s%s",
                   how->signal != 0 ? "signal" : "exit status",
                   how->signal != 0 ? how->signal : how->status, link->words[0] != '\0' ? ": " : "",
                   link->words);
    give_up(link, why);
}

static void deadline_is_over(void *arg)
{
    give_up(arg, "the site's program has not answered in time");
}

/* ---- asking -----------------------------------------------------------------------------------
 */

static int start_child(struct site_link *link, struct err *err)
{
    const struct os_terminal_spec pipes = {.tty = false, .ready = streams_are_ready, .arg = link};
    link->words[0] = '\0';
    int rc = os_terminal_open(link->env.os, &pipes, &link->terminal, err);
    if (rc == 0) {
        const struct os_spawn spawn = {.argv = link->argv,
                                       .new_session = true,
                                       .terminal = link->terminal};
        rc = os_spawn(link->env.os, &spawn, child_ended, link, &link->pid, err);
    }
    if (rc != 0) {
        link->pid = 0;
        close_streams(link);
    }
    return rc;
}

static void append_request(struct site_link *link, const struct site_request *request)
{
    struct site_request numbered = *request;
    numbered.id = ++link->last_id;
    numbered.deadline_s = link->begin->deadline_s;
    site_words_print(&numbered, &link->out);
}

void site_link_ask(struct site_link *link, const struct site_request *request)
{
    struct err err;
    CHECK(link->phase == LINK_REST);
    link->phase = link->began ? LINK_ASKED : LINK_BEGINS;
    if (link->pid == 0 && start_child(link, &err) != 0) {
        give_up(link, err.text);
        return;
    }
    if (!link->began) {
        append_request(link, link->begin);
    }
    append_request(link, request);
    loop_timer_set(link->deadline, (uint64_t)link->begin->deadline_s * MS_PER_S + GRACE_MS);
    send_out(link);
}

bool site_link_take(struct site_link *link, struct site_answer *ret)
{
    if (link->phase != LINK_DONE) {
        return false;
    }
    *ret = link->answer;
    link->answer = (struct site_answer){0};
    link->phase = LINK_REST;
    return true;
}

uint64_t site_link_settle_ms(const struct site_link *link)
{
    return link->settle_ms;
}

/* ---- life -------------------------------------------------------------------------------------
 */

struct site_link *site_link_create(const struct daemon_env *env, const char *name,
                                   const char *const *argv, const struct site_request *begin,
                                   loop_f ready, void *arg)
{
    struct site_link *link = mem_zalloc(sizeof(*link));
    link->env = *env;
    link->name = mem_strdup(name);
    link->argv = argv;
    link->begin = begin;
    link->ready = ready;
    link->arg = arg;
    strbuf_init(&link->in, SITE_LINE_MAX + 2 * READ_BYTES);
    strbuf_init(&link->out, OUTPUT_MAX);
    link->deadline = loop_timer_create(env->loop, deadline_is_over, link);
    link->tell = loop_timer_create(env->loop, tell_owner, link);
    return link;
}

void site_link_destroy(struct site_link *link)
{
    if (link == NULL) {
        return;
    }
    if (link->phase == LINK_BEGINS || link->phase == LINK_ASKED) {
        end_child(link); /* it would do what nobody hears of */
    } else if (link->pid > 0) {
        os_forget(link->env.os, link->pid); /* the end of its input ends it */
    }
    close_streams(link);
    site_answer_fini(&link->answer);
    strbuf_fini(&link->in);
    strbuf_fini(&link->out);
    loop_timer_destroy(link->deadline);
    loop_timer_destroy(link->tell);
    mem_free(link->name);
    mem_free(link);
}
