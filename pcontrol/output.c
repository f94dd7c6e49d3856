/* pcontrol/output.c - see output.h.
 *
 * Design note: the struct file_writer belongs to its lane while work is under way and to the loop
 * thread otherwise; an output that is destroyed meanwhile leaves it to the lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"

#define LANES    4    /* so many files are written at the same time */
#define RETRY_MS 1000 /* a file that cannot be written is tried again after this time */
#define MODE     0644

struct file_writer {
    struct output *output; /* NULL: destroyed, and the writer is in the list of the house */
    LIST_ENTRY(file_writer) entry;
    struct os *os;
    char *path;
    struct os_file *file;
    uint64_t offset;
    char *data; /* what the lane writes now */
    size_t length;
    bool last, closed; /* last: the lane closes the file after that */
    struct loop_lane *lane;
    struct err err;
};

TAILQ_HEAD(output_list, output);

struct output_save { /* belongs to the lane until its work is done, but for done and arg */
    LIST_ENTRY(output_save) entry;
    struct os *os;
    char *path, *data;
    size_t length;
    struct err err;
    loop_f done; /* NULL: nobody waits for it */
    void *arg;
    bool failed;
};

struct output_house {
    struct loop *loop;
    struct os *os;
    struct loop_lane *lanes[LANES];
    size_t buffer_max, buffers_max, buffered;
    struct output_list ended;      /* buffers of jobs that have ended, the oldest first */
    LIST_HEAD(, file_writer) left; /* still on a lane */
    LIST_HEAD(, output_save) saves;
};

/* Whether the file can be written. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_PASSES, /* it is tried again */
    TROUBLE_STAYS
};

struct output {
    struct output_house *house;
    loop_f changed;
    void *arg;
    struct strbuf bytes; /* of a buffer; of a file: what has not been given to the lane yet */
    uint64_t total, dropped;
    const char *limit; /* the knob that has dropped some last */
    size_t done;       /* bytes, since output_take_done() */
    bool ending, given_up, in_list;
    bool opened; /* the file */
    TAILQ_ENTRY(output) entry;
    struct file_writer *writer; /* NULL: a buffer */
    struct loop_timer *retry;
    bool writing;
    enum trouble trouble;
};

struct output_house *output_house_create(struct loop *loop, struct os *os, size_t buffer_max,
                                         size_t buffers_max)
{
    struct output_house *house = mem_zalloc(sizeof(*house));
    house->loop = loop;
    house->os = os;
    house->buffer_max = buffer_max;
    house->buffers_max = buffers_max;
    TAILQ_INIT(&house->ended);
    LIST_INIT(&house->left);
    LIST_INIT(&house->saves);
    return house;
}

static void writer_free(struct file_writer *writer)
{
    os_file_close(writer->file);
    mem_free(writer->path);
    mem_free(writer->data);
    mem_free(writer);
}

static void free_save(struct output_save *save)
{
    LIST_REMOVE(save, entry);
    mem_free(save->path);
    mem_free(save->data);
    mem_free(save);
}

