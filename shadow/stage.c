/* shadow/stage.c - a run's output: received into its stage and made durable.
 *
 * While it is filled the stage is <stages>/<id>.<epoch>.part; after JOB_DONE every file is synced
 * and checked, the manifest (what the starter said, and the names) is written durably beside them,
 * and the directory is renamed: a directory without ".part" is complete.  Only then the schedd is
 * asked to commit, and what was staged is put into its place (place.c).
 *
 * In the stage everything has the name that it had in the sandbox.  The names are a stranger's, and
 * so are the links that he sends: nothing here follows one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os_below.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/disk_room.h"
#include "shadow/path_join.h"
#include "shadow/shadow_state.h"
#include "shadow/stage_manifest.h"
#include "shadow/transfer_plan.h"
#include "transfer/transfer_names.h"
#include "wire/wire.h"

#define HOLD_OUTPUT_MAX 33 /* HTCondor's */

/* Up to so many entries each file is synced by itself; more, the whole file system once. */
#define SYNC_EACH_MAX 16

struct staged {           /* a file that arrives; on the lane only */
    struct os_file *file; /* NULL once it is complete */
    struct digest *digest;
    uint64_t offset;
    int64_t size; /* as it was said */
    char hex[DIGEST_HEX_SIZE];
};

static void staged_destroy(void *value)
{
    struct staged *staged = value;
    if (staged != NULL) {
        os_file_close(staged->file);
        digest_destroy(staged->digest);
        mem_free(staged);
    }
}

void stage_forget_files(struct run *run)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(run->files, &at, NULL, &value)) {
        staged_destroy(value);
    }
    strmap_destroy(run->files, NULL);
    run->files = strmap_create(STRMAP_CASE_SENSITIVE);
    mem_free(run->in_hand);
    run->in_hand = NULL;
}

/* ---- FILE_PUT ----------------------------------------------------------------------------------
 */

/* The directories above name, and the stage itself. */
static int make_parents(struct work *work, const char *name)
{
    struct os *os = work->run->shadow->os;
    const char *slash = strrchr(name, '/');
    int result = work->run->has_stage ? 0 : os_mkdirs(os, work->run->part, 0700, &work->err);
    work->run->has_stage = result == 0;
    if (result == 0 && slash != NULL) {
        char *above = mem_strndup(name, (size_t)(slash - name));
        if (work->run->made != NULL && strcmp(work->run->made, above) == 0) {
            mem_free(above); /* as for the file before */
            return 0;
        }
        result = os_below_mkdirs(os, work->run->part, above, 0700, &work->err);
        mem_free(work->run->made);
        work->run->made = above;
    }
    return result;
}

static void forget_file(struct run *run, const char *name)
{
    struct staged *old = strmap_remove(run->files, name);
    run->output_bytes -= old != NULL ? old->size : 0;
    staged_destroy(old);
}

/* They come one after the other: a starter that begins another without an end of the one before
 * would only use up our descriptors. */
static void take_in_hand(struct run *run, const char *name)
{
    const struct staged *before =
        run->in_hand != NULL ? strmap_get(run->files, run->in_hand) : NULL;
    if (before != NULL && before->file != NULL && strcmp(run->in_hand, name) != 0) {
        forget_file(run, run->in_hand);
    }
    mem_free(run->in_hand);
    run->in_hand = mem_strdup(name);
}

static int begin_file(struct work *work, const char *name, int64_t size, struct staged **ret)
{
    struct run *run = work->run;
    forget_file(run, name);
    take_in_hand(run, name);
    if (size > INT64_MAX - run->output_bytes) {
        return err_set(&work->err, -EINVAL, "output '%s': no files are of such a size", name);
    }
    run->output_bytes += size;
    if (run->output_bytes_max >= 0 && run->output_bytes > run->output_bytes_max) {
        return err_set(&work->err, -EFBIG,
                       "more than %" PRId64 " MB (MaxTransferOutputMB), with '%s'",
                       run->output_bytes_max >> 20, name);
    }
    if (strmap_count(run->files) >= TRANSFER_FILES_MAX) {
        return err_set(&work->err, -EDQUOT, "more than %d output files", TRANSFER_FILES_MAX);
    }
    struct os_file *file = NULL;
    int result = make_parents(work, name);
    if (result == 0) {
        result = os_below_open(run->shadow->os, run->part, name, OS_WRITE_TRUNCATE, 0600, &file,
                               &work->err);
    }
    if (result == -EACCES) { /* it came before, and may not be written */
        (void)os_below_remove(run->shadow->os, run->part, name, NULL); /* else the same again */
        result =
            os_below_open(run->shadow->os, run->part, name, OS_WRITE_NEW, 0600, &file, &work->err);
    }
    if (result != 0) {
        return result;
    }
    struct staged *staged = mem_zalloc(sizeof(*staged));
    staged->file = file;
    staged->digest = digest_create();
    staged->size = size;
    (void)strmap_set(run->files, name, staged); /* was removed */
    *ret = staged;
    return 0;
}

