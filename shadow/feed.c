/* shadow/feed.c - sends a run's input: the list of files, and their bytes.
 *
 * JOB_FETCH looks at all input and makes the list.  FILE_GET sends all files from one entry of the
 * list on, in one stream of parts, so that ten thousand small files do not cost a round trip each.
 * A file that was interrupted continues behind the bytes that the starter has, if these are the
 * file's.
 *
 * A file that is missing or cannot be read is the job's own error: the schedd is told to hold the
 * job before the starter is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/feed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/file_digest.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/dataflow.h"
#include "shadow/path_join.h"
#include "shadow/remote.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage_manifest.h"
#include "shadow/transfer_plan.h"
#include "shadow/turns.h"
#include "transfer/transfer_names.h"
#include "transfer/transfer_walk.h"
#include "wire/wire.h"

#define HOLD_INPUT     13 /* HTCondor's */
#define HOLD_INPUT_MAX 32

#define ADS_A_PART     1000
#define PIECES_A_BATCH 64
#define GETS_MAX       8 /* of a run at a time; a starter needs one, each costs a buffer and a file */

struct refusal {
    struct wire_request *request;
    int status;
    char reason[ERR_TEXT_MAX + 64];
};

static void hold_answered(struct run *run, void *arg, int status, const char *text,
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

static void hold_job(struct run *run, struct wire_request *request, int status, const char *why)
{
    struct refusal *refusal = mem_zalloc(sizeof(*refusal));
    refusal->request = request;
    refusal->status = status;
    (void)snprintf(refusal->reason, sizeof(refusal->reason),
                   "Transfer input files failure at the access point. Details: %s", why); /* fits */
    if (run->phase != RUN_OPEN) {
        wire_reply_error(request, status, "%s", why);
        mem_free(refusal);
        return;
    }
    run_move(run, RUN_FINISHING);
    report_hold(run, status == -EDQUOT ? HOLD_INPUT_MAX : HOLD_INPUT, -status, refusal->reason,
                hold_answered, refusal);
}

/* ---- JOB_FETCH
 * ----------------------------------------------------------------------------------- */

struct fetch {
    struct vec wants;   /* struct transfer_input */
    struct vec entries; /* struct transfer_entry */
    int64_t bytes, bytes_max;
    bool is_dataflow; /* nothing is to be sent or run (SkipIfDataflow) */
};

static void fetch_destroy(struct fetch *fetch)
{
    vec_fini(&fetch->wants, transfer_input_destroy);
    vec_fini(&fetch->entries, transfer_entry_destroy);
    mem_free(fetch);
}

static int add_tree(struct work *work, const struct transfer_input *input)
{
    struct fetch *fetch = work->arg;
    size_t left_out = 0;
    if (!input->is_contents) {
        struct transfer_entry *top =
            transfer_entry_create(TRANSFER_DIRECTORY, input->name, input->path);
        struct os_stat stat;
        if (os_stat(work->run->shadow->os, input->path, &stat) == 0 && stat.is_dir) {
            top->mode = stat.mode & 0777;
        }
        vec_push(&fetch->entries, top);
    }
    size_t length = strlen(input->path);
    while (length > 1 && input->path[length - 1] == '/') {
        length--;
    }
    char *root = mem_strndup(input->path, length);
    int result = transfer_walk(work->run->shadow->os, root, "", input->name,
                               TRANSFER_LINKS_FOLLOWED, &fetch->entries, &left_out, &work->err);
    mem_free(root);
    return result;
}

/* Lists one input and opens it, so that an unreadable file is found now and not in the middle. */
static int look_at(struct work *work, const struct transfer_input *input)
{
    struct fetch *fetch = work->arg;
    struct os *os = work->run->shadow->os;
    struct os_stat stat;
    struct os_file *file = NULL;
    if (input->is_url) {
        struct transfer_entry *entry =
            transfer_entry_create(TRANSFER_FILE, input->name, input->path);
        entry->is_url = true;
        entry->is_executable = input->is_executable;
        vec_push(&fetch->entries, entry);
        return 0;
    }
    const char *what = input->is_executable ? "executable" : "input file";
    int result = os_file_open(os, input->path, OS_READ, 0, &file, NULL);
    if (result == -EISDIR && !input->is_executable) {
        return add_tree(work, input);
    }
    if (result == 0 && input->is_contents) {
        os_file_close(file);
        result = -ENOTDIR;
    }
    if (result != 0) {
        return err_set(&work->err, result, "%s '%s': %s", what, input->path, err_code_text(result));
    }
    os_file_stat(file, &stat);
    struct transfer_entry *entry = transfer_entry_create(TRANSFER_FILE, input->name, input->path);
    entry->size_bytes = stat.size_bytes;
    entry->mode = stat.mode & 0777;
    entry->is_executable = input->is_executable;
    vec_push(&fetch->entries, entry);
    os_file_close(file);
    return 0;
}

/* Checks that no two inputs have the same name, and that they are not too many or too large. */
static int check_entries(struct work *work)
{
    struct fetch *fetch = work->arg;
    struct strmap *names = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t name_bytes = 0, kept = 0;
    int result = 0;
    for (size_t i = 0; i < fetch->entries.count; i++) {
        struct transfer_entry *entry = fetch->entries.items[i];
        const struct transfer_entry *same = strmap_get(names, entry->name);
        if (same != NULL && result == 0 &&
            (same->type != entry->type || entry->type != TRANSFER_DIRECTORY) &&
            strcmp(same->path, entry->path) != 0) {
            result = err_set(&work->err, -EINVAL,
                             "inputs '%.300s' and '%.300s' would have the same name in the sandbox",
                             same->path, entry->path);
        }
        if (same != NULL) {
            transfer_entry_destroy(entry);
            continue;
        }
        (void)strmap_set(names, entry->name, entry); /* was not there */
        fetch->entries.items[kept++] = entry;
        name_bytes += strlen(entry->name) + 200;
        fetch->bytes += entry->type == TRANSFER_FILE ? entry->size_bytes : 0;
    }
    fetch->entries.count = kept;
    strmap_destroy(names, NULL);
    if (result == 0 && (kept > TRANSFER_FILES_MAX || name_bytes > 4 * TRANSFER_LIST_MAX)) {
        result =
            err_set(&work->err, -E2BIG, "more than %d input files, or their names are too long",
                    TRANSFER_FILES_MAX);
    }
    if (result == 0 && fetch->bytes_max >= 0 && fetch->bytes > fetch->bytes_max) {
        result = err_set(&work->err, -EDQUOT,
                         "the input has %lld bytes; only %lld MB (MaxTransferInputMB) may be sent",
                         (long long)fetch->bytes, (long long)(fetch->bytes_max >> 20));
    }
    return result;
}

/* Adds the files that an earlier run left when it was evicted; they replace the input files of the
 * same name. */
static int add_spooled(struct work *work)
{
    struct fetch *fetch = work->arg;
    struct run *run = work->run;
    struct vec spooled = {0};
    struct os_stat stat;
    if (run->spooled == NULL || os_stat(run->shadow->os, run->spooled, &stat) != 0) {
        return 0;
    }
    struct strmap *names = strmap_create(STRMAP_CASE_SENSITIVE);
    int result = transfer_walk(run->shadow->os, run->spooled, "", "", TRANSFER_LINKS_CONTAINED,
                               &spooled, NULL, &work->err);
    size_t kept = 0;
    for (size_t i = 0; i < spooled.count; i++) {
        struct transfer_entry *entry = spooled.items[i];
        char *path = path_join(run->spooled, entry->path);
        mem_free(entry->path);
        entry->path = path;
        entry->is_spooled = true;
        (void)strmap_set(names, entry->name, entry); /* a directory has each name once */
    }
    for (size_t i = 0; i < fetch->entries.count; i++) {
        struct transfer_entry *entry = fetch->entries.items[i];
        if (strmap_get(names, entry->name) != NULL) {
            transfer_entry_destroy(entry);
        } else {
            fetch->entries.items[kept++] = entry;
        }
    }
    fetch->entries.count = kept;
    for (size_t i = 0; i < spooled.count; i++) {
        struct transfer_entry *entry = spooled.items[i];
        if (strcmp(entry->name, STAGE_MANIFEST) == 0) {
            transfer_entry_destroy(entry);
        } else {
            vec_push(&fetch->entries, entry);
        }
    }
    vec_fini(&spooled, NULL);
    strmap_destroy(names, NULL);
    return result;
}

static int fetch_body(struct work *work)
{
    struct fetch *fetch = work->arg;
    int result = 0;
    fetch->is_dataflow = dataflow_is_done(work, &fetch->wants);
    for (size_t i = 0; i < fetch->wants.count && result == 0 && !fetch->is_dataflow; i++) {
        result = look_at(work, fetch->wants.items[i]);
    }
    result = result != 0 ? result : check_entries(work);
    return result != 0 || fetch->is_dataflow ? result : add_spooled(work);
}

static struct ad *entry_ad(const struct transfer_entry *entry)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "Name", entry->name);
    ad_set_int(ad, "Mode", (int64_t)entry->mode);
    if (entry->type == TRANSFER_FILE) {
        ad_set_int(ad, "Size", entry->size_bytes);
        ad_set_bool(ad, "IsExecutable", entry->is_executable);
    } else {
        ad_set_string(ad, "Type", entry->type == TRANSFER_LINK ? "link" : "dir");
    }
    if (entry->target != NULL) {
        ad_set_string(ad, "Target", entry->target);
    }
    if (entry->is_spooled) {
        ad_set_bool(ad, "Spooled", true);
    }
    if (entry->is_url) {
        ad_set_string(ad, "Url", entry->path);
    }
    return ad;
}

