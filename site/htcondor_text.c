/* site/htcondor_text.c - see htcondor_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/htcondor_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"

#define RETIREMENT_S 300 /* a job that runs so much longer than its lifetime is removed */

/* ---- condor_q -------------------------------------------------------------------------------- */

/* Values of JobStatus. */
enum { IDLE = 1, RUNNING, REMOVED, COMPLETED, HELD, TRANSFERRING_OUTPUT, SUSPENDED };

static enum batch_life life_of(int64_t status)
{
    switch (status) {
    case RUNNING:
    case TRANSFERRING_OUTPUT:
    case SUSPENDED:
        return BATCH_RUNNING;
    case HELD:
        return BATCH_HELD;
    case REMOVED:
    case COMPLETED:
        return BATCH_ENDED;
    default:
        return BATCH_QUEUED;
    }
}

static void set_reason(const json_t *job, int64_t status, struct batch_task *ret)
{
    const char *text = json_string_value(json_object_get(job, "HoldReason"));
    text = status == HELD        ? (text != NULL ? text : "no reason is known")
           : status == REMOVED   ? "removed"
           : status == COMPLETED ? "completed"
                                 : "";
    (void)snprintf(ret->reason, sizeof(ret->reason), "%.*s", (int)sizeof(ret->reason) - 1, text);
    for (char *at = ret->reason; *at != '\0'; at++) {
        *at = (char)(*at > 0 && *at < ' ' ? ' ' : *at);
    }
}

int htcondor_text_jobs(const char *json, size_t length,
                       void (*each)(void *arg, const struct batch_task *task), void *arg,
                       struct err *err)
{
    size_t at = 0;
    while (at < length && (text_is_blank(json[at]) || json[at] == '\n')) {
        at++;
    }
    if (at == length) {
        return 0;
    }
    json_t *list = json_loadb(json, length, JSON_REJECT_DUPLICATES, NULL);
    int rc = json_is_array(list) ? 0 : -EPROTO;
    size_t i;
    json_t *job;
    json_array_foreach(list, i, job)
    {
        struct batch_task task = {.leaves = false};
        const json_t *cluster = json_object_get(job, "ClusterId");
        const json_t *proc = json_object_get(job, "ProcId");
        const json_t *status = json_object_get(job, "JobStatus");
        const char *name = json_string_value(json_object_get(job, "RoostGlidein"));
        if (!json_is_integer(cluster) || !json_is_integer(proc) || !json_is_integer(status) ||
            json_integer_value(cluster) <= 0 || json_integer_value(proc) < 0) {
            rc = -EPROTO;
            break;
        }
        if (name != NULL && site_request_is_name(name, strlen(name), true)) {
            (void)snprintf(task.name, sizeof(task.name), "%s", name);
            (void)snprintf(task.id, sizeof(task.id), "%" PRId64 ".%" PRId64,
                           (int64_t)json_integer_value(cluster), (int64_t)json_integer_value(proc));
            task.life = life_of(json_integer_value(status));
            set_reason(job, json_integer_value(status), &task);
            each(arg, &task);
        }
    }
    json_decref(list);
    return rc == 0 ? 0 : err_set(err, rc, "not a complete listing of jobs: '%.60s'", json);
}

/* ---- condor_submit --------------------------------------------------------------------------- */

enum site_result htcondor_text_refusal(const char *complaint)
{
    static const char *const REFUSES[] = {"MAX_JOBS", "would exceed", "not authorized",
                                          "accounting group"};
    static const char *const WRONG[] = {"Parse error", "xecutable file", "nvalid", "not a valid",
                                        "syntax"};
    if (batch_text_contains(complaint, REFUSES, ARRAY_COUNT(REFUSES))) {
        return SITE_REFUSES;
    }
    return batch_text_contains(complaint, WRONG, ARRAY_COUNT(WRONG)) ? SITE_WRONG : SITE_FAILS;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= 0 && *text < ' ') {
            return false;
        }
    }
    return true;
}

