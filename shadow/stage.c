/* shadow/stage.c - a run's output: received into its stage, made durable, put into its place.
 *
 * While it is filled the stage is <stages>/<id>.<epoch>.part; after JOB_DONE every file is synced
 * and checked, the manifest (what the starter said, and the names) is written durably beside them,
 * and the directory is renamed: a directory without ".part" is complete.  Only then the schedd is
 * asked to commit.  Placing is a rename per file (or copy to a temporary name beside the
 * destination, then rename); a staged file that is not there any more has been placed.  So each
 * step can be repeated after a death at any moment, with the same outcome.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/shadow_state.h"
#include "shadow/transfer_plan.h"
#include "wire/wire.h"

#define MANIFEST     "_condor_roost_result" /* no output can have this name: transfer_plan.c */
#define MANIFEST_MAX ((size_t)4 << 20)
#define STAGED_MAX   10000 /* files of one job */

/* HTCondor's hold codes */
#define HOLD_OUTPUT 12

struct staged {           /* a file that arrives; on the lane only */
    struct os_file *file; /* NULL once it is complete */
    struct digest *digest;
    uint64_t offset;
    char hex[DIGEST_HEX_SIZE];
};

static char *join(const char *directory, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", directory, name);
    return strbuf_take(&path);
}

static void staged_destroy(void *value)
{
    struct staged *staged = value;
    os_file_close(staged->file);
    digest_destroy(staged->digest);
    mem_free(staged);
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
}

/* ---- FILE_PUT ----------------------------------------------------------------------------------
 */

static int begin_file(struct work *work, const char *name, struct staged **ret)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct staged *old = strmap_remove(run->files, name);
    if (old != NULL) {
        staged_destroy(old);
    }
    if (strmap_count(run->files) >= STAGED_MAX) {
        return err_set(&work->err, -EDQUOT, "more than %d output files", STAGED_MAX);
    }
    int result = os_mkdirs(os, run->part, 0700, &work->err);
    if (result != 0) {
        return result;
    }
    char *path = join(run->part, name);
    struct os_file *file = NULL;
    result = os_file_open(os, path, OS_WRITE_TRUNCATE, 0600, &file, &work->err);
    mem_free(path);
    if (result != 0) {
        return result;
    }
    struct staged *staged = mem_zalloc(sizeof(*staged));
    staged->file = file;
    staged->digest = digest_create();
    (void)strmap_set(run->files, name, staged); /* was removed */
    *ret = staged;
    return 0;
}

static int end_file(struct work *work, const char *name, struct staged *staged, int64_t mode)
{
    int result = os_file_sync(staged->file);
    os_file_close(staged->file);
    staged->file = NULL;
    digest_hex(staged->digest, staged->hex);
    if (result != 0) {
        return err_set(&work->err, result, "output '%s' cannot be made durable: %s", name,
                       err_code_text(result));
    }
    char *path = join(work->run->part, name);
    result = os_chmod(work->run->shadow->os, path, (mode_t)(mode & 0777), &work->err);
    mem_free(path);
    return result;
}

