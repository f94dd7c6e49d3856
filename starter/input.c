/* starter/input.c - the job ad and its input files, from the shadow into the sandbox.
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
#include "wire/wire.h"

void transfer_reset(struct starter *starter)
{
    os_file_close(starter->file);
    starter->file = NULL;
    starter->offset = 0;
    digest_destroy(starter->digest);
    starter->digest = NULL;
}

/* A name that the shadow gave must stay in the sandbox. */
static bool is_plain_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 && strlen(name) <= 255;
}

static int take_inputs(struct starter *starter, struct wire_reply *reply, struct err *err)
{
    if (reply->ad_count < 1 || reply->ad_count > STARTER_INPUTS_MAX) {
        return err_set(err, -EPROTO, "the shadow sent %zu ads for a job", reply->ad_count);
    }
    for (size_t i = 1; i < reply->ad_count; i++) {
        const char *name = ad_string_or(reply->ads[i], "Name", "");
        if (!is_plain_name(name)) {
            return err_set(err, -EPROTO, "the shadow names an input '%s'", name);
        }
        struct starter_input *input = mem_zalloc(sizeof *input);
        input->name = mem_strdup(name);
        input->size_bytes = ad_int_or(reply->ads[i], "Size", 0);
        input->mode = (mode_t)(ad_int_or(reply->ads[i], "Mode", 0644) & 0777);
        if (ad_bool_or(reply->ads[i], "IsExecutable", false)) {
            input->mode |= 0111;
        }
        vec_push(&starter->inputs, input);
    }
    starter->job = wire_reply_take_ad(reply, 0);
    return 0;
}

static void fetched(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_FETCH) {
        return;
    }
    starter->busy = false;
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        return;
    }
    if (reply->status != 0) { /* the job's own fault: the shadow has it held */
        log_warn(starter->env.log, "job.refused", reply->text, LOG_TEXT("job", starter->job_id));
        starter_give_up(starter, "");
        return;
    }
    struct err err;
    if (take_inputs(starter, reply, &err) != 0) {
        starter_give_up(starter, err.text);
        return;
    }
    starter_enter(starter, STARTER_INPUT);
    starter_go(starter);
}

void input_fetch(struct starter *starter)
{
    starter->busy = wire_call(starter->shadow, VERB_JOB_FETCH, NULL, 0, fetched, starter) > 0;
}

/* ---- one file */

static int begin_file(struct starter *starter, const struct starter_input *input, struct err *err)
{
    char path[4096];
    int rc = os_file_open(starter->env.os, starter_path(starter, input->name, path, sizeof path),
                          OS_WRITE_TRUNCATE, input->mode | 0200, &starter->file, err);
    if (rc == 0) {
        starter->digest = digest_create();
        starter->offset = 0;
    }
    return rc;
}

static int end_file(struct starter *starter, struct starter_input *input, const struct ad *args,
                    struct err *err)
{
    char path[4096];
    const char *expected = args != NULL ? ad_string_or(args, "Checksum", "") : "";
    digest_hex(starter->digest, input->checksum);
    transfer_reset(starter);
    if (strcmp(expected, input->checksum) != 0) {
        return err_set(err, -EIO,
                       "input %s: the bytes received do not have the checksum that was sent",
                       input->name);
    }
    starter_path(starter, input->name, path, sizeof path);
    int rc = os_chmod(starter->env.os, path, input->mode | 0400, err);
    if (rc == 0 && starter->change_user) {
        rc = os_chown(starter->env.os, path, starter->uid, starter->gid, err);
    }
    struct os_stat stat;
    if (rc == 0 && os_stat(starter->env.os, path, &stat) == 0) {
        input->mtime_s = stat.mtime_s;
    }
    return rc;
}

static void got_piece(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->phase != STARTER_INPUT || starter->file == NULL) {
        return; /* of a connection that was lost */
    }
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        starter->busy = false;
        transfer_reset(starter);
        return;
    }
    struct starter_input *input = starter->inputs.items[starter->input_at];
    struct err err;
    int rc = 0;
    if (reply->status != 0) {
        starter_give_up(starter,
                        reply->status == -ENOENT || reply->status == -EACCES ? "" : reply->text);
        return;
    }
    if (reply->blob_length > 0) {
        rc = os_file_write(starter->file, starter->offset, reply->blob, reply->blob_length);
        if (rc != 0) {
            (void)err_set(&err, rc, "input %s: %s", input->name, err_code_text(rc));
        } else {
            digest_update(starter->digest, reply->blob, reply->blob_length);
            starter->offset += reply->blob_length;
            starter->received_bytes += (int64_t)reply->blob_length;
        }
    }
    if (rc == 0 && !reply->more) {
        rc = end_file(starter, input, reply->args, &err);
        if (rc == 0) {
            starter->busy = false;
            starter->input_at++;
            starter_go(starter);
            return;
        }
    }
    if (rc != 0) { /* this machine's fault: disk full, damaged bytes */
        starter_give_up(starter, err.text);
    }
}

void input_next(struct starter *starter)
{
    if (starter->input_at == starter->inputs.count) {
        starter_enter(starter, STARTER_RUN);
        starter_go(starter);
        return;
    }
    const struct starter_input *input = starter->inputs.items[starter->input_at];
    struct err err;
    if (begin_file(starter, input, &err) != 0) {
        starter_give_up(starter, err.text);
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Name", input->name);
    struct wire_body body = {.args = args};
    starter->busy = wire_call(starter->shadow, VERB_FILE_GET, &body, 0, got_piece, starter) > 0;
    ad_destroy(args);
}
