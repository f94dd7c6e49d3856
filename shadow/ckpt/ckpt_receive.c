/* shadow/ckpt/ckpt_receive.c - receives a checkpoint: see checkpoint.c.
 *
 * While it arrives, its directory is <CkptSequence>.<ClaimEpoch>.part.  Instead of a whole image,
 * the changes since the latest one may come; ckpt_merge.c makes a whole image of them.  When both
 * files are there and match the checksums of the manifest, they are synced, the directory is
 * renamed, and the schedd is told.  So an incomplete checkpoint never replaces a whole one,
 * whichever process dies.
 *
 * The sizes in a manifest cannot be trusted; ckpt_room.c bounds them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_receive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/ckpt/ckpt_call.h"
#include "shadow/ckpt/ckpt_merge.h"
#include "shadow/ckpt/ckpt_place.h"
#include "shadow/ckpt/ckpt_room.h"
#include "shadow/ckpt/ckpt_room_plan.h"
#include "shadow/disk_room.h"
#include "shadow/path_join.h"
#include "shadow/report.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

static char *job_place(const struct run *run)
{
    return path_join(run->shadow->ckpt.directory, run->id);
}

static char *part_place(const struct run *run, int64_t sequence)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s/%" PRId64 ".%" PRId64 ".part", run->shadow->ckpt.directory, run->id,
                  sequence, run->epoch);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

/* ---- CKPT_PUT -------------------------------------------------------------------------------- */

struct leftovers {
    struct work *work;
    const char *above, *kept;
};

static void remove_leftover(void *arg, const char *name)
{
    static const char SUFFIX[] = ".part";
    const struct leftovers *leftovers = arg;
    size_t length = strlen(name), suffix = sizeof SUFFIX - 1;
    char *path = path_join(leftovers->above, name);
    if (length > suffix && strcmp(name + length - suffix, SUFFIX) == 0 &&
        strcmp(path, leftovers->kept) != 0) {
        (void)os_remove_tree(leftovers->work->run->shadow->os, path, NULL); /* the next time */
    }
    mem_free(path);
}

/* Removes incomplete checkpoints that will never be completed: of runs that are over, or given
 * up. */
static void remove_other_parts(struct work *work, const char *part)
{
    char *above = job_place(work->run);
    struct leftovers leftovers = {work, above, part};
    (void)os_list(work->run->shadow->os, above, remove_leftover, &leftovers, NULL); /* none: fine */
    mem_free(above);
}

int ckpt_receive_put(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    char *part = part_place(run, call->sequence);
    struct os_file *file = NULL;
    call->have = ckpt_call_size_in(run, part, call->name);
    int result = 0;
    if (call->offset >= 0 && call->offset != call->have) {
        result =
            err_set(&work->err, -ESTALE,
                    "%" PRId64 " bytes of the file have arrived; continue from there", call->have);
    } else if (call->offset >= 0 &&
               (call->offset > call->size || (int64_t)length > call->size - call->offset)) {
        result = err_set(&work->err, -EINVAL, "the piece ends beyond the size of its file (Size)");
    }
    if (result == 0 && call->offset == 0) {
        remove_other_parts(work, part);
    }
    bool writes = result == 0 && call->offset >= 0;
    if (writes) {
        result = call->offset == 0 ? checkpoint_place_make(run, &work->err) : 0;
        result = result != 0 ? result : os_mkdirs(run->shadow->os, part, 0700, &work->err);
        result = result != 0 ? result : ckpt_room_for_piece(work, call, part, length);
        result = result != 0 ? result
                             : os_below_open(run->shadow->os, part, call->name,
                                             call->offset == 0 ? OS_WRITE_TRUNCATE : OS_WRITE, 0600,
                                             &file, &work->err);
    }
    if (file != NULL) {
        int wrote = os_file_write(file, (uint64_t)call->offset, data, length);
        result = wrote == 0 ? 0 : err_set(&work->err, wrote, "%s", err_code_text(wrote));
        os_file_close(file);
        call->have += result == 0 ? (int64_t)length : 0;
    }
    if (writes && result != 0) { /* nobody goes on with it, and the disk may be full of it */
        (void)os_remove_tree(run->shadow->os, part, NULL);
    }
    mem_free(part);
    return result;
}

