/* shadow/event_log.c - appends events of jobs to the owner's logs, as the owner.
 *
 * The schedd sends the events in streams.  Each stream is in order and in batches, and the schedd
 * repeats a batch until it gets the answer.  Each stream has a lane of its own, so that a log on a
 * file server that hangs stops only this stream, and a note of its own (eventlog/log_append.h).  A
 * log that cannot be written is the owner's problem: it is reported once for each reason, and the
 * job goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/event_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "eventlog/log_append.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

#define STREAMS_MAX 16

struct event_stream {
    struct loop_lane *lane; /* NULL: no event has come yet */
    int64_t written;        /* number of the last event that is in its log */
    bool began;             /* this process has written a batch */
    int complained;         /* the last errno that was logged */
};

struct event_logs {
    struct event_stream streams[STREAMS_MAX];
    struct vec writes; /* struct event_write, under way */
    char boot_id[OS_BOOT_ID_SIZE];
};

struct event_write {
    struct shadow *shadow;
    struct wire_request *request; /* NULL after the process has begun to end */
    struct event_stream *stream;
    struct log_append how;
    struct log_append_item items[LOG_APPEND_ITEMS_MAX];
    size_t count;
    int64_t last;
    char *note_path;
    struct err err;
};

static struct event_logs *logs_of(struct shadow *shadow)
{
    if (shadow->event_logs == NULL) {
        struct os_machine machine = {0};
        shadow->event_logs = mem_zalloc(sizeof(*shadow->event_logs));
        if (os_machine(shadow->os, &machine, NULL) == 0) { /* else: as after a crash */
            memcpy(shadow->event_logs->boot_id, machine.boot_id, OS_BOOT_ID_SIZE);
        }
    }
    return shadow->event_logs;
}

static void write_destroy(struct event_write *write)
{
    for (size_t i = 0; i < write->count; i++) {
        mem_free((char *)(uintptr_t)write->items[i].path);
        mem_free((char *)(uintptr_t)write->items[i].text);
    }
    mem_free(write->note_path);
    mem_free(write);
}

/* Makes the directories of a log in a job's sandbox, where the log of a spooled job is the first
 * file.  Only the first event makes them, because the last one may come when the sandbox is
 * removed. */
static void make_way(const struct event_write *write)
{
    const struct shadow *shadow = write->shadow;
    size_t length = strlen(shadow->directory);
    for (size_t i = 0; i < write->count; i++) {
        const char *path = write->items[i].path, *slash = strrchr(path, '/');
        if (strncmp(write->items[i].text, "000 (", 5) == 0 && slash != NULL &&
            strncmp(path, shadow->directory, length) == 0 &&
            strncmp(path + length, "/sandbox/", 9) == 0) {
            char *parent = mem_strndup(path, (size_t)(slash - path));
            (void)os_mkdirs(shadow->os, parent, 0700, NULL); /* the append says what is wrong */
            mem_free(parent);
        }
    }
}

static int write_body(void *arg)
{
    struct event_write *write = arg;
    make_way(write);
    return log_append(&write->how, write->items, write->count, &write->err);
}

static void log_failures(const struct event_write *write)
{
    for (size_t i = 0; i < write->count; i++) {
        int status = write->items[i].status;
        if (status != 0 && status != write->stream->complained) {
            write->stream->complained = status;
            log_warn(write->shadow->log, "events.not_written",
                     "cannot write a job event log; the job continues without this log",
                     LOG_TEXT("log", write->items[i].path),
                     LOG_TEXT("error", status == -ELOOP ? "a symbolic link, which is not followed"
                                                        : strerror(-status)));
        }
    }
}