static int end_file(struct work *work, const char *name, struct staged *staged, int64_t mode)
{
    bool alone = strmap_count(work->run->files) <= SYNC_EACH_MAX;
    int result = os_file_chmod(staged->file, (mode_t)((mode & 0777) | 0400));
    result = result == 0 && alone ? os_file_sync(staged->file) : result;
    os_file_close(staged->file);
    staged->file = NULL;
    digest_hex(staged->digest, staged->hex);
    digest_destroy(staged->digest);
    staged->digest = NULL;
    return result == 0 ? 0
                       : err_set(&work->err, result, "output '%s' cannot be made durable: %s", name,
                                 err_code_text(result));
}

static int put_bytes(struct work *work, const char *name, const struct ad *args)
{
    int64_t offset = ad_int_or(args, "Offset", -1);
    int64_t size = ad_int_or(args, "Size", -1);
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    struct run *run = work->run;
    struct staged *staged = strmap_get(run->files, name);
    if (offset < 0 || size < 0 || offset > size || (int64_t)length > size - offset) {
        return err_set(&work->err, -EINVAL, "output '%s': offset and size do not fit", name);
    }
    int result = 0;
    if (offset == 0) {
        result = begin_file(work, name, size, &staged);
    } else if (staged == NULL || staged->file == NULL || staged->offset != (uint64_t)offset) {
        result = err_set(&work->err, -ESTALE, "output '%s' is to be sent from its beginning", name);
    }
    if (result == 0 && length > 0) {
        result = disk_room_check(run->shadow, run->shadow->directory, (int64_t)length, &work->err);
        if (result != 0) {
            return err_prefix(&work->err, result, "output '%s'", name);
        }
        result = os_file_write(staged->file, (uint64_t)offset, data, length);
        if (result != 0) {
            return err_set(&work->err, result, "output '%s' cannot be written: %s", name,
                           err_code_text(result));
        }
        digest_update(staged->digest, data, length);
        staged->offset += length;
    }
    if (result == 0 && staged->offset == (uint64_t)size) {
        result = end_file(work, name, staged, ad_int_or(args, "Mode", 0644));
    }
    return result;
}

static int put_link(struct work *work, const char *name, const char *target)
{
    if (!transfer_link_is_safe(name, target)) {
        return err_set(&work->err, -EPERM, "output '%s' is a link out of its directory", name);
    }
    int result = make_parents(work, name);
    return result != 0
               ? result
               : os_below_link(work->run->shadow->os, work->run->part, name, target, &work->err);
}

static int put_directory(struct work *work, const char *name)
{
    int result = make_parents(work, name);
    return result != 0
               ? result
               : os_below_mkdirs(work->run->shadow->os, work->run->part, name, 0700, &work->err);
}

/* What there is of a file, for a starter that was cut: it may have come before we were started
 * again, and is on the disk only. */
static int ask_body(struct work *work, const char *name)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    if (strmap_get(run->files, name) != NULL) {
        return 0;
    }
    struct os_file *file = NULL;
    int result = os_below_open(os, run->part, name, OS_READ, 0, &file, NULL);
    if (result != 0) {
        return 0; /* nothing */
    }
    struct staged *staged = mem_zalloc(sizeof(*staged));
    staged->digest = digest_create();
    result = file_digest_add(staged->digest, file, &staged->offset, FILE_DIGEST_ALL);
    os_file_close(file);
    result = result != 0 ? result : os_below_chmod(os, run->part, name, 0600, NULL);
    if (result == 0) {
        result = os_below_open(os, run->part, name, OS_WRITE, 0600, &staged->file, NULL);
    }
    if (result != 0) {
        staged_destroy(staged);
        return 0; /* from the beginning, then */
    }
    take_in_hand(run, name);
    (void)strmap_set(run->files, name, staged); /* was not there */
    return 0;
}

