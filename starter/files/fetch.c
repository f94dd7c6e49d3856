/* starter/files/fetch.c - inputs that are URLs, fetched by curl or a plug-in.
 *
 * They are fetched in the job's cage and as its account, before anything else of the job runs: a
 * program that talks to a stranger's server must not have more rights than the job.  One at a time.
 * A fetch that fails is repeated; then the job is held, as for any other input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/os/os_below.h"
#include "classad/ad.h"
#include "starter/job/job_end.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "starter/files/url_program.h"
#include "starter/job/watch.h"
#include "transfer/transfer_plugins.h"

#define HOLD_INPUT 13 /* HTCondor's */

static struct starter_input *next_url(struct starter *starter)
{
    for (; starter->run.urls.at < starter->run.input.list.count; starter->run.urls.at++) {
        struct starter_input *input = starter->run.input.list.items[starter->run.urls.at];
        if (input->url != NULL) {
            return input;
        }
    }
    return NULL;
}

bool fetch_is_needed(struct starter *starter)
{
    return next_url(starter) != NULL;
}

static void hold_job(struct starter *starter, const struct starter_input *input, int subcode,
                     const char *what)
{
    char reason[900];
    (void)snprintf(reason, sizeof reason,
                   "Transfer input files failure at execution point %.100s. Details: URL %.300s: "
                   "%.400s",
                   ad_string_or(starter->run.record, "SlotName", ""), input->url, what);
    url_program_tidy(starter);
    job_run_hold(starter, HOLD_INPUT, subcode, reason);
}

/* ---- one of them ---- */

static int finish_input(struct starter *starter, struct starter_input *input)
{
    struct os_stat stat;
    struct os *os = starter->env.os;
    int rc = os_below_stat(os, starter->run.sandbox, input->name, &stat);
    if (rc == 0 && !stat.is_file) {
        rc = -EINVAL;
    }
    if (rc == 0 && (input->mode & 0111) != 0) {
        rc = os_below_chmod(os, starter->run.sandbox, input->name, stat.mode | 0111, NULL);
    }
    if (rc == 0) {
        input->size_bytes = stat.size_bytes;
        input->mtime_s = stat.mtime_s;
        starter->run.bytes.received += stat.size_bytes;
    }
    return rc;
}

static void fetch_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    (void)pid;
    starter->run.process.pid = 0;
    if (starter->run.phase != STARTER_RUN) {
        return;
    }
    if (starter->run.stop.how != RUNS_ON) {
        starter->run.process.pid = -1;
        job_run_give_up(starter, "");
        return;
    }
    watch_rest(starter);
    if (job_end_is_machines(starter, how)) {
        return;
    }
    if (starter->run.end.hold != NULL) {
        url_program_tidy(starter);
        job_end_held(starter);
        return;
    }
    struct starter_input *input = starter->run.input.list.items[starter->run.urls.at];
    char what[500];
    int rc = how->signal == 0 && how->status == 0 ? finish_input(starter, input) : -EIO;
    if (rc == 0) {
        log_info(starter->env.log, "input.fetched", input->url,
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("bytes", input->size_bytes));
        starter->run.urls.at++;
        starter->run.urls.tries = 0;
        url_program_tidy(starter);
        job_run_wake(starter, WAKE_GO);
        return;
    }
    url_program_message(starter, how, what, sizeof what);
    log_warn(starter->env.log, "input.not_fetched", what, LOG_TEXT("job", starter->run.job_id),
             LOG_TEXT("url", input->url), LOG_INT("status", how->status));
    if (++starter->run.urls.tries < STARTER_URL_TRIES_MAX &&
        !url_program_is_hopeless(starter, how)) {
        job_run_wake(starter, WAKE_GO);
    } else {
        hold_job(starter, input, how->status > 0 ? how->status : 1, what);
    }
}

void fetch_next(struct starter *starter)
{
    const struct starter_input *input = next_url(starter);
    struct err err;
    int rc = url_program_run(starter, URL_FETCH, input->url, input->name, fetch_ended, &err);
    if (job_run_tries_again(starter, rc, err.text, WAKE_GO)) {
        starter->run.process.pid = 0;
    } else if (err_is_shortage(rc)) {
        starter->run.process.pid = -1;
        job_run_blame_machine(starter, err.text);
    } else if (rc < 0) {
        starter->run.process.pid = -1;
        hold_job(starter, input, rc == -ENOTSUP ? 0 : -rc, err.text);
    } else if (starter->run.process.pid > 0) {
        watch_begin(starter);
    }
}

void fetch_forget(struct starter *starter)
{
    transfer_plugins_destroy(starter->run.urls.plugins);
    starter->run.urls.plugins = NULL;
    starter->run.urls.at = 0;
    starter->run.urls.tries = 0;
}
