/* shadow/spool.c - see spool.h.
 *
 * A file that is being received grows in part/ and is renamed into in/ when it is complete, so that
 * files in in/ need no further check.  All work is done on two lanes: one for writing, which also
 * counts what the owner uses, and one for reading.  Links are never followed, because a job may
 * have sent links as its output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_below.h"
#include "base/os/os_figures.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/disk_room.h"
#include "shadow/report.h"
#include "shadow/run/run_work.h"
#include "shadow/sandbox_name_plan.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

#define PIECE_MAX   ((size_t)1 << 20)
#define LISTED_MAX  1000
#define COUNTED_MAX 1000000 /* most files that are counted to measure the owner's use */
#define SWEPT_MAX   10000
#define ID_MAX      32 /* bytes of an id, with the terminating zero */

struct sandboxes {
    LIST_HEAD(, spool_work) works;
    int64_t quota, used; /* bytes; used belongs to the lane that writes */
    bool counted;
};

struct spool_work {
    LIST_ENTRY(spool_work) entry;
    struct shadow *shadow;
    struct wire_request *request; /* NULL: not for a client */
    char id[ID_MAX];              /* id of the cluster, or of the job to be removed */
    char *root;                   /* directory of its sandbox */
    char *name;
    int (*body)(struct spool_work *work);
    int64_t offset, size;
    mode_t mode;
    bool is_directory;
    char *after;                    /* name after which a list starts */
    char checksum[DIGEST_HEX_SIZE]; /* announced checksum of the whole file; "": none */
    struct vec ads;
    char *data; /* bytes that were read */
    size_t length;
    int64_t have;
    struct err err;
};

static void work_free(struct spool_work *work)
{
    LIST_REMOVE(work, entry);
    vec_fini(&work->ads, ad_destroy_item);
    mem_free(work->root);
    mem_free(work->name);
    mem_free(work->after);
    mem_free(work->data);
    mem_free(work);
}

static char *path_of(const struct shadow *shadow, const char *id)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/sandbox%s%s", shadow->directory, id[0] != '\0' ? "/" : "", id);
    return strbuf_take(&path);
}

static struct spool_work *work_create(struct shadow *shadow, const char *id,
                                      struct wire_request *request)
{
    struct spool_work *work = mem_zalloc(sizeof(*work));
    work->shadow = shadow;
    work->request = request;
    work->have = -1;
    (void)snprintf(work->id, sizeof(work->id), "%s", id); /* its length was looked at */
    work->root = path_of(shadow, id);
    LIST_INSERT_HEAD(&shadow->sandboxes->works, work, entry);
    return work;
}

static int run_body(void *arg)
{
    struct spool_work *work = arg;
    return work->body(work);
}

static void run_done(void *arg, int result);

static void start_work(struct spool_work *work, bool writes)
{
    struct shadow *shadow = work->shadow;
    loop_lane_run(shadow->lanes[writes ? 0 : shadow->lane_count - 1], run_body, run_done, work);
}

/* ---- on a lane: what comes ------------------------------------------------------------------- */

static int check_quota(struct spool_work *work, size_t more)
{
    struct shadow *shadow = work->shadow;
    int rc = disk_room_check(shadow, shadow->directory, (int64_t)more, &work->err);
    if (rc != 0 || shadow->sandboxes->quota == 0) {
        return rc;
    }
    if (!shadow->sandboxes->counted) {
        struct os_tree_figures figures;
        char *all = path_of(shadow, "");
        os_tree_figures(shadow->os, all, COUNTED_MAX, &figures);
        mem_free(all);
        shadow->sandboxes->used = figures.disk_kib * 1024;
        shadow->sandboxes->counted = true;
    }
    if (shadow->sandboxes->used + (int64_t)more > shadow->sandboxes->quota) {
        shadow->sandboxes->counted =
            false; /* something may have been removed: measured next time */
        return err_set(&work->err, -EDQUOT,
                       "spooled files of %s would take more than %" PRId64
                       " bytes (SPOOL_QUOTA_PER_OWNER); remove jobs or fetch their output",
                       shadow->owner, shadow->sandboxes->quota);
    }
    shadow->sandboxes->used += (int64_t)more;
    return 0;
}

