/* starter/output.c - what the job made, from the sandbox to the shadow, and how it ended.
 *
 * Several FILE_PUTs are on their way at once; they are answered in order.  After a cut it goes on
 * with the first entry that was not acknowledged: the shadow says what it has of that file, and
 * what is the same here is not sent again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "transfer/transfer_walk.h"
#include "wire/wire.h"

#define REPORT_MS   600000 /* the shadow may have much to place; asked again afterwards */
#define RESENDS_MAX 3      /* of all output, because some of it did not arrive whole */
#define AGAIN_MAX   5      /* tries of a file that the submit host cannot store */
#define AGAIN_MS    1000   /* before the first of them; then twice as long each time */
#define HOLD_OUTPUT 12     /* HTCondor's */

void output_forget(struct starter *starter)
{
    vec_fini(&starter->outputs, transfer_entry_destroy);
    vec_fini(&starter->checksums, mem_free);
    starter->output_at = starter->output_acked = 0;
    starter->output_asks = false;
    starter->put_failures = 0;
    starter->output_doubted = false;
    ad_destroy(starter->missing);
    starter->missing = NULL;
}

void output_cut(struct starter *starter)
{
    if (starter->phase != STARTER_OUTPUT) {
        return;
    }
    job_run_close_file(starter);
    while (starter->checksums.count > starter->output_acked) {
        mem_free(starter->checksums.items[--starter->checksums.count]);
    }
    starter->output_at = starter->output_acked;
    starter->output_asks = true;
    starter->puts_count = 0;
}

/* ---- one entry after the other */

static void go_on(struct starter *starter);

static bool is_lack_of_storage(int status)
{
    return status == -EIO || status == -ENOSPC || status == -EDQUOT || status == -ENOMEM ||
           status == -EMFILE || status == -ENFILE;
}

/* A machine that cannot read gives up; what the job made so that nobody can read it holds the job,
 * which would do it again elsewhere. */
static void fail(struct starter *starter, const char *name, int code)
{
    char why[900];
    if (is_lack_of_storage(code)) {
        (void)snprintf(why, sizeof why, "output %.200s: %s", name, err_code_text(code));
        job_run_give_up(starter, why);
        return;
    }
    output_cannot_be_read(starter, name, code, err_code_text(code), why, sizeof why);
    job_run_hold(starter, HOLD_OUTPUT, -code, why);
}

/* What was computed is worth some patience with the submit host's disk: the file in hand is sent
 * from its beginning, after a while. */
static void put_again(struct starter *starter, const char *why)
{
    log_warn(starter->env.log, "output.again", why, LOG_TEXT("job", starter->job_id),
             LOG_INT("times", starter->put_failures + 1));
    starter->odd = true;
    job_run_close_shadow(starter);
    output_cut(starter);
    starter->output_doubted = true;
    starter->busy = false;
    loop_timer_set(starter->dial_timer, (uint64_t)AGAIN_MS << starter->put_failures++);
}

static void put_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_OUTPUT || reply->status == -ECONNRESET) {
        return; /* a cut: output_cut() */
    }
    if (reply->status == -ETIMEDOUT) {
        output_cut(starter);
        starter->busy = false;
        job_run_dial_again(starter);
        return;
    }
    bool no_fault = reply->status == -ESTALE || reply->status == -EAGAIN ||
                    reply->status == -ESHUTDOWN || reply->status == -EBUSY;
    if (reply->status == -EFBIG || no_fault) { /* the first: the shadow has the job held */
        job_run_give_up(starter, no_fault ? reply->text : "");
        return;
    }
    if (is_lack_of_storage(reply->status) && starter->put_failures < AGAIN_MAX) {
        put_again(starter, reply->text);
        return;
    }
    if (reply->status != 0) {
        char reason[ERR_TEXT_MAX + 80];
        (void)snprintf(reason, sizeof reason,
                       "Transfer output files failure at the access point. Details: %s",
                       reply->text);
        job_run_hold(starter, HOLD_OUTPUT, -reply->status, reason);
        return;
    }
    CHECK(starter->puts_count > 0);
    starter->output_doubted = false;
    starter->output_acked += starter->puts[0].ends ? 1 : 0;
    starter->puts_count--;
    memmove(starter->puts, starter->puts + 1, starter->puts_count * sizeof starter->puts[0]);
    go_on(starter);
}

/* False: not now. */
static bool put(struct starter *starter, struct ad *args, const void *data, size_t length,
                bool ends)
{
    const struct wire_body body = {.args = args, .blob = data, .blob_length = length};
    bool sent = wire_call(starter->shadow, VERB_FILE_PUT, &body, WIRE_NO_DEADLINE, put_answered,
                          starter) > 0;
    ad_destroy(args);
    if (sent) {
        starter->puts[starter->puts_count++] = (struct starter_put){ends, length};
    }
    return sent;
}

static void end_entry(struct starter *starter, const char *checksum)
{
    vec_push(&starter->checksums, mem_strdup(checksum));
    job_run_close_file(starter);
    starter->output_at++;
}