void ckpt_receive_put_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    if (result != 0) {
        wire_reply_error(work->request, result, "%s", work->err.text);
    } else {
        struct ad *args = ad_create();
        ad_set_int(args, "Have", call->have);
        const struct wire_body body = {.args = args};
        wire_reply_ok(work->request, &body);
        ad_destroy(args);
    }
    ckpt_call_destroy(call);
}

/* ---- CKPT_DONE ------------------------------------------------------------------------------- */

static int check_received(struct work *work, const char *part, const char *name,
                          const char *bytes_attr, const char *sum_attr)
{
    const struct ckpt_call *call = work->arg;
    char hex[DIGEST_HEX_SIZE] = "";
    int result = file_digest_below(work->run->shadow->os, part, name, hex, &work->err);
    if (result == -ENOENT ||
        (result == 0 &&
         (ckpt_call_size_in(work->run, part, name) != ad_int_or(call->manifest, bytes_attr, -1) ||
          strcmp(hex, ad_string_or(call->manifest, sum_attr, "")) != 0))) {
        (void)os_below_remove(work->run->shadow->os, part, name, NULL); /* it comes again */
        result = err_set(&work->err, -EAGAIN,
                         "%s of checkpoint %" PRId64
                         " was damaged on the way (size or checksum); send it again",
                         name, call->sequence);
    }
    return result;
}

/* Reads the manifest in a directory; NULL: none that can be read.  Owned by the caller. */
static struct ad *read_manifest(struct work *work, const char *directory)
{
    char *path = path_join(directory, CKPT_NAME_MANIFEST), *text = NULL;
    size_t length = 0;
    struct ad *manifest = NULL;
    if (os_read_file(work->run->shadow->os, path, CKPT_MANIFEST_MAX, &text, &length, NULL) == 0 &&
        ad_decode(text, length, NULL, &manifest, NULL) != 0) {
        manifest = NULL;
    }
    mem_free(text);
    mem_free(path);
    return manifest;
}

/* Which files have arrived instead of image and files, and the attributes with their checksums. */
struct parts {
    bool changed[2]; /* the file has changes only */
    const char *names[2], *sums[2];
};

static struct parts parts_of(const struct ad *manifest)
{
    bool delta = ad_has(manifest, CKPT_DELTA_SUM), changes = ad_has(manifest, CKPT_CHANGES_SUM);
    return (struct parts){{delta, changes},
                          {delta ? CKPT_NAME_DELTA : CKPT_NAME_IMAGE,
                           changes ? CKPT_NAME_CHANGES : CKPT_NAME_FILES},
                          {delta ? CKPT_DELTA_SUM : CKPT_IMAGE_SUM,
                           changes ? CKPT_CHANGES_SUM : CKPT_FILES_SUM}};
}

/* Returns whether the same checkpoint has arrived before and was complete: its manifest then has
 * the same checksums. */
static bool is_there(struct work *work, const char *directory)
{
    const struct ckpt_call *call = work->arg;
    const struct parts parts = parts_of(call->manifest);
    struct ad *manifest = read_manifest(work, directory);
    bool same = manifest != NULL;
    for (size_t i = 0; i < 2 && same; i++) {
        same = strcmp(ad_string_or(manifest, parts.sums[i], "?"),
                      ad_string_or(call->manifest, parts.sums[i], "")) == 0;
    }
    ad_destroy(manifest);
    return same;
}

/* Checks that the disk has room to merge.  If not, -ENODATA asks for a whole checkpoint, which
 * needs less room. */
