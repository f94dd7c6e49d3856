/* schedd/queue/event_rows.c - see event_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/event_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "eventlog/log_append.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "schedd/site_log.h"
#include "store/store.h"
#include "wire/wire.h"

#define KEY_SIZE    32     /* bytes of a row's key, with the terminating zero */
#define MAIL_PATH   "mail" /* Path of a mail: not absolute, so it is not a log's */
#define MAIL_STREAM EVENT_STREAMS
#define SITE_PATH   "site" /* Path of rows of the site's log, which have no owner */
#define STREAMS     (EVENT_STREAMS + 1)
#define LOCKED_MS   50  /* wait this long when another process has locked the log */
#define LOCKED_MAX  100 /* this often; then write without the lock */
#define FAILED_MS   5000
#define EVENTS_OF_A_MS                                                        \
    ((int64_t)1 << 20) /* numbers between one life of the schedd and the next \
                        */

/* Most events and bytes of one row.  The events that one change has for a log are one row:
 * thousands of jobs that are submitted together have one log. */
#define ROW_EVENTS_MAX 64
#define ROW_BYTES      ((size_t)32 << 10)

struct row {
    STAILQ_ENTRY(row) entry;
    struct schedd *schedd;
    struct owner *owner;
    int64_t number;
    size_t events;
    const char *path, *text; /* in bytes[] */
    const char *sizes;       /* the same; bytes of each event in text, such as "120 122"; or "" */
    char bytes[];
};

/* The row that the next event may join. */
struct draft {
    struct change *change; /* the change that has the events; NULL: no draft is open */
    struct owner *owner;
    struct strbuf path, text, sizes;
    size_t events;
};

struct stream {
    STAILQ_HEAD(, row) rows;
    struct event_queue *queue;
    struct loop_timer *again;
    size_t sent; /* rows of the batch that is being written or deleted; 0: none */
    unsigned locked;
    unsigned number;
};

struct event_queue {
    struct schedd *schedd;
    struct owner *owner; /* NULL: the site's log, which the schedd writes itself */
    struct stream streams[STREAMS];
};

struct event_rows {
    struct strmap *queues; /* name of the owner, "" for the site -> struct event_queue */
    struct site_log *site;
    struct draft draft;
    int64_t next;
};

static void stream_go(struct stream *stream);

static void send_again(void *arg)
{
    stream_go(arg);
}

static struct event_queue *queue_of(struct schedd *schedd, struct owner *owner)
{
    const char *name = owner != NULL ? owner->name : "";
    struct event_queue *queue = strmap_get(schedd->event_rows->queues, name);
    if (queue == NULL) {
        queue = mem_zalloc(sizeof(*queue));
        queue->schedd = schedd;
        queue->owner = owner;
        for (unsigned i = 0; i < STREAMS; i++) {
            struct stream *stream = &queue->streams[i];
            STAILQ_INIT(&stream->rows);
            stream->queue = queue;
            stream->number = i;
            stream->again = loop_timer_create(schedd->loop, send_again, stream);
        }
        (void)strmap_set(schedd->event_rows->queues, name, queue); /* was absent */
    }
    return queue;
}

static unsigned stream_number(const char *path)
{
    if (strcmp(path, MAIL_PATH) == 0) {
        return MAIL_STREAM;
    }
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *at = path; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    }
    return hash % EVENT_STREAMS;
}

static struct row *row_create(struct schedd *schedd, struct owner *owner, int64_t number,
                              const char *path, const char *text, const char *sizes)
{
    size_t path_bytes = strlen(path) + 1, text_bytes = strlen(text) + 1;
    size_t sizes_bytes = strlen(sizes) + 1;
    struct row *row = mem_alloc(sizeof(*row) + path_bytes + text_bytes + sizes_bytes);
    row->schedd = schedd;
    row->owner = owner;
    row->number = number;
    size_t lengths[LOG_APPEND_ITEMS_MAX];
    row->events = log_append_split(text, sizes, lengths);
    row->path = memcpy(row->bytes, path, path_bytes);
    row->text = memcpy(row->bytes + path_bytes, text, text_bytes);
    row->sizes = memcpy(row->bytes + path_bytes + text_bytes, sizes, sizes_bytes);
    return row;
}

static struct stream *row_append(struct row *row)
{
    struct event_queue *queue = queue_of(row->schedd, row->owner);
    struct stream *stream = &queue->streams[stream_number(row->path)];
    STAILQ_INSERT_TAIL(&stream->rows, row, entry);
    if (row->owner != NULL) {
        row->owner->events++;
    }
    return stream;
}