static int put_body(struct work *work)
{
    const struct ad *args = wire_request_args(work->request);
    const char *name = ad_string_or(args, "Name", "");
    int64_t offset = ad_int_or(args, "Offset", -1);
    int64_t size = ad_int_or(args, "Size", -1);
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    struct staged *staged = strmap_get(work->run->files, name);
    if (offset < 0 || size < 0 || offset + (int64_t)length > size) {
        return err_set(&work->err, -EINVAL, "output '%s': offset and size do not fit", name);
    }
    int result = 0;
    if (offset == 0) {
        result = begin_file(work, name, &staged);
    } else if (staged == NULL || staged->file == NULL || staged->offset != (uint64_t)offset) {
        result = err_set(&work->err, -ESTALE, "output '%s' is to be sent from its beginning", name);
    }
    if (result == 0 && length > 0) {
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

static void put_done(struct work *work, int result)
{
    if (result == 0) {
        wire_reply_ok(work->request, NULL);
    } else {
        log_warn(work->run->shadow->log, "stage.put", work->err.text,
                 LOG_TEXT("job", work->run->id));
        wire_reply_error(work->request, result, "%s", work->err.text);
    }
}

void stage_put(struct run *run, struct wire_request *request)
{
    struct err err;
    char *destination = NULL;
    int result =
        transfer_plan_output(run->job, ad_string_or(wire_request_args(request), "Name", ""),
                             &destination, &err);
    mem_free(destination);
    if (result != 0) {
        wire_reply_error(request, result, "%s", err.text);
        return;
    }
    work_start(run, request, put_body, put_done, NULL);
}

/* ---- JOB_DONE: make the stage durable
 * ------------------------------------------------------------ */

static int check_from_disk(struct work *work, const char *path, char hex[DIGEST_HEX_SIZE])
{
    struct os_file *file = NULL;
    int result = os_file_open(work->run->shadow->os, path, OS_READ, 0, &file, &work->err);
    if (result != 0) {
        return result;
    }
    char *buffer = mem_alloc(SHADOW_PIECE_BYTES);
    struct digest *digest = digest_create();
    uint64_t offset = 0;
    ssize_t got = 0;
    while ((got = os_file_read(file, offset, buffer, SHADOW_PIECE_BYTES)) > 0) {
        digest_update(digest, buffer, (size_t)got);
        offset += (uint64_t)got;
    }
    digest_hex(digest, hex);
    digest_destroy(digest);
    mem_free(buffer);
    os_file_close(file);
    return got < 0 ? err_set(&work->err, (int)got, "'%s' cannot be read", path) : 0;
}

/* A file that came before we were started again is on the disk, and only there. */
static int check_file(struct work *work, const char *name, const char *checksum)
{
    struct run *run = work->run;
    char hex[DIGEST_HEX_SIZE] = "";
    const struct staged *staged = strmap_get(run->files, name);
    char *destination = NULL;
    int result = transfer_plan_output(run->lane_job, name, &destination, &work->err);
    mem_free(destination);
    if (result != 0) {
        return result;
    }
    if (staged != NULL && staged->file != NULL) {
        return err_set(&work->err, -EAGAIN, "output '%s' is not complete: send it again", name);
    }
    if (staged != NULL) {
        memcpy(hex, staged->hex, sizeof(hex));
    } else {
        char *path = join(run->part, name);
        result = check_from_disk(work, path, hex);
        mem_free(path);
        if (result == -ENOENT) {
            return err_set(&work->err, -EAGAIN, "output '%s' did not come: send it again", name);
        }
    }
    if (result == 0 && strcmp(hex, checksum) != 0) {
        result = err_set(&work->err, -EAGAIN, "output '%s' was damaged: send it again", name);
    }
    return result;
}

/* Calls each(work, name, checksum) for the files that JOB_DONE names. */
static int each_file(struct work *work, const struct ad *result_ad,
                     int (*each)(struct work *work, const char *name, const char *checksum))
{
    struct ad_value names;
    struct ad_value sums;
    (void)ad_eval_attr(result_ad, NULL, "Files", NULL, &names);    /* absent: no elements */
    (void)ad_eval_attr(result_ad, NULL, "Checksums", NULL, &sums); /* the same */
    int result = 0;
    size_t count = ad_value_count(&names);
    if (count != ad_value_count(&sums) || count > STAGED_MAX) {
        result = err_set(&work->err, -EINVAL, "Files and Checksums are not of one length");
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value name;
        struct ad_value sum;
        ad_value_item(&names, i, &name);
        ad_value_item(&sums, i, &sum);
        if (name.type == AD_TYPE_STRING && sum.type == AD_TYPE_STRING) {
            result = each(work, name.string.text, sum.string.text);
        } else {
            result = err_set(&work->err, -EINVAL, "Files and Checksums are lists of strings");
        }
        ad_value_fini(&sum);
        ad_value_fini(&name);
    }
    ad_value_fini(&sums);
    ad_value_fini(&names);
    return result;
}

static int sync_body(struct work *work)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct os_stat stat;
    if (os_stat(os, run->stage, &stat) == 0 && stat.is_dir) {
        return 0; /* complete since before we were started again */
    }
    int result = os_mkdirs(os, run->part, 0700, &work->err);
    if (result == 0) {
        result = each_file(work, work->arg, check_file);
    }
    if (result != 0) {
        return result;
    }
    struct strbuf text;
    strbuf_init(&text, MANIFEST_MAX);
    ad_print_long(work->arg, &text);
    char *path = join(run->part, MANIFEST);
    result = text.failed
                 ? err_set(&work->err, -E2BIG, "too many output files")
                 : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true, &work->err);
    mem_free(path);
    strbuf_fini(&text);
    return result == 0 ? os_rename(os, run->part, run->stage, true, &work->err) : result;
}

