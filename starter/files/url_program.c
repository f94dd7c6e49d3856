/* starter/files/url_program.c - runs programs that transfer URLs: curl, and the plug-ins of the
 * machine.
 *
 * They run in the job's cage and as its account: a program that talks to a stranger's server must
 * not have more rights than the job.  One at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/files/url_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "transfer/transfer_plugins.h"

#define MESSAGES "_condor_fetch_messages"
#define REQUESTS "_condor_fetch_requests"
#define ANSWERS  "_condor_fetch_answers"

#define CURL_NO_URL   3  /* curl's: that is no URL */
#define CURL_REFUSED  22 /* the server says no */
#define CURL_PUT_FAIL 25 /* it does not take it */

/* Reads the last size - 1 bytes of a file, through base/os/os_below.h because the account may have
 * put anything in its place. */
static void read_message(struct starter *starter, const char *name, char *ret, size_t size)
{
    struct os_file *file = NULL;
    ret[0] = '\0';
    if (os_below_open(starter->env.os, starter->run.sandbox, name, OS_READ, 0, &file, NULL) != 0) {
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

void url_program_tidy(struct starter *starter)
{
    static const char *const NAMES[] = {MESSAGES, REQUESTS, ANSWERS};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        /* left: it goes with the sandbox */
        (void)os_below_remove(starter->env.os, starter->run.sandbox, NAMES[i], NULL);
    }
}

void url_program_message(struct starter *starter, const struct os_exit *how, char *ret, size_t size)
{
    read_message(starter, MESSAGES, ret, size);
    if (ret[0] == '\0') {
        (void)snprintf(ret, size, "exit status %d, signal %d", how->status, how->signal);
    }
}

bool url_program_is_hopeless(const struct starter *starter, const struct os_exit *how)
{
    return starter->run.urls.is_curls &&
           (how->status == CURL_NO_URL || how->status == CURL_REFUSED ||
            how->status == CURL_PUT_FAIL);
}

/* Writes the request for a plug-in that can take several files at once.  It gets only one, so that
 * a failure concerns only that one. */
static int write_request(struct starter *starter, const char *url, const char *path,
                         struct err *err)
{
    struct os_file *file = NULL;
    struct ad *ad = ad_create();
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_set_string(ad, "LocalFileName", path);
    ad_set_string(ad, "Url", url);
    ad_print(ad, &text);
    strbuf_putc(&text, '\n');
    ad_destroy(ad);
    (void)os_below_remove(starter->env.os, starter->run.sandbox, REQUESTS, NULL); /* an older one */
    int rc = os_below_open(starter->env.os, starter->run.sandbox, REQUESTS, OS_WRITE_NEW, 0644,
                           &file, err);
    rc = rc != 0 ? rc : os_file_write(file, 0, strbuf_text(&text), text.length);
    os_file_close(file);
    strbuf_fini(&text);
    return rc;
}

#define WORDS_MAX 24

static int spawn_program(struct starter *starter, const char *const *argv, os_exit_f on_exit,
                         struct err *err)
{
    char messages[4096];
    struct vec entries = {0};
    int rc = job_place_environment(starter, &entries, err);
    vec_push(&entries, NULL);
    if (rc == 0) {
        job_run_path(starter, MESSAGES, messages, sizeof messages);
        struct os_spawn spec = job_place_spec(starter);
        spec.argv = argv;
        spec.env = (const char *const *)entries.items;
        spec.cwd = starter->run.sandbox;
        spec.stdout_path = spec.stderr_path = messages;
        spec.truncate_output = true;
        spec.kin = OS_SUBREAPER_JOB;
        rc = cage_spawn(starter, &spec, on_exit, &starter->run.process.pid, err);
    }
    vec_fini(&entries, mem_free);
    return rc;
}

static void plugins_ready(void *arg)
{
    struct starter *starter = arg;
    job_run_wake(starter, starter->run.script == SCRIPT_OVER ? WAKE_OVER : WAKE_GO);
}

/* Returns whether it is known which plug-in supports which URLs; asks if not. */
static bool ask_plugins(struct starter *starter)
{
    const struct config *config = starter->env.config;
    if (starter->run.urls.plugins == NULL) {
        char scratch[4096];
        (void)snprintf(scratch, sizeof scratch, "%s/plugin.answer", starter->run.directory);
        const struct transfer_plugins_options options = {
            .loop = starter->env.loop,
            .os = starter->env.os,
            .log = starter->env.log,
            .paths = config_list(config, "FILETRANSFER_PLUGINS", NULL),
            .curl = config_string(config, "FILETRANSFER_CURL"),
            .scratch = scratch,
            .ready = plugins_ready,
            .arg = starter,
        };
        starter->run.urls.plugins = transfer_plugins_create(&options);
    }
    return transfer_plugins_are_known(starter->run.urls.plugins);
}

static size_t curl_words(const char **words, const char *curl, enum url_program_way way,
                         const char *url, const char *path)
{
    static const char *const COMMON[] = {"-fsSL",
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
                                         "2"};
    size_t count = 0;
    words[count++] = curl;
    for (size_t i = 0; i < ARRAY_COUNT(COMMON); i++) {
        words[count++] = COMMON[i];
    }
    if (way == URL_UPLOAD) {
        words[count++] = "--ftp-create-dirs";
        words[count++] = "-T";
        words[count++] = path;
        path = "/dev/null"; /* for what the server has to say */
    }
    words[count++] = "-o";
    words[count++] = path;
    words[count++] = "--url";
    words[count++] = url;
    return count;
}

int url_program_run(struct starter *starter, enum url_program_way way, const char *url,
                    const char *name, os_exit_f on_exit, struct err *err)
{
    char path[4096], requests[4096], answers[4096];
    const char *words[WORDS_MAX] = {NULL};
    struct transfer_plugin plugin;
    size_t count = 0;
    int rc = 0;
    if (!ask_plugins(starter)) {
        return 1;
    }
    if (!transfer_plugins_find(starter->run.urls.plugins, url, &plugin)) {
        return err_set(err, -ENOTSUP,
                       "no file transfer plug-in of this machine supports this kind of URL");
    }
    job_run_path(starter, name, path, sizeof path);
    job_run_path(starter, REQUESTS, requests, sizeof requests);
    job_run_path(starter, ANSWERS, answers, sizeof answers);
    words[count++] = plugin.path;
    if (plugin.is_curl) {
        count = curl_words(words, plugin.path, way, url, path);
    } else if (plugin.takes_several) {
        rc = write_request(starter, url, path, err);
        words[count++] = "-infile";
        words[count++] = requests;
        words[count++] = "-outfile";
        words[count++] = answers;
        words[count++] = way == URL_UPLOAD ? "-upload" : NULL;
    } else { /* from, to */
        words[count++] = way == URL_UPLOAD ? path : url;
        words[count++] = way == URL_UPLOAD ? url : path;
    }
    CHECK(count < WORDS_MAX);
    starter->run.urls.is_curls = plugin.is_curl;
    rc = rc != 0 ? rc : spawn_program(starter, words, on_exit, err);
    return rc == -ENOTSUP ? -EPROTONOSUPPORT : rc; /* of its cage: not for want of a plug-in */
}
