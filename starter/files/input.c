/* starter/files/input.c - receives the job ad and the job's input files from the shadow.
 *
 * The list comes first, in parts; then one request asks for all files from the first one that is
 * missing.  After a lost connection the file in hand is continued if the shadow finds that the
 * received part is right.  The sandbox is ours alone until the job begins; but the names come from
 * a stranger, so everything is written through base/os/os_below.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/job_run.h"
#include "starter/ckpt/resume.h"
#include "starter/starter.h"
#include "starter/job/watch.h"
#include "transfer/transfer_names.h"
#include "wire/wire.h"

#define HOLD_INPUT  13 /* HTCondor's */
#define DAMAGED_MAX 3  /* times that one file may come damaged */

/* ---- the list */

static int take_entry(struct starter *starter, const struct ad *ad, struct err *err)
{
    const char *name = ad_string_or(ad, "Name", "");
    const char *type = ad_string_or(ad, "Type", "file");
    const char *target = ad_string_or(ad, "Target", "");
    const char *url = ad_string_or(ad, "Url", NULL);
    if (!transfer_path_is_safe(name)) {
        return err_set(err, -EPROTO,
                       "the shadow sent '%.300s', which is not a valid path for an input", name);
    }
    bool is_link = strcmp(type, "link") == 0;
    if (is_link && !transfer_link_is_safe(name, target)) {
        return err_set(err, -EPROTO,
                       "the shadow sent a link '%.300s' that leads out of its directory", name);
    }
    struct starter_input *input = mem_zalloc(sizeof *input);
    input->name = mem_strdup(name);
    input->type = is_link                    ? TRANSFER_LINK
                  : strcmp(type, "dir") == 0 ? TRANSFER_DIRECTORY
                                             : TRANSFER_FILE;
    input->target = is_link ? mem_strdup(target) : NULL;
    input->url = url != NULL && input->type == TRANSFER_FILE ? mem_strdup(url) : NULL;
    input->is_spooled = ad_bool_or(ad, "Spooled", false);
    input->size_bytes = ad_int_or(ad, "Size", 0);
    input->mode = (mode_t)(ad_int_or(ad, "Mode", 0644) & 0777);
    if (ad_bool_or(ad, "IsExecutable", false)) {
        input->mode |= 0111;
    }
    vec_push(&starter->run.input.list, input);
    return 0;
}

static int take_part(struct starter *starter, struct wire_reply *reply, struct err *err)
{
    size_t first = starter->run.job == NULL ? 1 : 0;
    if (first > reply->ad_count ||
        starter->run.input.list.count + reply->ad_count > TRANSFER_FILES_MAX) {
        return err_set(err, -EPROTO, "the shadow sent %zu ads; expected one for the job",
                       reply->ad_count);
    }
    for (size_t i = first; i < reply->ad_count; i++) {
        int rc = take_entry(starter, reply->ads[i], err);
        if (rc != 0) {
            return rc;
        }
    }
    if (first == 1) {
        starter->run.job = wire_reply_take_ad(reply, 0);
    }
    return 0;
}

static void fetch_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->run.phase != STARTER_FETCH) {
        return;
    }
    starter->run.busy = reply->more;
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        return;
    }
    if (reply->status != 0) { /* the job's own fault: the shadow has it held */
        log_warn(starter->env.log, "job.refused", reply->text,
                 LOG_TEXT("job", starter->run.job_id));
        job_run_give_up(starter, "");
        return;
    }
    struct err err;
    if (take_part(starter, reply, &err) != 0) {
        job_run_give_up(starter, err.text);
        return;
    }
    if (!reply->more) {
        checkpoint_decide(starter);
        job_run_enter(starter, STARTER_INPUT);
        job_run_wake(starter, WAKE_GO);
    }
}

void input_fetch(struct starter *starter)
{
    const struct ad *slot = NULL;
    struct ad *args = ad_create();
    /* Only the owner's own account finds his files where he has them. */
    if (ad_get_ad(starter->run.record, "Slot", &slot) == 0 && starter->run.account.is_owner) {
        ad_set_string(args, "FileSystemDomain", ad_string_or(slot, "FileSystemDomain", ""));
    }
    struct ad *who = job_run_shadow_who(starter);
    struct wire_body body = {.args = args};
    if (who != NULL) {
        ad_merge(args, who);
        ad_destroy(who);
        body.secrets = &starter->run.nonce;
        body.secret_count = 1;
    }
    job_run_forget_inputs(starter);
    ad_destroy(starter->run.job);
    starter->run.job = NULL;
    starter->run.busy =
        wire_call(starter->shadow, VERB_JOB_FETCH, &body, 0, fetch_answered, starter) > 0;
    ad_destroy(args);
}

/* ---- what is not a file's bytes */

static int make_parents(struct starter *starter, const char *name, struct err *err)
{
    const char *slash = strrchr(name, '/');
    if (slash == NULL) {
        return 0;
    }
    char *above = mem_strndup(name, (size_t)(slash - name));
    int rc = os_below_mkdirs(starter->env.os, starter->run.sandbox, above, 0755, err);
    mem_free(above);
    return rc;
}

