/* site/site_slurm.c - the type `slurm`: glideins are tasks of job arrays.
 *
 * The programs sbatch, squeue and scancel are called, which know where their cluster is.  An array
 * has the name of its batch, so that squeue tells the names of glideins also after a lost answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "site/batch_common.h"
#include "site/site.h"
#include "site/site_common.h"
#include "site/site_programs.h"
#include "site/slurm_text.h"

#define SECONDS_PER_MIN 60

/* Options that are given to sbatch as they are. */
static const char *const PASSED[] = {"account",    "partition", "qos",  "reservation",
                                     "constraint", "licenses",  "gres", NULL};

const char *const batch_slurm_options[] = {"account",    "partition", "qos",       "reservation",
                                           "constraint", "licenses",  "gres",      "time",
                                           "array_max",  "extra",     "directory", "pilot",
                                           NULL};

static enum site_result slurm_list(const struct site *site, struct strmap *tasks, struct err *err)
{
    struct site_program program;
    struct vec words;
    batch_words_begin(&words, "squeue");
    vec_push(&words, mem_strdup("--noheader"));
    vec_push(&words, mem_strdup("--array"));
    vec_push(&words, mem_strdup("--states=all"));
    batch_words_push_number(&words, "--user=", os_uid(site->os));
    batch_words_push(&words, "--Format=", SLURM_TEXT_FORMAT);
    batch_words_run(site, &words, "", 0, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        (void)batch_why(&program, "squeue", err);
        result = SITE_FAILS;
    }
    const char *at = strbuf_text(&program.out);
    struct batch_task task;
    for (int got; result == SITE_DONE && (got = slurm_text_task(&at, &task)) != 0;) {
        if (got > 0) {
            batch_add_task(site, &task, tasks);
        }
    }
    site_program_fini(&program);
    return result;
}

/* Numbers of tasks are below MaxArraySize; ours begin with 1. */
static int64_t slurm_array_max(const struct site *site)
{
    struct site_program program;
    struct vec words;
    batch_words_begin(&words, "scontrol");
    vec_push(&words, mem_strdup("show"));
    vec_push(&words, mem_strdup("config"));
    batch_words_run(site, &words, "", 0, &program);
    int64_t most = 0;
    if (site_program_succeeded(&program)) {
        most = slurm_text_array_max(strbuf_text(&program.out));
        most = most > 1 ? most - 1 : BATCH_ARRAY_MAX;
    }
    site_program_fini(&program);
    return most;
}

static void sbatch_words(const struct site *site, const struct site_request *request,
                         const char *name, const char *ranges, struct vec *words)
{
    const struct batch_site *batch = site->own;
    char minutes[TEXT_DECIMAL_MAX + 2];
    (void)snprintf(minutes, sizeof(minutes), "%" PRId64,
                   (request->lifetime_s + SECONDS_PER_MIN - 1) / SECONDS_PER_MIN);
    batch_words_begin(words, "sbatch");
    vec_push(words, mem_strdup("--parsable"));
    vec_push(words, mem_strdup("--no-requeue"));
    vec_push(words, mem_strdup("--export=NONE"));
    vec_push(words, mem_strdup("--output=/dev/null"));
    vec_push(words, mem_strdup("--nodes=1"));
    vec_push(words, mem_strdup("--ntasks=1"));
    batch_words_push(words, "--array=", ranges);
    batch_words_push(words, "--job-name=", name);
    batch_words_push(words, "--chdir=", batch->directory);
    batch_words_push_number(words, "--cpus-per-task=", request->cpus);
    batch_words_push_number(words, "--mem=", request->memory_mib);
    batch_words_push(words, "--time=", site_option(site, "time", minutes));
    for (size_t i = 0; PASSED[i] != NULL; i++) {
        const char *value = site_option(site, PASSED[i], NULL);
        if (value != NULL) {
            struct strbuf option;
            strbuf_init(&option, 0);
            strbuf_printf(&option, "--%s=", PASSED[i]);
            batch_words_push(words, strbuf_text(&option), value);
            strbuf_fini(&option);
        }
    }
    for (size_t i = 0; i < batch->extra.count; i++) {
        vec_push(words, mem_strdup(batch->extra.items[i]));
    }
}

static enum site_result slurm_submit_array(const struct site *site, const struct batch_array *array,
                                           struct err *err)
{
    const struct batch_site *batch = site->own;
    char name[SITE_NAME_MAX + 1];
    struct strbuf ranges, script;
    struct site_program program;
    struct vec words;
    strbuf_init(&ranges, 0);
    strbuf_init(&script, SITE_LINE_MAX);
    batch_text_array_name(array->request->batch, array->offset, name);
    batch_text_ranges(array->numbers, array->count, &ranges);
    batch_text_script(array->request, array->pilot, batch->directory, array->offset,
                      "SLURM_ARRAY_TASK_ID", &script);
    strbuf_puts(&script, "exec \"$@\"\n");
    sbatch_words(site, array->request, name, strbuf_text(&ranges), &words);
    batch_words_run(site, &words, strbuf_text(&script), script.length, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        result =
            batch_why(&program, "sbatch", err) ? slurm_text_refusal(program.complaint) : SITE_FAILS;
    }
    site_program_fini(&program);
    strbuf_fini(&script);
    strbuf_fini(&ranges);
    return result;
}

static void slurm_cancel(const struct site *site, struct vec *words)
{
    (void)site;
    batch_words_begin(words, "scancel");
}

static int slurm_check_extra(const char *const *words, size_t count, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = slurm_text_extra(words[i], err);
    }
    return rc;
}

const struct batch_kind batch_slurm = {.passed = PASSED,
                                       .check_extra = slurm_check_extra,
                                       .list = slurm_list,
                                       .array_max = slurm_array_max,
                                       .submit = slurm_submit_array,
                                       .cancel = slurm_cancel};
