/* startd/claim/job_ckpt.c - checkpoints, seen from the startd: whether this machine takes them, who
 * asks for one, and what the last one saved.
 *
 * Whether it can take checkpoints, and whether jobs can have their files at their submit machine,
 * is tried once, when the startd starts and before the first ad: `roost-ckpt probe` runs as an
 * account without rights, as jobs do.  That takes milliseconds.  A machine that says that it can
 * must not disappoint the first job.  In the same way it is tried whether a job's container can
 * have a timer that ends it with its lease (base/os/os_cage.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/job_ckpt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_cage.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_parse.h"
#include "startd/claim/claim.h"
#include "startd/startd_state.h"
#include "wire/checkpoint_attrs.h"
#include "wire/remote_attrs.h"
#include "wire/wire.h"

#define PROBE_MS     5000
#define ANSWER_BYTES ((size_t)64 << 10)
#define NOBODY       65534 /* who no account named so is */

static int run_probe(struct startd *startd, const char *const *argv, const char *answer,
                     struct err *err)
{
    struct os *os = startd->env.os;
    uid_t uid = NOBODY;
    gid_t gid = NOBODY;
    bool root = os_uid(os) == 0;
    struct os_exit how;
    if (root) {
        (void)os_user_find(os, "nobody", &uid, &gid, NULL); /* else by number */
        int rc = os_write_file(os, answer, "", 0, 0600, false, err);
        rc = rc != 0 ? rc : os_chown(os, answer, uid, gid, err);
        if (rc != 0) {
            return rc;
        }
    }
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = "/",
                                  .stdout_path = answer,
                                  .stderr_path = answer,
                                  .truncate_output = true,
                                  .new_session = true,
                                  .no_new_privs = true,
                                  .change_user = root,
                                  .uid = uid,
                                  .gid = gid};
    int rc = os_run(os, &spec, PROBE_MS, &how, err);
    return rc != 0 ? rc : how.signal != 0 || how.status != 0 ? -EOPNOTSUPP : 0;
}

/* Returns what the program says about this machine; NULL: it cannot, and the log says why. */
static struct ad *ask_program(struct startd *startd, const char *program, const char *word,
                              const char *event)
{
    const struct config *config = startd->env.config;
    const char *const argv[] = {program, word, NULL};
    struct os *os = startd->env.os;
    struct ad *said = NULL;
    struct strbuf path;
    struct os_stat stat;
    struct err err = {""};
    char *text = NULL;
    size_t length = 0;
    if (program == NULL || os_stat(os, program, &stat) != 0) {
        return NULL; /* it is not installed here */
    }
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/startd.probe", config_path(config, "RUN"));
    int rc = os_mkdirs(os, config_path(config, "RUN"), 0755, &err);
    rc = rc != 0 ? rc : run_probe(startd, argv, strbuf_text(&path), &err);
    int read =
        os_read_file(os, strbuf_text(&path), ANSWER_BYTES, &text, &length, rc == 0 ? &err : NULL);
    if (rc == 0 && read == 0) {
        rc = ad_parse_long(text, length, &said, &err);
    } else if (rc == -EOPNOTSUPP && read == 0) {
        (void)err_set(&err, rc, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (rc != 0 && rc != -ENOSYS) { /* a simulation runs no programs */
        log_info(startd->env.log, event, err.text);
    }
    (void)os_remove(os, strbuf_text(&path), NULL); /* small, and written over */
    mem_free(text);
    strbuf_fini(&path);
    return said;
}

void job_ckpt_probe(struct startd *startd)
{
    const struct config *config = startd->env.config;
    startd->probed.ckpt =
        ask_program(startd, config_path(config, "CKPT_PROGRAM"), "probe", "checkpoint.none");
    struct ad *remote =
        ask_program(startd, config_path(config, "RSYS_MOUNT_PROGRAM"), "--probe", "remote.none");
    startd->probed.has_remote = remote != NULL && ad_bool_or(remote, REMOTE_HAS, false);
    ad_destroy(remote);
    struct os_stat stat;
    struct os *os = startd->env.os;
    startd->probed.has_lease_timer =
        strcmp(config_string(config, "JOB_NAMESPACES"), "none") != 0 && os_cage_can_lease(os);
    const char *program = config_path(config, "RSYS_MOUNT_PROGRAM");
    const char *library = config_path(config, "RSYS_WRAP_LIBRARY");
    startd->probed.has_wrapped = program != NULL && library != NULL &&
                                 os_stat(os, program, &stat) == 0 &&
                                 os_stat(os, library, &stat) == 0;
}

void job_ckpt_put_machine(const struct startd *startd, struct ad *ad)
{
    ad_set_bool(ad, "HasLeaseTimer", startd->probed.has_lease_timer);
    if (startd->probed.has_remote) {
        ad_set_bool(ad, REMOTE_HAS, true);
    }
    if (startd->probed.has_wrapped) {
        ad_set_bool(ad, REMOTE_HAS_WRAPPERS, true);
    }
    if (startd->probed.ckpt != NULL && ad_bool_or(startd->probed.ckpt, CKPT_HAS, false)) {
        ad_set_bool(ad, CKPT_HAS, true);
        ad_set_string(ad, CKPT_SLOT_PLATFORM,
                      ad_string_or(startd->probed.ckpt, CKPT_SLOT_PLATFORM, ""));
        ad_set_string(ad, CKPT_FEATURES, ad_string_or(startd->probed.ckpt, CKPT_FEATURES, ""));
        if (ad_bool_or(startd->probed.ckpt, CKPT_HAS_CHANGES, false)) {
            ad_set_bool(ad, CKPT_HAS_CHANGES, true);
        }
    }
}

void job_ckpt_put_run(const struct claim *claim, struct ad *ad)
{
    if (claim->run.ckpt_taken_s > 0) {
        ad_set_int(ad, CKPT_SLOT_LAST, claim->run.ckpt_taken_s);
    }
}

void job_ckpt_taken(struct claim *claim, const struct ad *args)
{
    claim->run.ckpt_taken_s = ad_int_or(args, CKPT_SLOT_LAST, 0);
    claim->run.ckpt_run_s = ad_int_or(args, CKPT_RUN_SECONDS, 0);
}

/* ---- roost checkpoint */

static void checkpoint_answered(void *arg, struct wire_reply *reply)
{
    struct wire_request *request = arg;
    if (reply->status == 0) {
        const struct wire_body body = {.args = reply->args};
        wire_reply_ok(request, &body);
    } else if (reply->status == -ECONNRESET) {
        wire_reply_error(request, -EAGAIN, "the starter's connection was lost; try again");
    } else {
        wire_reply_error(request, reply->status, "%s", reply->text);
    }
}

void job_ckpt_asked(struct claim *claim, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    bool same = strcmp(claim->job.id, ad_string_or(args, "JobId", "")) == 0 &&
                claim->job.epoch == ad_int_or(args, "ClaimEpoch", -1);
    const struct wire_body body = {.args = NULL};
    if (!claim_plan_has_run(claim->stage) || !same || claim->starter.pid == 0 ||
        claim->stop.how != CLAIM_STOP_NOT) {
        wire_reply_error(request, -ESTALE, "that job is not running here, or is being ended");
    } else if (claim->starter.wire == NULL || !wire_is_ready(claim->starter.wire) ||
               wire_call(claim->starter.wire, VERB_STARTER_CHECKPOINT, &body, 0,
                         checkpoint_answered, request) < 0) {
        wire_reply_error(request, -EAGAIN, "the job's starter is not connected now; try again");
    }
}
