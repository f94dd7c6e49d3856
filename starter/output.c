/* starter/output.c - what the job made, from the sandbox to the shadow, and how it ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "wire/wire.h"

#define REPORT_MS 600000 /* the shadow may have much to place; asked again afterwards */

#define RESENDS_MAX 3 /* of all output, because some of it did not arrive whole */

/* ---- which files */

struct collect {
    struct starter *starter;
    struct starter_file *files;
    size_t count, capacity;
};

static int digest_file(struct starter *starter, const char *path, char ret[DIGEST_HEX_SIZE])
{
    struct os_file *file;
    int rc = os_file_open(starter->env.os, path, OS_READ, 0, &file, NULL);
    if (rc != 0) {
        return rc;
    }
    struct digest *digest = digest_create();
    char *buffer = mem_alloc(STARTER_PIECE_BYTES);
    uint64_t offset = 0;
    ssize_t got;
    while ((got = os_file_read(file, offset, buffer, STARTER_PIECE_BYTES)) > 0) {
        digest_update(digest, buffer, (size_t)got);
        offset += (uint64_t)got;
    }
    digest_hex(digest, ret);
    digest_destroy(digest);
    mem_free(buffer);
    os_file_close(file);
    return got < 0 ? (int)got : 0;
}

/* An input of the same size that was touched since the job began, in the same second perhaps: only
 * its bytes can tell. */
static int64_t judged_mtime(struct starter *starter, const char *name, const char *path,
                            const struct os_stat *stat)
{
    for (size_t i = 0; i < starter->inputs.count; i++) {
        const struct starter_input *input = starter->inputs.items[i];
        char checksum[DIGEST_HEX_SIZE];
        if (strcmp(input->name, name) != 0 || input->size_bytes != stat->size_bytes) {
            continue;
        }
        if (digest_file(starter, path, checksum) == 0 && strcmp(checksum, input->checksum) == 0) {
            return input->mtime_s;
        }
        return input->mtime_s + 1;
    }
    return stat->mtime_s;
}

static void collect_name(void *arg, const char *name)
{
    struct collect *collect = arg;
    struct starter *starter = collect->starter;
    char path[4096];
    struct os_stat stat;
    if (os_stat(starter->env.os, starter_path(starter, name, path, sizeof path), &stat) != 0) {
        return;
    }
    if (collect->count == collect->capacity) {
        collect->capacity = collect->capacity == 0 ? 16 : collect->capacity * 2;
        collect->files = mem_realloc(collect->files, collect->capacity * sizeof *collect->files);
    }
    collect->files[collect->count++] =
        (struct starter_file){.name = mem_strdup(name),
                              .size_bytes = stat.size_bytes,
                              .mtime_s =
                                  stat.is_file ? judged_mtime(starter, name, path, &stat) : 0,
                              .is_file = stat.is_file};
}

void output_collect(struct starter *starter)
{
    struct collect collect = {.starter = starter};
    struct err err;
    if (os_list(starter->env.os, starter->sandbox, collect_name, &collect, &err) != 0) {
        log_warn(starter->env.log, "output.list", err.text, LOG_TEXT("job", starter->job_id));
    }
    size_t before_count = starter->inputs.count;
    struct starter_file *before = mem_alloc((before_count + 1) * sizeof *before);
    for (size_t i = 0; i < before_count; i++) {
        const struct starter_input *input = starter->inputs.items[i];
        before[i] = (struct starter_file){.name = input->name,
                                          .size_bytes = input->size_bytes,
                                          .mtime_s = input->mtime_s,
                                          .is_file = true};
    }
    starter_plan_outputs(starter->job, before, before_count, collect.files, collect.count,
                         &starter->outputs);
    for (size_t i = 0; i < collect.count; i++) {
        mem_free((char *)collect.files[i].name);
    }
    mem_free(collect.files);
    mem_free(before);
}

/* ---- one file after the other */

static void piece_sent(void *arg, struct wire_reply *reply);

