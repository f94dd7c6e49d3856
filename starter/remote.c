/* starter/remote.c - jobs whose files stay at their submit machine.
 *
 * Such a job runs below `roost-rsys-mount` (rsyscall_fuse/), "the mount", which shows it only what
 * its shadow offers: program, directory and standard files are the submit machine's, and nothing is
 * transferred.  The mount runs in the job's cage and as its account; the job runs in further
 * namespaces inside.  Its /tmp is a directory of the sandbox, unless it names files in the submit
 * machine's /tmp.
 *
 * The files that tell the mount what to do (the ticket, the job's environment) are written before
 * the sandbox belongs to the account.  The mount's own messages go to a file that the job does not
 * see; so they tell whether the mount or the job ended, whatever the exit status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/job/job_end.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/remote_words_plan.h"
#include "starter/ckpt/resume.h"
#include "starter/starter.h"
#include "wire/remote_attrs.h"
#include "wire/remote_ticket.h"

#define TICKET      REMOTE_FILES "/ticket"
#define SERVER      REMOTE_FILES "/server" /* since a schedd was started again: at another port */
#define SERVER_NEW  REMOTE_FILES "/server.new"
#define ENVIRONMENT REMOTE_FILES "/environment"
#define LOG         REMOTE_FILES "/log"
#define SCRATCH     "tmp"

#define HOLD_NOT_STARTED 6 /* HTCondor's number */

/* ---- what the mount is told ------------------------------------------------------------------ */

static char *in_sandbox(const struct starter *starter, const char *name)
{
    char path[4096];
    return mem_strdup(job_run_path(starter, name, path, sizeof path));
}

/* Writes a file that only the account can read. */
static int put_file(struct starter *starter, const char *name, const void *data, size_t length,
                    struct err *err)
{
    char *path = in_sandbox(starter, name);
    int rc = os_rewrite_file(starter->env.os, path, data, length, 0600, err);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_chown(starter->env.os, path, starter->run.account.uid, starter->run.account.gid,
                      err);
    }
    mem_free(path);
    return rc;
}

static int put_environment(struct starter *starter, struct err *err)
{
    struct vec entries = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    int rc = job_place_environment(starter, &entries, err);
    for (size_t i = 0; i < entries.count && rc == 0; i++) {
        const char *entry = entries.items[i];
        strbuf_append(&text, entry, strlen(entry) + 1);
    }
    rc = rc != 0 ? rc : put_file(starter, ENVIRONMENT, strbuf_text(&text), text.length, err);
    strbuf_fini(&text);
    vec_fini(&entries, mem_free);
    return rc;
}

static int make_directory(struct starter *starter, const char *name, struct err *err)
{
    struct os *os = starter->env.os;
    char *path = in_sandbox(starter, name);
    int rc = os_mkdirs(os, path, 0700, err);
    if (rc == 0 && starter->run.account.change_user) {
        rc = os_chown(os, path, starter->run.account.uid, starter->run.account.gid, err);
    }
    mem_free(path);
    return rc;
}

/* Writes the file with the shadow's new address.  The sandbox belongs to the account by now and may
 * be full of links. */
static int put_server(struct starter *starter, struct err *err)
{
    const char *address = ad_string_or(starter->run.record, "ShadowAddress", "");
    const char *root = starter->run.directory;
    struct os *os = starter->env.os;
    struct os_file *file = NULL;
    (void)os_below_remove(os, root, "sandbox/" SERVER_NEW, NULL);
    int rc = os_below_open(os, root, "sandbox/" SERVER_NEW, OS_WRITE_NEW, 0644, &file, err);
    if (rc != 0) {
        return rc;
    }
    rc = os_file_write(file, 0, address, strlen(address));
    os_file_close(file);
    return rc != 0 ? err_set(err, rc, "%s: %s", SERVER_NEW, err_code_text(rc))
                   : os_below_rename(os, root, "sandbox/" SERVER_NEW, root, "sandbox/" SERVER, err);
}

