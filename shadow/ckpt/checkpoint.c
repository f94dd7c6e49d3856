/* shadow/ckpt/checkpoint.c - the calls of a starter about checkpoints: receives, keeps and returns
 * them.
 *
 * <directory>/ckpt/<JobId>/<CkptSequence>/ (or another place: ckpt_place.c) has `image`, `files`
 * and `manifest`; ckpt_receive.c fills it.  A starter is offered only what the schedd has committed
 * (docs/protocol/checkpoint.md).
 *
 * The files are written and read as plain bytes; their contents concern only the job.
 *
 * When a checkpoint could not be resumed although its bytes are right, this is counted.  After a
 * few tries on different machines the checkpoint is given up, so that the job continues from an
 * older one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "shadow/ckpt/ckpt_call.h"
#include "shadow/ckpt/ckpt_place.h"
#include "shadow/ckpt/ckpt_receive.h"
#include "shadow/lanes.h"
#include "shadow/path_join.h"
#include "shadow/report.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define REFUSED      "refused" /* file with one byte for each refusal */
#define REFUSALS_MAX 3
#define SEQUENCE_MAX INT64_C(1000000000)

static const char *name_of(const char *name)
{
    static const char *const NAMES[] = {CKPT_NAME_IMAGE, CKPT_NAME_DELTA, CKPT_NAME_FILES,
                                        CKPT_NAME_CHANGES};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return NAMES[i];
        }
    }
    return NULL;
}

/* Reads the arguments of a call.  Returns NULL after it has answered a malformed request. */
static struct ckpt_call *call_create(struct wire_request *request, bool has_name)
{
    const struct ad *args = wire_request_args(request);
    struct ckpt_call *call = mem_zalloc(sizeof *call);
    call->sequence = ad_int_or(args, CKPT_SEQUENCE, 0);
    call->base = ad_int_or(args, CKPT_BASE, 0);
    call->offset = ad_int_or(args, "Offset", 0);
    call->size = ad_int_or(args, "Size", 0);
    call->name = name_of(ad_string_or(args, "Name", ""));
    if (call->sequence < 1 || call->sequence > SEQUENCE_MAX || (has_name && call->name == NULL) ||
        call->offset < -1 || call->size < 0) {
        wire_reply_error(request, -EINVAL, "%s needs CkptSequence, and Name, Offset, Size",
                         wire_verb_name(wire_request_verb(request)));
        ckpt_call_destroy(call);
        return NULL;
    }
    return call;
}

/* ---- CKPT_LOOK, CKPT_GET --------------------------------------------------------------------- */

/* Returns whether the error means that a checkpoint is gone or damaged, and must not be offered.  A
 * passing problem (no memory, too many open files) is no reason to start the job over.  A disk
 * error may be either, because a file server that is away reports it, too: then another checkpoint
 * is offered, if there is one. */
static bool is_gone(int code)
{
    return code == -ENOENT || code == -ENOTDIR || code == -EIO || code == -EFBIG || code == -E2BIG;
}

static int look_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    const int64_t sequences[CKPT_GENERATIONS] = {call->sequence, call->previous};
    int result = checkpoint_place_check(work->run, &work->err);
    struct err unread = {.text = ""};
    bool is_found = false;
    for (size_t i = 0; i < CKPT_GENERATIONS && result == 0; i++) {
        char *directory = ckpt_call_place(work->run, sequences[i]);
        char *path = path_join(directory, CKPT_NAME_MANIFEST);
        int read = sequences[i] <= 0 ? 0
                                     : os_read_file(work->run->shadow->os, path, CKPT_MANIFEST_MAX,
                                                    &call->found[i], &call->found_length[i], NULL);
        is_found = is_found || call->found[i] != NULL;
        if (read != 0 && !is_gone(read)) {
            result = err_set(&work->err, -EAGAIN, "%s: %s", path, err_code_text(read));
        } else if (read == -EIO) {
            (void)err_set(&unread, read, "%s: %s", path, err_code_text(read));
        }
        mem_free(path);
        mem_free(directory);
    }
    return result == 0 && !is_found && unread.text[0] != '\0'
               ? err_set(&work->err, -EAGAIN, "%s", unread.text)
               : result;
}

static void look_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    struct ad *ads[CKPT_GENERATIONS];
    size_t count = 0;
    if (result != 0) {
        wire_reply_error(work->request, result, "%s", work->err.text);
        ckpt_call_destroy(call);
        return;
    }
    for (size_t i = 0; i < CKPT_GENERATIONS; i++) {
        if (call->found[i] != NULL &&
            ad_decode(call->found[i], call->found_length[i], NULL, &ads[count], NULL) == 0) {
            count++;
        }
    }
    const struct wire_body body = {.ads = (const struct ad *const *)ads, .ad_count = count};
    wire_reply_ok(work->request, &body);
    while (count > 0) {
        ad_destroy(ads[--count]);
    }
    ckpt_call_destroy(call);
}

static int get_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct os_file *file = NULL;
    char *directory = ckpt_call_place(work->run, call->sequence);
    int result = checkpoint_place_check(work->run, &work->err);
    result = result != 0 ? result
                         : os_below_open(work->run->shadow->os, directory, call->name, OS_READ, 0,
                                         &file, &work->err);
    if (result == 0) {
        call->bytes = mem_alloc(CKPT_PIECE_MAX);
        ssize_t got = os_file_read(file, (uint64_t)call->offset, call->bytes, CKPT_PIECE_MAX);
        call->length = got > 0 ? (size_t)got : 0;
        result = got < 0 ? err_set(&work->err, (int)got, "%s", err_code_text((int)got)) : 0;
        os_file_close(file);
    }
    mem_free(directory);
    return result;
}