static int check_room_to_merge(struct work *work, const char *part, const struct parts *parts,
                               const struct checkpoint_room rooms[2])
{
    int64_t all = (parts->changed[0] ? rooms[0].disk : 0) + (parts->changed[1] ? rooms[1].disk : 0);
    char why[ERR_TEXT_MAX];
    if (disk_room_check(work->run->shadow, part, all, &work->err) == 0) {
        return 0;
    }
    (void)snprintf(why, sizeof why, "%s", work->err.text);
    return err_set(&work->err, -ENODATA, "%.400s: send the whole checkpoint again", why);
}

static int merge_changes(struct work *work, const char *part, const struct parts *parts)
{
    struct ckpt_call *call = work->arg;
    if (call->base <= 0) {
        return err_set(&work->err, -ENODATA,
                       "the changes do not say to which checkpoint they belong (CkptBase)");
    }
    char *base = ckpt_call_place(work->run, call->base);
    struct ad *before = read_manifest(work, base);
    const struct checkpoint_room rooms[] = {
        checkpoint_room_plan(before, call->manifest, CKPT_IMAGE_BYTES, CKPT_IMAGE_STORED),
        checkpoint_room_plan(before, call->manifest, CKPT_FILES_BYTES, CKPT_FILES_STORED)};
    int result = check_room_to_merge(work, part, parts, rooms);
    if (result == 0 && parts->changed[0]) {
        result = checkpoint_merge(work, part, base, rooms[0].made, call->manifest);
    }
    if (result == 0 && parts->changed[1]) {
        result = checkpoint_join(work, part, base, rooms[1].made, call->manifest);
    }
    ad_remove(call->manifest, CKPT_BASE);
    ad_destroy(before);
    mem_free(base);
    return result;
}

/* Checks that both files have arrived, and makes them whole if they came as changes. */
static int complete_files(struct work *work, const char *part)
{
    static const char *const STORED[] = {CKPT_IMAGE_STORED, CKPT_FILES_STORED};
    struct ckpt_call *call = work->arg;
    const struct parts parts = parts_of(call->manifest);
    int result = 0;
    for (size_t i = 0; i < 2 && result == 0; i++) {
        result = check_received(work, part, parts.names[i], STORED[i], parts.sums[i]);
    }
    if (result == 0 && (parts.changed[0] || parts.changed[1])) {
        result = merge_changes(work, part, &parts);
    }
    checkpoint_merge_tidy(work, part);
    return result != 0 ? result : ckpt_room_of_whole(work);
}

int ckpt_receive_whole(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    char *part = part_place(run, call->sequence), *to = ckpt_call_place(run, call->sequence);
    char *path = path_join(part, CKPT_NAME_MANIFEST);
    struct os_stat stat;
    struct strbuf text;
    strbuf_init(&text, CKPT_MANIFEST_MAX);
    bool is_new = !is_there(work, to);
    int result = is_new && call->is_kept /* what the schedd knows of is never replaced */
                     ? err_set(&work->err, -EEXIST,
                               "job %s already has another checkpoint with number %" PRId64,
                               run->id, call->sequence)
                     : 0;
    if (is_new && result == 0) {
        result = complete_files(work, part);
        ad_encode(call->manifest, false, &text);
        if (result == 0 && text.failed) {
            result = err_set(&work->err, -E2BIG, "the checkpoint's manifest is too long");
        }
        result = result != 0 ? result
                             : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true,
                                             &work->err);
        if (!PLANTED(checkpoint_not_synced)) {
            result = result != 0 ? result : os_below_sync_all(os, part, &work->err);
        }
        /* Of a run that ended before the schedd knew of it. */
        result = result != 0 ? result : os_remove_tree(os, to, &work->err);
        result = result != 0 ? result : os_rename(os, part, to, true, &work->err);
        if (result != 0 && result != -EAGAIN) {
            (void)os_remove_tree(os, part, NULL); /* it is given up; else the next one's begin */
        }
    }
    char *before = ckpt_call_place(run, call->previous);
    if (call->previous == 0 || os_stat(os, before, &stat) != 0 || !stat.is_dir) {
        call->previous = 0;
    }
    mem_free(before);
    strbuf_fini(&text);
    mem_free(path);
    mem_free(to);
    mem_free(part);
    return result;
}

