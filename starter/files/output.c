/* starter/files/output.c - sends the job's output to the shadow, and reports how the job ended.
 *
 * Several FILE_PUTs are on their way at once; they are answered in order.  After a lost connection
 * it continues with the first entry that was not acknowledged: the shadow says how much of that
 * file it has, and if that is the same as here it is not sent again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/live.h"
#include "starter/starter.h"
#include "starter/job/watch.h"
#include "transfer/transfer_walk.h"
#include "wire/wire.h"

#define REPORT_MS   600000 /* the shadow may have much to place; asked again afterwards */
#define RESENDS_MAX 3      /* of all output, because some of it did not arrive whole */
#define AGAIN_MAX   5      /* tries of a file that the submit host cannot store */
#define AGAIN_MS    1000   /* before the first of them; then twice as long each time */
#define HOLD_OUTPUT 12     /* HTCondor's */

void output_forget(struct starter *starter)
{
    vec_fini(&starter->run.output.list, transfer_entry_destroy);
    vec_fini(&starter->run.output.checksums, mem_free);
    starter->run.output.at = starter->run.output.acked = 0;
    starter->run.output.asks = false;
    starter->run.output.failures = 0;
    starter->run.output.doubted = false;
    ad_destroy(starter->run.output.missing);
    starter->run.output.missing = NULL;
}

void output_cut(struct starter *starter)
{
    if (starter->run.phase != STARTER_OUTPUT) {
        return;
    }
    job_run_close_file(starter);
    while (starter->run.output.checksums.count > starter->run.output.acked) {
        mem_free(starter->run.output.checksums.items[--starter->run.output.checksums.count]);
    }
    starter->run.output.at = starter->run.output.acked;
    starter->run.output.asks = true;
    starter->run.output.puts_count = 0;
}

/* ---- one entry after the other */

static void go_on(struct starter *starter);

/* EROFS: the kernel has made a disk that fails read-only, and somebody will repair it. */
static bool is_lack_of_storage(int status)
{
    return status == -EIO || status == -EROFS || status == -ENOSPC || status == -EDQUOT ||
           status == -ENOMEM || status == -EMFILE || status == -ENFILE;
}

/* A file could not be read.  If this machine is at fault the run is given up.  If the job made the
 * file unreadable, the job is held: it would do the same elsewhere. */
static void fail_output(struct starter *starter, const char *name, int code)
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

/* The submit host could not store the file.  The results are worth some patience: the file in hand
 * is sent again from its beginning, after a while. */
static void put_again(struct starter *starter, const char *why)
{
    log_warn(starter->env.log, "output.again", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("times", starter->run.output.failures + 1));
    starter->run.end.odd = true;
    job_run_close_shadow(starter);
    output_cut(starter);
    starter->run.output.doubted = true;
    starter->run.busy = false;
    loop_timer_set(starter->timers[TIMER_DIAL],
                   (uint64_t)AGAIN_MS << starter->run.output.failures++);
}

static void put_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->run.phase != STARTER_OUTPUT || reply->status == -ECONNRESET) {
        return; /* a cut: output_cut() */
    }
    if (reply->status == -ETIMEDOUT) {
        output_cut(starter);
        starter->run.busy = false;
        job_run_dial_again(starter);
        return;
    }
    bool no_fault = reply->status == -ESTALE || reply->status == -EAGAIN ||
                    reply->status == -ESHUTDOWN || reply->status == -EBUSY;
    if (reply->status == -EFBIG || no_fault) { /* the first: the shadow has the job held */
        job_run_give_up(starter, no_fault ? reply->text : "");
        return;
    }
    if (is_lack_of_storage(reply->status) && starter->run.output.failures < AGAIN_MAX) {
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
    CHECK(starter->run.output.puts_count > 0);
    starter->run.output.doubted = false;
    starter->run.output.acked += starter->run.output.puts[0].ends ? 1 : 0;
    starter->run.output.puts_count--;
    memmove(starter->run.output.puts, starter->run.output.puts + 1,
            starter->run.output.puts_count * sizeof starter->run.output.puts[0]);
    go_on(starter);
}

/* Sends a FILE_PUT.  False: not possible now. */
static bool put_message(struct starter *starter, struct ad *args, const void *data, size_t length,
                        bool ends)
{
    const struct wire_body body = {.args = args, .blob = data, .blob_length = length};
    bool sent = wire_call(starter->shadow, VERB_FILE_PUT, &body, WIRE_NO_DEADLINE, put_answered,
                          starter) > 0;
    ad_destroy(args);
    if (sent) {
        starter->run.output.puts[starter->run.output.puts_count++] =
            (struct starter_put){ends, length};
    }
    return sent;
}