/* Makes all directories and links, before the first file. */
static int make_tree(struct starter *starter, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < starter->run.input.list.count && rc == 0; i++) {
        const struct starter_input *input = starter->run.input.list.items[i];
        rc = make_parents(starter, input->name, err);
        if (rc == 0 && input->type == TRANSFER_DIRECTORY) {
            rc = os_below_mkdirs(starter->env.os, starter->run.sandbox, input->name, 0755, err);
        } else if (rc == 0 && input->type == TRANSFER_LINK) {
            rc = os_below_link(starter->env.os, starter->run.sandbox, input->name, input->target,
                               err);
        }
    }
    return rc;
}

static int give_to_account(struct starter *starter, const char *name, struct err *err)
{
    return starter->run.account.change_user
               ? os_below_chown(starter->env.os, starter->run.sandbox, name,
                                starter->run.account.uid, starter->run.account.gid, err)
               : 0;
}

/* Gives the directories above a name of the list to the account as well. */
static int give_parents(struct starter *starter, const char *name, struct err *err)
{
    int rc = 0;
    for (const char *slash = strchr(name, '/'); slash != NULL && rc == 0;
         slash = strchr(slash + 1, '/')) {
        char *above = mem_strndup(name, (size_t)(slash - name));
        rc = give_to_account(starter, above, err);
        mem_free(above);
    }
    return rc;
}

/* Sets modes and owners, the deepest entries first: once a directory is not writable, nothing in it
 * can be changed. */
static int finish_tree(struct starter *starter, struct err *err)
{
    int rc = 0;
    for (size_t i = starter->run.input.list.count; i > 0 && rc == 0; i--) {
        const struct starter_input *input = starter->run.input.list.items[i - 1];
        if (input->type == TRANSFER_DIRECTORY) {
            rc = os_below_chmod(starter->env.os, starter->run.sandbox, input->name,
                                input->mode | 0700, err);
        }
        if (rc == 0 && input->type != TRANSFER_FILE) {
            rc = give_to_account(starter, input->name, err);
        }
        if (rc == 0 && starter->run.account.change_user && strchr(input->name, '/') != NULL) {
            rc = give_parents(starter, input->name, err);
        }
    }
    return rc;
}

/* ---- files */

/* Returns the next file that the shadow sends; skips entries without bytes of their own. */
static struct starter_input *file_in_hand(struct starter *starter)
{
    while (starter->run.input.at < starter->run.input.list.count) {
        struct starter_input *input = starter->run.input.list.items[starter->run.input.at];
        if (input->type == TRANSFER_FILE && input->url == NULL) {
            return input;
        }
        starter->run.input.at++;
    }
    return NULL;
}

static int begin_file(struct starter *starter, const struct starter_input *input, struct err *err)
{
    job_run_close_file(starter);
    int rc = os_below_open(starter->env.os, starter->run.sandbox, input->name, OS_WRITE_TRUNCATE,
                           (input->mode & 0777) | 0200, &starter->run.in_hand.file, err);
    if (rc == 0) {
        starter->run.in_hand.digest = digest_create();
    }
    return rc;
}

static int end_file(struct starter *starter, struct starter_input *input, struct err *err)
{
    struct os_stat stat;
    int rc = os_file_chmod(starter->run.in_hand.file, input->mode | 0400);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_file_chown(starter->run.in_hand.file, starter->run.account.uid,
                           starter->run.account.gid);
    }
    os_file_stat(starter->run.in_hand.file, &stat);
    input->mtime_s = stat.mtime_s;
    starter->run.input.bytes += (int64_t)starter->run.in_hand.offset;
    job_run_close_file(starter);
    starter->run.input.at++;
    return rc == 0 ? 0 : err_set(err, rc, "input %.100s: %s", input->name, err_code_text(rc));
}

/* The bytes do not have the checksum that was sent: asks for the file again, a few times. */
static void came_damaged(struct starter *starter, struct starter_input *input)
{
    char reason[600];
    (void)snprintf(reason, sizeof reason,
                   "Transfer input files failure at the execution point. Details: the bytes of "
                   "%.300s do not have the checksum that was sent",
                   input->name);
    log_warn(starter->env.log, "input.damaged", reason, LOG_TEXT("job", starter->run.job_id));
    wire_cancel(starter->shadow, starter->run.input.call);
    starter->run.busy = false;
    job_run_close_file(starter);
    if (++input->damaged < DAMAGED_MAX) {
        job_run_wake(starter, WAKE_GO);
    } else {
        job_run_hold(starter, HOLD_INPUT, EIO, reason);
    }
}

static int64_t bytes_here(const struct starter *starter)
{
    return starter->run.input.bytes + (int64_t)starter->run.in_hand.offset;
}

/* The input is larger than the slot's disk: does not wait for the rest. */
static void came_too_much(struct starter *starter)
{
    int64_t bytes = bytes_here(starter);
    wire_cancel(starter->shadow, starter->run.input.call);
    starter->run.busy = false;
    job_run_close_file(starter);
    watch_hold_input(starter, bytes);
}