/* Sends the list in as many parts as it needs.  They fit the window, because TRANSFER_LIST_MAX
 * bounds them. */
static void send_list(struct run *run, struct wire_request *request)
{
    struct vec ads = {0};
    vec_push(&ads, transfer_plan_sandbox_ad(run->job));
    for (size_t i = 0; i < run->inputs.count; i++) {
        vec_push(&ads, entry_ad(run->inputs.items[i]));
        if (ads.count == ADS_A_PART && i + 1 < run->inputs.count) {
            const struct wire_body part = {.ads = (const struct ad *const *)ads.items,
                                           .ad_count = ads.count};
            (void)wire_reply_part(request, &part); /* see above */
            vec_clear(&ads, ad_destroy_item);
        }
    }
    const struct wire_body last = {.ads = (const struct ad *const *)ads.items,
                                   .ad_count = ads.count};
    wire_reply_ok(request, &last);
    vec_fini(&ads, ad_destroy_item);
}

static bool feeds_has(const struct run *run);

static void fetch_done(struct work *work, int result)
{
    struct run *run = work->run;
    struct fetch *fetch = work->arg;
    if (run->dropped) {
        wire_reply_error(work->request, -ESTALE,
                         "this run of the job has been replaced or has ended");
    } else if (result != 0) {
        hold_job(run, work->request, result, work->err.text);
    } else if (fetch->is_dataflow) {
        dataflow_report(run, work->request);
    } else if (feeds_has(run)) { /* the lane reads by the list that there is */
        wire_reply_error(work->request, -EBUSY,
                         "JOB_FETCH is refused while input files of this run are being sent");
    } else {
        vec_fini(&run->inputs, transfer_entry_destroy);
        run->inputs = fetch->entries;
        run->input_bytes = fetch->bytes;
        fetch->entries = (struct vec){0};
        send_list(run, work->request);
    }
    fetch_destroy(fetch);
}