/* Makes the directories above name. */
static int make_way(struct spool_work *work, const char *name)
{
    const char *slash = strrchr(name, '/');
    int rc = os_mkdirs(work->shadow->os, work->root, 0700, &work->err);
    if (rc == 0 && slash != NULL) {
        char *parent = mem_strndup(name, (size_t)(slash - name));
        rc = os_below_mkdirs(work->shadow->os, work->root, parent, 0700, &work->err);
        mem_free(parent);
    }
    return rc;
}

static int put_directory(struct spool_work *work)
{
    int rc = make_way(work, work->name);
    return rc != 0 ? rc
                   : os_below_mkdirs(work->shadow->os, work->root, work->name, 0700, &work->err);
}

static int append_piece(struct spool_work *work, const char *part)
{
    struct os *os = work->shadow->os;
    struct os_file *file = NULL;
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    struct os_stat stat;
    int rc = os_below_stat(os, work->root, part, &stat);
    int64_t have = rc == 0 ? stat.size_bytes : 0;
    if (rc == 0 && work->offset == 0 && have > 0) {        /* the client starts over */
        (void)os_below_remove(os, work->root, part, NULL); /* else the open says so */
        have = 0;
    }
    if (work->offset != have) {
        work->have = have;
        return err_set(&work->err, -ESTALE,
                       "%" PRId64 " bytes of '%.200s' have arrived; continue from there", have,
                       work->name);
    }
    rc = check_quota(work, length);
    rc = rc != 0 ? rc
                 : os_below_open(os, work->root, part, have > 0 ? OS_WRITE : OS_WRITE_TRUNCATE,
                                 0600, &file, &work->err);
    if (rc == 0 && length > 0) {
        rc = os_file_write(file, (uint64_t)have, data, length);
        rc = rc != 0 ? err_set(&work->err, rc, "cannot write '%.200s': %s", work->name,
                               err_code_text(rc))
                     : 0;
    }
    os_file_close(file);
    work->have = have + (int64_t)length;
    return rc;
}

/* Compares the file's checksum with the announced one.  Returns 0, or -EILSEQ with work->err. */
static int compare_checksum(struct spool_work *work, const char *name)
{
    char hex[DIGEST_HEX_SIZE];
    int rc = file_digest_below(work->shadow->os, work->root, name, hex, &work->err);
    if (rc != 0) {
        return rc;
    }
    return strcmp(hex, work->checksum) == 0
               ? 0
               : err_set(&work->err, -EILSEQ,
                         "'%.200s' was changed during the transfer; send it again", work->name);
}

/* Finds how many bytes of the file are there: all, or those before a cut. */
static int find_bytes(struct spool_work *work, const char *part)
{
    struct os *os = work->shadow->os;
    struct os_stat stat;
    work->have = 0;
    if (os_below_stat(os, work->root, work->name, &stat) == 0 && stat.is_file &&
        stat.size_bytes == work->size && compare_checksum(work, work->name) == 0) {
        work->have = work->size;
    } else if (os_below_stat(os, work->root, part, &stat) == 0 && stat.size_bytes < work->size) {
        work->have = stat.size_bytes;
    }
    return 0;
}

