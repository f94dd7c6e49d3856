/* cli/why/cmd_why.c - `roost why JOB`: why a job does not run; `roost why MACHINE`: what switched
 * the machine, what keeps it awake, and why nothing runs there; `roost why -slot NAME`: why nothing
 * runs in one slot.
 *
 * The job comes from the schedd (its queue, else its history).  The slots, and all else that
 * matters for a match, come from the collector: a token that allows reading is enough.
 * why_plan.c and why_reason_plan.c find the answer, why_show_plan.c prints it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "cli/why/why_advice_plan.h"
#include "cli/why/why_ask.h"
#include "cli/why/why_plan.h"
#include "cli/why/why_reason_plan.h"
#include "cli/why/why_show_plan.h"
#include "wire/wire.h"

#define JOBS_MAX 100 /* most different jobs in the output; -constraint selects others */

struct why {
    struct cli *cli;
    struct listing listing;
    struct vec words; /* arguments; borrowed */
    bool all;         /* -all: also show the clauses of a job for which nothing is wrong */
    bool slots;       /* the arguments are slots */
    bool users;       /* the arguments are users */
    struct why_view view;
    struct strbuf out;
    struct vec answers; /* struct ad: the answers for -l, --json and others */
    int64_t left_out;
};

static int parse_options(struct why *why)
{
    struct cli *cli = why->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        char *arg = cli->argv[i];
        if (arg[0] != '-') {
            vec_push(&why->words, arg);
        } else if (listing_is(arg, "slot", 2)) {
            why->slots = true;
        } else if (listing_is(arg, "user", 2)) {
            why->users = true;
        } else if (listing_is(arg, "verbose", 1)) {
            why->all = true;
        } else {
            int rc =
                listing_plan_option(&why->listing, cli->argc, cli->argv, &i, &listing_zone, &err);
            if (rc != 1) {
                return rc < 0 ? cli_usage(cli, "%s", err.text) : cli_unknown(cli, arg);
            }
        }
    }
    if (why->words.count == 0 && why->listing.constraints.count == 0) {
        return cli_usage(cli, "no %s named",
                         why->slots   ? "slot or machine"
                         : why->users ? "user"
                                      : "job");
    }
    bool all_jobs = true, none = true;
    for (size_t i = 0; i < why->words.count; i++) {
        bool job = jobs_plan_is_id(why->words.items[i]);
        all_jobs = all_jobs && job;
        none = none && !job;
    }
    if (why->users) {
        return why->slots ? cli_usage(cli, "use either -user or -slot") : CLI_OK;
    }
    if (!why->slots && !all_jobs && !none) {
        return cli_usage(cli, "use either jobs or machines, not both");
    }
    why->slots = why->slots || (why->words.count > 0 && none);
    return CLI_OK;
}

/* ---- jobs */

static bool is_idle(const struct ad *job)
{
    return ad_int_or(job, "JobStatus", 1) == 1;
}

/* Appends a key that is equal for jobs with the same answer: same autocluster, same status and same
 * result. */
static void key_of(const struct why *why, const struct ad *job, struct strbuf *key)
{
    int64_t status = ad_int_or(job, "JobStatus", 1);
    int64_t cluster = why->users ? 0 : ad_int_or(job, "ClusterId", 0);
    strbuf_printf(key, "%lld %lld %lld", (long long)cluster, (long long)status,
                  (long long)ad_int_or(job, "AutoClusterId", -1));
    if (!is_idle(job) || !ad_has(job, "AutoClusterId")) {
        strbuf_printf(key, " %s %lld %lld", ad_string_or(job, "HoldReason", ""),
                      (long long)ad_int_or(job, "ExitCode", -1),
                      (long long)ad_int_or(job, "ExitSignal", -1));
    } else {
        strbuf_printf(key, " %s", ad_string_or(job, "ClaimState", ""));
    }
}

struct alike {
    const struct ad *job;
    int64_t count;
};

static void label_of(const struct alike *alike, struct strbuf *out)
{
    strbuf_printf(out, "%lld.%lld", (long long)ad_int_or(alike->job, "ClusterId", 0),
                  (long long)ad_int_or(alike->job, "ProcId", 0));
    if (alike->count > 1) {
        strbuf_printf(out, " and %lld alike", (long long)(alike->count - 1));
    }
}