void feed_fetch(struct run *run, struct wire_request *request)
{
    struct fetch *fetch = mem_zalloc(sizeof(*fetch));
    struct err err;
    const char *domain = ad_string_or(wire_request_args(request), "FileSystemDomain", NULL);
    transfer_plan_settle(run->job, domain);
    fetch->bytes_max =
        transfer_plan_limit(run->job, "MaxTransferInputMB", run->shadow->input_mb_max);
    int result = remotes_check(run, &err);
    result = result != 0 ? result : transfer_plan_inputs(run->job, &fetch->wants, &err);
    if (result != 0) {
        fetch_destroy(fetch);
        hold_job(run, request, result, err.text);
        return;
    }
    run_work_start(run, request, fetch_body, fetch_done, fetch);
}

/* ---- FILE_GET: a batch of pieces after the other, as the window allows
 * ------------------------------------- */

struct piece {
    size_t index;  /* index in run->inputs */
    size_t length; /* bytes in the buffer, behind those of the file before */
    uint64_t offset;
    bool ends; /* the file ends here */
    char hex[DIGEST_HEX_SIZE];
};

struct get {
    LIST_ENTRY(get) entry; /* in shadow->gets */
    struct run *run;
    struct wire_request *request;
    size_t at, end; /* index of the present entry, and of the end */
    struct os_file *file;
    struct digest *digest;
    uint64_t offset;
    /* bytes that the starter has of the first file */
    uint64_t prefix;
    char prefix_hex[DIGEST_HEX_SIZE];
    char *buffer;
    struct piece pieces[PIECES_A_BATCH];
    size_t piece_count;
    bool gone;    /* the starter is gone */
    bool working; /* a batch is being read */
};