/* A directory or a link: their "checksum" says all. */
static bool put_other(struct starter *starter, const struct transfer_entry *entry)
{
    struct ad *args = ad_create();
    struct strbuf sum;
    bool is_link = entry->type == TRANSFER_LINK;
    strbuf_init(&sum, 0);
    ad_set_string(args, "Name", entry->name);
    ad_set_string(args, "Type", is_link ? "link" : "dir");
    if (is_link) {
        ad_set_string(args, "Target", entry->target);
        strbuf_printf(&sum, "link:%s", entry->target);
    } else {
        strbuf_printf(&sum, "dir:%o", (unsigned)entry->mode);
    }
    bool sent = put(starter, args, NULL, 0, true);
    if (sent) {
        end_entry(starter, strbuf_text(&sum));
    }
    strbuf_fini(&sum);
    return sent;
}

static int open_file(struct starter *starter, struct transfer_entry *entry)
{
    if (starter->file != NULL) {
        return 0;
    }
    struct os *os = starter->env.os;
    int rc = os_below_open(os, starter->sandbox, entry->path, OS_READ, 0, &starter->file, NULL);
    if (rc == -EACCES && /* the job took it from itself, and we are no more than the job */
        os_below_chmod(os, starter->sandbox, entry->path, entry->mode | 0400, NULL) == 0) {
        rc = os_below_open(os, starter->sandbox, entry->path, OS_READ, 0, &starter->file, NULL);
    }
    if (rc == 0) {
        starter->digest = digest_create();
        starter->offset = 0;
        entry->size_bytes = os_file_size(starter->file);
    }
    return rc;
}

/* Sends the next piece; false: it cannot go on now. */
static bool put_piece(struct starter *starter, struct transfer_entry *entry)
{
    int rc = open_file(starter, entry);
    uint64_t left = rc == 0 ? (uint64_t)entry->size_bytes - starter->offset : 0;
    size_t wanted = left < STARTER_PIECE_BYTES ? (size_t)left : STARTER_PIECE_BYTES;
    char *buffer = mem_alloc(wanted + 1);
    ssize_t got = rc != 0 ? rc : os_file_read(starter->file, starter->offset, buffer, wanted);
    if (got < 0 || (size_t)got < wanted) {
        mem_free(buffer);
        fail(starter, entry->name, got < 0 ? (int)got : -EIO);
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Name", entry->name);
    ad_set_int(args, "Offset", (int64_t)starter->offset);
    ad_set_int(args, "Size", entry->size_bytes);
    ad_set_int(args, "Mode", (int64_t)entry->mode);
    ad_set_int(args, "Total", starter->output_bytes);
    bool ends = left == wanted;
    bool sent = put(starter, args, buffer, wanted, ends);
    if (sent) {
        digest_update(starter->digest, buffer, wanted);
        starter->offset += wanted;
        starter->sent_bytes += (int64_t)wanted;
    }
    mem_free(buffer);
    if (sent && ends) {
        char checksum[DIGEST_HEX_SIZE];
        digest_hex(starter->digest, checksum);
        end_entry(starter, checksum);
    }
    return sent;
}

/* ---- after a cut */

/* What the shadow has of the file is what is here: then it goes on behind that. */
static void go_behind(struct starter *starter, struct transfer_entry *entry, int64_t offset,
                      bool whole, const char *checksum)
{
    char hex[DIGEST_HEX_SIZE];
    if (open_file(starter, entry) != 0 || offset > entry->size_bytes ||
        (whole && offset != entry->size_bytes)) {
        job_run_close_file(starter);
        return;
    }
    (void)file_digest_add(starter->digest, starter->file, &starter->offset, (uint64_t)offset);
    digest_peek(starter->digest, hex);
    if (starter->offset != (uint64_t)offset || strcmp(hex, checksum) != 0) {
        job_run_close_file(starter);
        return;
    }
    log_info(starter->env.log, "output.resumed", entry->name, LOG_TEXT("job", starter->job_id),
             LOG_INT("offset", offset));
    if (whole) {
        end_entry(starter, hex);
        starter->output_acked++;
    }
}

static void ask_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_OUTPUT || reply->status == -ECONNRESET) {
        return;
    }
    starter->output_asks = false;
    if (reply->status == 0 && reply->args != NULL) {
        int64_t offset = ad_int_or(reply->args, "Offset", 0);
        if (offset > 0) {
            go_behind(starter, starter->outputs.items[starter->output_at], offset,
                      ad_bool_or(reply->args, "Whole", false),
                      ad_string_or(reply->args, "Checksum", ""));
        }
    }
    go_on(starter);
}

static bool ask(struct starter *starter, const struct transfer_entry *entry)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Name", entry->name);
    ad_set_bool(args, "Ask", true);
    const struct wire_body body = {.args = args};
    bool sent = wire_call(starter->shadow, VERB_FILE_PUT, &body, 0, ask_answered, starter) > 0;
    ad_destroy(args);
    return sent;
}

