/* starter/peek.c - lets the owner read files of the running job: FILE_PEEK of
 * docs/protocol/access.md.
 *
 * The job may be anybody's: a path is followed from the sandbox down without links, and only
 * regular files are read (base/os/os_below.h).  Files elsewhere (a job that transfers no files, a
 * stream that stays on the machine) are opened with the rights of the job's account.  A request
 * that waits keeps no file open, because the job may replace the file.
 *
 * When the job's processes are gone, all waiting requests get what is left, before the sandbox is
 * emptied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/peek.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/text.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "wire/wire.h"

#define PEEKS_MAX    64
#define PEEK_BYTES   ((size_t)256 << 10)
#define REST_BYTES   ((size_t)8 << 20) /* of a job that is over, at once */
#define PEEK_TICK_MS 100
#define PEEK_WAIT_MS 20000
#define PEEK_NAME    4096

struct peek {
    LIST_ENTRY(peek) entry;
    struct wire_request *request;
    char name[PEEK_NAME];
    int64_t offset;
    size_t max_bytes;
    uint64_t due_ms;
};

/* Returns whether the job transfers no files: then it works in its own directory, and what it names
 * there is read with the rights of its account, wherever links lead. */
static bool is_at_home(const struct starter *starter)
{
    return starter->run.job != NULL &&
           text_equal_nocase(ad_string_or(starter->run.job, "ShouldTransferFiles", "YES"), "NO");
}

/* ---- which file ------------------------------------------------------------------------------ */