static void get_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    if (result != 0) {
        wire_reply_error(work->request, result, "%s", work->err.text);
    } else {
        const struct wire_body body = {.blob = call->bytes, .blob_length = call->length};
        wire_reply_ok(work->request, &body);
    }
    ckpt_call_destroy(call);
}

/* ---- CKPT_REFUSED ---------------------------------------------------------------------------- */

static int refused_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct os *os = work->run->shadow->os;
    char *directory = ckpt_call_place(work->run, call->sequence);
    struct os_file *file = NULL;
    int64_t times = ckpt_call_size_in(work->run, directory, REFUSED) + 1;
    if (!call->is_damaged && times < REFUSALS_MAX) {
        if (os_below_open(os, directory, REFUSED, OS_APPEND, 0600, &file, NULL) == 0) {
            (void)os_file_write(file, (uint64_t)times - 1, "x", 1); /* else: once more */
            os_file_close(file);
        }
    } else {
        call->is_damaged = true;
        (void)os_remove_tree(os, directory, NULL); /* the schedd will not name it again */
    }
    mem_free(directory);
    return 0;
}

static void refused_answered(struct run *run, void *arg, int status, const char *text,
                             const struct ad *answer)
{
    (void)run;
    (void)answer;
    if (status == 0) {
        wire_reply_ok(arg, NULL);
    } else {
        wire_reply_error(arg, status, "%s", text);
    }
}

static void refused_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    (void)result;
    log_warn(run->shadow->log, "checkpoint.refused", call->reason, LOG_TEXT("job", run->id),
             LOG_INT("sequence", call->sequence), LOG_BOOL("removed", call->is_damaged));
    if (call->is_damaged && call->sequence == run->ckpt.latest) {
        run->ckpt.latest = run->ckpt.previous;
        run->ckpt.previous = 0;
    } else if (call->is_damaged && call->sequence == run->ckpt.previous) {
        run->ckpt.previous = 0;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Event", CKPT_EVENT_REFUSED);
    ad_set_int(args, CKPT_SEQUENCE, call->sequence);
    ad_set_string(args, "Reason", call->reason);
    ad_set_bool(args, "Damaged", call->is_damaged);
    ad_set_int(args, CKPT_PREVIOUS, run->ckpt.previous);
    report_send(run->shadow, run, VERB_JOB_STATUS, args, refused_answered, work->request);
    ckpt_call_destroy(call);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_known(const struct run *run, int64_t sequence)
{
    return sequence > 0 && (sequence == run->ckpt.latest || sequence == run->ckpt.previous);
}

static void look_for_checkpoints(struct run *run, struct wire_request *request)
{
    struct ckpt_call *call = mem_zalloc(sizeof *call);
    call->sequence = run->ckpt.latest;
    call->previous = run->ckpt.previous;
    run_work_start(run, request, look_body, look_done, call);
}

void checkpoint_handle(struct run *run, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    if (run->dropped || run->ckpt.is_over) {
        wire_reply_error(request, -ESTALE, "job %s needs no more checkpoints", run->id);
        return;
    }
    if (verb == VERB_CKPT_LOOK) {
        look_for_checkpoints(run, request);
        return;
    }
    struct ckpt_call *call = call_create(request, verb == VERB_CKPT_PUT || verb == VERB_CKPT_GET);
    if (call == NULL) {
        return;
    }
    bool is_old = verb == VERB_CKPT_GET || verb == VERB_CKPT_REFUSED;
    if (is_old ? !is_known(run, call->sequence) : call->sequence < run->ckpt.latest) {
        wire_reply_error(request, -ENOENT, "job %s has no checkpoint %" PRId64, run->id,
                         call->sequence);
        ckpt_call_destroy(call);
        return;
    }
    /* One that was done already, and is told of again, is of the one before. */
    call->is_kept = call->sequence == run->ckpt.latest;
    bool is_done = verb == VERB_CKPT_DONE && call->is_kept;
    if (!is_old && !is_done && call->base != 0 && call->base != run->ckpt.latest) {
        wire_reply_error(request, -ENODATA,
                         "job %s: checkpoint %" PRId64
                         " is not the latest one, so changes to it are refused",
                         run->id, call->base);
        ckpt_call_destroy(call);
        return;
    }
    if (verb == VERB_CKPT_PUT) {
        run_work_start(run, request, ckpt_receive_put, ckpt_receive_put_done, call);
    } else if (verb == VERB_CKPT_GET && call->offset >= 0) {
        run_work_start(run, request, get_body, get_done, call);
    } else if (verb == VERB_CKPT_REFUSED) {
        call->is_damaged = ad_bool_or(wire_request_args(request), "Damaged", false);
        call->reason = mem_strdup(ad_string_or(wire_request_args(request), "Reason", ""));
        run_work_start(run, request, refused_body, refused_done, call);
    } else if (verb == VERB_CKPT_DONE) {
        call->manifest = lanes_copy_ad(wire_request_args(request));
        call->previous = call->sequence == run->ckpt.latest ? run->ckpt.previous : run->ckpt.latest;
        run_work_start(run, request, ckpt_receive_whole, ckpt_receive_whole_done, call);
    } else {
        wire_reply_error(request, -EINVAL, "CKPT_GET needs an Offset");
        ckpt_call_destroy(call);
    }
}
