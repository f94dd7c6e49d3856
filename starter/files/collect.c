/* starter/files/collect.c - chooses the files that go back to the submit host.
 *
 * The job has ended and the sandbox is ours again, but its contents are the job's: links are only
 * followed to something inside the sandbox, and everything is opened through base/os/os_below.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/file_digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "starter/live.h"
#include "starter/files/output.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "starter/files/upload.h"
#include "transfer/transfer_names.h"
#include "transfer/transfer_walk.h"

#define HOLD_OUTPUT 12 /* HTCondor's */

static void add_output(struct starter *starter, enum transfer_type type, const char *name,
                       const char *path, const struct os_stat *stat)
{
    if (type == TRANSFER_FILE && upload_takes(starter, name, path, stat->size_bytes)) {
        return;
    }
    struct transfer_entry *entry = transfer_entry_create(type, name, path);
    entry->mode = stat->mode & 0777;
    entry->size_bytes = stat->size_bytes;
    vec_push(&starter->run.output.list, entry);
}

static void add_up(struct starter *starter)
{
    starter->run.output.bytes = 0;
    for (size_t i = 0; i < starter->run.output.list.count; i++) {
        const struct transfer_entry *entry = starter->run.output.list.items[i];
        starter->run.output.bytes += entry->type == TRANSFER_FILE ? entry->size_bytes : 0;
    }
}

/* Finds the file to which a name leads, if it is in the sandbox. */
static bool find_file(struct starter *starter, const char *name, char real[TRANSFER_PATH_MAX + 1],
                      struct os_stat *stat)
{
    return transfer_resolve(starter->env.os, starter->run.sandbox, name, real,
                            TRANSFER_PATH_MAX + 1) == 0 &&
           os_below_stat(starter->env.os, starter->run.sandbox, real, stat) == 0 && stat->is_file;
}

static void add_stream(struct starter *starter, const char *name)
{
    struct os_stat stat;
    if (!live_is(starter, name) &&
        os_below_stat(starter->env.os, starter->run.sandbox, name, &stat) == 0 && stat.is_file) {
        add_output(starter, TRANSFER_FILE, name, name, &stat);
    }
}

/* ---- those that the job names */

/* The job is held for such a file when everything else has been sent. */
void output_cannot_be_read(const struct starter *starter, const char *name, int code,
                           const char *why, char *ret, size_t size)
{
    (void)snprintf(ret, size,
                   "Transfer output files failure at execution point %.100s while sending files to "
                   "the access point. Details: reading from file %.300s/%.300s: (errno %d) %.100s",
                   ad_string_or(starter->run.record, "SlotName", ""), starter->run.sandbox, name,
                   -code, why);
}

static void note_missing(struct starter *starter, const char *item, int code)
{
    char reason[900];
    log_warn(starter->env.log, "output.missing", item, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("code", code));
    if (starter->run.output.missing != NULL) {
        return;
    }
    const char *why = code == -EXDEV ? "The file is not in the job's sandbox"
                      : code == -E2BIG
                          ? "The directory is too deep or too large, or contains too long names"
                          : err_code_text(code);
    output_cannot_be_read(starter, item, code, why, reason, sizeof reason);
    starter->run.output.missing = ad_create();
    ad_set_string(starter->run.output.missing, "HoldReason", reason);
    ad_set_int(starter->run.output.missing, "HoldReasonCode", HOLD_OUTPUT);
    ad_set_int(starter->run.output.missing, "HoldReasonSubCode", -code);
}

/* Takes the files that go to a URL out of a directory's list.  A URL cannot receive a link, so the
 * file to which it leads is taken. */
static void leave_uploads(struct starter *starter, size_t first)
{
    struct vec *outputs = &starter->run.output.list;
    size_t kept = first;
    if (!upload_has_destination(starter)) {
        return;
    }
    for (size_t i = first; i < outputs->count; i++) {
        struct transfer_entry *entry = outputs->items[i];
        char real[TRANSFER_PATH_MAX + 1];
        struct os_stat stat;
        if (entry->type != TRANSFER_DIRECTORY && find_file(starter, entry->path, real, &stat) &&
            upload_takes(starter, entry->name, real, stat.size_bytes)) {
            transfer_entry_destroy(entry);
        } else {
            outputs->items[kept++] = entry;
        }
    }
    outputs->count = kept;
}

static void collect_item(struct starter *starter, const char *item)
{
    struct os *os = starter->env.os;
    char real[TRANSFER_PATH_MAX + 1];
    struct os_stat stat;
    const char *path = item;
    if (item[0] == '/') {
        path = transfer_path_below(item, starter->run.sandbox);
    }
    char *name = transfer_path_clean(item[0] == '/' ? transfer_last_name(item) : item);
    int rc = path == NULL || name == NULL || transfer_is_url(item) ? -EXDEV : 0;
    rc = rc != 0 ? rc : transfer_resolve(os, starter->run.sandbox, path, real, sizeof real);
    rc = rc != 0 ? rc : os_below_stat(os, starter->run.sandbox, real, &stat);
    struct err err = {{0}};
    if (rc == 0 && stat.is_file) {
        add_output(starter, TRANSFER_FILE, name, real, &stat);
    } else if (rc == 0 && stat.is_dir) {
        size_t left_out = 0;
        if (item[strlen(item) - 1] != '/') {
            add_output(starter, TRANSFER_DIRECTORY, name, real, &stat);
        }
        size_t first = starter->run.output.list.count;
        rc = transfer_walk(os, starter->run.sandbox, real, name, TRANSFER_LINKS_CONTAINED,
                           &starter->run.output.list, &left_out, &err);
        leave_uploads(starter, first);
        if (left_out > 0) {
            log_info(starter->env.log, "output.left_out", item,
                     LOG_TEXT("job", starter->run.job_id), LOG_INT("count", left_out));
        }
    } else if (rc == 0) {
        rc = -EINVAL;
    }
    if (rc != 0 && !starter->run.end.evicted) {
        note_missing(starter, item, rc);
    }
    mem_free(name);
}