static void read_batch(struct get *get);

static void get_destroy(struct get *get)
{
    LIST_REMOVE(get, entry);
    os_file_close(get->file);
    digest_destroy(get->digest);
    mem_free(get->buffer);
    struct run *run = get->run;
    mem_free(get);
    run_unuse(run);
}

/* Checks that the bytes that the starter has are the file's first ones; if so, the transfer
 * continues behind them. */
static int check_prefix(struct work *work, struct get *get, const char *path)
{
    uint64_t offset = 0;
    char hex[DIGEST_HEX_SIZE];
    int rc = file_digest_add(get->digest, get->file, &offset, get->prefix);
    if (rc != 0) {
        return err_set(&work->err, rc, "cannot read '%s': %s", path, err_code_text(rc));
    }
    digest_peek(get->digest, hex); /* of less, if it is shorter now */
    if (offset == get->prefix && strcmp(hex, get->prefix_hex) == 0) {
        get->offset = offset;
    } else {
        digest_destroy(get->digest);
        get->digest = digest_create();
    }
    get->prefix = 0;
    return 0;
}

static int read_piece(struct work *work, struct get *get, size_t *used)
{
    const struct transfer_entry *input = work->run->inputs.items[get->at];
    int result = 0;
    if (get->file == NULL) {
        result =
            os_file_open(work->run->shadow->os, input->path, OS_READ, 0, &get->file, &work->err);
        if (result != 0) {
            return result;
        }
        get->digest = digest_create();
        get->offset = 0;
        result = get->prefix > 0 ? check_prefix(work, get, input->path) : 0;
    }
    size_t room = SHADOW_PIECE_BYTES - *used;
    ssize_t got = result == 0 ? os_file_read(get->file, get->offset, get->buffer + *used, room) : 0;
    if (result != 0 || got < 0) {
        return result != 0 ? result
                           : err_set(&work->err, (int)got, "cannot read '%s': %s", input->path,
                                     err_code_text((int)got));
    }
    struct piece *piece = &get->pieces[get->piece_count++];
    *piece = (struct piece){.index = get->at, .length = (size_t)got, .offset = get->offset};
    digest_update(get->digest, get->buffer + *used, (size_t)got);
    *used += (size_t)got;
    get->offset += (uint64_t)got;
    if ((size_t)got < room) {
        piece->ends = true;
        digest_hex(get->digest, piece->hex);
        digest_destroy(get->digest);
        get->digest = NULL;
        os_file_close(get->file);
        get->file = NULL;
        get->at++;
    }
    return 0;
}

/* Reads the next bytes of the input.  run->inputs does not change meanwhile, because feed_fetch()
 * is refused. */
static int get_body(struct work *work)
{
    struct get *get = work->arg;
    size_t used = 0;
    int result = 0;
    get->piece_count = 0;
    while (result == 0 && get->at < get->end && get->piece_count < PIECES_A_BATCH &&
           used < SHADOW_PIECE_BYTES) {
        const struct transfer_entry *input = work->run->inputs.items[get->at];
        if (input->type != TRANSFER_FILE || input->is_url) {
            get->at++;
            continue;
        }
        result = read_piece(work, get, &used);
    }
    return result;
}