static int put_body(struct work *work)
{
    const struct ad *args = wire_request_args(work->request);
    const char *name = ad_string_or(args, "Name", "");
    const char *type = ad_string_or(args, "Type", "file");
    if (ad_bool_or(args, "Ask", false)) {
        return ask_body(work, name);
    }
    if (strcmp(type, "dir") == 0) {
        return put_directory(work, name);
    }
    if (strcmp(type, "link") == 0) {
        return put_link(work, name, ad_string_or(args, "Target", ""));
    }
    return put_bytes(work, name, args);
}

static void too_large(struct run *run, void *arg, int status, const char *text,
                      const struct ad *answer)
{
    (void)status;
    (void)text;
    (void)answer;
    wire_reply_error(arg, -EFBIG, "the job's output is too large");
    run_drop(run, true);
}

static void answer_ask(struct work *work)
{
    const char *name = ad_string_or(wire_request_args(work->request), "Name", "");
    const struct staged *staged = strmap_get(work->run->files, name); /* no work is under way */
    char hex[DIGEST_HEX_SIZE] = "";
    if (staged != NULL && staged->digest != NULL) {
        digest_peek(staged->digest, hex);
    } else if (staged != NULL) {
        memcpy(hex, staged->hex, sizeof(hex));
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Offset", staged != NULL ? (int64_t)staged->offset : 0);
    ad_set_bool(args, "Whole", staged != NULL && staged->file == NULL);
    ad_set_string(args, "Checksum", hex);
    const struct wire_body body = {.args = args};
    wire_reply_ok(work->request, &body);
    ad_destroy(args);
}

static void put_done(struct work *work, int result)
{
    struct run *run = work->run;
    if (result == 0 && ad_bool_or(wire_request_args(work->request), "Ask", false) &&
        !run->dropped) {
        answer_ask(work);
        return;
    }
    if (result == 0) {
        size_t length = 0;
        (void)wire_request_blob(work->request, &length); /* only how much */
        turn_progress(run, true, (int64_t)length,
                      ad_int_or(wire_request_args(work->request), "Total", 0));
        wire_reply_ok(work->request, NULL);
        return;
    }
    log_warn(run->shadow->log, "stage.put", work->err.text, LOG_TEXT("job", run->id));
    if (result == -EFBIG && run->phase == RUN_OPEN && !run->dropped) {
        char reason[ERR_TEXT_MAX + 80];
        (void)snprintf(reason, sizeof(reason),
                       "Transfer output files failure at the access point. Details: %s",
                       work->err.text); /* fits */
        run_move(run, RUN_FINISHING);
        report_hold(run, HOLD_OUTPUT_MAX, 0, reason, too_large, work->request);
        return;
    }
    wire_reply_error(work->request, result, "%s", work->err.text);
}

static int may_produce(const struct ad *job, const char *name, struct err *err)
{
    struct transfer_place place = {0};
    int result = transfer_plan_output(job, name, &place, err);
    transfer_place_fini(&place);
    return result;
}

void stage_put(struct run *run, struct wire_request *request)
{
    struct err err;
    if (ad_bool_or(wire_request_args(request), "Stream", false)) {
        live_put(run, request);
        return;
    }
    int result = may_produce(run->job, ad_string_or(wire_request_args(request), "Name", ""), &err);
    if (result != 0) {
        wire_reply_error(request, result, "%s", err.text);
        return;
    }
    work_start(run, request, put_body, put_done, NULL);
}

/* ---- JOB_DONE: make the stage durable
 * ------------------------------------------------------------ */

/* A directory or a link: there as it was said. */
static int check_other(struct work *work, const char *name, const char *sum)
{
    struct run *run = work->run;
    char target[TRANSFER_PATH_MAX + 1];
    struct os_stat stat;
    const char *says = strchr(sum, ':') + 1;
    bool there = os_below_stat(run->shadow->os, run->part, name, &stat) == 0;
    if (there && strncmp(sum, "link:", 5) == 0) {
        there = os_below_read_link(run->shadow->os, run->part, name, target, sizeof(target)) == 0 &&
                strcmp(target, says) == 0;
    } else if (there) {
        there = stat.is_dir && strncmp(sum, "dir:", 4) == 0;
    }
    return there ? 0
                 : err_set(&work->err, -EAGAIN, "output '%s' did not come: send it again", name);
}

/* A file that came before we were started again is on the disk, and only there. */
static int check_file(struct work *work, const char *name, const char *checksum)
{
    struct run *run = work->run;
    char hex[DIGEST_HEX_SIZE] = "";
    const struct staged *staged = strmap_get(run->files, name);
    int result = may_produce(run->lane_job, name, &work->err);
    if (result != 0) {
        return result;
    }
    run->has_trees = run->has_trees || strchr(name, '/') != NULL || strchr(checksum, ':') != NULL;
    if (strchr(checksum, ':') != NULL) {
        return check_other(work, name, checksum);
    }
    if (staged != NULL && staged->file != NULL) {
        return err_set(&work->err, -EAGAIN, "output '%s' is not complete: send it again", name);
    }
    if (staged != NULL) {
        memcpy(hex, staged->hex, sizeof(hex));
    } else {
        result = file_digest_below(run->shadow->os, run->part, name, hex, &work->err);
        if (result == -ENOENT) {
            return err_set(&work->err, -EAGAIN, "output '%s' did not come: send it again", name);
        }
    }
    if (result == 0 && strcmp(hex, checksum) != 0) {
        result = err_set(&work->err, -EAGAIN, "output '%s' was damaged: send it again", name);
    }
    return result;
}

static int sync_body(struct work *work)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct os_stat stat;
    const char *to = run->evicted ? run->spool : run->stage;
    if (os_stat(os, to, &stat) == 0 && stat.is_dir) {
        return 0; /* complete since before we were started again */
    }
    size_t count = 0;
    int result = os_mkdirs(os, run->part, 0700, &work->err);
    if (result == 0) {
        result = stage_manifest_each(work, work->arg, &count, check_file);
    }
    if (result != 0) {
        return result;
    }
    struct strbuf text;
    strbuf_init(&text, STAGE_MANIFEST_MAX);
    ad_encode(work->arg, false, &text); /* names may be any bytes */
    char *path = path_join(run->part, STAGE_MANIFEST);
    result = text.failed
                 ? err_set(&work->err, -E2BIG, "too many output files")
                 : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true, &work->err);
    mem_free(path);
    strbuf_fini(&text);
    if (result == 0 && (count > SYNC_EACH_MAX || run->has_trees)) {
        result = os_below_sync_all(os, run->part, &work->err);
    }
    if (result == 0 && run->evicted) {
        result = os_mkdirs(os, run->shadow->spools, 0700, &work->err);
    }
    return result == 0 ? os_rename(os, run->part, to, true, &work->err) : result;
}