void output_house_destroy(struct output_house *house)
{
    if (house == NULL) {
        return;
    }
    CHECK(TAILQ_EMPTY(&house->ended));
    for (size_t i = 0; i < LANES; i++) {
        if (house->lanes[i] != NULL) {
            loop_lane_destroy(house->lanes[i]);
        }
    }
    while (!LIST_EMPTY(&house->left)) {
        struct file_writer *writer = LIST_FIRST(&house->left);
        LIST_REMOVE(writer, entry);
        writer_free(writer);
    }
    while (!LIST_EMPTY(&house->saves)) {
        free_save(LIST_FIRST(&house->saves));
    }
    mem_free(house);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Closes the file; a file server may say only then that it has no room for what was written. */
static int close_file(struct file_writer *writer)
{
    int rc = os_file_end(writer->file);
    writer->file = NULL;
    writer->closed = true;
    return rc;
}

/* On the lane.  What was written twice after a failure is written at the same place. */
static int write_file(void *arg)
{
    struct file_writer *writer = arg;
    int rc = 0;
    if (writer->file == NULL && !writer->closed) {
        rc = os_file_open(writer->os, writer->path, OS_WRITE_TRUNCATE, MODE, &writer->file,
                          &writer->err);
        if (rc != 0) {
            return rc;
        }
    }
    if (writer->length > 0) {
        rc = os_file_write(writer->file, writer->offset, writer->data, writer->length);
    }
    if (rc == 0 && writer->last) {
        rc = close_file(writer);
    }
    if (rc != 0) {
        (void)err_set(&writer->err, rc, "%s: %s", writer->path, err_code_text(rc));
    }
    return rc;
}

/* Errors that time may mend; all others say that the name is wrong. */
static bool may_pass(int rc)
{
    return rc == -ENOSPC || rc == -EDQUOT || rc == -EIO || rc == -ESTALE || rc == -EROFS ||
           rc == -ETIMEDOUT || rc == -ENXIO || rc == -EHOSTDOWN || err_is_shortage(rc);
}

static void start_writing(struct output *output);

bool output_is_complete(const struct output *output)
{
    return output->ending &&
           (output->writer == NULL || output->given_up ||
            (output->writer->closed && !output->writing && output->trouble == TROUBLE_NONE));
}

static void unused_is_closed(void *arg, int rc)
{
    struct file_writer *writer = arg;
    (void)rc;
    LIST_REMOVE(writer, entry);
    writer_free(writer);
}

static int close_unused_file(void *arg)
{
    return close_file(arg);
}

/* Nobody waits for the file any more.  It is closed on the lane, because a file server may be slow
 * about it. */
static void close_unused(struct file_writer *writer)
{
    if (writer->file != NULL) {
        loop_lane_run(writer->lane, close_unused_file, unused_is_closed, writer);
    } else {
        unused_is_closed(writer, 0);
    }
}

/* Returns how many bytes of data are not kept any more. */
static size_t forget_data(struct file_writer *writer)
{
    size_t length = writer->length;
    writer->length = 0;
    mem_free(writer->data);
    writer->data = NULL;
    return length;
}

static void file_is_written(void *arg, int rc)
{
    struct file_writer *writer = arg;
    struct output *output = writer->output;
    if (output == NULL) {
        close_unused(writer);
        return;
    }
    output->writing = false;
    if (rc != 0 && !output->given_up) {
        output->trouble = may_pass(rc) && !writer->closed ? TROUBLE_PASSES : TROUBLE_STAYS;
        if (output->trouble == TROUBLE_PASSES) {
            loop_timer_set(output->retry, RETRY_MS);
        }
        output->changed(output->arg);
        return;
    }
    output->trouble = TROUBLE_NONE;
    output->opened = true;
    writer->offset += writer->length;
    output->done += forget_data(writer);
    if (!output->given_up && (output->bytes.length > 0 || (output->ending && !writer->closed))) {
        start_writing(output);
    }
    output->changed(output->arg); /* it may destroy the output */
}

static void start_writing(struct output *output)
{
    struct file_writer *writer = output->writer;
    CHECK(!output->writing);
    if (writer->length == 0 && output->bytes.length > 0) {
        writer->length = output->bytes.length;
        writer->data = strbuf_take(&output->bytes);
    }
    writer->last = output->ending && output->bytes.length == 0;
    output->writing = true;
    loop_lane_run(writer->lane, write_file, file_is_written, writer);
}

static void try_again(void *arg)
{
    start_writing(arg);
}

static struct loop_lane *house_lane(struct output_house *house, uint64_t number)
{
    struct loop_lane **lane = &house->lanes[number % LANES];
    if (*lane == NULL) {
        *lane = loop_lane_create(house->loop);
    }
    return *lane;
}

/* ---- files that are written once --------------------------------------------------------------
 */

/* On the lane. */
static int save_file(void *arg)
{
    struct output_save *save = arg;
    struct os_file *file = NULL;
    int rc = os_file_open(save->os, save->path, OS_WRITE_TRUNCATE, MODE, &file, &save->err);
    if (rc != 0) {
        return rc == -ENXIO ? err_set(&save->err, rc, "%s: is not a file", save->path) : rc;
    }
    rc = save->length > 0 ? os_file_write(file, 0, save->data, save->length) : 0;
    int end = os_file_end(file);
    rc = rc != 0 ? rc : end;
    return rc == 0 ? 0
                   : err_set(&save->err, rc, "cannot write %s: %s", save->path, err_code_text(rc));
}

static void file_is_saved(void *arg, int rc)
{
    struct output_save *save = arg;
    save->failed = rc != 0;
    if (save->done != NULL) {
        save->done(save->arg);
    }
    free_save(save);
}

struct output_save *output_save_start(struct output_house *house, const char *path, uint64_t number,
                                      const void *data, size_t length, loop_f done, void *arg)
{
    struct output_save *save = mem_zalloc(sizeof(*save));
    save->os = house->os;
    save->path = mem_strdup(path);
    save->data = length > 0 ? mem_dup(data, length) : NULL;
    save->length = length;
    save->done = done;
    save->arg = arg;
    LIST_INSERT_HEAD(&house->saves, save, entry);
    loop_lane_run(house_lane(house, number), save_file, file_is_saved, save);
    return save;
}

const char *output_save_why(const struct output_save *save)
{
    return save->failed ? save->err.text : NULL;
}

void output_save_cancel(struct output_save *save)
{
    if (save != NULL) {
        save->done = NULL;
    }
}

/* ---- all outputs ----------------------------------------------------------------------------- */

struct output *output_create(struct output_house *house, const char *path, uint64_t number,
                             loop_f changed, void *arg)
{
    struct output *output = mem_zalloc(sizeof(*output));
    output->house = house;
    output->changed = changed;
    output->arg = arg;
    strbuf_init(&output->bytes, 0);
    if (path != NULL) {
        output->retry = loop_timer_create(house->loop, try_again, output);
        output->writer = mem_zalloc(sizeof(*output->writer));
        output->writer->output = output;
        output->writer->lane = house_lane(house, number);
        output->writer->os = house->os;
        output->writer->path = mem_strdup(path);
        start_writing(output); /* opens it */
    }
    return output;
}

static void forget_buffer(struct output *output)
{
    struct output_house *house = output->house;
    house->buffered -= output->bytes.length;
    output->dropped += output->bytes.length;
    strbuf_fini(&output->bytes);
    strbuf_init(&output->bytes, 0);
    if (output->in_list) {
        TAILQ_REMOVE(&house->ended, output, entry);
        output->in_list = false;
    }
}

void output_destroy(struct output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->writer != NULL) {
        loop_timer_destroy(output->retry);
        output->writer->output = NULL;
        LIST_INSERT_HEAD(&output->house->left, output->writer, entry);
        if (!output->writing) {
            close_unused(output->writer);
        }
        strbuf_fini(&output->bytes);
    } else {
        forget_buffer(output);
    }
    mem_free(output);
}