/* Takes a piece of a file.  0, -errno, or 1: the checksum is wrong. */
static int take_piece(struct starter *starter, struct starter_input *input,
                      const struct wire_reply *reply, struct err *err)
{
    const char *name = ad_string_or(reply->args, "Name", "");
    int64_t offset = ad_int_or(reply->args, "Offset", -1);
    const char *checksum = ad_string_or(reply->args, "Checksum", "");
    int rc = 0;
    if (strcmp(name, input->name) != 0) {
        return err_set(err, -EPROTO, "the shadow sent '%.100s' instead of input '%.100s'", name,
                       input->name);
    }
    if (starter->run.in_hand.file == NULL || (offset == 0 && starter->run.in_hand.offset > 0)) {
        rc = begin_file(starter, input, err);
    }
    if (rc == 0 && offset != (int64_t)starter->run.in_hand.offset) {
        rc = err_set(err, -EPROTO, "input %.100s: the shadow left out a part", name);
    }
    if (rc == 0 && reply->blob_length > 0) {
        rc = os_file_write(starter->run.in_hand.file, starter->run.in_hand.offset, reply->blob,
                           reply->blob_length);
        if (rc != 0) {
            return err_set(err, rc, "input %.100s: %s", name, err_code_text(rc));
        }
        digest_update(starter->run.in_hand.digest, reply->blob, reply->blob_length);
        starter->run.in_hand.offset += reply->blob_length;
        starter->run.bytes.received += (int64_t)reply->blob_length;
    }
    if (rc == 0 && checksum[0] != '\0') {
        digest_hex(starter->run.in_hand.digest, input->checksum);
        rc = strcmp(checksum, input->checksum) == 0 ? end_file(starter, input, err) : 1;
    }
    return rc;
}

/* Ends the run because a file could not be written.  A disk that is full is this machine's fault,
 * unless the job's input is larger than its slot. */
static void give_up_input(struct starter *starter, int code, const char *why)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < starter->run.input.list.count; i++) {
        int64_t size = ((const struct starter_input *)starter->run.input.list.items[i])->size_bytes;
        bytes = size > INT64_MAX - bytes ? INT64_MAX : bytes + size;
    }
    job_run_give_up_for(starter, watch_is_too_much(starter, bytes) ? 0 : code, why);
}

static void got_piece(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (starter->run.phase != STARTER_INPUT) {
        return;
    }
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        starter->run.busy = false; /* goes on with the file in hand on the next connection */
        return;
    }
    struct err err;
    if (reply->status != 0) { /* the job is held by now, or that run counts no more */
        bool known = reply->status == -ENOENT || reply->status == -EACCES;
        job_run_give_up(starter, known ? "" : reply->text);
        return;
    }
    struct starter_input *input = file_in_hand(starter);
    int rc = 0;
    if (reply->more && input == NULL) {
        rc =
            err_set(&err, -EPROTO, "the shadow sent more bytes of an input file than it announced");
    } else if (reply->more) {
        rc = take_piece(starter, input, reply, &err);
    }
    if (rc < 0) {
        give_up_input(starter, rc, err.text);
    } else if (rc > 0) {
        came_damaged(starter, input);
    } else if (watch_is_too_much(starter, bytes_here(starter))) {
        came_too_much(starter);
    } else if (!reply->more) {
        starter->run.busy = false;
        job_run_wake(starter, WAKE_GO);
    }
}

void input_next(struct starter *starter)
{
    struct err err;
    int rc = 0;
    if (resume_is_needed(starter)) {
        resume_next(starter);
        return;
    }
    if (resume_is_ready(starter)) { /* all that it has is in there */
        job_run_enter(starter, STARTER_RUN);
        job_run_wake(starter, WAKE_GO);
        return;
    }
    if (!starter->run.input.made) {
        rc = make_tree(starter, &err);
        starter->run.input.made = true;
    }
    const struct starter_input *input = file_in_hand(starter);
    if (rc == 0 && input == NULL) {
        rc = finish_tree(starter, &err);
    }
    if (rc != 0) {
        give_up_input(starter, rc, err.text);
        return;
    }
    if (input == NULL) {
        job_run_enter(starter, STARTER_RUN);
        job_run_wake(starter, WAKE_GO);
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Name", input->name);
    ad_set_bool(args, "AndFollowing", true);
    if (starter->run.in_hand.file != NULL && starter->run.in_hand.offset > 0) {
        char checksum[DIGEST_HEX_SIZE];
        digest_peek(starter->run.in_hand.digest, checksum);
        ad_set_int(args, "Offset", (int64_t)starter->run.in_hand.offset);
        ad_set_string(args, "Checksum", checksum);
        log_info(starter->env.log, "input.resumed", input->name,
                 LOG_TEXT("job", starter->run.job_id),
                 LOG_INT("offset", starter->run.in_hand.offset));
    }
    struct wire_body body = {.args = args};
    starter->run.input.call =
        wire_call(starter->shadow, VERB_FILE_GET, &body, WIRE_NO_DEADLINE, got_piece, starter);
    starter->run.busy = starter->run.input.call > 0;
    ad_destroy(args);
}
