/* site/site_batch.c - sites that are batch systems: what Slurm, Grid Engine and HTCondor
 * share.
 *
 * What is listed already is not submitted again, long batches are cut, each task gets a file
 * NAME.token of mode 0600 in the site's directory, because job scripts and environments can be read
 * by others, and the files of glideins that are gone are removed.
 *
 * A file NAME.token is removed when its glidein has ended, or is not listed although it was
 * submitted long ago: a batch system that is slow may have a submission whose answer we did not
 * see.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "site/batch_common.h"
#include "site/site.h"
#include "site/site_common.h"
#include "site/site_programs.h"
#include "site/site_types.h"

#define SETTLE_S       30   /* until a submission without an answer is listed */
#define TOKEN_KEPT_S   3600 /* of a glidein that is not listed */
#define OUTPUT_KEPT_S  ((int64_t)7 * 86400)
#define LOG_BYTES      ((size_t)64 << 10)
#define REMOVE_AT_ONCE 5000 /* words of one program that cancels */

/* ---- tasks ----------------------------------------------------------------------------------- */

static void task_free(void *item)
{
    mem_free(item);
}

static enum site_result list_tasks(const struct site *site, struct strmap **ret, struct err *err)
{
    const struct batch_site *batch = site->own;
    *ret = strmap_create(STRMAP_CASE_SENSITIVE);
    return batch->kind->list(site, *ret, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *batch_file(const struct site *site, const char *name, const char *ending)
{
    const struct batch_site *batch = site->own;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s%s", batch->directory, name, ending);
    return strbuf_take(&path);
}

struct sweep {
    const struct site *site;
    const struct strmap *tasks;
};

static void sweep_file(void *arg, const char *file)
{
    const struct sweep *sweep = arg;
    const struct site *site = sweep->site;
    const char *dot = strrchr(file, '.');
    struct os_stat stat;
    if (dot == NULL) {
        return;
    }
    bool is_token = strcmp(dot, ".token") == 0;
    char *name = mem_strndup(file, (size_t)(dot - file));
    char *path = batch_file(site, file, "");
    if (site_is_ours(site, name) && (is_token || strcmp(dot, ".out") == 0) &&
        os_stat(site->os, path, &stat) == 0) {
        const struct batch_task *task = strmap_get(sweep->tasks, name);
        int64_t age_s = loop_wall_s(site->loop) - stat.mtime_s;
        if (task == NULL ? age_s > (is_token ? TOKEN_KEPT_S : OUTPUT_KEPT_S)
                         : is_token && task->life == BATCH_ENDED) {
            (void)os_remove(site->os, path, NULL); /* the next look tries again */
        }
    }
    mem_free(path);
    mem_free(name);
}

/* Writes the file with the secret of a glidein; or removes the file. */
static int write_secret(const struct site *site, const struct site_request *request, int64_t number,
                        bool remove, struct err *err)
{
    char name[SITE_NAME_MAX + 16];
    (void)snprintf(name, sizeof(name), "%s.%lld", request->batch, (long long)number);
    char *path = batch_file(site, name, ".token");
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s", site_request_ticket(request, name), request->secret);
    int rc = remove ? os_remove(site->os, path, err)
                    : os_write_file(site->os, path, text.data, text.length, 0600, false, err);
    secret_wipe(text.data, text.length);
    strbuf_fini(&text);
    mem_free(path);
    return rc;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int set_directory(struct site *site, struct err *err)
{
    struct batch_site *batch = site->own;
    const char *option = site_option(site, "directory", os_getenv(site->os, "ROOST_SITE_DIR"));
    const char *home = os_getenv(site->os, "HOME");
    struct strbuf path;
    strbuf_init(&path, 0);
    if (option != NULL) {
        strbuf_puts(&path, option);
    } else {
        strbuf_printf(&path, "%s/.roost-site", home != NULL ? home : "");
    }
    batch->directory = strbuf_take(&path);
    if (batch->directory[0] != '/') {
        return err_set(err, -EINVAL, "directory = '%s': the path must begin with '/'",
                       batch->directory);
    }
    int rc = os_mkdirs(site->os, batch->directory, 0700, err);
    return rc == 0 ? os_chmod(site->os, batch->directory, 0700, err) : rc;
}

static int set_extra(struct site *site, struct err *err)
{
    struct batch_site *batch = site->own;
    const char *extra = site_option(site, "extra", "");
    int rc = shell_words_parse(extra, strlen(extra), &batch->extra, err);
    if (rc != 0) {
        return err_prefix(err, rc, "extra");
    }
    return batch->kind->check_extra((const char *const *)batch->extra.items, batch->extra.count,
                                    err);
}

static enum site_result begin_kind(struct site *site, const struct batch_kind *kind, json_t *answer,
                                   struct err *err)
{
    struct batch_site *batch = site->own = mem_zalloc(sizeof(*batch));
    batch->kind = kind;
    for (size_t i = 0; kind->passed[i] != NULL; i++) {
        const char *value = site_option(site, kind->passed[i], NULL);
        if (value != NULL && value[0] == '\0') {
            (void)err_set(err, -EINVAL, "%s = '': leave the option out instead", kind->passed[i]);
            return SITE_WRONG;
        }
    }
    CHECK(json_object_set_new(answer, "settle", json_integer(SETTLE_S)) == 0);
    if (set_directory(site, err) != 0 || set_extra(site, err) != 0 ||
        site_option_number(site, "array_max", 1, SITE_COUNT_MAX, 0, &batch->array_max, err) != 0) {
        return SITE_WRONG;
    }
    return kind->check != NULL ? kind->check(site, err) : SITE_DONE;
}

static void batch_end(struct site *site)
{
    struct batch_site *batch = site->own;
    if (batch != NULL) {
        vec_fini(&batch->extra, mem_free);
        mem_free(batch->directory);
        mem_free(batch);
        site->own = NULL;
    }
}

/* ---- submit ---------------------------------------------------------------------------------- */

/* Submits the tasks of an array, with their secrets. */
static enum site_result submit_array(const struct site *site, const struct batch_array *array,
                                     struct err *err)
{
    const struct batch_site *batch = site->own;
    for (size_t i = 0; i < array->count; i++) {
        if (write_secret(site, array->request, array->offset + array->numbers[i], false, err) !=
            0) {
            return SITE_FAILS;
        }
    }
    enum site_result result = batch->kind->submit(site, array, err);
    for (size_t i = 0; (result == SITE_REFUSES || result == SITE_WRONG) && i < array->count; i++) {
        (void)write_secret(site, array->request, array->offset + array->numbers[i], true,
                           NULL); /* else a look does it */
    }
    return result;
}

/* Submits these tasks, as several arrays where an array is one range. */
static enum site_result submit_numbers(const struct site *site, const struct batch_array *all,
                                       int64_t *taken, struct err *err)
{
    const struct batch_site *batch = site->own;
    enum site_result result = SITE_DONE;
    for (size_t at = 0; result == SITE_DONE && at < all->count;) {
        struct batch_array array = *all;
        array.numbers += at;
        array.count = all->count - at;
        for (size_t i = 1; batch->kind->one_range && i < array.count; i++) {
            if (array.numbers[i] != array.numbers[i - 1] + 1) {
                array.count = i;
            }
        }
        result = submit_array(site, &array, err);
        *taken += result == SITE_DONE ? (int64_t)array.count : 0;
        at += array.count;
    }
    return result;
}

/* Submits what is not listed yet.  *taken: how many the site has then, for certain. */
static enum site_result submit_missing(const struct site *site, const struct site_request *request,
                                       const struct strmap *tasks, int64_t *taken, struct err *err)
{
    const struct batch_site *batch = site->own;
    int64_t most = batch->array_max != 0 ? batch->array_max : BATCH_ARRAY_MAX;
    int64_t *numbers = mem_alloc((size_t)most * sizeof(*numbers));
    struct batch_array array = {
        .request = request,
        .pilot = site_option(site, "pilot", request->pilot),
    };
    enum site_result result = SITE_DONE;
    *taken = 0;
    for (; result == SITE_DONE && array.offset < request->count; array.offset += most) {
        array.numbers = numbers;
        array.count = 0;
        for (int64_t k = 1; k <= most && array.offset + k <= request->count; k++) {
            char name[SITE_NAME_MAX + 16];
            (void)snprintf(name, sizeof(name), "%s.%lld", request->batch,
                           (long long)(array.offset + k));
            if (strmap_get(tasks, name) != NULL) {
                ++*taken;
            } else {
                numbers[array.count++] = k;
            }
        }
        result = submit_numbers(site, &array, taken, err);
    }
    mem_free(numbers);
    return result;
}

static enum site_result batch_submit(struct site *site, const struct site_request *request,
                                     json_t *answer, struct err *err)
{
    struct batch_site *batch = site->own;
    struct strmap *tasks = NULL;
    int64_t taken = 0;
    if (site_option(site, "pilot", request->pilot)[0] != '/') {
        (void)err_set(err, -EINVAL, "pilot '%s': the path must begin with '/'",
                      site_option(site, "pilot", request->pilot));
        return SITE_WRONG;
    }
    enum site_result result = list_tasks(site, &tasks, err);
    if (result == SITE_DONE) {
        batch->array_max = batch->array_max != 0 ? batch->array_max : batch->kind->array_max(site);
        result = submit_missing(site, request, tasks, &taken, err);
    }
    if (result == SITE_REFUSES && taken > 0) {
        result = SITE_DONE; /* the rest will be refused when it is asked for again */
    }
    CHECK(json_object_set_new(answer, "taken", json_integer(taken)) == 0);
    strmap_destroy(tasks, task_free);
    return result;
}

/* ---- look, remove, log ----------------------------------------------------------------------- */

static enum site_result batch_look(struct site *site, json_t *answer, struct err *err)
{
    static const char *const STATES[] = {[BATCH_QUEUED] = "queued",
                                         [BATCH_HELD] = "held",
                                         [BATCH_RUNNING] = "running",
                                         [BATCH_ENDED] = "ended"};
    const struct batch_site *batch = site->own;
    struct strmap *tasks = NULL;
    json_t *list = json_array();
    enum site_result result = list_tasks(site, &tasks, err);
    void *value;
    for (size_t at = 0; strmap_next(tasks, &at, NULL, &value);) {
        const struct batch_task *task = value;
        site_add_glidein(list, task->name, STATES[task->life], task->id,
                         task->reason[0] != '\0' ? task->reason : NULL);
    }
    if (result == SITE_DONE) {
        struct sweep sweep = {.site = site, .tasks = tasks};
        (void)os_list(site->os, batch->directory, sweep_file, &sweep, NULL); /* housekeeping */
    }
    CHECK(json_object_set_new(answer, "glideins", list) == 0);
    CHECK(json_object_set_new(answer, "complete", json_true()) == 0);
    strmap_destroy(tasks, task_free);
    return result;
}

/* Cancels these tasks.  Returns whether all programs succeeded. */
static bool cancel_tasks(const struct site *site, const struct batch_task *const *tasks,
                         size_t count)
{
    const struct batch_site *batch = site->own;
    bool good = true;
    for (size_t at = 0; at < count;) {
        struct site_program program;
        struct vec words;
        batch->kind->cancel(site, &words);
        for (size_t i = 0; at < count && i < REMOVE_AT_ONCE; i++, at++) {
            vec_push(&words, mem_strdup(tasks[at]->id));
        }
        batch_words_run(site, &words, "", 0, &program);
        good = good && site_program_succeeded(&program);
        site_program_fini(&program);
    }
    return good;
}

/* Cancels those of the names that have not ended.  Returns whether that succeeded. */
static bool cancel_names(const struct site *site, const struct site_request *request,
                         const struct strmap *tasks)
{
    const struct batch_site *batch = site->own;
    const struct batch_task **fresh = mem_alloc((request->name_count + 1) * sizeof(*fresh));
    const struct batch_task **again = mem_alloc((request->name_count + 1) * sizeof(*again));
    size_t fresh_count = 0, again_count = 0;
    for (size_t i = 0; i < request->name_count; i++) {
        const struct batch_task *task = strmap_get(tasks, request->names[i]);
        if (task == NULL || task->life == BATCH_ENDED) {
            continue;
        }
        if (task->leaves) {
            again[again_count++] = task;
        } else {
            fresh[fresh_count++] = task;
        }
    }
    bool good = cancel_tasks(site, fresh, fresh_count);
    if (again_count > 0 && batch->kind->cancel_again != NULL) {
        batch->kind->cancel_again(site, again, again_count);
    }
    mem_free((void *)fresh);
    mem_free((void *)again);
    return good;
}

static enum site_result batch_remove(struct site *site, const struct site_request *request,
                                     json_t *answer, struct err *err)
{
    struct strmap *tasks = NULL;
    json_t *removed = json_array();
    enum site_result result = list_tasks(site, &tasks, err);
    bool all = result == SITE_DONE && cancel_names(site, request, tasks);
    if (result == SITE_DONE && !all) { /* which ones are still there? */
        strmap_destroy(tasks, task_free);
        result = list_tasks(site, &tasks, err);
    }
    for (size_t i = 0; result == SITE_DONE && i < request->name_count; i++) {
        const struct batch_task *task = strmap_get(tasks, request->names[i]);
        if (all || task == NULL || task->leaves || task->life == BATCH_ENDED) {
            CHECK(json_array_append_new(removed, json_string(request->names[i])) == 0);
            char *token = batch_file(site, request->names[i], ".token");
            (void)os_remove(site->os, token, NULL); /* else a look does it */
            mem_free(token);
        }
    }
    CHECK(json_object_set_new(answer, "removed", removed) == 0);
    strmap_destroy(tasks, task_free);
    return result;
}

static enum site_result batch_log(struct site *site, const char *name, char **text, struct err *err)
{
    struct os_file *file = NULL;
    char *path = batch_file(site, name, ".out");
    int rc = os_file_open(site->os, path, OS_READ, 0, &file, err);
    mem_free(path);
    if (rc != 0) {
        return rc == -ENOENT ? SITE_REFUSES : SITE_FAILS;
    }
    int64_t size = os_file_size(file);
    uint64_t begin = size > (int64_t)LOG_BYTES ? (uint64_t)size - LOG_BYTES : 0;
    *text = mem_zalloc(LOG_BYTES + 1);
    ssize_t got = os_file_read(file, begin, *text, LOG_BYTES);
    os_file_close(file);
    if (got < 0) {
        (void)err_set(err, (int)got, "%s.out: %s", name, err_code_text((int)got));
        return SITE_FAILS;
    }
    for (ssize_t i = 0; i < got; i++) {
        (*text)[i] = (char)((*text)[i] == '\0' ? '?' : (*text)[i]);
    }
    return SITE_DONE;
}

/* ---- the types ------------------------------------------------------------------------------- */

#define BATCH_TYPE(kind)                                                                     \
    static enum site_result kind##_begin(struct site *site, json_t *answer, struct err *err) \
    {                                                                                        \
        return begin_kind(site, &batch_##kind, answer, err);                                 \
    }                                                                                        \
    const struct site_type site_##kind = {.name = #kind,                                     \
                                          .options = batch_##kind##_options,                 \
                                          .begin = kind##_begin,                             \
                                          .submit = batch_submit,                            \
                                          .look = batch_look,                                \
                                          .remove = batch_remove,                            \
                                          .log = batch_log,                                  \
                                          .end = batch_end}

BATCH_TYPE(slurm);
BATCH_TYPE(gridengine);
BATCH_TYPE(htcondor);