static void put_answer(struct why *why, const struct alike *alike,
                       const struct why_verdict *verdict, const struct why_answer *answer)
{
    struct strbuf label;
    struct strbuf advice, id;
    const struct alike one = {alike->job, 1};
    strbuf_init(&label, 0);
    strbuf_init(&advice, 0);
    strbuf_init(&id, 0);
    label_of(alike, &label);
    label_of(&one, &id);
    why_advice(alike->job, strbuf_text(&id), verdict, &advice);
    if (why->listing.style == LISTING_TABLE) {
        strbuf_puts(&why->out, why->out.length > 0 ? "\n" : "");
        why_show_job(strbuf_text(&label), verdict, answer, why->all, &why->out);
        const struct ad_context context = listing_context(why->cli);
        why_show_rejection(alike->job, &context, &why->out);
        if (advice.length > 0) {
            strbuf_printf(&why->out, "    %s\n", strbuf_text(&advice));
        }
    } else {
        struct ad *ad = why_show_ad("Job", strbuf_text(&label), verdict, answer);
        ad_set_int(ad, "ClusterId", ad_int_or(alike->job, "ClusterId", 0));
        ad_set_int(ad, "ProcId", ad_int_or(alike->job, "ProcId", 0));
        ad_set_int(ad, "JobCount", alike->count);
        if (advice.length > 0) {
            ad_set_string(ad, "Advice", strbuf_text(&advice));
        }
        (void)ad_copy_attr(ad, "LastRejMatchReason", alike->job, "LastRejMatchReason"); /* absent */
        (void)ad_copy_attr(ad, "LastRejMatchTime", alike->job, "LastRejMatchTime"); /* stays so */
        vec_push(&why->answers, ad);
    }
    strbuf_fini(&label);
    strbuf_fini(&advice);
    strbuf_fini(&id);
}

static int answer_job(struct why *why, const struct alike *alike, struct err *err)
{
    const struct ad *job = alike->job;
    int64_t status = ad_int_or(job, "JobStatus", 1);
    bool waits = (status == 1 && !ad_has(job, "ClaimState")) || status == 5;
    if (waits || why->all) {
        int rc = why_view_load(&why->view, err);
        if (rc != 0) {
            return rc;
        }
    }
    struct why_answer *answer =
        waits || why->all ? why_view_answer(&why->view, job, status == 1 || why->all) : NULL;
    struct why_verdict verdict;
    why_view_verdict(&why->view, job, answer, &verdict);
    put_answer(why, alike, &verdict, answer);
    why_verdict_fini(&verdict);
    why_answer_destroy(answer);
    return 0;
}

static int by_id(const void *left, const void *right)
{
    static const char *const KEYS[] = {"ClusterId", "ProcId"};
    const struct ad *a = *(const struct ad *const *)left, *b = *(const struct ad *const *)right;
    for (size_t i = 0; i < 2; i++) {
        int64_t one = ad_int_or(a, KEYS[i], 0), other = ad_int_or(b, KEYS[i], 0);
        if (one != other) {
            return one < other ? -1 : 1;
        }
    }
    return 0;
}

static int answer_jobs(struct why *why, struct cli_reply *reply, struct err *err)
{
    struct strmap *known = strmap_create(STRMAP_CASE_SENSITIVE);
    struct strbuf key;
    int rc = 0;
    strbuf_init(&key, 0);
    qsort(reply->ads.items, reply->ads.count, sizeof *reply->ads.items, by_id);
    for (size_t i = 0; i < reply->ads.count; i++) {
        strbuf_clear(&key);
        key_of(why, reply->ads.items[i], &key);
        struct alike *alike = strmap_get(known, strbuf_text(&key));
        if (alike == NULL && strmap_count(known) < JOBS_MAX) {
            alike = mem_zalloc(sizeof *alike);
            alike->job = reply->ads.items[i];
            (void)strmap_set(known, strbuf_text(&key), alike);
        }
        if (alike != NULL) {
            alike->count++;
        } else {
            why->left_out++;
        }
    }
    size_t at = 0;
    void *value;
    while (rc == 0 && strmap_next(known, &at, NULL, &value)) {
        rc = answer_job(why, value, err);
    }
    strbuf_fini(&key);
    strmap_destroy(known, mem_free);
    return rc;
}

/* Answers for a cluster whose jobs the schedd makes later, if it has more jobs to make or none in
 * the queue. */
