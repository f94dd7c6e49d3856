/* cli/act_plan.c - see act_plan.h.
 *
 * The sentences are those of HTCondor's tools: scripts look for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/act_plan.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/jobs/jobs_plan.h"

struct act_words {
    const char *command, *action, *fast_action;
    const char *verb;    /* the action as an infinitive: "Permission denied to hold job 1.0" */
    const char *done;    /* said of one job when the action was done: "Job 1.0 held" */
    const char *all;     /* said of several jobs then: "All jobs have been held" */
    const char *already; /* said of one job for the result AlreadyDone: "Job 1.0 already held" */
    const char *bad;     /* said of one job for the result BadStatus: "Job 1.0 is finished, ..." */
};

static const struct act_words WORDS[] = {
    {"rm", "Remove", "Remove", "remove", "marked for removal", "have been marked for removal",
     "already marked for removal", "is finished, it cannot be removed"},
    {"hold", "Hold", "Hold", "hold", "held", "have been held", "already held",
     "is finished, it cannot be held"},
    {"release", "Release", "Release", "release", "released", "have been released",
     "is not held: there is nothing to release", "is not held: there is nothing to release"},
    {"vacate", "Vacate", "VacateFast", "vacate", "vacated", "have been vacated",
     "is not running: there is nothing to vacate", "is not running: there is nothing to vacate"},
    {"suspend", "Suspend", "Suspend", "suspend", "suspended", "have been suspended",
     "already suspended", "is not running: there is nothing to suspend"},
    {"continue", "Continue", "Continue", "continue", "continued", "have been continued",
     "is not suspended: there is nothing to continue",
     "is not suspended: there is nothing to continue"},
    {"checkpoint", NULL, NULL, "checkpoint", "was checkpointed", "were checkpointed",
     "is not running: there is nothing to checkpoint",
     "is not running: there is nothing to checkpoint"},
};

const struct act_words *act_words_find(const char *command)
{
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++) {
        if (strcmp(WORDS[i].command, command) == 0) {
            return &WORDS[i];
        }
    }
    return NULL;
}

const char *act_words_action(const struct act_words *words, bool fast)
{
    return fast ? words->fast_action : words->action;
}

bool act_plan_id(const struct act_words *words, const struct ad *answer, struct strbuf *out)
{
    const char *id = ad_string_or(answer, "Id", "?");
    const char *result = ad_string_or(answer, "Result", "Error");
    bool is_cluster = jobs_plan_is_id(id) && strchr(id, '.') == NULL;
    bool is_done = strcmp(result, "Success") == 0;
    if (is_done && is_cluster) {
        strbuf_printf(out, "All jobs in cluster %s %s", id, words->all);
    } else if (is_done) {
        strbuf_printf(out, "Job %s %s", id, words->done);
    } else if (strcmp(result, "PermissionDenied") == 0) {
        strbuf_printf(out, "Permission denied to %s %s %s: it is another user's", words->verb,
                      is_cluster ? "cluster" : "job", id);
    } else if (is_cluster) {
        strbuf_printf(out, "Couldn't find/%s all jobs in cluster %s", words->verb, id);
    } else if (strcmp(result, "NotFound") == 0) {
        strbuf_printf(out, "Job %s not found", id);
    } else if (strcmp(result, "AlreadyDone") == 0) {
        strbuf_printf(out, "Job %s %s", id, words->already);
    } else if (strcmp(result, "BadStatus") == 0) {
        strbuf_printf(out, "Job %s %s", id, words->bad);
    } else {
        strbuf_printf(out, "Job %s could not be %s (%s)", id, words->done, result);
    }
    return is_done;
}

bool act_plan_many(const struct act_words *words, const char *what, const struct ad *totals,
                   struct strbuf *out)
{
    const char *blank = what[0] != '\0' ? " " : "";
    int64_t denied = ad_int_or(totals, "PermissionDenied", 0);
    if (ad_int_or(totals, "Success", 0) > 0) {
        strbuf_printf(out, "All jobs%s%s %s", blank, what, words->all);
        if (denied > 0) {
            strbuf_printf(out, ", except %lld of other users", (long long)denied);
        }
        return denied == 0;
    }
    if (denied > 0) {
        strbuf_printf(out, "Permission denied to %s %lld jobs%s%s: they are other users'",
                      words->verb, (long long)denied, blank, what);
        return false;
    }
    strbuf_printf(out, "Couldn't find/%s all jobs%s%s", words->verb, blank, what);
    return false;
}

bool act_plan_checkpoint(const struct ad *answer, struct strbuf *out)
{
    const char *id = ad_string_or(answer, "Id", "?");
    const char *result = ad_string_or(answer, "Result", "Failed");
    const char *reason = ad_string_or(answer, "Reason", "no reason given");
    if (strcmp(result, "Success") == 0) {
        strbuf_printf(out, "Job %s was checkpointed (number %lld, %.1f s)", id,
                      (long long)ad_int_or(answer, "CkptSequence", 0),
                      ad_real_or(answer, "CkptSeconds", 0));
        return true;
    }
    if (strcmp(result, "NotWanted") == 0) {
        strbuf_printf(out, "Job %s is not checkpointed: it was submitted without checkpoint = true",
                      id);
    } else if (strcmp(result, "Failed") == 0) {
        strbuf_printf(out, "Job %s could not be checkpointed: %s", id, reason);
    } else {
        (void)act_plan_id(act_words_find("checkpoint"), answer, out);
    }
    return false;
}

bool act_plan_answers(const struct ad *answer, const char *id)
{
    const char *of = ad_string_or(answer, "Id", "");
    size_t length = strlen(id);
    return strncmp(of, id, length) == 0 &&
           (of[length] == '\0' || (of[length] == '.' && strchr(id, '.') == NULL));
}

#define DOTS_MAX 100

void act_plan_submitted(int64_t jobs, int64_t cluster, bool terse, struct strbuf *out)
{
    if (terse) {
        strbuf_printf(out, "%lld.0 - %lld.%lld\n", (long long)cluster, (long long)cluster,
                      (long long)jobs - 1);
        return;
    }
    strbuf_puts(out, "Submitting job(s)");
    for (int64_t i = 0; i < jobs && i < DOTS_MAX; i++) {
        strbuf_putc(out, '.');
    }
    strbuf_printf(out,
                  "\n%lld job(s) submitted to cluster %lld.\n"
                  "To monitor your job(s), run: roost top -clusters %lld\n",
                  (long long)jobs, (long long)cluster, (long long)cluster);
}

size_t act_plan_assigned(const char *word)
{
    size_t length = strcspn(word, "=");
    const char *value = word + length + (word[length] == '=' ? 1 : 0);
    if (*value == '\0' || strchr("=?!", *value) != NULL) {
        return 0;
    }
    char *name = mem_strndup(word, length);
    bool is_name = ad_name_is_valid(name);
    mem_free(name);
    return is_name ? length : 0;
}

void act_plan_edited(const char *attribute, int64_t jobs, struct strbuf *out)
{
    strbuf_printf(out, "Set attribute \"%s\" for %lld matching jobs.\n", attribute,
                  (long long)jobs);
}