static void row_key(int64_t number, char ret[KEY_SIZE])
{
    ret[text_put_decimal(ret, (uint64_t)number, 20)] = '\0';
}

/* ---- in -------------------------------------------------------------------------------------- */

static void row_committed(void *arg)
{
    stream_go(row_append(arg));
}

static void add_row(struct change *change, struct owner *owner, const char *path, const char *text,
                    const char *sizes)
{
    struct schedd *schedd = change_schedd(change);
    struct row *row = row_create(schedd, owner, schedd->event_rows->next++, path, text, sizes);
    char key[KEY_SIZE];
    row_key(row->number, key);
    struct ad *ad = ad_create();
    ad_set_string(ad, "Owner", owner != NULL ? owner->name : "");
    ad_set_string(ad, "Path", path);
    ad_set_string(ad, "Text", text);
    if (sizes[0] != '\0') {
        ad_set_string(ad, "Sizes", sizes);
    }
    change_put(change, "events", key, ad);
    ad_destroy(ad);
    change_then(change, row_committed, row);
}

/* Makes a row of the draft, in the change whose events it has. */
static void close_draft(struct event_rows *rows)
{
    struct draft *draft = &rows->draft;
    if (draft->change != NULL) {
        add_row(draft->change, draft->owner, strbuf_text(&draft->path), strbuf_text(&draft->text),
                draft->events > 1 ? strbuf_text(&draft->sizes) : "");
    }
    draft->change = NULL;
}

static void close_draft_of(struct change *change)
{
    struct event_rows *rows = change_schedd(change)->event_rows;
    if (rows->draft.change == change) {
        close_draft(rows);
    }
}

static bool may_join(struct draft *draft, const struct change *change, const struct owner *owner,
                     const char *path, size_t bytes)
{
    return draft->change == change && draft->owner == owner && draft->events < ROW_EVENTS_MAX &&
           draft->text.length + bytes <= ROW_BYTES && strcmp(strbuf_text(&draft->path), path) == 0;
}

void event_rows_add(struct change *change, struct owner *owner, const char *path, const char *text)
{
    struct schedd *schedd = change_schedd(change);
    if (strlen(path) > EVENT_LOG_PATH_MAX || strchr(path, '\n') != NULL || path[0] != '/') {
        log_warn(schedd->log, "events.no_log", "not a valid path of a job event log",
                 LOG_TEXT("path", path), LOG_TEXT("owner", owner->name));
        return;
    }
    struct draft *draft = &schedd->event_rows->draft;
    size_t bytes = strlen(text);
    if (!may_join(draft, change, owner, path, bytes)) {
        close_draft(schedd->event_rows);
        *draft = (struct draft){.change = change,
                                .owner = owner,
                                .path = draft->path,
                                .text = draft->text,
                                .sizes = draft->sizes};
        strbuf_clear(&draft->path);
        strbuf_clear(&draft->text);
        strbuf_clear(&draft->sizes);
        strbuf_puts(&draft->path, path);
        change_before_commit(change, close_draft_of);
    }
    char size[TEXT_DECIMAL_MAX + 1];
    size[text_put_decimal(size, bytes, 1)] = '\0';
    strbuf_puts(&draft->sizes, draft->events > 0 ? " " : "");
    strbuf_puts(&draft->sizes, size);
    strbuf_append(&draft->text, text, bytes);
    draft->events++;
}

void event_rows_add_site(struct change *change, const char *text)
{
    add_row(change, NULL, SITE_PATH, text, "");
}

void event_rows_add_mail(struct change *change, struct owner *owner, const char *message)
{
    add_row(change, owner, MAIL_PATH, message, "");
}

/* ---- out ------------------------------------------------------------------------------------- */

struct batch { /* a batch that was sent, which finds its stream again */
    struct schedd *schedd;
    unsigned stream;
    char owner[OWNER_NAME_MAX + 1];
};

static struct stream *batch_stream(const struct batch *batch)
{
    struct event_rows *rows = batch->schedd->event_rows;
    struct event_queue *queue = rows != NULL ? strmap_get(rows->queues, batch->owner) : NULL;
    return queue != NULL ? &queue->streams[batch->stream] : NULL;
}

