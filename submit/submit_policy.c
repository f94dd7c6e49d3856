/* submit/submit_policy.c - hold, notification, rank, leave_in_queue, signals, deferral: how the
 * queue and the machine are to treat a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signal_name.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "submit/submit_job.h"
#include "submit/submit_making.h"

int policy_set_status(struct submit_making *making, struct err *err)
{
    bool hold = false;
    int rc = making_bool_of(making, "hold", NULL, &hold, NULL, err);
    if (rc != 0) {
        return rc;
    }
    ad_set_int(making->ad, "JobStatus", hold ? 5 : 1);
    if (hold) {
        ad_set_int(making->ad, "HoldReasonCode", 15); /* SubmittedOnHold */
        ad_set_string(making->ad, "HoldReason", "submitted on hold at user's request");
    }
    return 0;
}

int policy_set_notification(struct submit_making *making, struct err *err)
{
    static const char *const NAMES[] = {"never", "always", "complete", "error", "start"};
    char *value;
    int rc = making_value(making, "notification", "JobNotification", &value, err);
    if (rc != 0) {
        return rc;
    }
    const char *name =
        value != NULL ? value : making_site(making, "JOB_DEFAULT_NOTIFICATION", "never");
    rc = -EINVAL;
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (text_equal_nocase(name, NAMES[i])) {
            ad_set_int(making->ad, "JobNotification", (int64_t)i);
            rc = 0;
        }
    }
    if (rc != 0) {
        rc = making_refuse(
            making, err, "Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'");
    }
    mem_free(value);
    return rc;
}

int policy_set_rank(struct submit_making *making, struct err *err)
{
    char *value;
    int rc = making_value(making, "rank", "preferences", &value, err);
    if (rc != 0) {
        return rc;
    }
    const char *rank = value != NULL ? value : making_site(making, "DEFAULT_RANK", NULL);
    const char *more = making_site(making, "APPEND_RANK", NULL);
    struct strbuf text;
    strbuf_init(&text, 0);
    if (rank != NULL && more != NULL) {
        strbuf_printf(&text, "(%s) + (%s)", rank, more); /* a number: added, not joined by && */
    } else {
        strbuf_puts(&text, rank != NULL ? rank : more != NULL ? more : "0.0");
    }
    rc = making_expr(making, "Rank", strbuf_text(&text), err);
    strbuf_fini(&text);
    mem_free(value);
    return rc;
}

int policy_set_queue_rules(struct submit_making *making, struct err *err)
{
    int rc = making_expr_of(making, "leave_in_queue", "LeaveJobInQueue", err);
    if (rc == 0 && !ad_has(making->ad, "LeaveJobInQueue")) {
        ad_set_bool(making->ad, "LeaveJobInQueue", false);
    }
    return rc;
}

/* ---- signals ---------------------------------------------------------------------------------
 */

static const char *signal_of(const char *text)
{
    return signal_name_text(signal_name_number(text));
}

static int set_signal(struct submit_making *making, const char *command, const char *attribute,
                      const char *otherwise, struct err *err)
{
    char *value;
    int rc = making_value(making, command, attribute, &value, err);
    if (rc == 0 && value != NULL && signal_of(value) == NULL) {
        rc = making_refuse(making, err, "invalid signal %.100s", value);
    } else if (rc == 0 && value != NULL) {
        ad_set_string(making->ad, attribute, signal_of(value));
    } else if (rc == 0 && otherwise != NULL) {
        ad_set_string(making->ad, attribute, otherwise);
    }
    mem_free(value);
    return rc;
}

int policy_set_signals(struct submit_making *making, struct err *err)
{
    char *value = NULL;
    int64_t seconds = 0;
    int rc = set_signal(making, "kill_sig", "KillSig",
                        making_is_for_machines(making) ? NULL : "SIGTERM", err);
    rc = rc != 0 ? rc : set_signal(making, "remove_kill_sig", "RemoveKillSig", NULL, err);
    rc = rc != 0 ? rc : set_signal(making, "hold_kill_sig", "HoldKillSig", NULL, err);
    rc = rc != 0 ? rc : making_value(making, "kill_sig_timeout", "KillSigTimeout", &value, err);
    if (rc == 0 && value != NULL && !making_int(value, &seconds)) {
        rc = making_refuse(making, err,
                           "kill_sig_timeout=%.100s is invalid, must eval to an integer.", value);
    } else if (rc == 0 && value != NULL) {
        ad_set_int(making->ad, "KillSigTimeout", seconds);
    }
    mem_free(value);
    return rc;
}

/* ---- deferral --------------------------------------------------------------------------------
 */

static const char *const DEFERRING[] = {"CronMinute", "CronHour",      "CronDayOfMonth",
                                        "CronMonth",  "CronDayOfWeek", "DeferralTime"};

bool policy_needs_deferral(const struct submit_making *making)
{
    for (size_t i = 0; i < ARRAY_COUNT(DEFERRING); i++) {
        if (ad_has(making->ad, DEFERRING[i])) {
            return true;
        }
    }
    return false;
}

/* Sets a number of seconds from command, or else from alias, or else from otherwise (NULL: nothing
 * is set). */
static int set_seconds(struct submit_making *making, const char *command, const char *alias,
                       const char *attribute, const char *otherwise, struct err *err)
{
    char *value;
    int rc = making_value(making, command, attribute, &value, err);
    if (rc == 0 && value == NULL && alias != NULL) {
        rc = making_value(making, alias, NULL, &value, err);
    }
    if (rc != 0) {
        return rc;
    }
    const char *text = value != NULL ? value : otherwise;
    if (text != NULL) {
        struct ad_value literal;
        int64_t seconds = 0;
        bool valid = ad_set_expr_old(making->ad, attribute, text, NULL) == 0;
        if (valid && ad_get_literal(making->ad, attribute, &literal) == 0) {
            valid = ad_get_int(making->ad, attribute, &seconds) == 0 && seconds >= 0 &&
                    ad_expr_literal_int(ad_lookup(making->ad, attribute), &seconds);
        }
        rc = valid ? 0
                   : making_refuse(making, err,
                                   "%s = %.200s is invalid, must eval to a non-negative integer.",
                                   alias != NULL ? alias : command, text);
    }
    mem_free(value);
    return rc;
}

int policy_set_deferral(struct submit_making *making, struct err *err)
{
    int rc = set_seconds(making, "deferral_time", NULL, "DeferralTime", NULL, err);
    if (rc != 0 || !policy_needs_deferral(making)) {
        return rc;
    }
    if (making->universe == UNIVERSE_SCHEDULER) {
        return making_refuse(making, err,
                             "deferral_time and cron_* do not work for scheduler universe jobs. "
                             "Consider submitting this job using the local universe, instead");
    }
    rc = set_seconds(making, "cron_window", "deferral_window", "DeferralWindow", "0", err);
    rc = rc != 0 ? rc
                 : set_seconds(making, "cron_prep_time", "deferral_prep_time", "DeferralPrepTime",
                               "300", err);
    if (rc == 0 && !ad_has(making->ad, "ScheddInterval")) {
        rc =
            making_expr(making, "ScheddInterval", making_site(making, "SCHEDD_INTERVAL", "1"), err);
    }
    return rc;
}