static int ask_factory(struct why *why, const char *word, bool *found, struct err *err)
{
    struct listing listing = {0};
    struct cli_reply reply;
    struct strbuf only;
    if (word == NULL || !jobs_plan_is_id(word) || strchr(word, '.') != NULL) {
        return 0;
    }
    strbuf_init(&only, 0);
    strbuf_printf(&only, "ClusterId == %s", word);
    listing_also(&listing, strbuf_text(&only));
    strbuf_fini(&only);
    int rc = listing_query(why->cli, why->cli->schedd, NULL, "JobFactory", &listing, NULL, NULL,
                           &reply, err);
    if (rc == -EINVAL) {
        rc = 0; /* a schedd of before this question */
    } else if (rc == 0 && reply.ads.count > 0) {
        *found = true;
        if (why->listing.style == LISTING_TABLE) {
            strbuf_puts(&why->out, why->out.length > 0 ? "\n" : "");
            why_factory(reply.ads.items[0], &why->out);
        }
    }
    cli_reply_fini(&reply);
    listing_fini(&listing);
    return rc;
}

/* Answers for the jobs that a word means, or for all jobs of the constraint when word is NULL. */
static int ask_jobs(struct why *why, char *word, struct err *err)
{
    static const char *const TYPES[] = {"Job", "History"};
    struct listing listing = {.limit = why->listing.limit};
    int rc = 0;
    for (size_t i = 0; i < why->listing.constraints.count; i++) {
        listing_also(&listing, why->listing.constraints.items[i]);
    }
    if (word != NULL) {
        rc = listing_jobs(&listing, &word, 1, err);
    }
    bool found = false;
    for (size_t i = 0; rc == 0 && !found && i < (word != NULL && !why->users ? 2u : 1u); i++) {
        struct cli_reply reply;
        rc = listing_query(why->cli, why->cli->schedd, NULL, TYPES[i], &listing, NULL, NULL, &reply,
                           err);
        found = rc == 0 && reply.ads.count > 0;
        rc = found ? answer_jobs(why, &reply, err) : rc;
        cli_reply_fini(&reply);
        rc = rc == 0 && i == 0 ? ask_factory(why, word, &found, err) : rc;
    }
    listing_fini(&listing);
    if (rc == 0 && !found) {
        rc = why->users && word != NULL ? err_set(err, -ENOENT, "%s has no job in the queue", word)
             : word != NULL             ? err_set(err, -ENOENT, "no such job: %s", word)
                                        : err_set(err, -ENOENT, "no such job");
    }
    return rc;
}

static int why_jobs(struct why *why, struct err *err)
{
    int rc = cli_schedd(why->cli, err);
    if (rc == 0 && why->words.count == 0) {
        return ask_jobs(why, NULL, err);
    }
    int failed = 0;
    for (size_t i = 0; rc == 0 && i < why->words.count; i++) {
        rc = ask_jobs(why, why->words.items[i], err);
        if (rc == -ENOENT && i + 1 < why->words.count) { /* the others are answered all the same */
            (void)cli_fail(why->cli, "%s", err->text);
            failed = rc;
            rc = 0;
        }
    }
    if (rc == 0 && failed != 0) {
        err->text[0] = '\0'; /* said already */
    }
    return rc != 0 ? rc : failed;
}

int cmd_why(struct cli *cli)
{
    struct why why = {.cli = cli};
    struct err err = {.text = ""};
    strbuf_init(&why.out, 0);
    why_view_init(&why.view, cli);
    int status = parse_options(&why);
    if (status == CLI_OK) {
        int rc = why.slots ? why_view_slots(&why.view, &why.words, &why.listing, &why.out,
                                            &why.answers, &err)
                           : why_jobs(&why, &err);
        if (why.answers.count > 0) {
            status = listing_show(cli, &why.listing, (const struct ad *const *)why.answers.items,
                                  why.answers.count);
        }
        if (why.left_out > 0) {
            strbuf_printf(&why.out,
                          "\n%lld more jobs of other kinds are not shown; name them to see them.\n",
                          (long long)why.left_out);
        }
        if (why.out.length > 0) {
            status = listing_write(cli, &why.out);
        }
        if (rc != 0) {
            status = err.text[0] != '\0' ? cli_fail(cli, "%s", err.text) : CLI_FAILED;
        }
    }
    why_view_fini(&why.view);
    vec_fini(&why.answers, why_destroy_ad);
    vec_fini(&why.words, NULL);
    listing_fini(&why.listing);
    strbuf_fini(&why.out);
    return status;
}
