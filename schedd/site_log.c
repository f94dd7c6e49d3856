/* schedd/site_log.c - see site_log.h.
 *
 * The file begins with a generic event with its number in the order of rotations, in a line of
 * fixed length, as HTCondor's does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/site_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "eventlog/log_append.h"
#include "schedd/schedd_state.h"

/* most bytes of the header's attribute Info, without the terminating zero */
#define HEADER_BYTES 256
#define PATH_BYTES   4096 /* most bytes of a path, with the terminating zero */

struct site_log {
    struct schedd *schedd;
    struct loop_lane *lane;
    char *note_path;
    char boot_id[OS_BOOT_ID_SIZE];
    bool began;     /* this process has written a batch */
    int complained; /* last errno that was logged */
    struct writing *writing;
};

struct writing {
    struct site_log *log;
    struct os *os;
    char *path;
    int64_t bytes_max, rotations;
    struct event_format format;
    int64_t wall_ms;
    int32_t zone_s;
    int64_t pid, uid;
    struct log_append how;
    struct log_append_item items[LOG_APPEND_ITEMS_MAX + 1];
    size_t count;
    int status; /* 0, or why the file could not be written */
    struct err err;
    void (*done)(void *arg, int result);
    void *arg;
};

void site_log_settings_borrow(const struct config *config, struct site_log_settings *ret)
{
    ret->path = config_path(config, "EVENT_LOG");
    if (ret->path != NULL && ret->path[0] == '\0') {
        ret->path = NULL;
    }
    ret->attributes = config_list(config, "EVENT_LOG_JOB_AD_INFORMATION_ATTRS", NULL);
}

int site_log_settings_read(const struct config *config, struct site_log_settings *ret,
                           struct err *err)
{
    struct site_log_settings new = {
        .bytes_max = config_bytes(config, "EVENT_LOG_MAX_SIZE"),
        .rotations = config_int(config, "EVENT_LOG_MAX_ROTATIONS"),
        .sync = config_bool(config, "EVENT_LOG_FSYNC"),
    };
    site_log_settings_borrow(config, &new);
    int result =
        event_format_parse(config_string(config, "EVENT_LOG_FORMAT_OPTIONS"), &new.format, err);
    if (result != 0) {
        return err_prefix(err, result, "EVENT_LOG_FORMAT_OPTIONS");
    }
    if (config_bool(config, "EVENT_LOG_USE_XML")) {
        new.format.form = EVENT_AS_XML;
    }
    *ret = new;
    return 0;
}

/* ---- in the lane ----------------------------------------------------------------------------- */

static bool rotated_path(const struct writing *writing, int64_t number, char ret[PATH_BYTES])
{
    int written = writing->rotations == 1
                      ? snprintf(ret, PATH_BYTES, "%s.old", writing->path)
                      : snprintf(ret, PATH_BYTES, "%s.%" PRId64, writing->path, number);
    return written > 0 && written < PATH_BYTES;
}

/* Returns the number of a log file in the order of rotations, from its header; 0: it has no
 * header. */
static int64_t sequence_of(struct os *os, const char *path)
{
    char head[2 * HEADER_BYTES + 1];
    struct os_file *file = NULL;
    long long sequence = 0;
    if (os_file_open(os, path, OS_READ, 0, &file, NULL) != 0) {
        return 0;
    }
    ssize_t got = os_file_read(file, 0, head, sizeof(head) - 1);
    os_file_close(file);
    head[got > 0 ? got : 0] = '\0';
    const char *at = strstr(head, " sequence=");
    return at != NULL && sscanf(at, " sequence=%lld", &sequence) == 1 ? sequence : 0;
}

static void rotate_log(const struct writing *writing)
{
    char from[PATH_BYTES], to[PATH_BYTES];
    if (writing->rotations == 0) {
        (void)os_remove(writing->os, writing->path, NULL); /* else it grows on */
        return;
    }
    for (int64_t number = writing->rotations; number > 1; number--) {
        if (rotated_path(writing, number - 1, from) && rotated_path(writing, number, to)) {
            (void)os_rename(writing->os, from, to, false, NULL); /* it need not be there */
        }
    }
    if (rotated_path(writing, 1, to)) {
        (void)os_rename(writing->os, writing->path, to, false, NULL); /* else it grows on */
    }
}

static char *header_text(const struct writing *writing, int64_t sequence)
{
    char info[HEADER_BYTES + 1];
    int64_t now_s = writing->wall_ms / 1000;
    int written =
        snprintf(info, sizeof(info),
                 "Global JobLog: ctime=%" PRId64 " id=%" PRId64 ".%" PRId64 ".%" PRId64
                 ".%06" PRId64 " sequence=%" PRId64
                 " size=0 events=0 offset=0 event_off=0 max_rotation=%" PRId64 " creator_name=<>",
                 now_s, writing->uid, writing->pid, now_s, writing->wall_ms % 1000 * 1000, sequence,
                 writing->rotations);
    for (int at = written < 0 ? 0 : written; at < HEADER_BYTES; at++) {
        info[at] = ' ';
    }
    info[HEADER_BYTES] = '\0';
    struct ad *event = event_create(EVENT_GENERIC, -1, -1);
    ad_remove(event, "Cluster");
    ad_remove(event, "Subproc");
    if (writing->format.form == EVENT_AS_TEXT) {
        ad_set_int(event, "Subproc", -1);
    }
    ad_set_string(event, "Info", info);
    struct strbuf text;
    strbuf_init(&text, 0);
    event_print(event, writing->wall_ms, writing->zone_s, &writing->format, &text);
    ad_destroy(event);
    char *taken = strbuf_take(&text);
    strbuf_fini(&text);
    return taken;
}

