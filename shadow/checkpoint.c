/* shadow/checkpoint.c - checkpoints of a run: received, kept, given back.
 *
 * <directory>/ckpt/<JobId>/<CkptSequence>/ (or elsewhere: ckpt_place.c) has `image`, `files` and
 * `manifest`; while it is filled it is <CkptSequence>.<ClaimEpoch>.part.  In the place of an image
 * what changed since the latest one may come, of which ckpt_merge.c makes a whole one.  When both
 * files are there and have the sums of the manifest they are synced and the directory gets its
 * name; then the schedd is told, and only what the schedd has committed is ever offered to a
 * starter (docs/protocol/checkpoint.md).  So a half one never takes the place of a whole one,
 * whoever dies.
 *
 * What is in the files is the job's business: it is written and read as bytes.  The sizes are a
 * stranger's; CHECKPOINT_QUOTA_PER_OWNER and SPOOL_RESERVE bound them.
 *
 * Of one that could not be resumed, though nothing is wrong with its bytes, it is noted how often:
 * after a few tries on different machines it is given up, so that the job gets on with an older
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os_below.h"
#include "base/os_figures.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/shadow_state.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define PIECE_MAX     ((size_t)1 << 20)
#define MANIFEST      CKPT_NAME_MANIFEST
#define MANIFEST_MAX  ((size_t)256 << 10)
#define REFUSED       "refused" /* a byte for each time */
#define REFUSALS_MAX  3
#define GENERATIONS   2
#define SEQUENCE_MAX  INT64_C(1000000000)
#define JOB_NAMES_MAX 100000

/* What a call is about; on the lane with it. */
struct ckpt_call {
    int64_t sequence, previous;
    int64_t base; /* of a delta: what it changes; 0: it is none */
    int64_t offset, size, have;
    const char *name; /* of those that there are */
    bool is_damaged;
    char *reason;
    struct ad *manifest; /* of CKPT_DONE; the lane's alone while it is there */
    char *bytes;         /* what was read */
    size_t length;
    char *found[GENERATIONS]; /* manifests */
    size_t found_length[GENERATIONS];
};

static void call_destroy(struct ckpt_call *call)
{
    for (size_t i = 0; i < GENERATIONS; i++) {
        mem_free(call->found[i]);
    }
    ad_destroy(call->manifest);
    mem_free(call->reason);
    mem_free(call->bytes);
    mem_free(call);
}

static const char *name_of(const char *name)
{
    static const char *const NAMES[] = {CKPT_NAME_IMAGE, CKPT_NAME_DELTA, CKPT_NAME_FILES};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return NAMES[i];
        }
    }
    return NULL;
}

/* NULL, and the request is answered: what it asks for cannot be. */
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
        call_destroy(call);
        return NULL;
    }
    return call;
}

/* ---- places ---------------------------------------------------------------------------------- */

static char *job_place(const struct run *run)
{
    return stage_join(run->shadow->checkpoints, run->id);
}

static char *place(const struct run *run, int64_t sequence)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s/%" PRId64, run->shadow->checkpoints, run->id, sequence);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

static char *part_place(const struct run *run, int64_t sequence)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s/%" PRId64 ".%" PRId64 ".part", run->shadow->checkpoints, run->id,
                  sequence, run->epoch);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

static int64_t size_in(struct run *run, const char *directory, const char *name)
{
    struct os_stat stat;
    return os_below_stat(run->shadow->os, directory, name, &stat) == 0 && stat.is_file
               ? stat.size_bytes
               : 0;
}

/* ---- CKPT_PUT -------------------------------------------------------------------------------- */

static int check_quota(struct work *work, const struct ckpt_call *call, size_t more)
{
    struct shadow *shadow = work->run->shadow;
    int result = stages_have_room(shadow, more, &work->err);
    if (result != 0 || shadow->checkpoint_quota <= 0 || call->offset > 0) {
        return result; /* asked with the first bytes of each file */
    }
    struct os_tree_figures tree;
    os_tree_figures(shadow->os, shadow->checkpoints, JOB_NAMES_MAX, &tree);
    int64_t size = call->size;
    if (call->base > 0 && strcmp(call->name, CKPT_NAME_DELTA) == 0) { /* what comes of it */
        char *base = place(work->run, call->base);
        size += size_in(work->run, base, CKPT_NAME_IMAGE);
        mem_free(base);
    }
    if (size > shadow->checkpoint_quota - tree.disk_kib * 1024) {
        return err_set(&work->err, -EDQUOT,
                       "checkpoints of %s would take more than CHECKPOINT_QUOTA_PER_OWNER (%" PRId64
                       " bytes)",
                       shadow->owner, shadow->checkpoint_quota);
    }
    return 0;
}