static void rows_deleted(void *arg)
{
    struct batch *batch = arg;
    struct stream *stream = batch_stream(batch);
    if (stream != NULL) {
        for (; stream->sent > 0; stream->sent--) {
            struct row *row = STAILQ_FIRST(&stream->rows);
            STAILQ_REMOVE_HEAD(&stream->rows, entry);
            if (row->owner != NULL) {
                row->owner->events--;
            }
            mem_free(row);
        }
        stream_go(stream);
        if (stream->queue->owner != NULL && stream->queue->owner->events == 0) {
            shadows_look_at(stream->queue->owner);
        }
    }
    mem_free(batch);
}

static void delete_rows(struct stream *stream, struct batch *batch)
{
    struct change *change = change_begin(batch->schedd);
    const struct row *row = STAILQ_FIRST(&stream->rows);
    for (size_t i = 0; i < stream->sent; i++) {
        char key[KEY_SIZE];
        row_key(row->number, key);
        change_delete(change, "events", key);
        row = STAILQ_NEXT(row, entry);
    }
    change_commit(change, rows_deleted, mem_free, batch);
}

static void batch_answered(void *arg, struct wire_reply *reply)
{
    struct batch *batch = arg;
    struct stream *stream = batch_stream(batch);
    if (stream == NULL || stream->sent == 0) {
        mem_free(batch);
        return;
    }
    if (reply->status == 0) {
        stream->locked = 0;
        delete_rows(stream, batch);
        return;
    }
    stream->sent = 0;
    if (reply->status == -EAGAIN) {
        stream->locked++;
        loop_timer_set(stream->again, LOCKED_MS);
    } else if (reply->status != -ECONNRESET) { /* else it is told again when it is back */
        log_warn(batch->schedd->log, "events.not_written", reply->text,
                 LOG_TEXT("owner", batch->owner), LOG_INT("status", reply->status));
        loop_timer_set(stream->again, FAILED_MS);
    }
    mem_free(batch);
}

static void send_batch(struct stream *stream, struct wire *wire)
{
    struct schedd *schedd = stream->queue->schedd;
    struct ad *ads[LOG_APPEND_ITEMS_MAX];
    size_t count = 0, events = 0, bytes = 0;
    const struct row *row;
    STAILQ_FOREACH(row, &stream->rows, entry)
    {
        events += row->events;
        bytes += strlen(row->text);
        if (events > (stream->number == MAIL_STREAM ? 1 : LOG_APPEND_ITEMS_MAX) ||
            (count > 0 && bytes > EVENT_BATCH_BYTES)) {
            break;
        }
        ads[count] = ad_create();
        ad_set_int(ads[count], "Number", row->number);
        ad_set_string(ads[count], "Path", row->path);
        ad_set_string(ads[count], "Text", row->text);
        if (row->sizes[0] != '\0') {
            ad_set_string(ads[count], "Sizes", row->sizes);
        }
        count++;
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Stream", stream->number);
    if (stream->number == MAIL_STREAM) {
        ad_set_bool(args, "Mail", true);
    }
    if (stream->locked > LOCKED_MAX) {
        ad_set_bool(args, "Force", true);
    }
    struct batch *batch = mem_zalloc(sizeof(*batch));
    batch->schedd = schedd;
    batch->stream = stream->number;
    (void)snprintf(batch->owner, sizeof(batch->owner), "%s", stream->queue->owner->name); /* fits */
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)ads,
                                   .ad_count = count};
    stream->sent = count;
    if (wire_call(wire, VERB_JOB_EVENT, &body, 0, batch_answered, batch) < 0) {
        stream->sent = 0; /* the connection is gone: told when it is back */
        mem_free(batch);
    }
    for (size_t i = 0; i < count; i++) {
        ad_destroy(ads[i]);
    }
    ad_destroy(args);
}

static void site_written(void *arg, int result)
{
    struct batch *batch = arg;
    struct stream *stream = batch_stream(batch);
    if (stream == NULL || stream->sent == 0) {
        mem_free(batch);
    } else if (result == -EAGAIN) {
        stream->sent = 0;
        loop_timer_set(stream->again, LOCKED_MS);
        mem_free(batch);
    } else {
        delete_rows(stream, batch);
    }
}