static int put_file(struct spool_work *work)
{
    struct os *os = work->shadow->os;
    struct strbuf part;
    strbuf_init(&part, 0);
    strbuf_printf(&part, "part%s", work->name + strlen("in"));
    if (work->offset < 0) {
        int rc = find_bytes(work, strbuf_text(&part));
        strbuf_fini(&part);
        return rc;
    }
    int rc = make_way(work, strbuf_text(&part));
    rc = rc != 0 ? rc : append_piece(work, strbuf_text(&part));
    if (rc == 0 && work->have >= work->size && work->checksum[0] != '\0') {
        rc = compare_checksum(work, strbuf_text(&part));
        if (rc == -EILSEQ) {
            (void)os_below_remove(os, work->root, strbuf_text(&part), NULL); /* the error is told */
            work->have = 0;
        }
    }
    if (rc == 0 && work->have >= work->size) {
        rc = make_way(work, work->name);
        rc = rc != 0 ? rc
                     : os_below_chmod(os, work->root, strbuf_text(&part), work->mode, &work->err);
        rc = rc != 0 ? rc
                     : os_below_rename(os, work->root, strbuf_text(&part), work->root, work->name,
                                       &work->err);
    }
    strbuf_fini(&part);
    return rc;
}

static int make_durable(struct spool_work *work)
{
    char *all = path_of(work->shadow, "");
    int rc = os_mkdirs(work->shadow->os, all, 0700, &work->err);
    rc = rc != 0 ? rc : os_below_sync_all(work->shadow->os, all, &work->err);
    mem_free(all);
    return rc;
}

/* ---- on a lane: what is there ---------------------------------------------------------------- */

static void add_listed(void *arg, const char *name)
{
    struct spool_work *work = arg;
    struct os_stat stat;
    struct strbuf path;
    if (work->ads.count >= LISTED_MAX || strcmp(name, work->after) <= 0) {
        return;
    }
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", work->name, name);
    if (os_below_stat(work->shadow->os, work->root, strbuf_text(&path), &stat) == 0 &&
        (stat.is_dir || stat.is_file)) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "Name", name);
        ad_set_int(ad, "Size", stat.size_bytes);
        ad_set_int(ad, "Mode", (int64_t)(stat.mode & 0777));
        ad_set_bool(ad, "IsDirectory", stat.is_dir);
        vec_push(&work->ads, ad);
    }
    strbuf_fini(&path);
}

static int list_files(struct spool_work *work)
{
    int rc = os_below_list(work->shadow->os, work->root, work->name, add_listed, work, &work->err);
    return rc == -ENOENT ? 0 : rc;
}

static int get_piece(struct spool_work *work)
{
    struct os_file *file = NULL;
    int rc = os_below_open(work->shadow->os, work->root, work->name, OS_READ, 0, &file, &work->err);
    if (rc != 0) {
        return rc;
    }
    work->data = mem_alloc((size_t)work->size + 1);
    work->have = os_file_size(file);
    ssize_t got = os_file_read(file, (uint64_t)work->offset, work->data, (size_t)work->size);
    work->length = got > 0 ? (size_t)got : 0;
    os_file_close(file);
    return got >= 0 ? 0
                    : err_set(&work->err, (int)got, "cannot read '%.200s': %s", work->name,
                              err_code_text((int)got));
}

static int remove_all(struct spool_work *work)
{
    work->shadow->sandboxes->counted = false;
    return os_remove_tree(work->shadow->os, work->root, &work->err);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void end_told(struct run *run, void *arg, int status, const char *text,
                     const struct ad *answer)
{
    struct spool_work *work = arg;
    (void)run;
    (void)answer;
    if (status == 0) {
        wire_reply_ok(work->request, NULL);
    } else {
        wire_reply_error(work->request, status, "%s", text);
    }
    work_free(work);
}

/* Reports to the schedd, repeatedly until it answers, because it may be starting. */
static void tell_end(struct spool_work *work, const char *event)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Event", event);
    (void)ad_copy_attr(args, "Ids", wire_request_args(work->request), "Ids");       /* or absent */
    (void)ad_copy_attr(args, "JobIds", wire_request_args(work->request), "JobIds"); /* or absent */
    report_send(work->shadow, NULL, VERB_JOB_STATUS, args, end_told, work);
}