static int put_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    size_t length = 0;
    const void *data = wire_request_blob(work->request, &length);
    char *part = part_place(run, call->sequence);
    struct os_file *file = NULL;
    call->have = size_in(run, part, call->name);
    int result = 0;
    if (call->offset >= 0 && call->offset != call->have) {
        result = err_set(&work->err, -ESTALE, "%" PRId64 " bytes are there", call->have);
    } else if (call->offset >= 0 &&
               (call->offset > call->size || (int64_t)length > call->size - call->offset)) {
        result = err_set(&work->err, -EINVAL, "Offset and Size do not fit");
    }
    if (result == 0 && call->offset >= 0) {
        result = call->offset == 0 ? checkpoint_place_make(run, &work->err) : 0;
        result = result != 0 ? result : check_quota(work, call, length);
        result = result != 0 ? result : os_mkdirs(run->shadow->os, part, 0700, &work->err);
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
    mem_free(part);
    return result;
}

static void put_done(struct work *work, int result)
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
    call_destroy(call);
}

/* ---- CKPT_DONE ------------------------------------------------------------------------------- */

int checkpoint_digest(struct work *work, const char *directory, const char *name,
                      char ret[DIGEST_HEX_SIZE])
{
    struct os_file *file = NULL;
    int result =
        os_below_open(work->run->shadow->os, directory, name, OS_READ, 0, &file, &work->err);
    if (result != 0) {
        return result;
    }
    char *buffer = mem_alloc(PIECE_MAX);
    struct digest *digest = digest_create();
    uint64_t offset = 0;
    ssize_t got;
    while ((got = os_file_read(file, offset, buffer, PIECE_MAX)) > 0) {
        digest_update(digest, buffer, (size_t)got);
        offset += (uint64_t)got;
    }
    digest_hex(digest, ret);
    digest_destroy(digest);
    mem_free(buffer);
    os_file_close(file);
    return got < 0 ? err_set(&work->err, (int)got, "%s: %s", name, err_code_text((int)got)) : 0;
}

static int check_one(struct work *work, const char *part, const char *name, const char *bytes_attr,
                     const char *sum_attr)
{
    const struct ckpt_call *call = work->arg;
    char hex[DIGEST_HEX_SIZE] = "";
    int result = checkpoint_digest(work, part, name, hex);
    if (result == -ENOENT ||
        (result == 0 &&
         (size_in(work->run, part, name) != ad_int_or(call->manifest, bytes_attr, -1) ||
          strcmp(hex, ad_string_or(call->manifest, sum_attr, "")) != 0))) {
        (void)os_below_remove(work->run->shadow->os, part, name, NULL); /* it comes again */
        result = err_set(&work->err, -EAGAIN,
                         "%s of checkpoint %" PRId64 " is not what was sent: send it again", name,
                         call->sequence);
    }
    return result;
}

/* NULL: there is none that can be read. */
static struct ad *read_manifest(struct work *work, const char *directory)
{
    char *path = stage_join(directory, MANIFEST), *text = NULL;
    size_t length = 0;
    struct ad *manifest = NULL;
    if (os_read_file(work->run->shadow->os, path, MANIFEST_MAX, &text, &length, NULL) == 0 &&
        ad_decode(text, length, NULL, &manifest, NULL) != 0) {
        manifest = NULL;
    }
    mem_free(text);
    mem_free(path);
    return manifest;
}

/* Has it come before, and was it whole?  Then what it says of its files is what is said now. */
static bool is_there(struct work *work, const char *directory)
{
    const struct ckpt_call *call = work->arg;
    const char *sum = call->base > 0 ? CKPT_DELTA_SUM : CKPT_IMAGE_SUM;
    struct ad *manifest = read_manifest(work, directory);
    bool same =
        manifest != NULL &&
        strcmp(ad_string_or(manifest, sum, "?"), ad_string_or(call->manifest, sum, "")) == 0 &&
        strcmp(ad_string_or(manifest, CKPT_FILES_SUM, "?"),
               ad_string_or(call->manifest, CKPT_FILES_SUM, "")) == 0;
    ad_destroy(manifest);
    return same;
}

/* Unpacked, merged, and packed again, all at once. */
static int check_room_to_merge(struct work *work, const char *base)
{
    const struct ckpt_call *call = work->arg;
    struct ad *manifest = read_manifest(work, base);
    int64_t plain = manifest != NULL ? ad_int_or(manifest, CKPT_IMAGE_BYTES, 0) : 0;
    int64_t more = ad_int_or(call->manifest, CKPT_IMAGE_BYTES, 0);
    ad_destroy(manifest);
    plain = plain > 0 ? plain : 0;
    more = more > 0 && more < plain ? more : plain;
    return stages_have_room(work->run->shadow, (size_t)plain * 3 + (size_t)more, &work->err);
}