static void send_site(struct stream *stream)
{
    struct schedd *schedd = stream->queue->schedd;
    const char *texts[LOG_APPEND_ITEMS_MAX];
    size_t count = 0, bytes = 0;
    const struct row *row;
    STAILQ_FOREACH(row, &stream->rows, entry)
    {
        bytes += strlen(row->text);
        if (count == LOG_APPEND_ITEMS_MAX || (count > 0 && bytes > EVENT_BATCH_BYTES)) {
            break;
        }
        texts[count++] = row->text;
    }
    struct batch *batch = mem_zalloc(sizeof(*batch));
    batch->schedd = schedd;
    batch->stream = stream->number;
    stream->sent = count;
    site_log_append(schedd->event_rows->site, texts, count, site_written, batch);
}

static void stream_go(struct stream *stream)
{
    if (stream->sent > 0 || STAILQ_EMPTY(&stream->rows) || loop_timer_is_set(stream->again)) {
        return;
    }
    if (stream->queue->owner == NULL) {
        send_site(stream);
        return;
    }
    struct wire *wire = shadows_wire_for_events(stream->queue->schedd, stream->queue->owner);
    if (wire != NULL) {
        send_batch(stream, wire);
    }
}

void event_rows_shadow_up(struct schedd *schedd, struct owner *owner)
{
    struct event_queue *queue = strmap_get(schedd->event_rows->queues, owner->name);
    for (size_t i = 0; queue != NULL && i < STREAMS; i++) {
        stream_go(&queue->streams[i]);
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

static int load_row(void *arg, const char *key, const void *value, size_t length)
{
    struct schedd *schedd = arg;
    struct ad *ad = NULL;
    int64_t number = 0;
    struct err err;
    if (sscanf(key, "%" SCNd64, &number) != 1 || ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(schedd->log, "events.row_damaged",
                  "cannot read the row of an event; the row stays as it is", LOG_TEXT("key", key));
        return 0;
    }
    const char *owner = ad_string_or(ad, "Owner", "");
    bool is_site = strcmp(ad_string_or(ad, "Path", ""), SITE_PATH) == 0;
    if (is_site || owner_name_is_valid(owner)) {
        (void)row_append(row_create(schedd, is_site ? NULL : queue_owner(schedd, owner), number,
                                    ad_string_or(ad, "Path", ""), ad_string_or(ad, "Text", ""),
                                    ad_string_or(ad, "Sizes", ""))); /* sent when a shadow is up */
    }
    if (number >= schedd->event_rows->next) {
        schedd->event_rows->next = number + 1;
    }
    ad_destroy(ad);
    return 0;
}

int event_rows_init(struct schedd *schedd, struct err *err)
{
    schedd->event_rows = mem_zalloc(sizeof(*schedd->event_rows));
    strbuf_init(&schedd->event_rows->draft.path, 0);
    strbuf_init(&schedd->event_rows->draft.text, 0);
    strbuf_init(&schedd->event_rows->draft.sizes, 0);
    schedd->event_rows->queues = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->event_rows->site = site_log_create(schedd);
    int result = store_load(schedd->store, "events", load_row, schedd, err);
    if (result != 0) {
        return err_prefix(err, result, "events");
    }
    return 0;
}

void event_rows_start(struct schedd *schedd)
{
    /* Larger than all that an earlier life gave: a shadow knows by it what it has written. */
    int64_t first = schedd->self.life * EVENTS_OF_A_MS;
    if (first > schedd->event_rows->next) {
        schedd->event_rows->next = first;
    }
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->event_rows->queues, &at, NULL, &value)) {
        struct event_queue *queue = value;
        if (queue->owner != NULL) {
            (void)shadows_wire_for_events(schedd, queue->owner); /* starts it */
        } else {
            stream_go(&queue->streams[stream_number(SITE_PATH)]);
        }
    }
}

static void queue_destroy(void *value)
{
    struct event_queue *queue = value;
    if (queue->owner != NULL) {
        queue->owner->events = 0;
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = &queue->streams[i];
        while (!STAILQ_EMPTY(&stream->rows)) {
            struct row *row = STAILQ_FIRST(&stream->rows);
            STAILQ_REMOVE_HEAD(&stream->rows, entry);
            mem_free(row);
        }
        loop_timer_destroy(stream->again);
    }
    mem_free(queue);
}

void event_rows_fini(struct schedd *schedd)
{
    if (schedd->event_rows != NULL) {
        site_log_destroy(schedd->event_rows->site);
        strmap_destroy(schedd->event_rows->queues, queue_destroy);
        strbuf_fini(&schedd->event_rows->draft.path);
        strbuf_fini(&schedd->event_rows->draft.text);
        strbuf_fini(&schedd->event_rows->draft.sizes);
        mem_free(schedd->event_rows);
        schedd->event_rows = NULL;
    }
}
