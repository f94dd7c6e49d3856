/* site/site_htcondor.c - the type `htcondor`: glideins are jobs in another pool.
 *
 * The programs condor_submit, condor_q and condor_rm are called; they know their schedd by
 * CONDOR_CONFIG, or by the options `schedd` and `pool`.  Pools share no file system as a rule, so
 * HTCondor copies the pilot and the file with the secret, of mode 0600, into the sandbox of the
 * job.
 *
 * Jobs are named by their ids when they are removed, all in one call of the schedd.  Rejected: a
 * constraint with the names, which an argument of a program cannot hold for many of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "site/batch_common.h"
#include "site/htcondor_text.h"
#include "site/site.h"
#include "site/site_common.h"
#include "site/site_programs.h"

static const char *const PASSED[] = {"pool", "schedd", "requirements", "accounting_group", NULL};

const char *const batch_htcondor_options[] = {"pool",         "schedd",
                                              "requirements", "accounting_group",
                                              "transfer",     "array_max",
                                              "extra",        "directory",
                                              "pilot",        NULL};

static void begin_words(const struct site *site, const char *program, struct vec *words)
{
    static const struct {
        const char *option, *word;
    } GIVEN[] = {{"pool", "-pool"}, {"schedd", "-name"}};
    batch_words_begin(words, program);
    for (size_t i = 0; i < 2; i++) {
        const char *value = site_option(site, GIVEN[i].option, NULL);
        if (value != NULL) {
            vec_push(words, mem_strdup(GIVEN[i].word));
            vec_push(words, mem_strdup(value));
        }
    }
}

struct collected {
    const struct site *site;
    struct strmap *tasks;
};

static void collect_job(void *arg, const struct batch_task *task)
{
    const struct collected *collected = arg;
    batch_add_task(collected->site, task, collected->tasks);
}

static enum site_result htcondor_list(const struct site *site, struct strmap *tasks,
                                      struct err *err)
{
    struct collected collected = {.site = site, .tasks = tasks};
    struct site_program program;
    struct strbuf constraint;
    struct vec words;
    enum site_result result = SITE_FAILS;
    strbuf_init(&constraint, 0);
    strbuf_printf(&constraint, "substr(RoostGlidein, 0, %zu) == \"%s\"", strlen(site->prefix),
                  site->prefix);
    begin_words(site, "condor_q", &words);
    vec_push(&words, mem_strdup("-json"));
    vec_push(&words, mem_strdup("-attributes"));
    vec_push(&words, mem_strdup(HTCONDOR_TEXT_ATTRIBUTES));
    vec_push(&words, mem_strdup("-constraint"));
    vec_push(&words, strbuf_take(&constraint));
    batch_words_run(site, &words, "", 0, &program);
    if (!site_program_succeeded(&program)) {
        (void)batch_why(&program, "condor_q", err);
    } else {
        int rc = htcondor_text_jobs(strbuf_text(&program.out), program.out.length, collect_job,
                                    &collected, err);
        result = rc == 0 ? SITE_DONE : (err_prefix(err, rc, "condor_q"), SITE_FAILS);
    }
    site_program_fini(&program);
    return result;
}

static int64_t htcondor_array_max(const struct site *site)
{
    (void)site;
    return BATCH_ARRAY_MAX;
}

static enum site_result htcondor_submit_jobs(const struct site *site,
                                             const struct batch_array *array, struct err *err)
{
    const struct batch_site *batch = site->own;
    struct htcondor_submission submission = {.array = array,
                                             .directory = batch->directory,
                                             .requirements =
                                                 site_option(site, "requirements", NULL),
                                             .accounting_group =
                                                 site_option(site, "accounting_group", NULL),
                                             .extra = (const char *const *)batch->extra.items,
                                             .extra_count = batch->extra.count};
    struct site_program program;
    struct strbuf description;
    struct vec words;
    (void)site_option_bool(site, "transfer", true, &submission.transfer, NULL); /* was checked */
    strbuf_init(&description, 2 * SITE_LINE_MAX);
    htcondor_text_description(&submission, &description);
    begin_words(site, "condor_submit", &words);
    vec_push(&words, mem_strdup("-terse"));
    vec_push(&words, mem_strdup("-"));
    batch_words_run(site, &words, strbuf_text(&description), description.length, &program);
    enum site_result result = SITE_DONE;
    if (!site_program_succeeded(&program)) {
        result = batch_why(&program, "condor_submit", err)
                     ? htcondor_text_refusal(program.complaint)
                     : SITE_FAILS;
    }
    site_program_fini(&program);
    strbuf_fini(&description);
    return result;
}

static void htcondor_cancel(const struct site *site, struct vec *words)
{
    begin_words(site, "condor_rm", words);
}

static enum site_result htcondor_check(const struct site *site, struct err *err)
{
    const struct batch_site *batch = site->own;
    bool transfer;
    for (size_t i = 0; PASSED[i] != NULL; i++) {
        const char *value = site_option(site, PASSED[i], "");
        for (const char *at = value; *at != '\0'; at++) {
            if ((at == value && *at == '-') || (*at > 0 && *at < ' ')) {
                (void)err_set(err, -EINVAL,
                              "%s = '%s': must not begin with '-' or have control characters",
                              PASSED[i], value);
                return SITE_WRONG;
            }
        }
    }
    if (site_option_bool(site, "transfer", true, &transfer, err) != 0) {
        return SITE_WRONG;
    }
    if (strpbrk(batch->directory, ",\"'\n ") != NULL) {
        (void)err_set(err, -EINVAL,
                      "directory = '%s': HTCondor takes no commas, quotes or blanks there",
                      batch->directory);
        return SITE_WRONG;
    }
    if (os_uid(site->os) == 0) {
        (void)err_set(err, -EPERM,
                      "HTCondor takes no jobs of root: run the factory as another "
                      "account");
        return SITE_WRONG;
    }
    return SITE_DONE;
}

const struct batch_kind batch_htcondor = {.joins_lines = true,
                                          .passed = PASSED,
                                          .check_extra = htcondor_text_extra,
                                          .check = htcondor_check,
                                          .list = htcondor_list,
                                          .array_max = htcondor_array_max,
                                          .submit = htcondor_submit_jobs,
                                          .cancel = htcondor_cancel};