static void answer_work(struct spool_work *work)
{
    struct ad *args = ad_create();
    if (work->have >= 0) {
        ad_set_int(args, work->body == get_piece ? "Size" : "Have", work->have);
    }
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)work->ads.items,
                                   .ad_count = work->ads.count,
                                   .blob = work->data,
                                   .blob_length = work->length};
    wire_reply_ok(work->request, &body);
    ad_destroy(args);
}

static void run_done(void *arg, int result)
{
    struct spool_work *work = arg;
    if (work->request == NULL) {
        if (result != 0) {
            log_warn(work->shadow->log, "spool.not_removed", work->err.text,
                     LOG_TEXT("sandbox", work->id));
        }
    } else if (result != 0) {
        struct ad *args = ad_create();
        ad_set_int(args, "Have", work->have);
        wire_reply_refusal(work->request, args, result, work->err.text);
        ad_destroy(args);
    } else if (work->body == make_durable) {
        tell_end(work, "Spooled");
        return;
    } else {
        answer_work(work);
    }
    work_free(work);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns whether the client may use the sandbox of this job, or of this whole cluster ("12"). */
static bool may_touch(const struct spool_right *right, const char *id)
{
    size_t length = strcspn(id, ".");
    for (size_t i = 0; i < right->clusters->count; i++) {
        const char *cluster = right->clusters->items[i];
        if (strlen(cluster) == length && strncmp(cluster, id, length) == 0) {
            return true;
        }
    }
    return false;
}

static enum sandbox_use use_of(enum wire_verb verb, bool fetches, bool is_directory)
{
    return verb == VERB_SPOOL_PUT ? (is_directory ? SANDBOX_PUT_DIRECTORY : SANDBOX_PUT_FILE)
           : fetches              ? SANDBOX_FETCH
                                  : SANDBOX_LOOK;
}

static void begin_put(struct spool_work *work, const struct ad *args)
{
    work->offset = ad_int_or(args, "Offset", 0);
    work->size = ad_int_or(args, "Size", 0);
    const char *checksum = ad_string_or(args, "Checksum", "");
    if (strlen(checksum) == DIGEST_HEX_SIZE - 1) {
        memcpy(work->checksum, checksum, DIGEST_HEX_SIZE);
    }
    work->mode = (mode_t)((ad_int_or(args, "Mode", 0600) & 0777) | 0600);
    work->body = work->is_directory ? put_directory : put_file;
    start_work(work, true);
}

static void end_of_all(struct shadow *shadow, const struct spool_right *right,
                       struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *name = right->fetches ? "JobIds" : "Ids";
    struct ad_value list;
    bool may = true;
    (void)ad_eval_attr(args, NULL, name, NULL, &list); /* absent: no elements */
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        may = may && item.type == AD_TYPE_STRING && may_touch(right, item.string.text);
        ad_value_fini(&item);
    }
    bool any = ad_value_count(&list) > 0;
    ad_value_fini(&list);
    if (!may || !any) {
        wire_reply_error(
            request, -EACCES,
            "SPOOL_END needs the attribute %s, a list of ids for which the ticket is valid", name);
        return;
    }
    struct spool_work *work = work_create(shadow, "", request);
    if (right->fetches) {
        tell_end(work, "Fetched");
    } else {
        work->body = make_durable;
        start_work(work, true);
    }
}

