/* site/site_slurm.c - the type `slurm`: glideins are tasks of job arrays.
 *
 * The programs sbatch, squeue and scancel are called, which know where their cluster is.  A batch
 * is an array of its name, or several where Slurm allows no such long arrays, so that squeue tells
 * the names of glideins also after a lost answer.  A secret is in a file NAME.token in the site's
 * directory, which the nodes must see, too; job scripts and environments can be read by others.
 *
 * A file NAME.token is removed when its glidein has ended, or is not listed although it was
 * submitted long ago: a controller that is slow may have a submission whose answer we did not see.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "site/site.h"
#include "site/site_common.h"
#include "site/site_programs.h"
#include "site/site_types.h"
#include "site/slurm_text.h"

#define ENV             "/usr/bin/env" /* finds Slurm's programs in PATH */
#define ARRAY_MAX       1000           /* where scontrol does not tell MaxArraySize */
#define SETTLE_S        30             /* until a submission without an answer is listed */
#define TOKEN_KEPT_S    3600           /* of a glidein that is not listed */
#define OUTPUT_KEPT_S   ((int64_t)7 * 86400)
#define LOG_BYTES       ((size_t)64 << 10)
#define REMOVE_AT_ONCE  5000 /* words of one scancel */
#define SECONDS_PER_MIN 60

/* Options that are given to sbatch as they are. */
static const char *const PASSED[] = {"account",    "partition", "qos", "reservation",
                                     "constraint", "licenses",  "gres"};

static const char *const OPTIONS[] = {"account",   "partition", "qos",  "reservation", "constraint",
                                      "licenses",  "gres",      "time", "array_max",   "extra",
                                      "directory", "pilot",     NULL};

struct slurm {
    char *directory;
    struct vec extra;  /* char *: more words for sbatch */
    int64_t array_max; /* most tasks of an array; 0: not known yet */
};

/* ---- programs -------------------------------------------------------------------------------- */

static void push_word(struct vec *words, const char *format, const char *value)
{
    struct strbuf word;
    strbuf_init(&word, 0);
    strbuf_puts(&word, format);
    strbuf_puts(&word, value);
    vec_push(words, strbuf_take(&word));
}

/* Runs a program of these words, which are freed, to its end. */
static void run_words(const struct site *site, struct vec *words, const char *input, size_t length,
                      struct site_program *ret)
{
    vec_push(words, NULL);
    *ret = (struct site_program){.argv = (const char *const *)words->items,
                                 .steps = {{.text = input, .length = length}},
                                 .step_count = 1};
    site_programs_run(site->loop, site->os, ret, 1, 1, site->end_ms);
    ret->argv = NULL;
    vec_fini(words, mem_free);
}

static void begin_words(struct vec *words, const char *program)
{
    *words = (struct vec){0};
    vec_push(words, mem_strdup(ENV));
    vec_push(words, mem_strdup(program));
}

/* What it means that a program did not succeed. */
static enum site_result failure_of(const struct site_program *program, const char *name,
                                   struct err *err)
{
    char why[SITE_COMPLAINT_MAX + 64];
    bool ran = program->end == SITE_ENDED && program->how.signal == 0 &&
               program->how.status != 126 &&
               program->how.status != 127; /* env found no such program */
    site_program_why(program, why, sizeof(why));
    (void)err_set(err, -EIO, "%s: %s", name, why);
    return ran ? slurm_text_refusal(program->complaint) : SITE_FAILS;
}

static void task_free(void *item)
{
    mem_free(item);
}