struct prune {
    struct work *work;
    const char *above;
    int64_t keep[CKPT_GENERATIONS];
};

static void prune_generation(void *arg, const char *name)
{
    const struct prune *prune = arg;
    char *end = NULL;
    int64_t sequence = strtoll(name, &end, 10);
    for (size_t i = 0; i < CKPT_GENERATIONS; i++) {
        if (*end == '\0' && sequence == prune->keep[i] && sequence > 0) {
            return;
        }
    }
    char *path = path_join(prune->above, name);
    (void)os_remove_tree(prune->work->run->shadow->os, path, NULL); /* tried again the next time */
    mem_free(path);
}

/* Removes all checkpoints but the two that are kept, also incomplete ones: the starter sends those
 * again from their beginning. */
static int prune_body(struct work *work)
{
    const struct ckpt_call *call = work->arg;
    char *above = job_place(work->run);
    struct prune prune = {work, above, {call->sequence, call->previous}};
    (void)os_list(work->run->shadow->os, above, prune_generation, &prune,
                  NULL); /* none: nothing to do */
    mem_free(above);
    return 0;
}

static void prune_done(struct work *work, int result)
{
    (void)result;
    ckpt_call_destroy(work->arg);
}

struct told {
    struct wire_request *request;
    int64_t sequence, previous;
};

static void taken_answered(struct run *run, void *arg, int status, const char *text,
                           const struct ad *answer)
{
    struct told *told = arg;
    (void)answer;
    if (status == 0) {
        log_info(run->shadow->log, "checkpoint.kept", "the job can resume from this checkpoint",
                 LOG_TEXT("job", run->id), LOG_INT("sequence", told->sequence),
                 LOG_INT("previous", told->previous));
        run->ckpt.latest = told->sequence;
        run->ckpt.previous = told->previous;
        wire_reply_ok(told->request, NULL);
    } else {
        wire_reply_error(told->request, status, "%s", text);
    }
    if (status != -ESHUTDOWN && !run->dropped) { /* of what was refused nothing stays, either */
        struct ckpt_call *call = mem_zalloc(sizeof *call);
        call->sequence = run->ckpt.latest;
        call->previous = run->ckpt.previous;
        run_work_start(run, NULL, prune_body, prune_done, call);
    }
    mem_free(told);
}

void ckpt_receive_whole_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    if (result == 0 && run->dropped) {
        result = err_set(&work->err, -ESTALE, "this run of the job has been replaced or has ended");
    }
    if (result != 0) {
        log_warn(run->shadow->log, "checkpoint.not_kept", work->err.text, LOG_TEXT("job", run->id),
                 LOG_INT("sequence", call->sequence));
        wire_reply_error(work->request, result, "%s", work->err.text);
        ckpt_call_destroy(call);
        return;
    }
    if (PLANTED(checkpoint_told_early)) {
        wire_reply_ok(work->request, NULL);
        ckpt_call_destroy(call);
        return;
    }
    struct told *told = mem_alloc(sizeof *told);
    *told = (struct told){work->request, call->sequence, call->previous};
    struct ad *args = call->manifest;
    call->manifest = NULL;
    ad_remove(args, CKPT_IMAGE_SUM);
    ad_remove(args, CKPT_FILES_SUM);
    ad_remove(args, CKPT_DELTA_SUM);
    ad_remove(args, CKPT_CHANGES_SUM);
    ad_set_string(args, "Event", CKPT_EVENT_TAKEN);
    ad_set_int(args, CKPT_PREVIOUS, call->previous);
    report_send(run->shadow, run, VERB_JOB_STATUS, args, taken_answered, told);
    ckpt_call_destroy(call);
}