static void result_answered(struct run *run, void *arg, int status, const char *text,
                            const struct ad *answer)
{
    (void)arg;
    if (run->dropped) {
        return;
    }
    if (status == 0 && answer != NULL && ad_bool_or(answer, "Placed", false)) {
        run->is_spent = true;
        run_answer_done(run, 0, "");
        run_drop(run, true);
    } else if (status == 0) {
        run_move(run, RUN_PLACING);
        stage_place(run);
    } else {
        log_info(run->shadow->log, "run.refused", text, LOG_TEXT("job", run->id),
                 LOG_INT("epoch", run->epoch));
        run_answer_done(run, status, text);
        run_drop(run, true);
    }
}

static int remove_body(struct work *work)
{
    return os_remove_tree(work->run->shadow->os, work->arg, &work->err);
}

static void removed(struct work *work, int result)
{
    (void)result; /* the next shadow's sweep tries again */
    mem_free(work->arg);
}

static void evict_answered(struct run *run, void *arg, int status, const char *text,
                           const struct ad *answer)
{
    (void)arg;
    (void)answer;
    if (run->dropped) {
        return;
    }
    /* Committed: what was there before has been replaced.  Otherwise this is of no use. */
    const char *useless = status == 0 ? run->spooled : run->spool;
    if (useless != NULL && status != -ESHUTDOWN) {
        work_start(run, NULL, remove_body, removed, mem_strdup(useless));
    }
    run_answer_done(run, status, text);
    run_drop(run, true);
}

static void sync_done(struct work *work, int result)
{
    struct run *run = work->run;
    struct ad *manifest = work->arg;
    if (run->dropped) {
        ad_destroy(manifest);
        return;
    }
    if (result != 0) {
        log_warn(run->shadow->log, "stage.not_durable", work->err.text, LOG_TEXT("job", run->id));
        ad_destroy(manifest);
        run_move(run, RUN_OPEN);
        run_answer_done(run, result, work->err.text);
        return;
    }
    run_move(run, RUN_REPORTING);
    if (run->evicted) {
        struct ad *args = ad_create();
        ad_set_string(args, "Event", "Evicted");
        ad_destroy(manifest);
        report_send(run->shadow, run, VERB_JOB_STATUS, args, evict_answered, NULL);
        return;
    }
    run_note_transfers(run, manifest);
    ad_remove(manifest, "Files"); /* the schedd has no use for them, and they may be many */
    ad_remove(manifest, "Checksums");
    report_send(run->shadow, run, VERB_JOB_RESULT, manifest, result_answered, NULL);
}

