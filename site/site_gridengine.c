/* site/site_gridengine.c - the type `gridengine`: glideins are tasks of array jobs.
 *
 * The programs qsub, qstat, qdel, qconf and qselect are called, which know their cell by SGE_ROOT
 * and SGE_CELL.  Only jobs of this account are listed: nobody else's can be removed, and nobody
 * else can make a glidein appear.
 *
 * A job is told by SIGUSR2 (-notify) that it will be killed.  The pilot knows SIGTERM; so the job
 * script waits for the pilot and passes the news on.
 *
 * Without h_rt many clusters give a job no time at all; with it Grid Engine ends a glidein that
 * does not end by itself, some minutes after its lifetime.
 *
 * Rejected: qacct, to tell how glideins have ended.  It reads the accounting file of the whole
 * cluster from its beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "site/batch_common.h"
#include "site/gridengine_text.h"
#include "site/site.h"
#include "site/site_common.h"
#include "site/site_programs.h"

#define RETIREMENT_S 300 /* h_rt is so much longer than the lifetime */
#define TROUBLES_MAX 20  /* jobs in error that are asked for their reasons in a look */

static const char *const PASSED[] = {"pe", "queue", "project", "l", "time", "memory", NULL};

const char *const batch_gridengine_options[] = {"pe",        "queue",  "project",   "l",
                                                "time",      "memory", "array_max", "extra",
                                                "directory", "pilot",  NULL};

/* Runs a program of Grid Engine with the words that are given, ended by NULL.  Returns whether it
 * succeeded; else err says why. */
static bool ask_cluster(const struct site *site, const char *const *words,
                        struct site_program *program, struct err *err)
{
    struct vec list;
    batch_words_begin(&list, words[0]);
    for (size_t i = 1; words[i] != NULL; i++) {
        vec_push(&list, mem_strdup(words[i]));
    }
    batch_words_run(site, &list, "", 0, program);
    if (!site_program_succeeded(program)) {
        (void)batch_why(program, words[0], err);
        return false;
    }
    return true;
}

/* ---- listing --------------------------------------------------------------------------------- */

struct collected {
    const struct site *site;
    struct strmap *tasks;
};

static void collect_task(void *arg, const struct batch_task *task)
{
    const struct collected *collected = arg;
    batch_add_task(collected->site, task, collected->tasks);
}

/* Asks why jobs are in error, once for all of them.  If that fails, their state must do. */
static void explain_errors(const struct site *site, struct strmap *tasks)
{
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    struct strbuf jobs;
    struct site_program program;
    void *value;
    strbuf_init(&jobs, 0);
    for (size_t at = 0; strmap_next(tasks, &at, NULL, &value);) {
        struct batch_task *task = value;
        char job[48];
        (void)snprintf(job, sizeof(job), "%.*s", (int)strcspn(task->id, "."), task->id);
        if (task->life == BATCH_HELD && strmap_count(seen) < TROUBLES_MAX &&
            strmap_set(seen, job, task) == NULL) {
            strbuf_printf(&jobs, "%s%s", jobs.length > 0 ? "," : "", job);
        }
    }
    if (jobs.length > 0) {
        const char *words[] = {"qstat", "-j", strbuf_text(&jobs), NULL};
        if (ask_cluster(site, words, &program, NULL)) {
            for (size_t at = 0; strmap_next(tasks, &at, NULL, &value);) {
                struct batch_task *task = value;
                if (task->life == BATCH_HELD) {
                    (void)gridengine_text_trouble(strbuf_text(&program.out), task->id,
                                                  task->reason);
                }
            }
        }
        site_program_fini(&program);
    }
    strbuf_fini(&jobs);
    strmap_destroy(seen, NULL);
}