/* ---- */

static size_t bytes_on_their_way(const struct starter *starter)
{
    size_t bytes = 0;
    for (size_t i = 0; i < starter->puts_count; i++) {
        bytes += starter->puts[i].bytes;
    }
    return bytes;
}

static void go_on(struct starter *starter)
{
    while (starter->phase == STARTER_OUTPUT && starter->output_at < starter->outputs.count &&
           starter->puts_count < STARTER_PUTS_MAX &&
           bytes_on_their_way(starter) < STARTER_PIECE_BYTES + STARTER_PIECE_BYTES) {
        struct transfer_entry *entry = starter->outputs.items[starter->output_at];
        bool sent =
            entry->type == TRANSFER_FILE ? put_piece(starter, entry) : put_other(starter, entry);
        if (!sent) {
            return; /* the connection is gone, or we gave up */
        }
    }
    if (starter->phase == STARTER_OUTPUT && starter->output_at == starter->outputs.count &&
        starter->puts_count == 0) {
        job_run_enter(starter, STARTER_REPORT);
        job_run_wake(starter, WAKE_GO);
    }
}

void output_next(struct starter *starter)
{
    if (!live_is_over(starter)) {
        live_look(starter); /* comes back here */
        return;
    }
    starter->busy = true; /* until a cut */
    if (starter->output_asks && !starter->output_doubted &&
        starter->output_at < starter->outputs.count) {
        const struct transfer_entry *entry = starter->outputs.items[starter->output_at];
        if (entry->type == TRANSFER_FILE) {
            (void)ask(starter, entry); /* else a cut follows */
            return;
        }
    }
    go_on(starter);
}

/* ---- how it ended */

static void reported(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_REPORT) {
        return;
    }
    starter->busy = false;
    if (reply->status == -ECONNRESET) {
        return; /* said again on the next connection */
    }
    if (reply->status == -ETIMEDOUT) {
        job_run_wake(starter, WAKE_GO);
        return;
    }
    if (reply->status == -EAGAIN && starter->resends < RESENDS_MAX) {
        log_warn(starter->env.log, "output.again", reply->text, LOG_TEXT("job", starter->job_id));
        starter->resends++;
        starter->odd = true;
        starter->phase = STARTER_OUTPUT; /* the only way back */
        starter->output_acked = 0;
        output_cut(starter);
        starter->output_asks = false; /* what is there is not trusted */
        job_run_wake(starter, WAKE_GO);
        return;
    }
    starter->odd = starter->odd || reply->status != 0;
    starter->delivered = reply->status == 0 && !starter->evicted;
    log_info(starter->env.log, "job.reported",
             reply->status == 0 ? "the result is committed" : reply->text,
             LOG_TEXT("job", starter->job_id), LOG_INT("status", reply->status));
    job_run_enter(starter, STARTER_CLEAN);
    job_run_wake(starter, WAKE_GO);
}

static void add_result(struct starter *starter, struct ad *args)
{
    job_run_add_exit(starter, args);
    watch_report(starter, args);
    ad_set_int(args, "RemoteWallClockTime", starter->ended_s - starter->started_s);
    const char **names = mem_alloc((starter->outputs.count + 1) * sizeof *names);
    for (size_t i = 0; i < starter->outputs.count; i++) {
        names[i] = ((const struct transfer_entry *)starter->outputs.items[i])->name;
    }
    ad_set_strings(args, "Files", names, starter->outputs.count);
    ad_set_strings(args, "Checksums", (const char *const *)starter->checksums.items,
                   starter->checksums.count);
    mem_free(names);
}

void output_report(struct starter *starter)
{
    struct ad *args = starter->hold != NULL      ? ad_copy(starter->hold)
                      : starter->missing != NULL ? ad_copy(starter->missing)
                                                 : ad_create();
    if (starter->hold == NULL) {
        add_result(starter, args);
    }
    if (starter->evicted) {
        ad_set_bool(args, "Evicted", true);
    }
    ad_set_string(args, "CondorScratchDir", starter->sandbox); /* if the start was not told */
    ad_set_string(args, "BootId", ad_string_or(starter->record, "BootId", ""));
    ad_set_bool(args, "MayStay", job_run_may_stay(starter));
    struct wire_body body = {.args = args};
    int64_t rc = wire_call(starter->shadow, VERB_JOB_DONE, &body, REPORT_MS, reported, starter);
    starter->busy = rc > 0;
    ad_destroy(args);
    if (rc == -EMSGSIZE && starter->hold == NULL) { /* it would never be said */
        starter->hold = ad_create();
        ad_set_string(starter->hold, "HoldReason",
                      "the job made more output files than one message can name");
        ad_set_int(starter->hold, "HoldReasonCode", HOLD_OUTPUT);
        ad_set_int(starter->hold, "HoldReasonSubCode", EMSGSIZE);
        output_report(starter);
    }
}