static void write_done(void *arg, int result)
{
    struct event_write *write = arg;
    struct event_logs *logs = write->shadow->event_logs;
    for (size_t i = 0; i < logs->writes.count; i++) {
        if (logs->writes.items[i] == write) {
            vec_remove_at(&logs->writes, i);
            break;
        }
    }
    if (result == 0) {
        write->stream->began = true;
        if (write->last > write->stream->written) {
            write->stream->written = write->last;
        }
        log_failures(write);
        wire_reply_ok(write->request, NULL);
    } else {
        wire_reply_error(write->request, result, "%s", write->err.text);
    }
    write_destroy(write);
}

/* Takes the events of one ad.  Returns 0, or -E2BIG: too many. */
static int take_row(struct event_write *write, const struct ad *ad, const char *path)
{
    size_t lengths[LOG_APPEND_ITEMS_MAX];
    const char *text = ad_string_or(ad, "Text", "");
    size_t count = log_append_split(text, ad_string_or(ad, "Sizes", ""), lengths);
    if (write->count + count > LOG_APPEND_ITEMS_MAX) {
        return -E2BIG;
    }
    for (size_t i = 0; i < count; i++) {
        write->items[write->count++] =
            (struct log_append_item){.path = mem_strdup(path),
                                     .text = mem_strndup(text, lengths[i])};
        text += lengths[i];
    }
    return 0;
}

/* Takes the events of a batch, without those that were written before and are sent again because
 * the answer was lost. */
static int take_events(struct event_write *write, struct err *err)
{
    size_t count = wire_request_ad_count(write->request);
    for (size_t i = 0; i < count; i++) {
        const struct ad *ad = wire_request_ad(write->request, i);
        const char *path = ad_string_or(ad, "Path", "");
        int64_t number = ad_int_or(ad, "Number", 0);
        if (path[0] != '/' || strchr(path, '\n') != NULL || number <= 0) {
            return err_set(err, -EINVAL, "JOB_EVENT without Number or Path");
        }
        if (number <= write->stream->written) {
            continue;
        }
        if (take_row(write, ad, path) != 0) {
            return err_set(err, -E2BIG, "JOB_EVENT with more than %d events", LOG_APPEND_ITEMS_MAX);
        }
        write->last = number;
    }
    return 0;
}

void event_logs_handle(struct shadow *shadow, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    int64_t number = ad_int_or(args, "Stream", -1);
    if (number < 0 || number >= STREAMS_MAX) {
        wire_reply_error(request, -EINVAL, "JOB_EVENT needs Stream");
        return;
    }
    struct event_logs *logs = logs_of(shadow);
    struct event_write *write = mem_zalloc(sizeof(*write));
    write->shadow = shadow;
    write->request = request;
    write->stream = &logs->streams[number];
    struct err err = {{0}};
    int result = take_events(write, &err);
    if (result != 0 || write->count == 0) {
        if (result != 0) {
            wire_reply_error(request, result, "%s", err.text);
        } else {
            wire_reply_ok(request, NULL);
        }
        write_destroy(write);
        return;
    }
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/events.%" PRId64, shadow->directory, number);
    write->note_path = strbuf_take(&path);
    write->how = (struct log_append){
        .os = shadow->os,
        .note_path = write->note_path,
        .boot_id = logs->boot_id,
        .is_first = !write->stream->began,
        .force = ad_bool_or(args, "Force", false),
        .sync = true,
    };
    if (write->stream->lane == NULL) {
        write->stream->lane = loop_lane_create(shadow->loop);
    }
    vec_push(&logs->writes, write);
    loop_lane_run(write->stream->lane, write_body, write_done, write);
}

void event_logs_end(struct shadow *shadow)
{
    struct event_logs *logs = shadow->event_logs;
    if (logs == NULL) {
        return;
    }
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (logs->streams[i].lane != NULL) {
            loop_lane_destroy(logs->streams[i].lane); /* what it wrote is found by the next life */
        }
    }
    while (logs->writes.count > 0) {
        write_done(logs->writes.items[0], -ESHUTDOWN);
    }
    vec_fini(&logs->writes, NULL);
    mem_free(logs);
    shadow->event_logs = NULL;
}