int htcondor_text_extra(const char *const *words, size_t count, struct err *err)
{
    static const char *const KNOWN[] = {
        "accounting_group_user", "concurrency_limits", "nice_user",   "priority", "rank",
        "request_disk",          "request_gpus",       "require_gpus"};
    for (size_t i = 0; i < count; i++) {
        char name[64];
        size_t length = strcspn(words[i], "=");
        if (words[i][length] == '\0' || length == 0 || length >= sizeof(name) ||
            !is_plain(words[i])) {
            return err_set(err, -EINVAL, "extra: '%s' is not of the form name=value", words[i]);
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)length, words[i]);
        bool attribute = name[0] == '+' && name[1] != '\0' &&
                         strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_") == strlen(name + 1) &&
                         !text_equal_nocase(name + 1, "RoostGlidein");
        if (!attribute && !batch_text_is_one_of(name, KNOWN, ARRAY_COUNT(KNOWN))) {
            return err_set(err, -EINVAL,
                           "extra: '%s' is not a command that a site may give to condor_submit",
                           name);
        }
    }
    return 0;
}

/* Appends a text of a submit description, in which $ begins a macro. */
static void put_text(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '$') {
            strbuf_puts(out, "$(DOLLAR)");
        } else {
            strbuf_append(out, text, 1);
        }
    }
}

/* Appends a word of `arguments`: quotes are doubled. */
static void put_argument(struct strbuf *out, const char *word)
{
    strbuf_puts(out, " '");
    for (; *word != '\0'; word++) {
        char one[2] = {*word, '\0'};
        put_text(out, one);
        if (*word == '\'' || *word == '"') {
            strbuf_append(out, word, 1);
        }
    }
    strbuf_puts(out, "'");
}

static void put_line(struct strbuf *out, const char *name, const char *text)
{
    strbuf_printf(out, "%s = ", name);
    put_text(out, text);
    strbuf_puts(out, "\n");
}

void htcondor_text_description(const struct htcondor_submission *submission, struct strbuf *out)
{
    const struct batch_array *array = submission->array;
    const struct site_request *request = array->request;
    const char *directory = submission->directory;
    put_line(out, "universe", "vanilla");
    put_line(out, "executable", array->pilot);
    strbuf_puts(out, "arguments = \" '--token' '");
    if (!submission->transfer) {
        put_text(out, directory);
        strbuf_puts(out, "/");
    }
    strbuf_printf(out, "%s.$(Number).token' '--name' '%s.$(Number)'", request->batch,
                  request->batch);
    for (size_t i = 0; i < request->argument_count; i++) {
        put_argument(out, request->arguments[i]);
    }
    strbuf_puts(out, "\"\n");
    put_line(out, "initialdir", directory);
    put_line(out, "should_transfer_files", submission->transfer ? "YES" : "NO");
    put_line(out, "transfer_executable", submission->transfer ? "true" : "false");
    if (submission->transfer) {
        put_line(out, "when_to_transfer_output", "ON_EXIT");
        strbuf_printf(out, "transfer_input_files = %s.$(Number).token\n", request->batch);
        put_line(out, "transfer_output_files", "\"\"");
    }
    strbuf_printf(out,
                  "output = %s.$(Number).out\n"
                  "error = %s.$(Number).out\n"
                  "stream_output = true\n"
                  "stream_error = true\n"
                  "getenv = false\n"
                  "notification = never\n"
                  "My.RoostGlidein = \"%s.$(Number)\"\n"
                  "batch_name = %s\n"
                  "request_cpus = %" PRId64 "\n"
                  "request_memory = %" PRId64 "\n",
                  request->batch, request->batch, request->batch, request->batch, request->cpus,
                  request->memory_mib);
    /* A glidein is started once. */
    strbuf_printf(out,
                  "periodic_remove = (JobStatus == 2 && time() - EnteredCurrentStatus > %" PRId64
                  ") || (JobStatus == 1 && NumJobStarts > 0)\n"
                  "requirements = (MY.NumJobStarts =?= 0 || MY.NumJobStarts =?= undefined)",
                  request->lifetime_s + RETIREMENT_S);
    if (submission->requirements != NULL) {
        strbuf_puts(out, " && (");
        put_text(out, submission->requirements);
        strbuf_puts(out, ")");
    }
    strbuf_puts(out, "\n");
    if (submission->accounting_group != NULL) {
        put_line(out, "accounting_group", submission->accounting_group);
    }
    for (size_t i = 0; i < submission->extra_count; i++) {
        put_text(out, submission->extra[i]);
        strbuf_puts(out, "\n");
    }
    strbuf_puts(out, "queue Number from (\n");
    for (size_t i = 0; i < array->count; i++) {
        strbuf_printf(out, "%" PRId64 "\n", array->offset + array->numbers[i]);
    }
    strbuf_puts(out, ")\n");
}