static int write_body(void *arg)
{
    struct writing *writing = arg;
    struct os_stat stat = {0};
    char last[PATH_BYTES];
    bool is_there = os_stat(writing->os, writing->path, &stat) == 0;
    if (is_there && !writing->how.is_first && writing->bytes_max > 0 &&
        stat.size_bytes >= writing->bytes_max) {
        rotate_log(writing);
        is_there = os_stat(writing->os, writing->path, &stat) == 0;
    }
    size_t skip = 1;
    if (!is_there || (stat.is_file && stat.size_bytes == 0)) {
        int64_t sequence = rotated_path(writing, 1, last) ? sequence_of(writing->os, last) : 0;
        writing->items[0] =
            (struct log_append_item){writing->path, header_text(writing, sequence + 1), 0};
        skip = 0;
    }
    int result = 0;
    /* at most so many at once */
    for (size_t at = skip; at <= writing->count && result == 0; at += LOG_APPEND_ITEMS_MAX) {
        size_t count = writing->count + 1 - at;
        result =
            log_append(&writing->how, writing->items + at,
                       count < LOG_APPEND_ITEMS_MAX ? count : LOG_APPEND_ITEMS_MAX, &writing->err);
        writing->how.is_first = false;
    }
    for (size_t i = skip; i <= writing->count; i++) {
        writing->status =
            writing->items[i].status != 0 ? writing->items[i].status : writing->status;
    }
    return result;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

static void writing_destroy(struct writing *writing)
{
    for (size_t i = 0; i <= writing->count; i++) {
        mem_free((char *)(uintptr_t)writing->items[i].text);
    }
    mem_free(writing->path);
    mem_free(writing);
}

static void write_done(void *arg, int result)
{
    struct writing *writing = arg;
    struct site_log *log = writing->log;
    log->writing = NULL;
    int status = result != 0 ? result : writing->status;
    if (result == 0) {
        log->began = true;
    }
    if (status != 0 && status != -EAGAIN && status != log->complained) {
        log->complained = status;
        log_warn(log->schedd->log, "events.site_log",
                 "cannot write EVENT_LOG; jobs continue without this log",
                 LOG_TEXT("log", writing->path),
                 LOG_TEXT("error", result != 0 ? writing->err.text : strerror(-status)));
    } else if (status == 0) {
        log->complained = 0;
    }
    writing->done(writing->arg, result == -EAGAIN ? -EAGAIN : 0);
    writing_destroy(writing);
}

void site_log_append(struct site_log *log, const char *const *texts, size_t count,
                     void (*done)(void *arg, int result), void *arg)
{
    CHECK(log->writing == NULL && count <= LOG_APPEND_ITEMS_MAX);
    const struct schedd *schedd = log->schedd;
    const struct site_log_settings *settings = &schedd->settings.site_log;
    struct writing *writing = mem_zalloc(sizeof(*writing));
    writing->log = log;
    writing->os = schedd->os;
    writing->path = mem_strdup(settings->path != NULL ? settings->path : "/dev/null");
    writing->bytes_max = settings->bytes_max;
    writing->rotations = settings->rotations;
    writing->format = settings->format;
    writing->wall_ms = loop_wall_ms(schedd->loop);
    writing->zone_s = os_zone_offset_s(schedd->os, writing->wall_ms / 1000);
    writing->pid = os_pid(schedd->os);
    writing->uid = os_uid(schedd->os);
    writing->how = (struct log_append){.os = schedd->os,
                                       .note_path = log->note_path,
                                       .boot_id = log->boot_id,
                                       .is_first = !log->began,
                                       .sync = settings->sync};
    for (size_t i = 0; i < count; i++) {
        writing->items[i + 1] = (struct log_append_item){writing->path, mem_strdup(texts[i]), 0};
    }
    writing->count = count;
    writing->done = done;
    writing->arg = arg;
    log->writing = writing;
    loop_lane_run(log->lane, write_body, write_done, writing);
}

struct site_log *site_log_create(struct schedd *schedd)
{
    struct os_machine machine = {0};
    struct site_log *log = mem_zalloc(sizeof(*log));
    struct strbuf path;
    log->schedd = schedd;
    log->lane = loop_lane_create(schedd->loop);
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/events.site", schedd->self.spool);
    log->note_path = strbuf_take(&path);
    strbuf_fini(&path);
    if (os_machine(schedd->os, &machine, NULL) == 0) { /* else: as after a crash */
        memcpy(log->boot_id, machine.boot_id, OS_BOOT_ID_SIZE);
    }
    return log;
}

void site_log_destroy(struct site_log *log)
{
    if (log == NULL) {
        return;
    }
    loop_lane_destroy(log->lane); /* what it wrote is found by the next life */
    if (log->writing != NULL) {
        mem_free(log->writing->arg);
        writing_destroy(log->writing);
    }
    mem_free(log->note_path);
    mem_free(log);
}