void spool_answer(struct shadow *shadow, const struct spool_right *right,
                  struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    enum wire_verb verb = wire_request_verb(request);
    const char *id = ad_string_or(args, "Id", ""), *name = ad_string_or(args, "Name", "");
    bool writes = verb == VERB_SPOOL_PUT, fetches = right->fetches;
    bool is_directory = ad_bool_or(args, "IsDirectory", false);
    size_t length = 0;
    (void)wire_request_blob(request, &length);
    if (verb == VERB_SPOOL_END) {
        end_of_all(shadow, right, request);
        return;
    }
    if (!sandbox_id_is_valid(id) || !may_touch(right, id) || (writes && fetches)) {
        wire_reply_error(request, -EACCES, "this ticket is not valid for cluster %.30s", id);
        return;
    }
    int64_t max_bytes = ad_int_or(args, "MaxBytes", (int64_t)PIECE_MAX);
    int64_t offset = ad_int_or(args, "Offset", 0);
    if (!sandbox_name_is_allowed(name, use_of(verb, fetches, is_directory)) || length > PIECE_MAX ||
        max_bytes < 0 || max_bytes > (int64_t)PIECE_MAX || offset < (writes ? -1 : 0) ||
        ad_int_or(args, "Size", 0) < 0) {
        wire_reply_error(request, -EINVAL,
                         "'%.200s' is not an allowed name in a sandbox, or Offset, Size or the "
                         "length of the piece is out of range",
                         name);
        return;
    }
    struct spool_work *work = work_create(shadow, id, request);
    work->name = mem_strdup(name);
    work->is_directory = is_directory;
    if (writes) {
        begin_put(work, args);
    } else if (verb == VERB_SPOOL_LOOK) {
        work->after = mem_strdup(ad_string_or(args, "After", ""));
        work->body = list_files;
        start_work(work, false);
    } else {
        work->offset = offset;
        work->size = max_bytes;
        work->body = get_piece;
        start_work(work, false);
    }
}

/* ---- the end of a sandbox -------------------------------------------------------------------- */

void spool_remove(struct shadow *shadow, const char *id)
{
    const char *dot = strchr(id, '.');
    if (strlen(id) >= ID_MAX || strspn(id, "0123456789.") != strlen(id) || id[0] == '\0' ||
        id[0] == '.') {
        return;
    }
    struct spool_work *work = work_create(shadow, id, NULL);
    if (dot != NULL) { /* of one job: what it brought back */
        struct strbuf path;
        strbuf_init(&path, 0);
        strbuf_printf(&path, "%s/sandbox/%.*s/out/%s", shadow->directory, (int)(dot - id), id,
                      dot + 1);
        mem_free(work->root);
        work->root = strbuf_take(&path);
    }
    work->body = remove_all;
    start_work(work, true);
}

static void add_name(void *arg, const char *name)
{
    struct vec *names = arg;
    if (names->count < SWEPT_MAX && strspn(name, "0123456789") == strlen(name)) {
        vec_push(names, mem_strdup(name));
    }
}

static void sweep_answered(struct run *run_of_none, void *arg, int status, const char *text,
                           const struct ad *answer)
{
    struct ad_value list;
    (void)run_of_none;
    (void)text;
    if (status != 0 || answer == NULL) {
        return;
    }
    (void)ad_eval_attr(answer, NULL, "Gone", NULL, &list);
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            spool_remove(arg, item.string.text);
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
}

void spool_sweep(struct shadow *shadow)
{
    struct vec names = {0};
    char *all = path_of(shadow, "");
    (void)os_list(shadow->os, all, add_name, &names, NULL); /* none: nothing was ever spooled */
    if (names.count > 0) {
        struct ad *args = ad_create();
        ad_set_string(args, "Event", "Sandboxes");
        ad_set_strings(args, "Names", (const char *const *)names.items, names.count);
        report_send(shadow, NULL, VERB_JOB_STATUS, args, sweep_answered, shadow);
    }
    vec_fini(&names, mem_free);
    mem_free(all);
}

void spools_begin(struct shadow *shadow, int64_t quota)
{
    shadow->sandboxes = mem_zalloc(sizeof(*shadow->sandboxes));
    shadow->sandboxes->quota = quota;
}

void spools_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->sandboxes->works)) {
        struct spool_work *work = LIST_FIRST(&shadow->sandboxes->works);
        if (work->request != NULL) {
            wire_reply_error(work->request, -ESHUTDOWN, "the shadow is stopping");
        }
        work_free(work);
    }
    mem_free(shadow->sandboxes);
}