/* ---- those that are new or changed */

struct collect {
    struct starter *starter;
    struct strmap *inputs; /* name -> struct starter_input */
    struct starter_file *files;
    size_t count, capacity;
};

/* Returns the time by which a file is judged as changed.  An input of the same size may have been
 * touched since the job began, perhaps in the same second: only its checksum can tell. */
static int64_t judged_mtime(struct collect *collect, const char *name, const char *path,
                            const struct os_stat *stat)
{
    const struct starter_input *input = strmap_get(collect->inputs, name);
    char checksum[DIGEST_HEX_SIZE];
    if (input == NULL || input->url != NULL || input->size_bytes != stat->size_bytes) {
        return stat->mtime_s;
    }
    const struct starter *starter = collect->starter;
    if (file_digest_below(starter->env.os, starter->run.sandbox, path, checksum, NULL) == 0 &&
        strcmp(checksum, input->checksum) == 0) {
        return input->mtime_s;
    }
    return input->mtime_s + 1;
}

static void collect_name(void *arg, const char *name)
{
    struct collect *collect = arg;
    char real[TRANSFER_PATH_MAX + 1];
    struct os_stat stat;
    if (!find_file(collect->starter, name, real, &stat)) {
        return;
    }
    if (collect->count == collect->capacity) {
        collect->capacity = collect->capacity == 0 ? 16 : collect->capacity * 2;
        collect->files = mem_realloc(collect->files, collect->capacity * sizeof *collect->files);
    }
    collect->files[collect->count++] =
        (struct starter_file){.name = mem_strdup(name),
                              .size_bytes = stat.size_bytes,
                              .mtime_s = judged_mtime(collect, name, real, &stat),
                              .is_file = true};
}

static void collect_new(struct starter *starter)
{
    struct collect collect = {.starter = starter, .inputs = strmap_create(STRMAP_CASE_SENSITIVE)};
    struct vec names = {0};
    struct err err;
    size_t before_count = 0;
    struct starter_file *before = mem_alloc((starter->run.input.list.count + 1) * sizeof *before);
    for (size_t i = 0; i < starter->run.input.list.count; i++) {
        struct starter_input *input = starter->run.input.list.items[i];
        if (input->type == TRANSFER_FILE && !input->is_spooled &&
            strchr(input->name, '/') == NULL) {
            (void)strmap_set(collect.inputs, input->name, input); /* one name, one file */
            before[before_count++] = (struct starter_file){.name = input->name,
                                                           .size_bytes = input->size_bytes,
                                                           .mtime_s = input->mtime_s,
                                                           .is_file = true};
        }
    }
    if (os_below_list(starter->env.os, starter->run.sandbox, "", collect_name, &collect, &err) !=
        0) {
        log_warn(starter->env.log, "output.list", err.text, LOG_TEXT("job", starter->run.job_id));
    }
    starter_plan_outputs(before, before_count, collect.files, collect.count, &names);
    for (size_t i = 0; i < names.count; i++) {
        char real[TRANSFER_PATH_MAX + 1];
        struct os_stat stat;
        if (find_file(starter, names.items[i], real, &stat)) {
            add_output(starter, TRANSFER_FILE, names.items[i], real, &stat);
        }
    }
    vec_fini(&names, mem_free);
    for (size_t i = 0; i < collect.count; i++) {
        mem_free((char *)collect.files[i].name);
    }
    mem_free(collect.files);
    mem_free(before);
    strmap_destroy(collect.inputs, NULL);
}

/* ---- all */

static bool is_success(const struct starter *starter)
{
    return starter->run.process.exit.signal == 0 &&
           starter->run.process.exit.status == ad_int_or(starter->run.job, "JobSuccessExitCode", 0);
}

bool output_is_spooled(const struct starter *starter)
{
    return !starter->run.ckpt.wanted && starter->run.stop.how != STOPS_AT_ONCE &&
           starter->run.stop.kind != STOP_REMOVED && starter->run.job != NULL &&
           text_equal_nocase(ad_string_or(starter->run.job, "WhenToTransferOutput", ""),
                             "ON_EXIT_OR_EVICT") &&
           !text_equal_nocase(ad_string_or(starter->run.job, "ShouldTransferFiles", "YES"), "NO");
}

static void collect_all(struct starter *starter)
{
    const struct ad *job = starter->run.job;
    const char *list = NULL;
    output_forget(starter);
    if (text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO")) {
        return;
    }
    if (!starter->run.end.evicted) {
        add_stream(starter, STARTER_STDOUT);
        add_stream(starter, STARTER_STDERR);
    }
    if (text_equal_nocase(ad_string_or(job, "WhenToTransferOutput", ""), "ON_SUCCESS") &&
        !is_success(starter)) {
        return;
    }
    if (ad_get_string(job, "TransferOutput", &list) != 0) {
        collect_new(starter);
        return;
    }
    for (char *item; (item = transfer_list_next(&list, ',')) != NULL; mem_free(item)) {
        if (item[0] != '\0') {
            collect_item(starter, item);
        }
    }
}

void output_collect(struct starter *starter)
{
    collect_all(starter);
    if (starter->run.output.missing == NULL && starter->run.upload.hold != NULL) {
        starter->run.output.missing = ad_copy(starter->run.upload.hold);
    }
    add_up(starter);
}
