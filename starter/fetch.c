/* starter/fetch.c - inputs that are URLs, fetched by curl or a plug-in.
 *
 * In the job's cage and as its account, before anything else of it runs: a program that talks to a
 * stranger's server is not to have more rights than the job.  One at a time; one that fails is
 * tried again, then the job is held as for any other input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/starter.h"
#include "transfer/transfer_plugins.h"
#include "wire/wire.h"

#define HOLD_INPUT    13 /* HTCondor's */
#define TRIES_MAX     3
#define MESSAGES      "_condor_fetch_messages"
#define REQUESTS      "_condor_fetch_requests"
#define ANSWERS       "_condor_fetch_answers"
#define MESSAGE_BYTES ((size_t)16 << 10)

static struct starter_input *next_url(struct starter *starter)
{
    for (; starter->url_at < starter->inputs.count; starter->url_at++) {
        struct starter_input *input = starter->inputs.items[starter->url_at];
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

/* ---- what a program said ---- */

/* Through base/os_below.h: the account may have made of it what it likes.  At most size - 1 bytes
 * from the end. */
static void read_message(struct starter *starter, const char *name, char *ret, size_t size)
{
    struct os_file *file = NULL;
    ret[0] = '\0';
    if (os_below_open(starter->env.os, starter->sandbox, name, OS_READ, 0, &file, NULL) != 0) {
        return;
    }
    int64_t length = os_file_size(file);
    int64_t from = length > (int64_t)size - 1 ? length - (int64_t)size + 1 : 0;
    ssize_t got = os_file_read(file, (uint64_t)from, ret, size - 1);
    ret[got > 0 ? got : 0] = '\0';
    os_file_close(file);
    for (char *at = ret; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    }
    for (size_t end = strlen(ret); end > 0 && ret[end - 1] == ' '; end--) {
        ret[end - 1] = '\0';
    }
}

static void remove_messages(struct starter *starter)
{
    static const char *const NAMES[] = {MESSAGES, REQUESTS, ANSWERS};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        /* left: it goes with the sandbox */
        (void)os_below_remove(starter->env.os, starter->sandbox, NAMES[i], NULL);
    }
}

static void hold(struct starter *starter, const struct starter_input *input, int subcode,
                 const char *what)
{
    char reason[900];
    (void)snprintf(reason, sizeof reason,
                   "Transfer input files failure at execution point %.100s. Details: URL %.300s: "
                   "%.400s",
                   ad_string_or(starter->record, "SlotName", ""), input->url, what);
    remove_messages(starter);
    job_hold_before(starter, HOLD_INPUT, subcode, reason);
}

/* ---- one of them ---- */

static int finish(struct starter *starter, struct starter_input *input)
{
    struct os_stat stat;
    struct os *os = starter->env.os;
    int rc = os_below_stat(os, starter->sandbox, input->name, &stat);
    if (rc == 0 && !stat.is_file) {
        rc = -EINVAL;
    }
    if (rc == 0 && (input->mode & 0111) != 0) {
        rc = os_below_chmod(os, starter->sandbox, input->name, stat.mode | 0111, NULL);
    }
    if (rc == 0) {
        input->size_bytes = stat.size_bytes;
        input->mtime_s = stat.mtime_s;
        starter->received_bytes += stat.size_bytes;
    }
    return rc;
}

static void fetched(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    (void)pid;
    starter->pid = 0;
    if (starter->phase != STARTER_RUN) {
        return;
    }
    if (starter->stopping) {
        starter->pid = -1;
        starter_give_up(starter, "");
        return;
    }
    struct starter_input *input = starter->inputs.items[starter->url_at];
    char what[500];
    int rc = how->signal == 0 && how->status == 0 ? finish(starter, input) : -EIO;
    if (rc == 0) {
        log_info(starter->env.log, "input.fetched", input->url, LOG_TEXT("job", starter->job_id),
                 LOG_INT("bytes", input->size_bytes));
        starter->url_at++;
        starter->url_tries = 0;
        remove_messages(starter);
        starter_go(starter);
        return;
    }
    read_message(starter, MESSAGES, what, sizeof what);
    if (what[0] == '\0') {
        (void)snprintf(what, sizeof what, "exit status %d, signal %d", how->status, how->signal);
    }
    log_warn(starter->env.log, "input.not_fetched", what, LOG_TEXT("job", starter->job_id),
             LOG_TEXT("url", input->url), LOG_INT("status", how->status));
    /* 3 and 22 are curl's for a URL that is none, and a server that says no. */
    bool hopeless = starter->url_is_curls && (how->status == 3 || how->status == 22);
    if (++starter->url_tries < TRIES_MAX && !hopeless) {
        starter_go(starter);
    } else {
        hold(starter, input, how->status > 0 ? how->status : 1, what);
    }
}

/* A plug-in that takes several at once is given one: it is tried again by itself. */
static int write_request(struct starter *starter, const struct starter_input *input,
                         const char *path, struct err *err)
{
    struct os_file *file = NULL;
    struct ad *ad = ad_create();
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_set_string(ad, "LocalFileName", path);
    ad_set_string(ad, "Url", input->url);
    ad_print(ad, &text);
    strbuf_putc(&text, '\n');
    ad_destroy(ad);
    (void)os_below_remove(starter->env.os, starter->sandbox, REQUESTS, NULL); /* an older one */
    int rc =
        os_below_open(starter->env.os, starter->sandbox, REQUESTS, OS_WRITE_NEW, 0644, &file, err);
    rc = rc != 0 ? rc : os_file_write(file, 0, strbuf_text(&text), text.length);
    os_file_close(file);
    strbuf_fini(&text);
    return rc;
}

static void run(struct starter *starter, const struct starter_input *input,
                const struct transfer_plugin *plugin)
{
    char path[4096], messages[4096], requests[4096], answers[4096];
    struct vec entries = {0};
    struct err err = {{0}};
    starter_path(starter, input->name, path, sizeof path);
    starter_path(starter, MESSAGES, messages, sizeof messages);
    starter_path(starter, REQUESTS, requests, sizeof requests);
    starter_path(starter, ANSWERS, answers, sizeof answers);
    const char *const by_curl[] = {plugin->path,
                                   "-fsSL",
                                   "--globoff",
                                   "--proto",
                                   "=http,https,ftp",
                                   "--connect-timeout",
                                   "30",
                                   "--speed-time",
                                   "60",
                                   "--speed-limit",
                                   "1",
                                   "--retry",
                                   "2",
                                   "-o",
                                   path,
                                   "--url",
                                   input->url,
                                   NULL};
    const char *const by_one[] = {plugin->path, input->url, path, NULL};
    const char *const by_several[] = {plugin->path, "-infile", requests, "-outfile", answers, NULL};
    int rc = job_environment(starter, &entries, &err);
    vec_push(&entries, NULL);
    if (rc == 0 && plugin->takes_several) {
        rc = write_request(starter, input, path, &err);
    }
    if (rc == 0) {
        const struct os_spawn spec = {
            .argv = plugin->is_curl         ? by_curl
                    : plugin->takes_several ? by_several
                                            : by_one,
            .env = (const char *const *)entries.items,
            .cwd = starter->sandbox,
            .stdout_path = messages,
            .stderr_path = messages,
            .truncate_output = true,
            .new_session = true,
            .no_new_privs = true,
            .change_user = starter->change_user,
            .uid = starter->uid,
            .gid = starter->gid,
            .subreaper_job = true,
        };
        starter->url_is_curls = plugin->is_curl;
        rc = cage_spawn(starter, &spec, fetched, &starter->pid, &err);
    }
    vec_fini(&entries, mem_free);
    if (rc != 0) {
        starter->pid = -1;
        hold(starter, input, -rc, err.text);
    }
}

static void plugins_ready(void *arg)
{
    starter_go(arg);
}

void fetch_next(struct starter *starter)
{
    const struct config *config = starter->env.config;
    const struct starter_input *input = next_url(starter);
    struct transfer_plugin plugin;
    if (starter->plugins == NULL) {
        char scratch[4096];
        (void)snprintf(scratch, sizeof scratch, "%s/plugin.answer", starter->directory);
        starter->plugins =
            transfer_plugins_create(starter->env.os,
                                    config_list(config, "FILETRANSFER_PLUGINS", NULL),
                                    config_string(config, "FILETRANSFER_CURL"), scratch,
                                    plugins_ready, starter);
    }
    if (!transfer_plugins_are_known(starter->plugins)) {
        return; /* plugins_ready() comes back here */
    }
    if (!transfer_plugins_find(starter->plugins, input->url, &plugin)) {
        hold(starter, input, 0, "no file transfer plug-in of this machine knows this kind of URL");
        return;
    }
    run(starter, input, &plugin);
}

void fetch_forget(struct starter *starter)
{
    transfer_plugins_destroy(starter->plugins);
    starter->plugins = NULL;
    starter->url_at = 0;
    starter->url_tries = 0;
}
