/* shadow/live.c - writes the output of a running job (StreamOut, StreamErr).
 *
 * Each piece has its position, so a piece that is sent again after a broken connection overwrites
 * itself.  The file is emptied when the first byte of a run comes.  Unlike a result, a stream is
 * also written for a run that will not count, because the owner wants to see what it prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/live.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/os/os.h"
#include "classad/ad.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/transfer_plan.h"
#include "wire/wire.h"

static int open_target(struct work *work, size_t which, uint64_t offset)
{
    struct run *run = work->run;
    struct transfer_place place = {0};
    int result = transfer_plan_output(run->lane_job, which == 0 ? TRANSFER_STDOUT : TRANSFER_STDERR,
                                      &place, &work->err);
    if (result == 0 && place.base != NULL) {
        result =
            os_file_open(run->shadow->os, place.base, offset == 0 ? OS_WRITE_TRUNCATE : OS_WRITE,
                         0644, &run->live[which], &work->err);
    }
    transfer_place_fini(&place);
    return result;
}

static int live_body(struct work *work)
{
    const struct ad *args = wire_request_args(work->request);
    struct run *run = work->run;
    size_t which = strcmp(ad_string_or(args, "Name", ""), TRANSFER_STDERR) == 0 ? 1 : 0;
    int64_t offset = ad_int_or(args, "Offset", -1);
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    if (offset < 0) {
        return err_set(&work->err, -EINVAL, "a piece of live output needs an Offset of 0 or more");
    }
    int result = run->live[which] == NULL ? open_target(work, which, (uint64_t)offset) : 0;
    struct os_file *file = run->live[which];
    if (result != 0 || file == NULL) {
        return result; /* or it is dropped: /dev/null */
    }
    if (os_file_size(file) < offset) { /* somebody removed it */
        return err_set(&work->err, -ESTALE, "the stream must be sent from its beginning");
    }
    result = os_file_write(file, (uint64_t)offset, data, length);
    if (result == 0 && ad_bool_or(args, "Ends", false)) {
        result = os_file_sync(file);
    }
    return result == 0 ? 0
                       : err_set(&work->err, result, "cannot write live standard %s: %s",
                                 which == 0 ? "output" : "error", err_code_text(result));
}

static void live_done(struct work *work, int result)
{
    if (result == 0) {
        wire_reply_ok(work->request, NULL);
        return;
    }
    log_warn(work->run->shadow->log, "live.put", work->err.text, LOG_TEXT("job", work->run->id));
    wire_reply_error(work->request, result, "%s", work->err.text);
}

void live_put(struct run *run, struct wire_request *request)
{
    const char *name = ad_string_or(wire_request_args(request), "Name", "");
    bool is_error = strcmp(name, TRANSFER_STDERR) == 0;
    if ((!is_error && strcmp(name, TRANSFER_STDOUT) != 0) ||
        !ad_bool_or(run->job, is_error ? "StreamErr" : "StreamOut", false)) {
        wire_reply_error(request, -EPERM,
                         "'%.100s' is refused: the job does not ask for this live output "
                         "(stream_output, stream_error)",
                         name);
        return;
    }
    run_work_start(run, request, live_body, live_done, NULL);
}