static enum site_result gridengine_list(const struct site *site, struct strmap *tasks,
                                        struct err *err)
{
    /* All are said, because files such as ~/.sge_qstat may say others. */
    static const char *const WORDS[] = {"qstat", "-u", "$user", "-s", "prs", "-xml", NULL};
    struct collected collected = {.site = site, .tasks = tasks};
    struct site_program program;
    enum site_result result = SITE_FAILS;
    if (ask_cluster(site, WORDS, &program, err)) {
        int rc = gridengine_text_tasks(strbuf_text(&program.out), program.out.length, collect_task,
                                       &collected, err);
        result = rc == 0 ? SITE_DONE : (err_prefix(err, rc, "qstat"), SITE_FAILS);
    }
    site_program_fini(&program);
    if (result == SITE_DONE) {
        explain_errors(site, tasks);
    }
    return result;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Jobs of an account below min_uid are accepted, and then in error for ever. */
static enum site_result check_uid(const struct site *site, struct err *err)
{
    static const char *const WORDS[] = {"qconf", "-sconf", NULL};
    struct site_program program;
    enum site_result result = SITE_FAILS;
    if (ask_cluster(site, WORDS, &program, err)) {
        int64_t least = gridengine_text_number(strbuf_text(&program.out), "min_uid");
        int64_t uid = os_uid(site->os);
        result = uid < least ? SITE_WRONG : SITE_DONE;
        if (uid < least) {
            (void)err_set(err, -EPERM,
                          "the uid of this account is %" PRId64 ", and the cluster starts no jobs "
                          "of uids below %" PRId64 " (min_uid of qconf -sconf)",
                          uid, least);
        }
    }
    site_program_fini(&program);
    return result;
}

/* A glidein is on one host. */
static enum site_result check_pe(const struct site *site, struct err *err)
{
    const char *pe = site_option(site, "pe", NULL);
    const char *words[] = {"qconf", "-sp", pe, NULL};
    struct site_program program;
    char rule[64] = "?";
    enum site_result result = SITE_DONE;
    if (pe == NULL) {
        return SITE_DONE;
    }
    if (!ask_cluster(site, words, &program, err)) {
        result = strstr(program.complaint, "is not a parallel environment") != NULL ? SITE_WRONG
                                                                                    : SITE_FAILS;
        (void)err_prefix(err, -EINVAL, "pe");
    } else if (!gridengine_text_value(strbuf_text(&program.out), "allocation_rule", rule,
                                      sizeof(rule)) ||
               strcmp(rule, "$pe_slots") != 0) {
        result = SITE_WRONG;
        (void)err_set(err, -EINVAL,
                      "pe = '%s': its allocation_rule is %s, which may spread the slots of a "
                      "glidein over hosts; expected one with $pe_slots",
                      pe, rule);
    }
    site_program_fini(&program);
    return result;
}

/* ---- submit ---------------------------------------------------------------------------------- */

static int64_t gridengine_array_max(const struct site *site)
{
    static const char *const WORDS[] = {"qconf", "-sconf", NULL};
    struct site_program program;
    int64_t most = 0;
    if (ask_cluster(site, WORDS, &program, NULL)) {
        most = gridengine_text_number(strbuf_text(&program.out), "max_aj_tasks");
        most = most == 0 || most > SITE_COUNT_MAX ? SITE_COUNT_MAX : most; /* 0: no limit */
        most = most < 0 ? BATCH_ARRAY_MAX : most;
    }
    site_program_fini(&program);
    return most;
}

static void push_option(struct vec *words, const char *option, const char *value)
{
    vec_push(words, mem_strdup(option));
    vec_push(words, mem_strdup(value));
}

static void qsub_words(const struct site *site, const struct batch_array *array, struct vec *words)
{
    static const struct {
        const char *option, *word;
    } GIVEN[] = {{"queue", "-q"}, {"project", "-P"}, {"l", "-l"}};
    const struct batch_site *batch = site->own;
    const struct site_request *request = array->request;
    const char *value;
    char text[SITE_NAME_MAX + 1];
    batch_words_begin(words, "qsub");
    vec_push(words, mem_strdup("-terse"));
    batch_text_array_name(request->batch, array->offset, text);
    push_option(words, "-N", text);
    (void)snprintf(text, sizeof(text), "%" PRId64 "-%" PRId64, array->numbers[0],
                   array->numbers[array->count - 1]);
    push_option(words, "-t", text);
    push_option(words, "-r", "n");
    vec_push(words, mem_strdup("-notify"));
    push_option(words, "-S", "/bin/sh");
    push_option(words, "-j", "y");
    push_option(words, "-o", "/dev/null"); /* the script has a file for each glidein */
    push_option(words, "-wd", batch->directory);
    if (request->cpus > 1) {
        push_option(words, "-pe", site_option(site, "pe", ""));
        batch_words_push_number(words, "", request->cpus);
    }
    vec_push(words, mem_strdup("-l"));
    if ((value = site_option(site, "time", NULL)) != NULL) {
        batch_words_push(words, "h_rt=", value);
    } else {
        batch_words_push_number(words, "h_rt=", request->lifetime_s + RETIREMENT_S);
    }
    if ((value = site_option(site, "memory", NULL)) != NULL) { /* is granted for each slot */
        (void)snprintf(text, sizeof(text), "=%" PRId64 "M",
                       (request->memory_mib + request->cpus - 1) / request->cpus);
        vec_push(words, mem_strdup("-l"));
        batch_words_push(words, value, text);
    }
    for (size_t i = 0; i < ARRAY_COUNT(GIVEN); i++) {
        if ((value = site_option(site, GIVEN[i].option, NULL)) != NULL) {
            push_option(words, GIVEN[i].word, value);
        }
    }
    for (size_t i = 0; i < batch->extra.count; i++) {
        vec_push(words, mem_strdup(batch->extra.items[i]));
    }
}

static enum site_result gridengine_submit_array(const struct site *site,
                                                const struct batch_array *array, struct err *err)
{
    static const char RUN[] =
        "trap '' USR1\n"
        "trap 'kill -TERM \"$c\"' USR2\n"
        "(trap '' USR1 USR2; exec \"$@\") & c=$!\n"
        "while :; do wait \"$c\"; s=$?; kill -0 \"$c\" 2>/dev/null || exit \"$s\"; done\n";
    const struct batch_site *batch = site->own;
    struct site_program program;
    struct strbuf script;
    struct vec words;
    if (array->request->cpus > 1 && site_option(site, "pe", NULL) == NULL) {
        (void)err_set(err, -EINVAL,
                      "glideins of %" PRId64 " cpus need the option pe: a parallel environment "
                      "with the allocation_rule $pe_slots",
                      array->request->cpus);
        return SITE_WRONG;
    }
    strbuf_init(&script, SITE_LINE_MAX);
    batch_text_script(array->request, array->pilot, batch->directory, array->offset, "SGE_TASK_ID",
                      &script);
    strbuf_puts(&script, RUN);
    qsub_words(site, array, &words);
    batch_words_run(site, &words, strbuf_text(&script), script.length, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        result = batch_why(&program, "qsub", err) ? gridengine_text_refusal(program.complaint)
                                                  : SITE_FAILS;
    }
    site_program_fini(&program);
    strbuf_fini(&script);
    return result;
}

/* ---- remove ---------------------------------------------------------------------------------- */

static void gridengine_cancel(const struct site *site, struct vec *words)
{
    (void)site;
    batch_words_begin(words, "qdel");
}

static bool is_manager(const struct site *site)
{
    static const char *const WORDS[] = {"qconf", "-sm", NULL};
    struct site_program program = {.pid = 0};
    char name[256];
    bool is = os_user_name(site->os, os_uid(site->os), name, sizeof(name), NULL) == 0 &&
              ask_cluster(site, WORDS, &program, NULL);
    if (is) {
        is = gridengine_text_has_line(strbuf_text(&program.out), name);
    }
    site_program_fini(&program);
    return is;
}

/* Tasks whose hosts are gone are there until a manager has them forgotten. */
static void gridengine_cancel_again(const struct site *site, const struct batch_task *const *tasks,
                                    size_t count)
{
    static const char *const WORDS[] = {"qselect", "-qs", "u", NULL};
    struct site_program unknown, program;
    struct vec words;
    size_t gone = 0;
    if (ask_cluster(site, WORDS, &unknown, NULL) && is_manager(site)) {
        batch_words_begin(&words, "qdel");
        vec_push(&words, mem_strdup("-f"));
        for (size_t i = 0; i < count && gone < SITE_COUNT_MAX / 100; i++) {
            if (gridengine_text_has_line(strbuf_text(&unknown.out), tasks[i]->place)) {
                vec_push(&words, mem_strdup(tasks[i]->id));
                gone++;
            }
        }
        if (gone > 0) {
            batch_words_run(site, &words, "", 0, &program);
            site_program_fini(&program); /* the next look tells */
        } else {
            vec_fini(&words, mem_free);
        }
    }
    site_program_fini(&unknown);
}

static enum site_result gridengine_check(const struct site *site, struct err *err)
{
    for (size_t i = 0; PASSED[i] != NULL; i++) {
        if (site_option(site, PASSED[i], "")[0] == '-') {
            (void)err_set(err, -EINVAL, "%s = '%s': must not begin with '-'", PASSED[i],
                          site_option(site, PASSED[i], ""));
            return SITE_WRONG;
        }
    }
    if (text_is_digit(site->prefix[0])) {
        (void)err_set(err, -EINVAL,
                      "Grid Engine takes no jobs whose names begin with a digit, as that of this "
                      "factory does");
        return SITE_WRONG;
    }
    enum site_result result = check_uid(site, err);
    return result == SITE_DONE ? check_pe(site, err) : result;
}

const struct batch_kind batch_gridengine = {.joins_lines = true,
                                            .one_range = true,
                                            .passed = PASSED,
                                            .check_extra = gridengine_text_extra,
                                            .check = gridengine_check,
                                            .list = gridengine_list,
                                            .array_max = gridengine_array_max,
                                            .submit = gridengine_submit_array,
                                            .cancel = gridengine_cancel,
                                            .cancel_again = gridengine_cancel_again};