void remote_moved(struct starter *starter)
{
    struct err err;
    if (starter->run.phase == STARTER_RUN && job_run_is_remote(starter) &&
        put_server(starter, &err) != 0) {
        log_warn(starter->env.log, "remote.moved", err.text, LOG_TEXT("job", starter->run.job_id));
    }
}

int remote_prepare(struct starter *starter, struct err *err)
{
    char ticket[REMOTE_TICKET_SIZE];
    if (!job_run_is_remote(starter)) {
        return 0;
    }
    if (job_run_is_wrapped(starter) &&
        (!ad_bool_or(starter->run.job, REMOTE_WRAPPED, false) ||
         !ad_bool_or(job_run_slot(starter), REMOTE_HAS_WRAPPERS, false))) {
        return err_set(err, -EOPNOTSUPP,
                       "this machine has no file system for the job, and the job's program was not "
                       "linked with roost-compile --remote");
    }
    remote_ticket(starter->run.nonce.text, ticket);
    int rc = make_directory(starter, REMOTE_FILES, err);
    rc = rc != 0 ? rc : put_file(starter, TICKET, ticket, strlen(ticket), err);
    rc = rc != 0 ? rc : put_environment(starter, err);
    return rc != 0 ? rc : make_directory(starter, SCRATCH, err);
}

/* ---- its words ------------------------------------------------------------------------------- */

static void add_option(struct vec *words, const char *option, const char *value)
{
    vec_push(words, mem_strdup(option));
    vec_push(words, mem_strdup(value));
}

static void add_path(const struct starter *starter, struct vec *words, const char *option,
                     const char *name)
{
    vec_push(words, mem_strdup(option));
    vec_push(words, in_sandbox(starter, name));
}

/* Adds options for a job whose calls are wrapped: they go to a socket (a "door"), which is in /tmp
 * because its name could be too long in the sandbox. */
static void wrap_words(struct starter *starter, struct vec *words)
{
    struct strbuf door;
    strbuf_init(&door, 0);
    strbuf_printf(&door, "/tmp/.roost-rsys-%s-%d", starter->run.job_id,
                  (int)os_pid(starter->env.os));
    add_option(words, "--wrap", config_path(starter->env.config, "RSYS_WRAP_LIBRARY"));
    vec_push(words, mem_strdup("--fetch"));
    add_option(words, "--door", strbuf_text(&door));
    add_path(starter, words, "--scratch", SCRATCH);
    if (remote_words_plan_names_tmp(starter->run.job)) {
        add_path(starter, words, "--local", SCRATCH);
    }
    strbuf_fini(&door);
}

/* Hides processor features in the job's environment as the job asks for, not in the mount's. */
static void mask_words(struct starter *starter, struct vec *words)
{
    vec_push(words, mem_strdup(config_path(starter->env.config, "CKPT_PROGRAM")));
    vec_push(words, mem_strdup("mask"));
    vec_push(words, in_sandbox(starter, ENVIRONMENT));
    vec_push(words, mem_strdup("--"));
}