static bool send_batch(struct get *get)
{
    const char *data = get->buffer;
    bool more = true;
    int64_t sent = 0;
    for (size_t i = 0; i < get->piece_count; i++) {
        const struct piece *piece = &get->pieces[i];
        const struct transfer_entry *input = get->run->inputs.items[piece->index];
        struct ad *args = ad_create();
        ad_set_string(args, "Name", input->name);
        ad_set_int(args, "Offset", (int64_t)piece->offset);
        if (piece->ends) {
            ad_set_string(args, "Checksum", piece->hex);
        }
        const struct wire_body body = {.args = args, .blob = data, .blob_length = piece->length};
        more = wire_reply_part(get->request, &body);
        ad_destroy(args);
        data += piece->length;
        sent += (int64_t)piece->length;
    }
    turn_progress(get->run, false, sent, get->run->input_bytes);
    return more;
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
            hold_job(run, get->request, result, work->err.text);
        }
        get_destroy(get);
        return;
    }
    bool more = send_batch(get);
    if (get->at == get->end) {
        wire_request_on_gone(get->request, NULL, NULL);
        wire_reply_ok(get->request, NULL);
        get_destroy(get);
    } else if (more) {
        read_batch(get);
    }
}

static void read_batch(struct get *get)
{
    get->working = true;
    run_work_start(get->run, get->request, get_body, get_done, get);
}

static void stream_drained(void *arg)
{
    struct get *get = arg;
    if (!get->working) {
        read_batch(get);
    }
}

static void starter_gone(void *arg)
{
    struct get *get = arg;
    get->gone = true;
    if (!get->working) {
        get_destroy(get);
    }
}

static size_t feeds_count(const struct run *run)
{
    const struct get *get;
    size_t count = 0;
    LIST_FOREACH(get, &run->shadow->gets, entry)
    {
        count += get->run == run ? 1 : 0;
    }
    return count;
}

static bool feeds_has(const struct run *run)
{
    return feeds_count(run) > 0;
}

void feed_get(struct run *run, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *name = ad_string_or(args, "Name", "");
    const char *prefix_hex = ad_string_or(args, "Checksum", "");
    int64_t prefix = ad_int_or(args, "Offset", 0);
    size_t at = 0;
    while (at < run->inputs.count) {
        const struct transfer_entry *input = run->inputs.items[at];
        if (input->type == TRANSFER_FILE && !input->is_url && strcmp(input->name, name) == 0) {
            break;
        }
        at++;
    }
    if (at == run->inputs.count) {
        wire_reply_error(request, -ENOENT,
                         "'%.100s' is not an input of this job, or JOB_FETCH did not come first",
                         name);
        return;
    }
    if (feeds_count(run) >= GETS_MAX) {
        wire_reply_error(request, -EBUSY, "too many requests for files at once (%d)", GETS_MAX);
        return;
    }
    struct get *get = mem_zalloc(sizeof(*get));
    LIST_INSERT_HEAD(&run->shadow->gets, get, entry);
    get->run = run;
    run_use(run);
    get->request = request;
    get->at = at;
    get->end = ad_bool_or(args, "AndFollowing", false) ? run->inputs.count : at + 1;
    if (prefix > 0 && strlen(prefix_hex) == DIGEST_HEX_SIZE - 1) {
        get->prefix = (uint64_t)prefix;
        memcpy(get->prefix_hex, prefix_hex, sizeof(get->prefix_hex));
    }
    get->buffer = mem_alloc(SHADOW_PIECE_BYTES);
    wire_request_on_drained(request, stream_drained, get);
    wire_request_on_gone(request, starter_gone, get);
    read_batch(get);
}

void feeds_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->gets)) {
        struct get *get = LIST_FIRST(&shadow->gets);
        CHECK(!get->working);
        wire_request_on_gone(get->request, NULL, NULL);
        wire_reply_error(get->request, -ESHUTDOWN, "the shadow is stopping");
        get_destroy(get);
    }
}