/* Are its files here, and an image whole at last? */
static int complete(struct work *work, const char *part)
{
    struct ckpt_call *call = work->arg;
    bool is_delta = call->base > 0;
    int result = check_one(work, part, is_delta ? CKPT_NAME_DELTA : CKPT_NAME_IMAGE,
                           CKPT_IMAGE_STORED, is_delta ? CKPT_DELTA_SUM : CKPT_IMAGE_SUM);
    result = result != 0
                 ? result
                 : check_one(work, part, CKPT_NAME_FILES, CKPT_FILES_STORED, CKPT_FILES_SUM);
    if (result == 0 && is_delta) {
        char *base = place(work->run, call->base);
        result = check_room_to_merge(work, base);
        result = result != 0 ? result : checkpoint_merge(work, part, base, call->manifest);
        mem_free(base);
    }
    checkpoint_merge_tidy(work, part);
    return result;
}

static int done_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    struct os *os = run->shadow->os;
    char *part = part_place(run, call->sequence), *to = place(run, call->sequence);
    char *path = stage_join(part, MANIFEST);
    struct os_stat stat;
    struct strbuf text;
    strbuf_init(&text, MANIFEST_MAX);
    int result = 0;
    if (!is_there(work, to)) {
        result = complete(work, part);
        ad_encode(call->manifest, false, &text);
        if (result == 0 && text.failed) {
            result = err_set(&work->err, -E2BIG, "the manifest is too long");
        }
        result = result != 0 ? result
                             : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true,
                                             &work->err);
        result = result != 0 ? result : os_below_sync_all(os, part, &work->err);
        /* Of a run that ended before the schedd knew of it. */
        result = result != 0 ? result : os_remove_tree(os, to, &work->err);
        result = result != 0 ? result : os_rename(os, part, to, true, &work->err);
    }
    char *before = place(run, call->previous);
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
    int64_t keep[GENERATIONS];
};

static void prune_one(void *arg, const char *name)
{
    const struct prune *prune = arg;
    char *end = NULL;
    int64_t sequence = strtoll(name, &end, 10);
    for (size_t i = 0; i < GENERATIONS; i++) {
        if (*end == '\0' && sequence == prune->keep[i] && sequence > 0) {
            return;
        }
    }
    char *path = stage_join(prune->above, name);
    (void)os_remove_tree(prune->work->run->shadow->os, path, NULL); /* tried again the next time */
    mem_free(path);
}

/* All but the two that are kept; begun ones of this run come again from their beginning. */
static int prune_body(struct work *work)
{
    const struct ckpt_call *call = work->arg;
    char *above = job_place(work->run);
    struct prune prune = {work, above, {call->sequence, call->previous}};
    (void)os_list(work->run->shadow->os, above, prune_one, &prune, NULL); /* none: nothing to do */
    mem_free(above);
    return 0;
}

static void pruned(struct work *work, int result)
{
    (void)result;
    call_destroy(work->arg);
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
        log_info(run->shadow->log, "checkpoint.kept", "its run can go on from there",
                 LOG_TEXT("job", run->id), LOG_INT("sequence", told->sequence),
                 LOG_INT("previous", told->previous));
        run->ckpt_latest = told->sequence;
        run->ckpt_previous = told->previous;
        wire_reply_ok(told->request, NULL);
    } else {
        wire_reply_error(told->request, status, "%s", text);
    }
    if (status != -ESHUTDOWN && !run->dropped) { /* of what was refused nothing stays, either */
        struct ckpt_call *call = mem_zalloc(sizeof *call);
        call->sequence = run->ckpt_latest;
        call->previous = run->ckpt_previous;
        work_start(run, NULL, prune_body, pruned, call);
    }
    mem_free(told);
}

static void done_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    struct run *run = work->run;
    if (result == 0 && run->dropped) {
        result = err_set(&work->err, -ESTALE, "this run does not count any more");
    }
    if (result != 0) {
        log_warn(run->shadow->log, "checkpoint.not_kept", work->err.text, LOG_TEXT("job", run->id),
                 LOG_INT("sequence", call->sequence));
        wire_reply_error(work->request, result, "%s", work->err.text);
        call_destroy(call);
        return;
    }
    struct told *told = mem_alloc(sizeof *told);
    *told = (struct told){work->request, call->sequence, call->previous};
    struct ad *args = call->manifest;
    call->manifest = NULL;
    ad_remove(args, CKPT_IMAGE_SUM);
    ad_remove(args, CKPT_FILES_SUM);
    ad_remove(args, CKPT_DELTA_SUM);
    ad_set_string(args, "Event", CKPT_EVENT_TAKEN);
    ad_set_int(args, CKPT_PREVIOUS, call->previous);
    report_send(run->shadow, run, VERB_JOB_STATUS, args, taken_answered, told);
    call_destroy(call);
}