static void end_entry(struct starter *starter, const char *checksum)
{
    vec_push(&starter->run.output.checksums, mem_strdup(checksum));
    job_run_close_file(starter);
    starter->run.output.at++;
}

/* Sends a directory or a link: its "checksum" says all about it. */
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
    bool sent = put_message(starter, args, NULL, 0, true);
    if (sent) {
        end_entry(starter, strbuf_text(&sum));
    }
    strbuf_fini(&sum);
    return sent;
}

static int open_file(struct starter *starter, struct transfer_entry *entry)
{
    if (starter->run.in_hand.file != NULL) {
        return 0;
    }
    struct os *os = starter->env.os;
    int rc = os_below_open(os, starter->run.sandbox, entry->path, OS_READ, 0,
                           &starter->run.in_hand.file, NULL);
    if (rc == -EACCES && /* the job took it from itself, and we are no more than the job */
        os_below_chmod(os, starter->run.sandbox, entry->path, entry->mode | 0400, NULL) == 0) {
        rc = os_below_open(os, starter->run.sandbox, entry->path, OS_READ, 0,
                           &starter->run.in_hand.file, NULL);
    }
    if (rc == 0) {
        starter->run.in_hand.digest = digest_create();
        starter->run.in_hand.offset = 0;
        entry->size_bytes = os_file_size(starter->run.in_hand.file);
    }
    return rc;
}

/* Sends the next piece of a file.  False: not possible now. */
static bool put_piece(struct starter *starter, struct transfer_entry *entry)
{
    int rc = open_file(starter, entry);
    uint64_t left = rc == 0 ? (uint64_t)entry->size_bytes - starter->run.in_hand.offset : 0;
    size_t wanted = left < STARTER_PIECE_BYTES ? (size_t)left : STARTER_PIECE_BYTES;
    char *buffer = mem_alloc(wanted + 1);
    ssize_t got = rc != 0 ? rc
                          : os_file_read(starter->run.in_hand.file, starter->run.in_hand.offset,
                                         buffer, wanted);
    if (got < 0 || (size_t)got < wanted) {
        mem_free(buffer);
        fail_output(starter, entry->name, got < 0 ? (int)got : -EIO);
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Name", entry->name);
    ad_set_int(args, "Offset", (int64_t)starter->run.in_hand.offset);
    ad_set_int(args, "Size", entry->size_bytes);
    ad_set_int(args, "Mode", (int64_t)entry->mode);
    ad_set_int(args, "Total", starter->run.output.bytes);
    bool ends = left == wanted;
    bool sent = put_message(starter, args, buffer, wanted, ends);
    if (sent) {
        digest_update(starter->run.in_hand.digest, buffer, wanted);
        starter->run.in_hand.offset += wanted;
        starter->run.bytes.sent += (int64_t)wanted;
    }
    mem_free(buffer);
    if (sent && ends) {
        char checksum[DIGEST_HEX_SIZE];
        digest_hex(starter->run.in_hand.digest, checksum);
        end_entry(starter, checksum);
    }
    return sent;
}

/* ---- after a cut */

/* If the part that the shadow has is the same as here, continues after it. */
static void go_behind(struct starter *starter, struct transfer_entry *entry, int64_t offset,
                      bool whole, const char *checksum)
{
    char hex[DIGEST_HEX_SIZE];
    if (open_file(starter, entry) != 0 || offset > entry->size_bytes ||
        (whole && offset != entry->size_bytes)) {
        job_run_close_file(starter);
        return;
    }
    (void)file_digest_add(starter->run.in_hand.digest, starter->run.in_hand.file,
                          &starter->run.in_hand.offset, (uint64_t)offset);
    digest_peek(starter->run.in_hand.digest, hex);
    if (starter->run.in_hand.offset != (uint64_t)offset || strcmp(hex, checksum) != 0) {
        job_run_close_file(starter);
        return;
    }
    log_info(starter->env.log, "output.resumed", entry->name, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("offset", offset));
    if (whole) {
        end_entry(starter, hex);
        starter->run.output.acked++;
    }
}

static void ask_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->run.phase != STARTER_OUTPUT || reply->status == -ECONNRESET) {
        return;
    }
    starter->run.output.asks = false;
    if (reply->status == 0 && reply->args != NULL) {
        int64_t offset = ad_int_or(reply->args, "Offset", 0);
        if (offset > 0) {
            go_behind(starter, starter->run.output.list.items[starter->run.output.at], offset,
                      ad_bool_or(reply->args, "Whole", false),
                      ad_string_or(reply->args, "Checksum", ""));
        }
    }
    go_on(starter);
}

static bool ask_offset(struct starter *starter, const struct transfer_entry *entry)
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
    for (size_t i = 0; i < starter->run.output.puts_count; i++) {
        bytes += starter->run.output.puts[i].bytes;
    }
    return bytes;
}