static int find_name(const struct starter *starter, const struct ad *args, char *ret,
                     struct err *err)
{
    int64_t stream = ad_int_or(args, "Stream", 0);
    const char *name = ad_string_or(args, "Name", "");
    if (job_run_is_remote(starter)) {
        return err_set(err, -EOPNOTSUPP,
                       "the files of job %s are on its submit machine; look at them there",
                       starter->run.job_id);
    }
    if (stream != 0) {
        name = starter->run.job == NULL
                   ? ""
                   : ad_string_or(starter->run.job, stream == 2 ? "Err" : "Out", "/dev/null");
        if (strcmp(name, "/dev/null") == 0) {
            return err_set(err, -ENOENT, "job %s has no standard %s", starter->run.job_id,
                           stream == 2 ? "error" : "output");
        }
    }
    while (strncmp(name, "./", 2) == 0) {
        name += 2;
    }
    if ((is_at_home(starter) || stream != 0) && name[0] != '\0') { /* the job's own words */
        const char *home = is_at_home(starter) ? ad_string_or(starter->run.job, "Iwd", "/") : NULL;
        bool whole = home == NULL || name[0] == '/';
        int length = snprintf(ret, PEEK_NAME, "%s%s%s", whole ? "" : home, whole ? "" : "/", name);
        return length < PEEK_NAME
                   ? 0
                   : err_set(err, -ENAMETOOLONG, "the path '%.200s' is too long", name);
    }
    if (strlen(name) >= PEEK_NAME || name[0] == '/') {
        return err_set(err, -EPERM, "'%.200s' is not below the job's sandbox", name);
    }
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns whether nothing of the job is left that could write. */
static bool is_over(const struct starter *starter)
{
    return starter->run.phase > STARTER_RUN || starter->run.peeks.over;
}

static void answer_peek(struct peek *peek, const struct ad *args, const void *data, size_t length)
{
    const struct wire_body body = {.args = args, .blob = data, .blob_length = length};
    wire_reply_ok(peek->request, &body);
    LIST_REMOVE(peek, entry);
    mem_free(peek);
}

static void refuse_peek(struct peek *peek, int status, const char *why)
{
    wire_reply_error(peek->request, status, "%s", why);
    LIST_REMOVE(peek, entry);
    mem_free(peek);
}

static void answer_bytes(struct starter *starter, struct peek *peek, struct os_file *file,
                         int64_t size, bool truncated)
{
    int64_t left = size - peek->offset;
    size_t max = is_over(starter) ? REST_BYTES : peek->max_bytes;
    size_t length = left > (int64_t)max ? max : (size_t)left;
    char *data = mem_alloc(length + 1);
    ssize_t got = os_file_read(file, (uint64_t)peek->offset, data, length);
    struct ad *args = ad_create();
    ad_set_int(args, "Offset", peek->offset);
    ad_set_int(args, "Size", size);
    if (truncated) {
        ad_set_bool(args, "Truncated", true);
    }
    ad_set_bool(args, "Ended", is_over(starter) && got >= 0 && (int64_t)got == left);
    if (got < 0) {
        refuse_peek(peek, (int)got, "cannot read the file");
    } else {
        answer_peek(peek, args, data, (size_t)got);
    }
    ad_destroy(args);
    mem_free(data);
}

static int open_file(struct starter *starter, const struct peek *peek, struct os_file **ret,
                     struct err *err)
{
    if (starter->run.phase < STARTER_RUN || peek->name[0] == '\0') {
        return -ENOENT;
    }
    return peek->name[0] == '/'
               ? os_file_open_as(starter->env.os, peek->name, starter->run.account.uid,
                                 starter->run.account.gid, ret, err)
               : os_below_open(starter->env.os, starter->run.sandbox, peek->name, OS_READ, 0, ret,
                               err);
}

/* Answers the request if there is something to say now. last: answers it in any case. */
static void look_at_file(struct starter *starter, struct peek *peek, bool last)
{
    struct os_file *file = NULL;
    struct err err;
    int rc = open_file(starter, peek, &file, &err);
    if (rc == -ENOENT) {
        if (last || is_over(starter)) {
            struct ad *args = ad_create();
            ad_set_bool(args, "Exists", false);
            ad_set_bool(args, "Ended", is_over(starter));
            answer_peek(peek, args, NULL, 0);
            ad_destroy(args);
        }
        return;
    }
    if (rc != 0) {
        bool strange = rc == -ELOOP || rc == -ENOTDIR || rc == -EINVAL || rc == -EISDIR;
        const char *what = peek->name[0] == '/' ? "is not a regular file"
                                                : "is not a regular file in the job's sandbox";
        (void)err_set(&err, rc, "'%.200s' %s%s", peek->name,
                      strange ? what : "cannot be read: ", strange ? "" : err_code_text(rc));
        refuse_peek(peek, strange ? -EPERM : rc, err.text);
        return;
    }
    int64_t size = os_file_size(file);
    bool truncated = false;
    if (peek->offset < 0) {
        peek->offset = size + peek->offset > 0 ? size + peek->offset : 0;
    } else if (peek->offset > size) {
        peek->offset = 0;
        truncated = true;
    }
    if (size > peek->offset || truncated || last || is_over(starter)) {
        answer_bytes(starter, peek, file, size, truncated);
    }
    os_file_close(file);
}

static void look_at_all(struct starter *starter)
{
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    struct peek *peek = LIST_FIRST(&starter->run.peeks.list);
    while (peek != NULL) {
        struct peek *next = LIST_NEXT(peek, entry);
        look_at_file(starter, peek, now_ms >= peek->due_ms);
        peek = next;
    }
}

static void peek_tick(void *arg)
{
    struct starter *starter = arg;
    look_at_all(starter);
    if (!LIST_EMPTY(&starter->run.peeks.list)) {
        loop_timer_set(starter->run.peeks.timer, PEEK_TICK_MS);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

void peek_handle(struct starter *starter, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    size_t waiting = 0;
    struct peek *peek;
    struct err err;
    LIST_FOREACH(peek, &starter->run.peeks.list, entry)
    {
        waiting++;
    }
    if (waiting >= PEEKS_MAX || starter->run.phase >= STARTER_CLEAN ||
        starter->run.phase == STARTER_IDLE) {
        wire_reply_error(request, waiting >= PEEKS_MAX ? -EBUSY : -ESRCH, "%s",
                         waiting >= PEEKS_MAX ? "too many requests for this job's files"
                                              : "this run of the job has ended");
        return;
    }
    int64_t max_bytes = ad_int_or(args, "MaxBytes", (int64_t)PEEK_BYTES);
    int64_t wait_ms = ad_int_or(args, "WaitMs", 0);
    wait_ms = wait_ms < 0 ? 0 : wait_ms > PEEK_WAIT_MS ? PEEK_WAIT_MS : wait_ms;
    peek = mem_zalloc(sizeof *peek);
    int rc = find_name(starter, args, peek->name, &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
        mem_free(peek);
        return;
    }
    peek->request = request;
    peek->offset = ad_int_or(args, "Offset", 0);
    peek->max_bytes =
        max_bytes < 1 || max_bytes > (int64_t)PEEK_BYTES ? PEEK_BYTES : (size_t)max_bytes;
    peek->due_ms = loop_now_ms(starter->env.loop) + (uint64_t)wait_ms;
    LIST_INSERT_HEAD(&starter->run.peeks.list, peek, entry);
    if (starter->run.peeks.timer == NULL) {
        starter->run.peeks.timer = loop_timer_create(starter->env.loop, peek_tick, starter);
    }
    loop_timer_set(starter->run.peeks.timer, PEEK_TICK_MS);
    look_at_file(starter, peek, wait_ms == 0);
}

void peek_over(struct starter *starter)
{
    starter->run.peeks.over = true;
    look_at_all(starter);
}

void peek_close(struct starter *starter)
{
    while (!LIST_EMPTY(&starter->run.peeks.list)) {
        refuse_peek(LIST_FIRST(&starter->run.peeks.list), -ESRCH, "this run of the job has ended");
    }
    loop_timer_destroy(starter->run.peeks.timer);
    starter->run.peeks.timer = NULL;
}