/* Lists all glideins of the site: a struct slurm_task under the name of each. */
static enum site_result list_tasks(const struct site *site, struct strmap *tasks, struct err *err)
{
    struct site_program program;
    struct vec words;
    char uid[32];
    (void)snprintf(uid, sizeof(uid), "%u", (unsigned)os_uid(site->os));
    begin_words(&words, "squeue");
    vec_push(&words, mem_strdup("--noheader"));
    vec_push(&words, mem_strdup("--array"));
    vec_push(&words, mem_strdup("--states=all"));
    push_word(&words, "--user=", uid);
    push_word(&words, "--Format=", SLURM_TEXT_FORMAT);
    run_words(site, &words, "", 0, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        (void)failure_of(&program, "squeue", err);
        result = SITE_FAILS;
    }
    const char *at = strbuf_text(&program.out);
    struct slurm_task task;
    for (int got; result == SITE_DONE && (got = slurm_text_task(&at, &task)) != 0;) {
        if (got > 0 && site_is_ours(site, task.name)) {
            struct slurm_task *known = strmap_get(tasks, task.name);
            if (known == NULL) {
                (void)strmap_set(tasks, task.name, mem_dup(&task, sizeof(task)));
            } else if (known->life == SLURM_ENDED) {
                *known = task;
            }
        }
    }
    site_program_fini(&program);
    return result;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *file_of(const struct site *site, const char *name, const char *kind)
{
    const struct slurm *slurm = site->own;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s%s", slurm->directory, name, kind);
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
    char *path = file_of(site, file, "");
    if (site_is_ours(site, name) && (is_token || strcmp(dot, ".out") == 0) &&
        os_stat(site->os, path, &stat) == 0) {
        const struct slurm_task *task = strmap_get(sweep->tasks, name);
        int64_t age_s = loop_wall_s(site->loop) - stat.mtime_s;
        if (task == NULL ? age_s > (is_token ? TOKEN_KEPT_S : OUTPUT_KEPT_S)
                         : is_token && task->life == SLURM_ENDED) {
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
    char *path = file_of(site, name, ".token");
    int rc = remove ? os_remove(site->os, path, err)
                    : os_write_file(site->os, path, request->secret, strlen(request->secret), 0600,
                                    false, err);
    mem_free(path);
    return rc;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int set_directory(struct site *site, struct err *err)
{
    struct slurm *slurm = site->own;
    const char *option = site_option(site, "directory", os_getenv(site->os, "ROOST_SITE_DIR"));
    const char *home = os_getenv(site->os, "HOME");
    struct strbuf path;
    strbuf_init(&path, 0);
    if (option != NULL) {
        strbuf_puts(&path, option);
    } else {
        strbuf_printf(&path, "%s/.roost-site", home != NULL ? home : "");
    }
    slurm->directory = strbuf_take(&path);
    if (slurm->directory[0] != '/') {
        return err_set(err, -EINVAL, "directory = '%s': the path must begin with '/'",
                       slurm->directory);
    }
    int rc = os_mkdirs(site->os, slurm->directory, 0700, err);
    return rc == 0 ? os_chmod(site->os, slurm->directory, 0700, err) : rc;
}

static int set_extra(struct site *site, struct err *err)
{
    struct slurm *slurm = site->own;
    const char *extra = site_option(site, "extra", "");
    int rc = shell_words_parse(extra, strlen(extra), &slurm->extra, err);
    if (rc != 0) {
        return err_prefix(err, rc, "extra");
    }
    for (size_t i = 0; rc == 0 && i < slurm->extra.count; i++) {
        rc = slurm_text_extra(slurm->extra.items[i], err);
    }
    return rc;
}

static enum site_result slurm_begin(struct site *site, json_t *answer, struct err *err)
{
    struct slurm *slurm = site->own = mem_zalloc(sizeof(*slurm));
    for (size_t i = 0; i < ARRAY_COUNT(PASSED); i++) {
        const char *value = site_option(site, PASSED[i], NULL);
        if (value != NULL && value[0] == '\0') {
            (void)err_set(err, -EINVAL, "%s = '': leave the option out instead", PASSED[i]);
            return SITE_WRONG;
        }
    }
    CHECK(json_object_set_new(answer, "settle", json_integer(SETTLE_S)) == 0);
    return set_directory(site, err) == 0 && set_extra(site, err) == 0 &&
                   site_option_number(site, "array_max", 1, SITE_COUNT_MAX, 0, &slurm->array_max,
                                      err) == 0
               ? SITE_DONE
               : SITE_WRONG;
}

static void slurm_end(struct site *site)
{
    struct slurm *slurm = site->own;
    if (slurm != NULL) {
        vec_fini(&slurm->extra, mem_free);
        mem_free(slurm->directory);
        mem_free(slurm);
        site->own = NULL;
    }
}

/* ---- submit ---------------------------------------------------------------------------------- */

/* Numbers of tasks are below MaxArraySize; ours begin with 1. */
static void ask_array_max(const struct site *site)
{
    struct slurm *slurm = site->own;
    struct site_program program;
    struct vec words;
    if (slurm->array_max != 0) {
        return;
    }
    begin_words(&words, "scontrol");
    vec_push(&words, mem_strdup("show"));
    vec_push(&words, mem_strdup("config"));
    run_words(site, &words, "", 0, &program);
    int64_t most = slurm_text_array_max(strbuf_text(&program.out));
    if (site_program_succeeded(&program)) {
        slurm->array_max = most > 1 ? most - 1 : ARRAY_MAX;
    }
    site_program_fini(&program);
}

static void push_number(struct vec *words, const char *option, int64_t number)
{
    char text[TEXT_DECIMAL_MAX + 2];
    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    push_word(words, option, text);
}

static void sbatch_words(const struct site *site, const struct site_request *request,
                         const char *name, const char *ranges, struct vec *words)
{
    const struct slurm *slurm = site->own;
    char minutes[TEXT_DECIMAL_MAX + 2];
    (void)snprintf(minutes, sizeof(minutes), "%" PRId64,
                   (request->lifetime_s + SECONDS_PER_MIN - 1) / SECONDS_PER_MIN);
    begin_words(words, "sbatch");
    vec_push(words, mem_strdup("--parsable"));
    vec_push(words, mem_strdup("--no-requeue"));
    vec_push(words, mem_strdup("--export=NONE"));
    vec_push(words, mem_strdup("--output=/dev/null"));
    vec_push(words, mem_strdup("--nodes=1"));
    vec_push(words, mem_strdup("--ntasks=1"));
    push_word(words, "--array=", ranges);
    push_word(words, "--job-name=", name);
    push_word(words, "--chdir=", slurm->directory);
    push_number(words, "--cpus-per-task=", request->cpus);
    push_number(words, "--mem=", request->memory_mib);
    push_word(words, "--time=", site_option(site, "time", minutes));
    for (size_t i = 0; i < ARRAY_COUNT(PASSED); i++) {
        const char *value = site_option(site, PASSED[i], NULL);
        if (value != NULL) {
            struct strbuf option;
            strbuf_init(&option, 0);
            strbuf_printf(&option, "--%s=", PASSED[i]);
            push_word(words, strbuf_text(&option), value);
            strbuf_fini(&option);
        }
    }
    for (size_t i = 0; i < slurm->extra.count; i++) {
        vec_push(words, mem_strdup(slurm->extra.items[i]));
    }
}

/* Submits the tasks with these numbers within an array. */
static enum site_result submit_array(const struct site *site, const struct site_request *request,
                                     int64_t offset, const int64_t *numbers, size_t count,
                                     struct err *err)
{
    const struct slurm *slurm = site->own;
    const char *pilot = site_option(site, "pilot", request->pilot);
    char name[SITE_NAME_MAX + 1];
    struct strbuf ranges, script;
    struct site_program program;
    struct vec words;
    for (size_t i = 0; i < count; i++) {
        if (write_secret(site, request, offset + numbers[i], false, err) != 0) {
            return SITE_FAILS;
        }
    }
    strbuf_init(&ranges, 0);
    strbuf_init(&script, SITE_LINE_MAX);
    slurm_text_array_name(request->batch, offset, name);
    slurm_text_ranges(numbers, count, &ranges);
    slurm_text_script(request, pilot, slurm->directory, offset, &script);
    sbatch_words(site, request, name, strbuf_text(&ranges), &words);
    run_words(site, &words, strbuf_text(&script), script.length, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        result = failure_of(&program, "sbatch", err);
    }
    for (size_t i = 0; (result == SITE_REFUSES || result == SITE_WRONG) && i < count; i++) {
        (void)write_secret(site, request, offset + numbers[i], true,
                           NULL); /* else a look does it */
    }
    site_program_fini(&program);
    strbuf_fini(&script);
    strbuf_fini(&ranges);
    return result;
}

/* Submits what is not listed yet.  *taken: how many the site has then, for certain. */
static enum site_result submit_missing(const struct site *site, const struct site_request *request,
                                       const struct strmap *tasks, int64_t *taken, struct err *err)
{
    const struct slurm *slurm = site->own;
    int64_t most = slurm->array_max != 0 ? slurm->array_max : ARRAY_MAX;
    int64_t *numbers = mem_alloc((size_t)most * sizeof(*numbers));
    enum site_result result = SITE_DONE;
    *taken = 0;
    for (int64_t offset = 0; result == SITE_DONE && offset < request->count; offset += most) {
        size_t count = 0;
        for (int64_t k = 1; k <= most && offset + k <= request->count; k++) {
            char name[SITE_NAME_MAX + 16];
            (void)snprintf(name, sizeof(name), "%s.%lld", request->batch, (long long)(offset + k));
            if (strmap_get(tasks, name) != NULL) {
                ++*taken;
            } else {
                numbers[count++] = k;
            }
        }
        if (count > 0) {
            result = submit_array(site, request, offset, numbers, count, err);
            *taken += result == SITE_DONE ? (int64_t)count : 0;
        }
    }
    mem_free(numbers);
    return result;
}

static enum site_result slurm_submit(struct site *site, const struct site_request *request,
                                     json_t *answer, struct err *err)
{
    struct strmap *tasks = strmap_create(STRMAP_CASE_SENSITIVE);
    int64_t taken = 0;
    if (site_option(site, "pilot", request->pilot)[0] != '/') {
        (void)err_set(err, -EINVAL, "pilot '%s': the path must begin with '/'",
                      site_option(site, "pilot", request->pilot));
        strmap_destroy(tasks, NULL);
        return SITE_WRONG;
    }
    enum site_result result = list_tasks(site, tasks, err);
    if (result == SITE_DONE) {
        ask_array_max(site);
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

static enum site_result slurm_look(struct site *site, json_t *answer, struct err *err)
{
    static const char *const STATES[] = {[SLURM_QUEUED] = "queued",
                                         [SLURM_HELD] = "held",
                                         [SLURM_RUNNING] = "running",
                                         [SLURM_ENDED] = "ended"};
    const struct slurm *slurm = site->own;
    struct strmap *tasks = strmap_create(STRMAP_CASE_SENSITIVE);
    json_t *list = json_array();
    enum site_result result = list_tasks(site, tasks, err);
    void *value;
    for (size_t at = 0; strmap_next(tasks, &at, NULL, &value);) {
        const struct slurm_task *task = value;
        site_add_glidein(list, task->name, STATES[task->life], task->id,
                         task->reason[0] != '\0' ? task->reason : NULL);
    }
    if (result == SITE_DONE) {
        struct sweep sweep = {.site = site, .tasks = tasks};
        (void)os_list(site->os, slurm->directory, sweep_file, &sweep, NULL); /* housekeeping */
    }
    CHECK(json_object_set_new(answer, "glideins", list) == 0);
    CHECK(json_object_set_new(answer, "complete", json_true()) == 0);
    strmap_destroy(tasks, task_free);
    return result;
}

/* Cancels those of the names that have not ended.  Returns whether all scancels succeeded. */
static bool cancel(const struct site *site, const struct site_request *request,
                   const struct strmap *tasks)
{
    size_t at = 0;
    bool good = true;
    while (at < request->name_count) {
        struct site_program program;
        struct vec words;
        size_t count = 0;
        begin_words(&words, "scancel");
        for (; at < request->name_count && count < REMOVE_AT_ONCE; at++) {
            const struct slurm_task *task = strmap_get(tasks, request->names[at]);
            if (task != NULL && task->life != SLURM_ENDED) {
                vec_push(&words, mem_strdup(task->id));
                count++;
            }
        }
        if (count == 0) {
            vec_fini(&words, mem_free);
            break;
        }
        run_words(site, &words, "", 0, &program);
        good = good && site_program_succeeded(&program);
        site_program_fini(&program);
    }
    return good;
}

static enum site_result slurm_remove(struct site *site, const struct site_request *request,
                                     json_t *answer, struct err *err)
{
    struct strmap *tasks = strmap_create(STRMAP_CASE_SENSITIVE);
    json_t *removed = json_array();
    enum site_result result = list_tasks(site, tasks, err);
    bool all = result == SITE_DONE && cancel(site, request, tasks);
    if (result == SITE_DONE && !all) { /* which ones are still there? */
        strmap_destroy(tasks, task_free);
        tasks = strmap_create(STRMAP_CASE_SENSITIVE);
        result = list_tasks(site, tasks, err);
    }
    for (size_t i = 0; i < request->name_count; i++) {
        const struct slurm_task *task = strmap_get(tasks, request->names[i]);
        if (all || task == NULL || task->life == SLURM_ENDED) {
            CHECK(json_array_append_new(removed, json_string(request->names[i])) == 0);
            char *token = file_of(site, request->names[i], ".token");
            (void)os_remove(site->os, token, NULL); /* else a look does it */
            mem_free(token);
        }
    }
    CHECK(json_object_set_new(answer, "removed", removed) == 0);
    strmap_destroy(tasks, task_free);
    return result;
}

static enum site_result slurm_log(struct site *site, const char *name, char **text, struct err *err)
{
    struct os_file *file = NULL;
    char *path = file_of(site, name, ".out");
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

const struct site_type site_slurm = {.name = "slurm",
                                     .options = OPTIONS,
                                     .begin = slurm_begin,
                                     .submit = slurm_submit,
                                     .look = slurm_look,
                                     .remove = slurm_remove,
                                     .log = slurm_log,
                                     .end = slurm_end};