/* No file is to be made durable or put anywhere: the schedd commits the result and its end at once.
 */
static void report_without_output(struct run *run, const struct ad *args)
{
    struct ad *report = ad_copy(args);
    run->no_output = true;
    run_move(run, RUN_REPORTING);
    run_note_transfers(run, report);
    ad_remove(report, "Files");
    ad_remove(report, "Checksums");
    ad_set_bool(report, "Staged", false);
    report_send(run->shadow, run, VERB_JOB_RESULT, report, result_answered, NULL);
}

void stage_done(struct run *run, struct wire_request *request)
{
    vec_push(&run->waiting, request);
    if (run->phase != RUN_OPEN) {
        return; /* said again: answered with the first */
    }
    run->evicted = ad_bool_or(wire_request_args(request), "Evicted", false);
    run_move(run, RUN_SYNCING);
    if (!run->evicted && stage_manifest_is_empty(wire_request_args(request))) {
        report_without_output(run, wire_request_args(request));
        return;
    }
    work_start(run, NULL, sync_body, sync_done, ad_for_lane(wire_request_args(request)));
}

/* ---- what earlier shadows left
 * --------------------------------------------------------------------- */
struct sweep {
    struct shadow *shadow;
    const char *above; /* shadow's: where they are */
    struct vec names;  /* directories */
};

static void collect(void *arg, const char *name)
{
    struct sweep *sweep = arg;
    vec_push(&sweep->names, mem_strdup(name));
}

bool stages_lists(const char *known, const char *name)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".part") == 0) {
        length -= 5;
    }
    for (const char *at = known; at != NULL && *at != '\0';) {
        size_t item = strcspn(at, ",");
        if (item == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at = at[item] == ',' ? at + item + 1 : NULL;
    }
    return false;
}

static bool is_of_a_run(const struct shadow *shadow, const char *name)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        char id[64];
        const struct run *run = value;
        (void)snprintf(id, sizeof(id), "%s.%" PRId64, run->id, run->epoch); /* fits */
        if (stages_lists(id, name)) {
            return true;
        }
    }
    return false;
}

static int sweep_body(void *arg)
{
    const struct sweep *sweep = arg;
    for (size_t i = 0; i < sweep->names.count; i++) {
        char *path = path_join(sweep->above, sweep->names.items[i]);
        (void)os_remove_tree(sweep->shadow->os, path, NULL); /* the next shadow tries again */
        mem_free(path);
    }
    return 0;
}

static void sweep_destroy(void *value)
{
    struct sweep *sweep = value;
    vec_fini(&sweep->names, mem_free);
    mem_free(sweep);
}

static void sweep_done(void *arg, int result)
{
    (void)result;
    struct sweep *sweep = arg;
    struct vec *sweeps = &sweep->shadow->sweeps;
    for (size_t i = 0; i < sweeps->count; i++) {
        if (sweeps->items[i] == sweep) {
            vec_remove_at(sweeps, i);
            break;
        }
    }
    sweep_destroy(sweep);
}

void stages_end(struct shadow *shadow)
{
    vec_fini(&shadow->sweeps, sweep_destroy);
}

static void sweep_below(struct shadow *shadow, const char *above, const char *known)
{
    struct sweep *made = mem_zalloc(sizeof(*made));
    made->shadow = shadow;
    made->above = above;
    struct vec all = {0};
    struct sweep listing = {.shadow = shadow};
    if (os_list(shadow->os, above, collect, &listing, NULL) == 0) {
        all = listing.names;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (!stages_lists(known, all.items[i]) && !is_of_a_run(shadow, all.items[i])) {
            vec_push(&made->names, mem_strdup(all.items[i]));
        }
    }
    vec_fini(&all, mem_free);
    vec_push(&shadow->sweeps, made);
    loop_lane_run(shadow->lanes[0], sweep_body, sweep_done, made);
}

void stages_sweep(struct shadow *shadow, const char *known)
{
    sweep_below(shadow, shadow->stages, known);
}

void spools_sweep(struct shadow *shadow, const char *known)
{
    sweep_below(shadow, shadow->spools, known);
}
