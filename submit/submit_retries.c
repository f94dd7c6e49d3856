/* submit/submit_retries.c - max_retries, success_exit_code, retry_until, on_exit_*: when a job that
 * has ended leaves the queue.
 *
 * A job with retries leaves the queue when it was tried often enough, when it succeeded, or when it
 * says that more tries are futile.  on_exit_remove is one more condition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_depends.h"
#include "submit/submit_job.h"
#include "submit/submit_making.h"

struct wishes {
    char *retries, *success, *until, *remove, *hold;
};

static int read_wishes(struct submit_making *making, struct wishes *wishes, struct err *err)
{
    int rc = making_value(making, "on_exit_remove", "OnExitRemove", &wishes->remove, err);
    rc = rc != 0 ? rc : making_value(making, "on_exit_hold", "OnExitHold", &wishes->hold, err);
    rc = rc != 0 ? rc : making_value(making, "max_retries", "JobMaxRetries", &wishes->retries, err);
    rc = rc != 0 ? rc
                 : making_value(making, "success_exit_code", "JobSuccessExitCode", &wishes->success,
                                err);
    return rc != 0 ? rc : making_value(making, "retry_until", NULL, &wishes->until, err);
}

static int check_number(struct submit_making *making, const char *name, const char *text,
                        bool is_int, int64_t *ret, struct err *err)
{
    if (!making_int(text, ret) || (is_int && (*ret < INT_MIN || *ret >= INT_MAX))) {
        return making_refuse(making, err, "%s=%.200s is invalid, must eval to an integer.", name,
                             text);
    }
    return 0;
}

/* Adds a condition on which the job leaves the queue: " || TEXT". */
static int add_way_out(struct submit_making *making, const char *name, const char *text,
                       const char *kind, struct strbuf *out, struct err *err)
{
    struct ad_expr *expr;
    if (ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL) != 0) {
        return making_refuse(making, err, "%s=%.200s is invalid, it must be %s.", name, text, kind);
    }
    ad_expr_destroy(expr);
    strbuf_printf(out, making_is_loose(text, "||") ? " || (%s)" : " || %s", text);
    return 0;
}

static void note_one(void *arg, const char *name, bool in_my, bool in_target)
{
    (void)name;
    (void)in_my;
    (void)in_target;
    *(bool *)arg = false;
}

/* Returns whether the expression reads no attribute: "ExitCode == 3 || true" is not a number,
 * whatever its value. */
static bool is_plain(const char *text)
{
    struct ad_expr *expr;
    bool plain = true;
    if (ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL) == 0) {
        (void)ad_depends(expr, note_one, &plain); /* what it refers to is all that is asked */
        ad_expr_destroy(expr);
    }
    return plain;
}

static int set_remove(struct submit_making *making, const struct wishes *wishes, struct err *err)
{
    struct strbuf text;
    int64_t code;
    int rc = 0;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "NumJobCompletions > JobMaxRetries || ExitCode =?= %s",
                  wishes->success != NULL ? "JobSuccessExitCode" : "0");
    if (wishes->until != NULL && is_plain(wishes->until) && making_int(wishes->until, &code)) {
        if (code < INT_MIN || code > INT_MAX) {
            rc = making_refuse(making, err,
                               "retry_until=%.200s is invalid, it must be an integer or boolean "
                               "expression.",
                               wishes->until);
        }
        strbuf_printf(&text, " || ExitCode =?= %lld", (long long)code);
    } else if (wishes->until != NULL) {
        rc = add_way_out(making, "retry_until", wishes->until, "an integer or boolean expression",
                         &text, err);
    }
    if (rc == 0 && wishes->remove != NULL) {
        rc = add_way_out(making, "on_exit_remove", wishes->remove, "a boolean expression", &text,
                         err);
    }
    rc = rc != 0 ? rc : making_expr(making, "OnExitRemove", strbuf_text(&text), err);
    strbuf_fini(&text);
    return rc;
}

static int set_retries(struct submit_making *making, const struct wishes *wishes, struct err *err)
{
    int64_t code = 0, retries = 0;
    int rc = 0;
    const char *wanted = wishes->retries;
    if (wanted == NULL && !ad_has(making->ad, "JobMaxRetries")) {
        wanted = making_site(making, "DEFAULT_JOB_MAX_RETRIES", "2");
    }
    if (wanted != NULL) {
        rc = check_number(making, "max_retries", wanted, false, &retries, err);
        ad_set_int(making->ad, "JobMaxRetries", retries);
    }
    if (rc == 0 && wishes->success != NULL) {
        rc = check_number(making, "success_exit_code", wishes->success, true, &code, err);
    }
    if (rc == 0 && wishes->hold != NULL) {
        rc = making_expr(making, "OnExitHold", wishes->hold, err);
    } else if (rc == 0 && !ad_has(making->ad, "OnExitHold")) {
        ad_set_bool(making->ad, "OnExitHold", false);
    }
    if (rc != 0 ||
        (ad_has(making->ad, "OnExitRemove") && wishes->success == NULL && wishes->until == NULL)) {
        return rc;
    }
    if (wishes->success != NULL) {
        ad_set_int(making->ad, "JobSuccessExitCode", code);
    }
    return set_remove(making, wishes, err);
}

int retries_set(struct submit_making *making, struct err *err)
{
    struct wishes wishes = {0};
    int rc = read_wishes(making, &wishes, err);
    if (rc == 0 && (wishes.retries != NULL || wishes.success != NULL || wishes.until != NULL)) {
        rc = set_retries(making, &wishes, err);
    } else if (rc == 0) {
        if (wishes.remove != NULL) {
            rc = making_expr(making, "OnExitRemove", wishes.remove, err);
        }
        if (rc == 0 && wishes.hold != NULL) {
            rc = making_expr(making, "OnExitHold", wishes.hold, err);
        }
    }
    mem_free(wishes.retries);
    mem_free(wishes.success);
    mem_free(wishes.until);
    mem_free(wishes.remove);
    mem_free(wishes.hold);
    return rc;
}
