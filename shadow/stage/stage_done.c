/* shadow/stage/stage_done.c - the request JOB_DONE: makes a run's stage durable and reports the
 * result (see stage.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/stage_done.h"

#include <errno.h>
#include <string.h>

#include "base/file_digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/lanes.h"
#include "shadow/path_join.h"
#include "shadow/stage/place.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage_files.h"
#include "shadow/stage/stage_manifest.h"
#include "shadow/transfer_plan.h"
#include "transfer/transfer_names.h"
#include "wire/wire.h"

/* Checks that a directory or a link is there as announced. */
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
    return there ? 0 : err_set(&work->err, -EAGAIN, "output '%s' is missing; send it again", name);
}

/* Checks a file.  A file that came before a restart of the shadow is known from the disk only. */
static int check_file(struct work *work, const char *name, const char *checksum)
{
    struct run *run = work->run;
    char hex[DIGEST_HEX_SIZE] = "";
    const struct staged *staged = stage_files_find(&run->files, name);
    int result = transfer_plan_check_output(run->lane_job, name, &work->err);
    if (result != 0) {
        return result;
    }
    run->files.has_trees =
        run->files.has_trees || strchr(name, '/') != NULL || strchr(checksum, ':') != NULL;
    if (strchr(checksum, ':') != NULL) {
        return check_other(work, name, checksum);
    }
    if (staged != NULL && staged->file != NULL) {
        return err_set(&work->err, -EAGAIN, "output '%s' is not complete; send it again", name);
    }
    if (staged != NULL) {
        memcpy(hex, staged->hex, sizeof(hex));
    } else {
        result = file_digest_below(run->shadow->os, run->part, name, hex, &work->err);
        if (result == -ENOENT) {
            return err_set(&work->err, -EAGAIN, "output '%s' is missing; send it again", name);
        }
    }
    if (result == 0 && strcmp(hex, checksum) != 0) {
        result = err_set(&work->err, -EAGAIN, "output '%s' was damaged; send it again", name);
    }
    return result;
}

static int sync_body(struct work *work)
{
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    struct os_stat stat;
    const char *to = run->output == RUN_OUTPUT_SPOOLED ? run->spool : run->stage;
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
                 ? err_set(&work->err, -E2BIG, "the list of output files is larger than %zu bytes",
                           STAGE_MANIFEST_MAX)
                 : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true, &work->err);
    mem_free(path);
    strbuf_fini(&text);
    if (result == 0 && (count > STAGE_SYNC_EACH_MAX || run->files.has_trees)) {
        result = os_below_sync_all(os, run->part, &work->err);
    }
    if (result == 0 && run->output == RUN_OUTPUT_SPOOLED) {
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
        place_staged(run);
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

static void remove_done(struct work *work, int result)
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
        run_work_start(run, NULL, remove_body, remove_done, mem_strdup(useless));
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
    if (run->output == RUN_OUTPUT_SPOOLED) {
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

/* Reports a result without output files: the schedd commits the result and the job's end at
 * once. */
static void report_without_output(struct run *run, const struct ad *args)
{
    struct ad *report = ad_copy(args);
    run->output = RUN_OUTPUT_NONE;
    run_move(run, RUN_REPORTING);
    run_note_transfers(run, report);
    ad_remove(report, "Files");
    ad_remove(report, "Checksums");
    ad_set_bool(report, "Staged", false);
    report_send(run->shadow, run, VERB_JOB_RESULT, report, result_answered, NULL);
}

void stage_done_handle(struct run *run, struct wire_request *request)
{
    vec_push(&run->waiting, request);
    if (run->phase != RUN_OPEN) {
        return; /* said again: answered with the first */
    }
    bool evicted = ad_bool_or(wire_request_args(request), "Evicted", false);
    run->output = evicted ? RUN_OUTPUT_SPOOLED : RUN_OUTPUT_PLACED;
    run_move(run, RUN_SYNCING);
    if (!evicted && stage_manifest_is_empty(wire_request_args(request))) {
        report_without_output(run, wire_request_args(request));
        return;
    }
    run_work_start(run, NULL, sync_body, sync_done, lanes_copy_ad(wire_request_args(request)));
}
