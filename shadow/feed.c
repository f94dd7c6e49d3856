/* shadow/feed.c - a run's input: which files there are, and their bytes.
 *
 * A file that is missing or cannot be read is the job's own fault: the schedd is told to hold the
 * job before the starter gets its refusal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os.h"
#include "classad/ad.h"
#include "shadow/shadow_state.h"
#include "shadow/transfer_plan.h"
#include "wire/wire.h"

#define HOLD_INPUT 13 /* HTCondor's */

struct refusal {
    struct wire_request *request;
    int status;
    char reason[ERR_TEXT_MAX + 64];
};

static void refused(struct run *run, void *arg, int status, const char *text,
                    const struct ad *answer)
{
    struct refusal *refusal = arg;
    (void)status;
    (void)text;
    (void)answer;
    wire_reply_error(refusal->request, refusal->status, "%s", refusal->reason);
    mem_free(refusal);
    run_drop(run, true);
}

static void hold(struct run *run, struct wire_request *request, int status, const char *why)
{
    struct refusal *refusal = mem_zalloc(sizeof(*refusal));
    refusal->request = request;
    refusal->status = status;
    (void)snprintf(refusal->reason, sizeof(refusal->reason), "The job's input cannot be sent: %s",
                   why); /* fits */
    if (run->phase != RUN_OPEN) {
        wire_reply_error(request, status, "%s", why);
        mem_free(refusal);
        return;
    }
    run_move(run, RUN_FINISHING);
    report_hold(run, HOLD_INPUT, -status, refusal->reason, refused, refusal);
}

/* ---- JOB_FETCH
 * ----------------------------------------------------------------------------------- */

