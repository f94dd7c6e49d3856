/* shadow/stage/stage.c - receives a run's output into its stage.
 *
 * While it is filled, the stage is the directory <stages>/<id>.<epoch>.part.  After JOB_DONE each
 * file is checked and synced, the manifest (the starter's result and the names) is written durably
 * beside them, and the directory is renamed: a directory without ".part" is complete.  Only then is
 * the schedd asked to commit, and the staged files are moved to their places (place.c).
 *
 * Each file in the stage has the name that it had in the sandbox.  These names, and the links among
 * the files, cannot be trusted: nothing here follows a link.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "shadow/disk_room.h"
#include "shadow/live.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage_files.h"
#include "shadow/transfer_plan.h"
#include "shadow/turns.h"
#include "transfer/transfer_names.h"
#include "wire/wire.h"

#define HOLD_OUTPUT_MAX 33 /* HTCondor's */

/* Makes the directories above name, and the stage itself. */
static int make_parents(struct work *work, const char *name)
{
    struct os *os = work->run->shadow->os;
    const char *slash = strrchr(name, '/');
    int result = work->run->files.has_stage ? 0 : os_mkdirs(os, work->run->part, 0700, &work->err);
    work->run->files.has_stage = result == 0;
    if (result == 0 && slash != NULL) {
        char *above = mem_strndup(name, (size_t)(slash - name));
        if (work->run->files.made != NULL && strcmp(work->run->files.made, above) == 0) {
            mem_free(above); /* as for the file before */
            return 0;
        }
        result = os_below_mkdirs(os, work->run->part, above, 0700, &work->err);
        mem_free(work->run->files.made);
        work->run->files.made = above;
    }
    return result;
}

static int begin_file(struct work *work, const char *name, int64_t size, struct staged **ret)
{
    struct run *run = work->run;
    stage_files_forget(&run->files, name);
    stage_files_take_in_hand(&run->files, name);
    if (size > INT64_MAX - run->files.bytes) {
        return err_set(&work->err, -EINVAL, "output '%s': the announced size is too large", name);
    }
    run->files.bytes += size;
    if (run->files.bytes_max >= 0 && run->files.bytes > run->files.bytes_max) {
        return err_set(&work->err, -EFBIG,
                       "the job's output, with '%s', is larger than %" PRId64
                       " MB (MaxTransferOutputMB)",
                       name, run->files.bytes_max >> 20);
    }
    if (stage_files_count(&run->files) >= TRANSFER_FILES_MAX) {
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
    stage_files_add(&run->files, name, staged); /* was removed */
    *ret = staged;
    return 0;
}

static int end_file(struct work *work, const char *name, struct staged *staged, int64_t mode)
{
    bool alone = stage_files_count(&work->run->files) <= STAGE_SYNC_EACH_MAX;
    int result = os_file_chmod(staged->file, (mode_t)((mode & 0777) | 0400));
    result = result == 0 && alone ? os_file_sync(staged->file) : result;
    os_file_close(staged->file);
    staged->file = NULL;
    digest_hex(staged->digest, staged->hex);
    digest_destroy(staged->digest);
    staged->digest = NULL;
    return result == 0
               ? 0
               : err_set(&work->err, result, "output '%s': cannot write the file to disk: %s", name,
                         err_code_text(result));
}

static int put_bytes(struct work *work, const char *name, const struct ad *args)
{
    int64_t offset = ad_int_or(args, "Offset", -1);
    int64_t size = ad_int_or(args, "Size", -1);
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    struct run *run = work->run;
    struct staged *staged = stage_files_find(&run->files, name);
    if (offset < 0 || size < 0 || offset > size || (int64_t)length > size - offset) {
        return err_set(&work->err, -EINVAL,
                       "output '%s': a piece does not lie within the file (Offset, Size)", name);
    }
    int result = 0;
    if (offset == 0) {
        result = begin_file(work, name, size, &staged);
    } else if (staged == NULL || staged->file == NULL || staged->offset != (uint64_t)offset) {
        result = err_set(&work->err, -ESTALE, "output '%s' must be sent from its beginning", name);
    }
    if (result == 0 && length > 0) {
        result = disk_room_check(run->shadow, run->shadow->directory, (int64_t)length, &work->err);
        if (result != 0) {
            return err_prefix(&work->err, result, "output '%s'", name);
        }
        result = os_file_write(staged->file, (uint64_t)offset, data, length);
        if (result != 0) {
            return err_set(&work->err, result, "output '%s': cannot write the file: %s", name,
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
        return err_set(&work->err, -EPERM, "output '%s' is a link that leads out of its directory",
                       name);
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

/* Finds how much of a file is there, for a starter that continues after a broken connection.  The
 * file may have come before a restart of the shadow; then it is on the disk only. */
static int ask_body(struct work *work, const char *name)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    if (stage_files_find(&run->files, name) != NULL) {
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
        stage_files_destroy(staged);
        return 0; /* from the beginning, then */
    }
    stage_files_take_in_hand(&run->files, name);
    stage_files_add(&run->files, name, staged);
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
    const struct staged *staged =
        stage_files_find(&work->run->files, name); /* no work is under way */
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

void stage_put(struct run *run, struct wire_request *request)
{
    struct err err;
    if (ad_bool_or(wire_request_args(request), "Stream", false)) {
        live_put(run, request);
        return;
    }
    int result =
        transfer_plan_check_output(run->job, ad_string_or(wire_request_args(request), "Name", ""),
                                   &err);
    if (result != 0) {
        wire_reply_error(request, result, "%s", err.text);
        return;
    }
    run_work_start(run, request, put_body, put_done, NULL);
}