/* Drops the output of the jobs that ended first while all buffers together are too large. */
static void keep_limit(struct output_house *house)
{
    while (house->buffered > house->buffers_max && !TAILQ_EMPTY(&house->ended)) {
        struct output *first = TAILQ_FIRST(&house->ended);
        first->limit = "PCONTROL_BUFFERS";
        forget_buffer(first);
    }
}

/* Keeps the last buffer_max bytes; twice as many are there at most. */
static void add_to_buffer(struct output *output, const char *data, size_t length)
{
    struct output_house *house = output->house;
    size_t before = output->bytes.length;
    strbuf_append(&output->bytes, data, length);
    if (output->bytes.length > 2 * house->buffer_max) {
        size_t excess = output->bytes.length - house->buffer_max;
        output->bytes.length -= excess;
        memmove(output->bytes.data, output->bytes.data + excess, output->bytes.length);
        output->dropped += excess;
        output->limit = "PCONTROL_BUFFER";
    }
    house->buffered += output->bytes.length - before;
    keep_limit(house);
}

void output_add(struct output *output, const void *data, size_t length)
{
    CHECK(!output->ending);
    output->total += length;
    if (output->given_up) {
        output->dropped += length;
        output->done += length;
        return;
    }
    if (output->writer == NULL) {
        add_to_buffer(output, data, length);
        output->done += length;
        return;
    }
    strbuf_append(&output->bytes, data, length);
    if (!output->writing && output->trouble == TROUBLE_NONE) {
        start_writing(output);
    }
}

void output_finish(struct output *output)
{
    output->ending = true;
    if (output->writer != NULL) {
        if (!output->given_up && !output->writing && output->trouble == TROUBLE_NONE) {
            start_writing(output); /* closes it */
        }
    } else {
        struct output_house *house = output->house;
        if (output->bytes.length > house->buffer_max) {
            size_t excess = output->bytes.length - house->buffer_max;
            output->bytes.length -= excess;
            memmove(output->bytes.data, output->bytes.data + excess, output->bytes.length);
            output->dropped += excess;
            output->limit = "PCONTROL_BUFFER";
            house->buffered -= excess;
        }
        if (output->bytes.length > 0) {
            TAILQ_INSERT_TAIL(&house->ended, output, entry);
            output->in_list = true;
            keep_limit(house); /* jobs that ran at the same time may have passed it */
        }
    }
}

void output_give_up(struct output *output)
{
    output->given_up = true;
    if (output->writer == NULL) {
        forget_buffer(output);
        return;
    }
    size_t length = output->bytes.length;
    strbuf_clear(&output->bytes);
    loop_timer_stop(output->retry);
    output->trouble = TROUBLE_NONE;
    if (!output->writing) {
        length += forget_data(output->writer);
    }
    output->dropped += length;
    output->done += length;
}

bool output_is_open(const struct output *output)
{
    return output->writer == NULL || output->opened;
}

size_t output_take_done(struct output *output)
{
    size_t done = output->done;
    output->done = 0;
    return done;
}

const char *output_refusal(const struct output *output)
{
    return output->trouble == TROUBLE_STAYS ? output->writer->err.text : NULL;
}

const char *output_bytes(const struct output *output, size_t *length, uint64_t *dropped)
{
    *length = output->writer == NULL ? output->bytes.length : 0;
    *dropped = output->dropped;
    return output->bytes.data != NULL ? output->bytes.data : "";
}

const char *output_limit(const struct output *output)
{
    return output->limit;
}

uint64_t output_total(const struct output *output)
{
    return output->total;
}

const char *output_trouble(const struct output *output)
{
    return output->trouble != TROUBLE_NONE ? output->writer->err.text : NULL;
}