struct fetch {
    struct vec inputs; /* struct transfer_input */
    struct vec ads;    /* struct ad: Name, Size, Mode, IsExecutable */
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static void fetch_destroy(struct fetch *fetch)
{
    vec_fini(&fetch->inputs, transfer_input_destroy);
    vec_fini(&fetch->ads, destroy_ad);
    mem_free(fetch);
}

/* Opens it, too: what cannot be read is found now and not in the middle. */
static int look_at(struct work *work, const struct transfer_input *input, struct ad **ret)
{
    struct os *os = work->run->shadow->os;
    struct os_stat stat;
    struct os_file *file = NULL;
    int result = os_stat(os, input->path, &stat);
    if (result != 0) {
        return err_set(&work->err, result, "%s '%s': %s",
                       input->is_executable ? "executable" : "input file", input->path,
                       err_code_text(result));
    }
    if (stat.is_dir) {
        return err_set(&work->err, -EISDIR,
                       "'%s' is a directory; directories are not transferred "
                       "yet",
                       input->path);
    }
    result = os_file_open(os, input->path, OS_READ, 0, &file, &work->err);
    if (result != 0) {
        return result;
    }
    struct ad *ad = ad_create();
    ad_set_string(ad, "Name", input->name);
    ad_set_int(ad, "Size", os_file_size(file));
    ad_set_int(ad, "Mode", stat.is_link ? 0644 : (int64_t)(stat.mode & 0777));
    ad_set_bool(ad, "IsExecutable", input->is_executable);
    os_file_close(file);
    *ret = ad;
    return 0;
}

static int fetch_body(struct work *work)
{
    struct fetch *fetch = work->arg;
    for (size_t i = 0; i < fetch->inputs.count; i++) {
        struct ad *ad = NULL;
        int result = look_at(work, fetch->inputs.items[i], &ad);
        if (result != 0) {
            return result;
        }
        vec_push(&fetch->ads, ad);
    }
    return 0;
}

static void fetch_done(struct work *work, int result)
{
    struct run *run = work->run;
    struct fetch *fetch = work->arg;
    if (run->dropped) {
        wire_reply_error(work->request, -ESTALE, "this run does not count any more");
    } else if (result != 0) {
        hold(run, work->request, result, work->err.text);
    } else {
        struct ad *job = transfer_plan_sandbox_ad(run->job);
        struct vec ads = {0};
        vec_push(&ads, job);
        for (size_t i = 0; i < fetch->ads.count; i++) {
            vec_push(&ads, fetch->ads.items[i]);
        }
        const struct wire_body body = {
            .ads = (const struct ad *const *)ads.items,
            .ad_count = ads.count,
        };
        wire_reply_ok(work->request, &body);
        vec_fini(&ads, NULL);
        ad_destroy(job);
        vec_fini(&run->inputs, transfer_input_destroy);
        run->inputs = fetch->inputs;
        fetch->inputs = (struct vec){0};
    }
    fetch_destroy(fetch);
}

void feed_fetch(struct run *run, struct wire_request *request)
{
    struct fetch *fetch = mem_zalloc(sizeof(*fetch));
    struct err err;
    int result = transfer_plan_inputs(run->job, &fetch->inputs, &err);
    if (result != 0) {
        fetch_destroy(fetch);
        hold(run, request, result, err.text);
        return;
    }
    work_start(run, request, fetch_body, fetch_done, fetch);
}

/* ---- FILE_GET: one piece after the other, as the window allows
 * ------------------------------------- */

struct get {
    LIST_ENTRY(get) entry; /* in shadow->gets */
    struct run *run;
    struct wire_request *request;
    char *path;
    struct os_file *file;
    struct digest *digest;
    char *buffer;
    uint64_t offset;
    size_t length; /* of the piece in the buffer */
    bool gone;     /* the starter is */
    bool working;  /* a piece is being read */
};

static void read_piece(struct get *get);

static void get_destroy(struct get *get)
{
    LIST_REMOVE(get, entry);
    os_file_close(get->file);
    digest_destroy(get->digest);
    mem_free(get->path);
    mem_free(get->buffer);
    struct run *run = get->run;
    mem_free(get);
    run_unuse(run);
}

static int get_body(struct work *work)
{
    struct get *get = work->arg;
    if (get->file == NULL) {
        int result =
            os_file_open(work->run->shadow->os, get->path, OS_READ, 0, &get->file, &work->err);
        if (result != 0) {
            return result;
        }
    }
    ssize_t got = os_file_read(get->file, get->offset, get->buffer, SHADOW_PIECE_BYTES);
    if (got < 0) {
        return err_set(&work->err, (int)got, "'%s' cannot be read: %s", get->path,
                       err_code_text((int)got));
    }
    get->length = (size_t)got;
    get->offset += get->length;
    digest_update(get->digest, get->buffer, get->length);
    return 0;
}

static void get_done(struct work *work, int result)
{
    struct get *get = work->arg;
    struct run *run = work->run;
    get->working = false;
    if (get->gone) {
        get_destroy(get);
        return;
    }
    if (result != 0) {
        wire_request_on_gone(get->request, NULL, NULL);
        if (run->dropped) {
            wire_reply_error(get->request, result, "%s", work->err.text);
        } else {
            hold(run, get->request, result, work->err.text);
        }
        get_destroy(get);
        return;
    }
    if (get->length == 0) {
        char hex[DIGEST_HEX_SIZE];
        digest_hex(get->digest, hex);
        struct ad *args = ad_create();
        ad_set_string(args, "Checksum", hex);
        const struct wire_body body = {.args = args};
        wire_reply_ok(get->request, &body);
        ad_destroy(args);
        get_destroy(get);
        return;
    }
    const struct wire_body part = {.blob = get->buffer, .blob_length = get->length};
    if (wire_reply_part(get->request, &part)) {
        read_piece(get);
    }
}

static void read_piece(struct get *get)
{
    get->working = true;
    work_start(get->run, get->request, get_body, get_done, get);
}

static void drained(void *arg)
{
    struct get *get = arg;
    if (!get->working) {
        read_piece(get);
    }
}

static void gone(void *arg)
{
    struct get *get = arg;
    get->gone = true;
    if (!get->working) {
        get_destroy(get);
    }
}

void feed_get(struct run *run, struct wire_request *request)
{
    const char *name = ad_string_or(wire_request_args(request), "Name", "");
    const struct transfer_input *input = NULL;
    for (size_t i = 0; i < run->inputs.count && input == NULL; i++) {
        const struct transfer_input *one = run->inputs.items[i];
        input = strcmp(one->name, name) == 0 ? one : NULL;
    }
    if (input == NULL) {
        wire_reply_error(request, -ENOENT,
                         "'%.100s' is no input of this job, or JOB_FETCH did not "
                         "come first",
                         name);
        return;
    }
    struct get *get = mem_zalloc(sizeof(*get));
    LIST_INSERT_HEAD(&run->shadow->gets, get, entry);
    get->run = run;
    run_use(run);
    get->request = request;
    get->path = mem_strdup(input->path);
    get->digest = digest_create();
    get->buffer = mem_alloc(SHADOW_PIECE_BYTES);
    wire_request_on_drained(request, drained, get);
    wire_request_on_gone(request, gone, get);
    read_piece(get);
}

void feeds_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->gets)) {
        struct get *get = LIST_FIRST(&shadow->gets);
        CHECK(!get->working);
        wire_request_on_gone(get->request, NULL, NULL);
        wire_reply_error(get->request, -ESHUTDOWN, "the shadow ends");
        get_destroy(get);
    }
}