static void send_piece(struct starter *starter)
{
    const char *name = starter->outputs.items[starter->output_at];
    char *buffer = mem_alloc(STARTER_PIECE_BYTES);
    ssize_t got = os_file_read(starter->file, starter->offset, buffer, STARTER_PIECE_BYTES);
    if (got < 0) {
        char why[300];
        (void)snprintf(why, sizeof why, "output %.200s: %s", name, err_code_text((int)got));
        mem_free(buffer);
        starter_give_up(starter, why);
        return;
    }
    if (got == 0 && starter->offset > 0) { /* the end; an empty file is one empty piece */
        mem_free(buffer);
        char checksum[DIGEST_HEX_SIZE];
        digest_hex(starter->digest, checksum);
        vec_push(&starter->checksums, mem_strdup(checksum));
        transfer_reset(starter);
        starter->output_at++;
        starter_go(starter);
        return;
    }
    char path[4096];
    struct os_stat stat = {.mode = 0644};
    (void)os_stat(starter->env.os, starter_path(starter, name, path, sizeof path),
                  &stat); /* else the default */
    struct ad *args = ad_create();
    ad_set_string(args, "Name", name);
    ad_set_int(args, "Offset", (int64_t)starter->offset);
    ad_set_int(args, "Size", os_file_size(starter->file));
    ad_set_int(args, "Mode", stat.mode & 0777);
    struct wire_body body = {.args = args, .blob = buffer, .blob_length = (size_t)got};
    digest_update(starter->digest, buffer, (size_t)got);
    starter->offset += (uint64_t)got;
    starter->sent_bytes += got;
    starter->busy = wire_call(starter->shadow, VERB_FILE_PUT, &body, 0, piece_sent, starter) > 0;
    ad_destroy(args);
    mem_free(buffer);
}

static void piece_sent(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_OUTPUT || starter->file == NULL) {
        return; /* of a connection that was lost */
    }
    starter->busy = false;
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        transfer_reset(starter); /* this file from its beginning */
        return;
    }
    if (reply->status != 0) {
        starter_give_up(starter, reply->text);
        return;
    }
    if (os_file_size(starter->file) == 0) {
        char checksum[DIGEST_HEX_SIZE];
        digest_hex(starter->digest, checksum);
        vec_push(&starter->checksums, mem_strdup(checksum));
        transfer_reset(starter);
        starter->output_at++;
        starter_go(starter);
        return;
    }
    send_piece(starter);
}

void output_next(struct starter *starter)
{
    if (starter->output_at == starter->outputs.count) {
        starter_enter(starter, STARTER_REPORT);
        starter_go(starter);
        return;
    }
    char path[4096];
    struct err err;
    const char *name = starter->outputs.items[starter->output_at];
    if (os_file_open(starter->env.os, starter_path(starter, name, path, sizeof path), OS_READ, 0,
                     &starter->file, &err) != 0) {
        starter_give_up(starter, err.text);
        return;
    }
    starter->digest = digest_create();
    starter->offset = 0;
    send_piece(starter);
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
        starter_go(starter);
        return;
    }
    if (reply->status == -EAGAIN && starter->resends < RESENDS_MAX) {
        log_warn(starter->env.log, "output.again", reply->text, LOG_TEXT("job", starter->job_id));
        starter->resends++;
        starter->output_at = 0;
        vec_fini(&starter->checksums, mem_free);
        starter->checksums = (struct vec){0};
        starter->phase = STARTER_OUTPUT; /* the only way back */
        starter_go(starter);
        return;
    }
    log_info(starter->env.log, "job.reported",
             reply->status == 0 ? "the result is committed" : reply->text,
             LOG_TEXT("job", starter->job_id), LOG_INT("status", reply->status));
    starter_enter(starter, STARTER_CLEAN);
    starter_go(starter);
}

void output_report(struct starter *starter)
{
    struct ad *args = starter->hold != NULL ? ad_copy(starter->hold) : ad_create();
    if (starter->hold == NULL) {
        ad_set_bool(args, "ExitBySignal", starter->exit.signal != 0);
        if (starter->exit.signal != 0) {
            ad_set_int(args, "ExitSignal", starter->exit.signal);
            ad_set_bool(args, "JobCoreDumped", starter->exit.core);
        } else {
            ad_set_int(args, "ExitCode", starter->exit.status);
        }
        watch_report(starter, args);
        ad_set_int(args, "RemoteWallClockTime", starter->ended_s - starter->started_s);
        ad_set_strings(args, "Files", (const char *const *)starter->outputs.items,
                       starter->outputs.count);
        ad_set_strings(args, "Checksums", (const char *const *)starter->checksums.items,
                       starter->checksums.count);
    }
    ad_set_string(args, "CondorScratchDir", starter->sandbox); /* if the start was not told */
    ad_set_string(args, "BootId", ad_string_or(starter->record, "BootId", ""));
    struct wire_body body = {.args = args};
    int64_t rc = wire_call(starter->shadow, VERB_JOB_DONE, &body, REPORT_MS, reported, starter);
    starter->busy = rc > 0;
    ad_destroy(args);
    if (rc == -EMSGSIZE && starter->hold == NULL) { /* it would never be said */
        starter->hold = ad_create();
        ad_set_string(starter->hold, "HoldReason",
                      "the job made more output files than one message can name");
        ad_set_int(starter->hold, "HoldReasonCode", 12);
        ad_set_int(starter->hold, "HoldReasonSubCode", EMSGSIZE);
        output_report(starter);
    }
}