static void go_on(struct starter *starter)
{
    while (starter->run.phase == STARTER_OUTPUT &&
           starter->run.output.at < starter->run.output.list.count &&
           starter->run.output.puts_count < STARTER_PUTS_MAX &&
           bytes_on_their_way(starter) < STARTER_PIECE_BYTES + STARTER_PIECE_BYTES) {
        struct transfer_entry *entry = starter->run.output.list.items[starter->run.output.at];
        bool sent =
            entry->type == TRANSFER_FILE ? put_piece(starter, entry) : put_other(starter, entry);
        if (!sent) {
            return; /* the connection is gone, or we gave up */
        }
    }
    if (starter->run.phase == STARTER_OUTPUT &&
        starter->run.output.at == starter->run.output.list.count &&
        starter->run.output.puts_count == 0) {
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
    starter->run.busy = true; /* until a cut */
    if (starter->run.output.asks && !starter->run.output.doubted &&
        starter->run.output.at < starter->run.output.list.count) {
        const struct transfer_entry *entry = starter->run.output.list.items[starter->run.output.at];
        if (entry->type == TRANSFER_FILE) {
            (void)ask_offset(starter, entry); /* else a cut follows */
            return;
        }
    }
    go_on(starter);
}

/* ---- how it ended */

static void done_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->run.phase != STARTER_REPORT) {
        return;
    }
    starter->run.busy = false;
    if (reply->status == -ECONNRESET) {
        return; /* said again on the next connection */
    }
    if (reply->status == -ETIMEDOUT) {
        job_run_wake(starter, WAKE_GO);
        return;
    }
    if (reply->status == -EAGAIN && starter->run.output.resends < RESENDS_MAX) {
        log_warn(starter->env.log, "output.again", reply->text,
                 LOG_TEXT("job", starter->run.job_id));
        starter->run.output.resends++;
        starter->run.end.odd = true;
        starter->run.phase = STARTER_OUTPUT; /* the only way back */
        starter->run.output.acked = 0;
        output_cut(starter);
        starter->run.output.asks = false; /* what is there is not trusted */
        job_run_wake(starter, WAKE_GO);
        return;
    }
    starter->run.end.odd = starter->run.end.odd || reply->status != 0;
    starter->run.end.delivered = reply->status == 0 && !starter->run.end.evicted;
    log_info(starter->env.log, "job.reported",
             reply->status == 0 ? "the result is committed" : reply->text,
             LOG_TEXT("job", starter->run.job_id), LOG_INT("status", reply->status));
    job_run_enter(starter, STARTER_CLEAN);
    job_run_wake(starter, WAKE_GO);
}

static void add_result(struct starter *starter, struct ad *args)
{
    job_run_add_exit(starter, args);
    watch_report(starter, args);
    ad_set_int(args, "RemoteWallClockTime", job_run_length_s(starter));
    const char **names = mem_alloc((starter->run.output.list.count + 1) * sizeof *names);
    for (size_t i = 0; i < starter->run.output.list.count; i++) {
        names[i] = ((const struct transfer_entry *)starter->run.output.list.items[i])->name;
    }
    ad_set_strings(args, "Files", names, starter->run.output.list.count);
    ad_set_strings(args, "Checksums", (const char *const *)starter->run.output.checksums.items,
                   starter->run.output.checksums.count);
    mem_free(names);
}

void output_report(struct starter *starter)
{
    struct ad *args = starter->run.end.hold != NULL         ? ad_copy(starter->run.end.hold)
                      : starter->run.output.missing != NULL ? ad_copy(starter->run.output.missing)
                                                            : ad_create();
    if (starter->run.end.hold == NULL) {
        add_result(starter, args);
    }
    if (starter->run.end.evicted) {
        ad_set_bool(args, "Evicted", true);
    }
    ad_set_string(args, "CondorScratchDir", starter->run.sandbox); /* if the start was not told */
    ad_set_string(args, "BootId", ad_string_or(starter->run.record, "BootId", ""));
    ad_set_bool(args, "MayStay", job_run_may_stay(starter));
    struct wire_body body = {.args = args};
    int64_t rc =
        wire_call(starter->shadow, VERB_JOB_DONE, &body, REPORT_MS, done_answered, starter);
    starter->run.busy = rc > 0;
    ad_destroy(args);
    if (rc == -EMSGSIZE && starter->run.end.hold == NULL) { /* it would never be said */
        starter->run.end.hold = ad_create();
        ad_set_string(starter->run.end.hold, "HoldReason",
                      "the job created more output files than one message can name");
        ad_set_int(starter->run.end.hold, "HoldReasonCode", HOLD_OUTPUT);
        ad_set_int(starter->run.end.hold, "HoldReasonSubCode", EMSGSIZE);
        output_report(starter);
    }
}