static void result_answered(struct run *run, void *arg, int status, const char *text,
                            const struct ad *answer)
{
    (void)arg;
    if (run->dropped) {
        return;
    }
    if (status == 0 && answer != NULL && ad_bool_or(answer, "Placed", false)) {
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
    run_note_transfers(run, manifest);
    report_send(run->shadow, run, VERB_JOB_RESULT, manifest, result_answered, NULL);
}

void stage_done(struct run *run, struct wire_request *request)
{
    vec_push(&run->waiting, request);
    if (run->phase != RUN_OPEN) {
        return; /* said again: answered with the first */
    }
    run_move(run, RUN_SYNCING);
    work_start(run, NULL, sync_body, sync_done, ad_for_lane(wire_request_args(request)));
}

/* ---- placing
 * ------------------------------------------------------------------------------------- */

static int copy_bytes(struct work *work, const char *from, const char *to, mode_t mode)
{
    struct os *os = work->run->shadow->os;
    struct os_file *in = NULL;
    struct os_file *out = NULL;
    int result = os_file_open(os, from, OS_READ, 0, &in, &work->err);
    if (result == 0) {
        result = os_file_open(os, to, OS_WRITE_TRUNCATE, mode, &out, &work->err);
    }
    char *buffer = mem_alloc(SHADOW_PIECE_BYTES);
    uint64_t offset = 0;
    while (result == 0) {
        ssize_t got = os_file_read(in, offset, buffer, SHADOW_PIECE_BYTES);
        if (got <= 0) {
            result = (int)got;
            break;
        }
        result = os_file_write(out, offset, buffer, (size_t)got);
        offset += (uint64_t)got;
    }
    if (result == 0) {
        result = os_file_sync(out);
    }
    if (result != 0 && in != NULL && out != NULL) {
        (void)err_set(&work->err, result, "'%s' cannot be written: %s", to, err_code_text(result));
    }
    mem_free(buffer);
    os_file_close(in);
    os_file_close(out);
    return result;
}

/* To another file system: a temporary name beside the destination, then a rename. */
static int move_across(struct work *work, const char *from, const char *to, mode_t mode)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    const char *slash = strrchr(to, '/');
    struct strbuf temporary;
    strbuf_init(&temporary, 0);
    strbuf_printf(&temporary, "%.*s/.roost.%s.%" PRId64 ".%s", (int)(slash - to), to, run->id,
                  run->epoch, slash + 1);
    int result = copy_bytes(work, from, strbuf_text(&temporary), mode);
    if (result == 0) {
        result = os_chmod(os, strbuf_text(&temporary), mode, &work->err);
    }
    if (result == 0) {
        result = os_rename(os, strbuf_text(&temporary), to, true, &work->err);
    }
    if (result != 0) {
        (void)os_remove(os, strbuf_text(&temporary), NULL); /* the first error is the one to tell */
    } else {
        result = os_remove(os, from, &work->err);
    }
    strbuf_fini(&temporary);
    return result;
}