void remote_words(struct starter *starter, struct vec *argv)
{
    const struct config *config = starter->env.config;
    const struct ad *job = starter->run.job, *record = starter->run.record;
    struct vec words = {0};
    if (starter->run.ckpt.wanted && !resume_is_ready(starter)) { /* else it is in the image */
        mask_words(starter, &words);
    }
    vec_push(&words, mem_strdup(config_path(config, "RSYS_MOUNT_PROGRAM")));
    add_option(&words, "--server", ad_string_or(record, "ShadowAddress", ""));
    add_path(starter, &words, "--server-file", SERVER);
    add_option(&words, "--pin", ad_string_or(record, "ShadowPin", ""));
    vec_push(&words, mem_strdup("--route"));
    vec_push(&words, remote_words_plan_route(ad_string_or(record, "ShadowRoute", "")));
    add_path(starter, &words, "--ticket-file", TICKET);
    add_path(starter, &words, "--environment", ENVIRONMENT);
    if (job_run_is_wrapped(starter)) {
        wrap_words(starter, &words);
    } else if (!remote_words_plan_names_tmp(job)) {
        add_path(starter, &words, "--scratch", SCRATCH);
    }
    if (resume_is_ready(starter)) { /* what it has open is in the image */
        add_option(&words, "--image", argv->items[0]);
    } else {
        add_option(&words, "--cwd", ad_string_or(job, "Iwd", "/"));
        add_option(&words, "--stdin", ad_string_or(job, "In", "/dev/null"));
        add_option(&words, "--stdout", ad_string_or(job, "Out", "/dev/null"));
        add_option(&words, "--stderr", ad_string_or(job, "Err", "/dev/null"));
    }
    add_option(&words, "--filter", config_string(config, "JOB_SECCOMP"));
    if (ad_bool_or(job, REMOTE_NETWORK, false)) {
        vec_push(&words, mem_strdup("--network"));
    }
    vec_push(&words, mem_strdup("--"));
    for (size_t i = 0; i < argv->count; i++) {
        vec_push(&words, argv->items[i]);
    }
    vec_fini(argv, NULL);
    *argv = words;
}

/* Libraries that the job names are another machine's; the mount is a program of this one. */
void remote_environment(struct vec *entries)
{
    for (size_t i = entries->count; i > 0; i--) {
        char *entry = entries->items[i - 1];
        if (entry != NULL && strncmp(entry, "LD_", 3) == 0) {
            vec_remove_at(entries, i - 1);
            mem_free(entry);
        }
    }
}

char *remote_log(const struct starter *starter)
{
    return in_sandbox(starter, LOG);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* Reads the mount's last message; "" if there is none. */
static void read_said(const struct starter *starter, char *ret, size_t size)
{
    struct os_file *file = NULL;
    char text[4096];
    ssize_t length = 0;
    const char *name =
        resume_is_ready(starter) ? STARTER_CKPT_DIRECTORY "/resume.log" : "sandbox/" LOG;
    if (os_below_open(starter->env.os, starter->run.directory, name, OS_READ, 0, &file, NULL) ==
        0) {
        length = os_file_read(file, 0, text, sizeof text - 1);
        os_file_close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    remote_words_plan_said(text, ret, size);
}

static void give_up(struct starter *starter, const char *why)
{
    log_warn(starter->env.log, "remote.failed", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("status", starter->run.process.exit.status),
             LOG_INT("signal", starter->run.process.exit.signal));
    job_run_give_up(starter, why);
}

bool remote_failed(struct starter *starter)
{
    const struct os_exit *how = &starter->run.process.exit;
    char why[300], reason[500];
    if (!job_run_is_remote(starter) || how->signal != 0) {
        return false;
    }
    read_said(starter, why, sizeof why);
    enum remote_end end = remote_words_plan_end(how->status, how->signal, why);
    if (end == REMOTE_END_AGAIN) {
        give_up(starter, why);
    } else if (end == REMOTE_END_REFUSED) {
        (void)snprintf(reason, sizeof reason, "Error from %.100s: at its submit machine: %s",
                       ad_string_or(starter->run.record, "SlotName", ""), why);
        log_warn(starter->env.log, "remote.failed", why, LOG_TEXT("job", starter->run.job_id),
                 LOG_INT("status", how->status));
        job_end_still(starter);
        job_run_hold(starter, HOLD_NOT_STARTED, 0, reason);
    }
    return end != REMOTE_END_JOBS;
}

bool remote_was_killed(struct starter *starter)
{
    const struct os_exit *how = &starter->run.process.exit;
    char why[300];
    if (!job_run_is_remote(starter) || job_run_is_wrapped(starter) || how->signal == 0) {
        return false; /* one that is wrapped shares its standard error */
    }
    read_said(starter, why, sizeof why);
    if (remote_words_plan_end(how->status, how->signal, why) != REMOTE_END_AGAIN) {
        return false;
    }
    (void)snprintf(why, sizeof why, "roost-rsys-mount was killed by signal %d", how->signal);
    job_end_still(starter);
    give_up(starter, why);
    return true;
}
