/* shadow/dataflow.c - see dataflow.h.
 *
 * The check is made when the starter asks for the input, because the shadow may look at the owner's
 * files.  All entries of TransferOutput must exist, and the oldest of them must be newer than the
 * program, the standard input and all input files; in a directory every file counts.  If something
 * cannot be checked (an input is a URL, or no output is named), the job runs.  Times are whole
 * seconds: output that was written in the same second as its input is made again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/dataflow.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "shadow/path_join.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/transfer_plan.h"
#include "transfer/transfer_names.h"
#include "transfer/transfer_walk.h"
#include "wire/wire.h"

struct times {
    int64_t oldest_s, newest_s;
};

static bool note_times(struct os *os, const char *path, struct times *times)
{
    struct os_stat stat;
    if (os_stat(os, path, &stat) != 0) {
        return false;
    }
    times->oldest_s = stat.mtime_s < times->oldest_s ? stat.mtime_s : times->oldest_s;
    times->newest_s = stat.mtime_s > times->newest_s ? stat.mtime_s : times->newest_s;
    if (!stat.is_dir) {
        return true;
    }
    struct vec entries = {0};
    struct err err;
    bool all = transfer_walk(os, path, "", "", TRANSFER_LINKS_FOLLOWED, &entries, NULL, &err) == 0;
    for (size_t i = 0; i < entries.count && all; i++) {
        const struct transfer_entry *entry = entries.items[i];
        if (entry->type == TRANSFER_FILE) {
            all = os_stat(os, entry->path, &stat) == 0;
            times->oldest_s = stat.mtime_s < times->oldest_s ? stat.mtime_s : times->oldest_s;
            times->newest_s = stat.mtime_s > times->newest_s ? stat.mtime_s : times->newest_s;
        }
    }
    vec_fini(&entries, transfer_entry_destroy);
    return all;
}

static bool note_output(struct work *work, const char *item, struct times *times)
{
    struct transfer_place place = {0};
    struct err err;
    char *name = transfer_path_clean(item[0] == '/' ? transfer_last_name(item) : item);
    bool there = name != NULL && item[strlen(item) - 1] != '/' &&
                 transfer_plan_output(work->run->lane_job, name, &place, &err) == 0 &&
                 place.base != NULL;
    if (there) {
        char *path =
            place.below[0] != '\0' ? path_join(place.base, place.below) : mem_strdup(place.base);
        there = note_times(work->run->shadow->os, path, times);
        mem_free(path);
    }
    transfer_place_fini(&place);
    mem_free(name);
    return there;
}

bool dataflow_is_done(struct work *work, const struct vec *inputs)
{
    const struct ad *job = work->run->lane_job;
    struct times in = {INT64_MAX, INT64_MIN}, out = {INT64_MAX, INT64_MIN};
    const char *list = ad_string_or(job, "TransferOutput", "");
    bool done = ad_bool_or(job, "SkipIfDataflow", false);
    size_t count = 0;
    for (char *item; done && (item = transfer_list_next(&list, ',')) != NULL; mem_free(item)) {
        if (item[0] != '\0') {
            done = note_output(work, item, &out);
            count++;
        }
    }
    for (size_t i = 0; i < inputs->count && done && count > 0; i++) {
        const struct transfer_input *input = inputs->items[i];
        done = !input->is_url && note_times(work->run->shadow->os, input->path, &in);
    }
    return done && count > 0 && inputs->count > 0 && out.oldest_s > in.newest_s;
}

static void skip_answered(struct run *run, void *arg, int status, const char *text,
                          const struct ad *answer)
{
    struct wire_request *request = arg;
    (void)answer;
    if (status == -ESHUTDOWN) {
        wire_reply_error(request, status, "%s", text); /* the next shadow checks again */
        return;
    }
    log_info(run->shadow->log, "run.skipped",
             status == 0 ? "the job's output is newer than its input" : text,
             LOG_TEXT("job", run->id), LOG_INT("epoch", run->epoch));
    wire_reply_error(request, -ECANCELED, "the job's output is newer than its input");
    if (!run->dropped) {
        run_drop(run, true);
    }
}

void dataflow_report(struct run *run, struct wire_request *request)
{
    struct ad *report = ad_create();
    if (run->phase != RUN_OPEN) {
        ad_destroy(report);
        wire_reply_error(request, -ESTALE, "the job's output is newer than its input");
        return;
    }
    run->output = RUN_OUTPUT_NONE;
    run_move(run, RUN_FINISHING);
    ad_set_bool(report, "DataflowJobSkipped", true);
    ad_set_bool(report, "ExitBySignal", false);
    ad_set_int(report, "ExitCode", 0);
    ad_set_bool(report, "Staged", false);
    report_send(run->shadow, run, VERB_JOB_RESULT, report, skip_answered, request);
}
