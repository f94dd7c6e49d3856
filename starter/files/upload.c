/* starter/files/upload.c - sends output files to URLs: TransferOutputRemaps and OutputDestination.
 *
 * curl (PUT) or a plug-in sends them when the job and its scripts have ended, before the cage is
 * emptied and the sandbox is ours again: so a program that talks to a stranger's server can read
 * only what the job could read.  A repeated run sends them again, to the same name at the server.
 * A failure holds the job when everything else has been sent.  A run that is evicted sends nothing
 * to URLs: its files go back for the next run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/upload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "starter/job/job_end.h"
#include "starter/job_run.h"
#include "starter/files/output.h"
#include "starter/starter.h"
#include "starter/files/url_program.h"
#include "transfer/transfer_dest.h"
#include "transfer/transfer_names.h"

#define HOLD_OUTPUT 12 /* HTCondor's */

struct upload {
    char *path, *url;
    int64_t size_bytes;
};

static void upload_destroy(void *value)
{
    struct upload *upload = value;
    mem_free(upload->path);
    mem_free(upload->url);
    mem_free(upload);
}

void upload_forget(struct starter *starter)
{
    vec_fini(&starter->run.upload.list, upload_destroy);
    ad_destroy(starter->run.upload.hold);
    starter->run.upload.hold = NULL;
    starter->run.upload.at = 0;
    starter->run.upload.step = UPLOADS_UNKNOWN;
}

static char *url_of(const struct starter *starter, const char *name)
{
    const char *stream = NULL;
    if (strcmp(name, STARTER_STDOUT) == 0) {
        stream = ad_string_or(starter->run.job, "OutputDestinationOut", "");
    } else if (strcmp(name, STARTER_STDERR) == 0) {
        stream = ad_string_or(starter->run.job, "OutputDestinationErr", "");
    }
    return stream != NULL && stream[0] == '\0' ? NULL
                                               : transfer_dest_url(starter->run.job, name, stream);
}

bool upload_takes(struct starter *starter, const char *name, const char *path, int64_t size_bytes)
{
    char *url = starter->run.end.evicted ? NULL : url_of(starter, name);
    if (url != NULL && starter->run.upload.step == UPLOADS_UNKNOWN) {
        struct upload *upload = mem_zalloc(sizeof *upload);
        *upload = (struct upload){mem_strdup(path), mem_strdup(url), size_bytes};
        vec_push(&starter->run.upload.list, upload);
    }
    mem_free(url);
    return url != NULL;
}

bool upload_has_destination(const struct starter *starter)
{
    return strstr(ad_string_or(starter->run.job, "TransferOutputRemaps", ""), "://") != NULL ||
           transfer_is_url(ad_string_or(starter->run.job, "OutputDestination", ""));
}

bool upload_is_needed(struct starter *starter)
{
    if (starter->run.end.evicted || starter->run.upload.step == UPLOADS_OVER ||
        !upload_has_destination(starter)) {
        return false;
    }
    if (starter->run.upload.step == UPLOADS_UNKNOWN) {
        output_collect(starter);
        starter->run.upload.step = UPLOADS_LISTED;
    }
    if (starter->run.upload.at == starter->run.upload.list.count) {
        starter->run.upload.step = UPLOADS_OVER;
        return false;
    }
    return true;
}

static void note_failure(struct starter *starter, const struct upload *upload, int subcode,
                         const char *what)
{
    char reason[900];
    if (starter->run.upload.hold == NULL) {
        (void)snprintf(reason, sizeof reason,
                       "Transfer output files failure at execution point %.100s. Details: URL "
                       "%.300s: %.400s",
                       ad_string_or(starter->run.record, "SlotName", ""), upload->url, what);
        starter->run.upload.hold = ad_create();
        ad_set_string(starter->run.upload.hold, "HoldReason", reason);
        ad_set_int(starter->run.upload.hold, "HoldReasonCode", HOLD_OUTPUT);
        ad_set_int(starter->run.upload.hold, "HoldReasonSubCode", subcode);
    }
    starter->run.upload.at++;
    starter->run.urls.tries = 0;
}

static void upload_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    const struct upload *upload = starter->run.upload.list.items[starter->run.upload.at];
    char what[500];
    (void)pid;
    starter->run.process.pid = -1;
    if (starter->run.phase != STARTER_RUN) {
        return;
    }
    if (starter->run.stop.how != RUNS_ON) {
        job_run_give_up(starter, "");
        return;
    }
    if (job_end_is_machines(starter, how)) {
        return;
    }
    if (how->signal == 0 && how->status == 0) {
        log_info(starter->env.log, "output.uploaded", upload->url,
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("bytes", upload->size_bytes));
        starter->run.bytes.sent += upload->size_bytes;
        starter->run.upload.at++;
        starter->run.urls.tries = 0;
    } else {
        url_program_message(starter, how, what, sizeof what);
        log_warn(starter->env.log, "output.not_uploaded", what,
                 LOG_TEXT("job", starter->run.job_id), LOG_TEXT("url", upload->url),
                 LOG_INT("status", how->status));
        if (++starter->run.urls.tries >= STARTER_URL_TRIES_MAX ||
            url_program_is_hopeless(starter, how)) {
            note_failure(starter, upload, how->status > 0 ? how->status : 1, what);
        }
    }
    url_program_tidy(starter);
    job_run_wake(starter, WAKE_OVER);
}

bool upload_next(struct starter *starter)
{
    const struct upload *upload = starter->run.upload.list.items[starter->run.upload.at];
    struct err err;
    if (starter->run.stop.how != RUNS_ON) {
        job_run_give_up(starter, "");
        return true;
    }
    int rc = url_program_run(starter, URL_UPLOAD, upload->url, upload->path, upload_ended, &err);
    if (job_run_tries_again(starter, rc, err.text, WAKE_OVER)) {
        starter->run.process.pid = -1;
        return true;
    }
    if (err_is_shortage(rc)) {
        starter->run.process.pid = -1;
        job_run_blame_machine(starter, err.text);
        return true;
    }
    if (rc < 0) {
        starter->run.process.pid = -1;
        note_failure(starter, upload, rc == -ENOTSUP ? 0 : -rc, err.text);
    }
    return rc >= 0;
}