static int place_file(struct work *work, const char *name, const char *checksum)
{
    (void)checksum;
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    char *to = NULL;
    int result = transfer_plan_output(run->lane_job, name, &to, &work->err);
    if (result != 0 || to == NULL) {
        return result;
    }
    char *from = join(run->stage, name);
    struct os_stat there;
    struct os_stat staged;
    if (os_stat(os, from, &staged) == -ENOENT) {
        result = 0; /* placed before we died */
    } else if (os_stat(os, to, &there) == 0 && !there.is_file && !there.is_link) {
        /* A rename would take a device's or a pipe's place. */
        result = err_set(&work->err, -EISDIR, "output '%s' cannot replace '%s', which is no file",
                         name, to);
    } else {
        result = os_rename(os, from, to, true, &work->err);
        if (result == -EXDEV) {
            result = move_across(work, from, to, staged.mode);
        }
    }
    mem_free(from);
    mem_free(to);
    return result;
}

static int place_body(struct work *work)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    char *text = NULL;
    size_t length = 0;
    struct ad *manifest = NULL;
    char *path = join(run->stage, MANIFEST);
    int result = os_read_file(os, path, MANIFEST_MAX, &text, &length, &work->err);
    mem_free(path);
    if (result == 0) {
        result = ad_parse_long(text, length, &manifest, &work->err);
        mem_free(text);
    }
    if (result == 0) {
        result = each_file(work, manifest, place_file);
        ad_destroy(manifest);
    }
    return result;
}

static void finished(struct run *run, void *arg, int status, const char *text,
                     const struct ad *answer)
{
    (void)answer;
    bool keep_stage = arg != NULL; /* held with its output staged */
    if (run->dropped) {
        return;
    }
    if (status != 0) {
        log_info(run->shadow->log, "run.not_wanted", text, LOG_TEXT("job", run->id));
    }
    /* The result is committed, whatever became of the files: the starter may go. */
    run_answer_done(run, 0, "");
    run_drop(run, !keep_stage || status == -ESTALE);
}

static void place_done(struct work *work, int result)
{
    struct run *run = work->run;
    if (run->dropped) {
        return;
    }
    run_move(run, RUN_FINISHING);
    if (result == 0) {
        report_send(run->shadow, run, VERB_JOB_PLACED, ad_create(), finished, NULL);
        return;
    }
    char reason[ERR_TEXT_MAX + 64];
    (void)snprintf(reason, sizeof(reason), "The job's output cannot be put into its place: %s",
                   work->err.text); /* fits */
    report_hold(run, HOLD_OUTPUT, -result, reason, finished, run);
}

void stage_place(struct run *run)
{
    work_start(run, NULL, place_body, place_done, NULL);
}

/* ---- what earlier shadows left
 * --------------------------------------------------------------------- */

struct sweep {
    struct shadow *shadow;
    struct vec names; /* directories */
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
        char *path = join(sweep->shadow->stages, sweep->names.items[i]);
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

void stages_sweep(struct shadow *shadow, const char *known)
{
    struct sweep *sweep = mem_zalloc(sizeof(*sweep));
    sweep->shadow = shadow;
    struct vec all = {0};
    struct sweep listing = {.shadow = shadow};
    if (os_list(shadow->os, shadow->stages, collect, &listing, NULL) == 0) {
        all = listing.names;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (!stages_lists(known, all.items[i]) && !is_of_a_run(shadow, all.items[i])) {
            vec_push(&sweep->names, mem_strdup(all.items[i]));
        }
    }
    vec_fini(&all, mem_free);
    vec_push(&shadow->sweeps, sweep);
    loop_lane_run(shadow->lanes[0], sweep_body, sweep_done, sweep);
}