/* ---- CKPT_LOOK, CKPT_GET --------------------------------------------------------------------- */

static int look_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    const int64_t sequences[GENERATIONS] = {call->sequence, call->previous};
    int result = checkpoint_place_check(work->run, &work->err);
    for (size_t i = 0; i < GENERATIONS && result == 0; i++) {
        char *directory = place(work->run, sequences[i]);
        char *path = stage_join(directory, MANIFEST);
        if (sequences[i] > 0) { /* gone: it is not offered */
            (void)os_read_file(work->run->shadow->os, path, MANIFEST_MAX, &call->found[i],
                               &call->found_length[i], NULL);
        }
        mem_free(path);
        mem_free(directory);
    }
    return result;
}

static void look_done(struct work *work, int result)
{
    struct ckpt_call *call = work->arg;
    struct ad *ads[GENERATIONS];
    size_t count = 0;
    if (result != 0) {
        wire_reply_error(work->request, result, "%s", work->err.text);
        call_destroy(call);
        return;
    }
    for (size_t i = 0; i < GENERATIONS; i++) {
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
    call_destroy(call);
}

static int get_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct os_file *file = NULL;
    char *directory = place(work->run, call->sequence);
    int result = checkpoint_place_check(work->run, &work->err);
    result = result != 0 ? result
                         : os_below_open(work->run->shadow->os, directory, call->name, OS_READ, 0,
                                         &file, &work->err);
    if (result == 0) {
        call->bytes = mem_alloc(PIECE_MAX);
        ssize_t got = os_file_read(file, (uint64_t)call->offset, call->bytes, PIECE_MAX);
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
    call_destroy(call);
}

/* ---- CKPT_REFUSED ---------------------------------------------------------------------------- */

static int refused_body(struct work *work)
{
    struct ckpt_call *call = work->arg;
    struct os *os = work->run->shadow->os;
    char *directory = place(work->run, call->sequence);
    struct os_file *file = NULL;
    int64_t times = size_in(work->run, directory, REFUSED) + 1;
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
    if (call->is_damaged && call->sequence == run->ckpt_latest) {
        run->ckpt_latest = run->ckpt_previous;
        run->ckpt_previous = 0;
    } else if (call->is_damaged && call->sequence == run->ckpt_previous) {
        run->ckpt_previous = 0;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Event", CKPT_EVENT_REFUSED);
    ad_set_int(args, CKPT_SEQUENCE, call->sequence);
    ad_set_string(args, "Reason", call->reason);
    ad_set_bool(args, "Damaged", call->is_damaged);
    ad_set_int(args, CKPT_PREVIOUS, run->ckpt_previous);
    report_send(run->shadow, run, VERB_JOB_STATUS, args, refused_answered, work->request);
    call_destroy(call);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_known(const struct run *run, int64_t sequence)
{
    return sequence > 0 && (sequence == run->ckpt_latest || sequence == run->ckpt_previous);
}

static void look(struct run *run, struct wire_request *request)
{
    struct ckpt_call *call = mem_zalloc(sizeof *call);
    call->sequence = run->ckpt_latest;
    call->previous = run->ckpt_previous;
    work_start(run, request, look_body, look_done, call);
}

void checkpoint_handle(struct run *run, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    if (run->dropped || run->ckpt_over) {
        wire_reply_error(request, -ESTALE, "job %s needs no more checkpoints", run->id);
        return;
    }
    if (verb == VERB_CKPT_LOOK) {
        look(run, request);
        return;
    }
    struct ckpt_call *call = call_create(request, verb == VERB_CKPT_PUT || verb == VERB_CKPT_GET);
    if (call == NULL) {
        return;
    }
    bool is_old = verb == VERB_CKPT_GET || verb == VERB_CKPT_REFUSED;
    if (is_old ? !is_known(run, call->sequence) : call->sequence < run->ckpt_latest) {
        wire_reply_error(request, -ENOENT, "job %s has no checkpoint %" PRId64, run->id,
                         call->sequence);
        call_destroy(call);
        return;
    }
    /* One that was done already, and is told of again, is of the one before. */
    bool is_done = verb == VERB_CKPT_DONE && call->sequence == run->ckpt_latest;
    if (!is_old && !is_done && call->base != 0 && call->base != run->ckpt_latest) {
        wire_reply_error(request, -ENODATA, "job %s has no checkpoint %" PRId64 " to be changed",
                         run->id, call->base);
        call_destroy(call);
        return;
    }
    if (verb == VERB_CKPT_PUT) {
        work_start(run, request, put_body, put_done, call);
    } else if (verb == VERB_CKPT_GET && call->offset >= 0) {
        work_start(run, request, get_body, get_done, call);
    } else if (verb == VERB_CKPT_REFUSED) {
        call->is_damaged = ad_bool_or(wire_request_args(request), "Damaged", false);
        call->reason = mem_strdup(ad_string_or(wire_request_args(request), "Reason", ""));
        work_start(run, request, refused_body, refused_done, call);
    } else if (verb == VERB_CKPT_DONE) {
        call->manifest = ad_for_lane(wire_request_args(request));
        call->previous = call->sequence == run->ckpt_latest ? run->ckpt_previous : run->ckpt_latest;
        work_start(run, request, done_body, done_done, call);
    } else {
        wire_reply_error(request, -EINVAL, "CKPT_GET needs an Offset");
        call_destroy(call);
    }
}

/* ---- their end ------------------------------------------------------------------------------- */

struct removal { /* without a run: on a lane */
    LIST_ENTRY(removal) entry;
    struct shadow *shadow;
    struct vec names; /* of jobs */
};

static int removal_body(void *arg)
{
    const struct removal *removal = arg;
    for (size_t i = 0; i < removal->names.count; i++) {
        checkpoint_place_remove(removal->shadow, removal->names.items[i]);
    }
    return 0;
}

static void removal_destroy(struct removal *removal)
{
    LIST_REMOVE(removal, entry);
    vec_fini(&removal->names, mem_free);
    mem_free(removal);
}

static void removal_done(void *arg, int result)
{
    (void)result;
    removal_destroy(arg);
}

static struct removal *removal_create(struct shadow *shadow)
{
    struct removal *removal = mem_zalloc(sizeof *removal);
    removal->shadow = shadow;
    LIST_INSERT_HEAD(&shadow->removals, removal, entry);
    return removal;
}

static bool is_job_name(const char *name)
{
    size_t cluster = strspn(name, "0123456789");
    size_t proc = name[cluster] == '.' ? strspn(name + cluster + 1, "0123456789") : 0;
    return cluster > 0 && proc > 0 && name[cluster + 1 + proc] == '\0';
}

/* Behind whatever its runs, old ones too, have on a lane: one that is just coming would stay. */
static void remove_one(struct shadow *shadow, const char *job)
{
    struct run *run = strmap_get(shadow->runs, job);
    if (run != NULL) {
        run->ckpt_over = true;
    }
    for (size_t i = 0; i < shadow->lane_count && is_job_name(job); i++) {
        struct removal *removal = removal_create(shadow);
        vec_push(&removal->names, mem_strdup(job));
        loop_lane_run(shadow->lanes[i], removal_body, removal_done, removal);
    }
}

void checkpoints_remove(struct shadow *shadow, const char *jobs)
{
    while (*jobs != '\0') {
        size_t length = strcspn(jobs, ", ");
        char *job = mem_strndup(jobs, length);
        remove_one(shadow, job);
        mem_free(job);
        jobs += length;
        jobs += strspn(jobs, ", ");
    }
}

static void note_name(void *arg, const char *name)
{
    struct removal *removal = arg;
    if (is_job_name(name) && removal->names.count < JOB_NAMES_MAX) {
        vec_push(&removal->names, mem_strdup(name));
    }
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
        size_t item = strcspn(at, ", ");
        if (item == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += item;
    }
    return false;
}

void checkpoints_sweep(struct shadow *shadow, const char *known)
{
    struct removal *removal = removal_create(shadow);
    struct vec kept = {0};
    (void)os_list(shadow->os, shadow->checkpoints, note_name, removal, NULL); /* none: nothing */
    for (size_t i = 0; i < removal->names.count; i++) {
        char *name = removal->names.items[i];
        if (is_listed(known, name) || strmap_get(shadow->runs, name) != NULL) {
            mem_free(name); /* a run's may be on their way to the schedd */
        } else {
            vec_push(&kept, name);
        }
    }
    vec_fini(&removal->names, NULL);
    removal->names = kept;
    loop_lane_run(shadow->lanes[0], removal_body, removal_done, removal);
}

void checkpoints_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->removals)) {
        removal_destroy(LIST_FIRST(&shadow->removals));
    }
}
