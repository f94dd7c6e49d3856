/* schedd/policy/policy_plan.c - see policy_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/policy_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/job_moves.h"

enum { RUNNING = 2, COMPLETED = 4, HELD = 5, SUSPENDED = 7 };

#define DAY_S 86400
/* most bytes of an expression in a reason, without the terminating zero */
#define TEXT_MAX 800

static const struct {
    const char *attribute;
    enum policy_action action;
} KINDS[POLICY_KINDS] = {
    [POLICY_OF_HOLD] = {"PeriodicHold", POLICY_HOLD},
    [POLICY_OF_RELEASE] = {"PeriodicRelease", POLICY_RELEASE},
    [POLICY_OF_REMOVE] = {"PeriodicRemove", POLICY_REMOVE},
    [POLICY_OF_VACATE] = {"PeriodicVacate", POLICY_VACATE},
};

/* ---- the site's rules ------------------------------------------------------------------------ */

static void rule_destroy(void *value)
{
    struct policy_rule *rule = value;
    mem_free(rule->name);
    ad_expr_destroy(rule->expr);
    ad_expr_destroy(rule->reason);
    ad_expr_destroy(rule->subcode);
    mem_free(rule);
}

/* Returns true for a literal that can never do anything; HTCondor's submit used to write such
 * literals for all policies. */
static bool is_idle_literal(const struct ad_expr *expr)
{
    return ad_expr_is_literal(expr) && ad_eval_bool(expr, NULL, NULL, NULL) != AD_TRUE;
}

static int parse_expr(const char *name, const char *suffix, const char *text, struct ad_expr **ret,
                      struct err *err)
{
    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    int result = ad_expr_parse(text, strlen(text), AD_OLD, ret, err);
    return result == 0 ? 0 : err_prefix(err, -EINVAL, "%s%s", name, suffix);
}

int policy_system_add(struct policy_system *system, enum policy_kind kind, const char *name,
                      const char *expr, const char *reason, const char *subcode, struct err *err)
{
    struct policy_rule *rule = mem_zalloc(sizeof(*rule));
    rule->name = mem_strdup(name);
    int result = parse_expr(name, "", expr, &rule->expr, err);
    if (result == 0) {
        result = parse_expr(name, "_REASON", reason, &rule->reason, err);
    }
    if (result == 0) {
        result = parse_expr(name, "_SUBCODE", subcode, &rule->subcode, err);
    }
    if (result == 0 && rule->expr != NULL && !is_idle_literal(rule->expr)) {
        vec_push(&system->rules[kind], rule);
    } else {
        rule_destroy(rule);
    }
    return result;
}

bool policy_system_is_empty(const struct policy_system *system)
{
    for (size_t i = 0; i < POLICY_KINDS; i++) {
        if (system->rules[i].count > 0) {
            return false;
        }
    }
    return true;
}

void policy_system_fini(struct policy_system *system)
{
    for (size_t i = 0; i < POLICY_KINDS; i++) {
        vec_fini(&system->rules[i], rule_destroy);
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool policy_plan_matters(const struct ad *ad)
{
    static const char *const NAMES[] = {
        "PeriodicHold",    "PeriodicRelease",    "PeriodicRemove",
        "PeriodicVacate",  "AllowedJobDuration", "AllowedExecuteDuration",
        "LeaveJobInQueue", "IsNoopJob",          "TimerRemove",
        "CronMinute",      "CronHour",           "CronDayOfMonth",
        "CronMonth",       "CronDayOfWeek",
    };
    for (size_t i = 0; ad != NULL && i < ARRAY_COUNT(NAMES); i++) {
        const struct ad_expr *expr = ad_lookup(ad, NAMES[i]);
        if (expr != NULL && !is_idle_literal(expr)) {
            return true;
        }
    }
    return false;
}

static void set_reason(struct policy_verdict *ret, const char *text)
{
    size_t length = strnlen(text, sizeof(ret->reason) - 1); /* cut if long */
    memcpy(ret->reason, text, length);
    ret->reason[length] = '\0';
}

static void say_value(const char *source, const char *name, const struct ad_expr *expr,
                      struct policy_verdict *ret)
{
    struct strbuf printed, text;
    strbuf_init(&printed, 0);
    strbuf_init(&text, 0);
    ad_expr_print(expr, AD_OLD, &printed);
    strbuf_printf(&text, "The %s %s expression '%.*s' evaluated to TRUE", source, name, TEXT_MAX,
                  strbuf_text(&printed));
    set_reason(ret, strbuf_text(&text));
    strbuf_fini(&printed);
    strbuf_fini(&text);
}

static void take_reason(const struct ad_expr *expr, const struct ad *job,
                        const struct ad_context *context, struct policy_verdict *ret)
{
    if (expr == NULL) {
        return;
    }
    struct ad_value value;
    ad_eval(expr, job, NULL, context, &value);
    if (value.type == AD_TYPE_STRING && value.string.length > 0) {
        set_reason(ret, value.string.text);
    }
    ad_value_fini(&value);
}

static void take_subcode(const struct ad_expr *expr, const struct ad *job,
                         const struct ad_context *context, struct policy_verdict *ret)
{
    if (expr != NULL) {
        double number = ad_eval_rank(expr, job, NULL, context);
        ret->subcode = number >= INT32_MIN && number <= INT32_MAX ? (int)number : 0;
    }
}

static uint64_t over_of(const struct ad_context *context)
{
    return context->work != NULL ? context->work->over : 0;
}

void policy_plan_too_costly(const struct ad *job, const char *what,
                            const struct ad_context *context, struct policy_verdict *ret)
{
    int64_t status = ad_int_or(job, "JobStatus", 0);
    bool rests = status == HELD || status == COMPLETED;
    uint32_t most = context->work->steps_max;
    *ret = (struct policy_verdict){.action = rests ? POLICY_NONE : POLICY_HOLD,
                                   .code = HOLD_POLICY_UNDEFINED,
                                   .costly = true};
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s takes more than %u steps to evaluate", what,
                  most == 0 || most > AD_EVAL_STEPS_MAX ? AD_EVAL_STEPS_MAX : most);
    set_reason(ret, strbuf_text(&text));
    strbuf_fini(&text);
}

/* As policy_plan_too_costly(), for the one expression with this source and name. */
static void blame_expression(const struct ad *job, const char *source, const char *name,
                             const struct ad_context *context, struct policy_verdict *ret)
{
    struct strbuf what;
    strbuf_init(&what, 0);
    strbuf_printf(&what, "The %s %s", source, name);
    policy_plan_too_costly(job, strbuf_text(&what), context, ret);
    strbuf_fini(&what);
}

/* Evaluates the job's own attribute with this name.  Returns true, and fills *ret, when it asks for
 * the action or is too costly. */
static bool own_says(const struct ad *job, const char *name, enum policy_action action,
                     const struct ad_context *context, struct policy_verdict *ret)
{
    const struct ad_expr *expr = ad_lookup(job, name);
    uint64_t over = over_of(context);
    bool yes = expr != NULL && ad_eval_bool(expr, job, NULL, context) == AD_TRUE;
    if (over_of(context) > over) {
        blame_expression(job, "job attribute", name, context, ret);
        return true;
    }
    if (!yes) {
        return false;
    }
    struct strbuf attribute;
    strbuf_init(&attribute, 0);
    *ret = (struct policy_verdict){.action = action, .code = HOLD_JOB_POLICY};
    say_value("job attribute", name, expr, ret);
    strbuf_printf(&attribute, "%sReason", name);
    take_reason(ad_lookup(job, strbuf_text(&attribute)), job, context, ret);
    strbuf_clear(&attribute);
    strbuf_printf(&attribute, "%sSubCode", name);
    take_subcode(ad_lookup(job, strbuf_text(&attribute)), job, context, ret);
    strbuf_fini(&attribute);
    return true;
}

static bool policy_says(const struct ad *job, const struct policy_system *system,
                        enum policy_kind kind, const struct ad_context *context,
                        struct policy_verdict *ret)
{
    if (own_says(job, KINDS[kind].attribute, KINDS[kind].action, context, ret)) {
        return true;
    }
    const struct vec *rules = &system->rules[kind];
    for (size_t i = 0; i < rules->count; i++) {
        const struct policy_rule *rule = rules->items[i];
        uint64_t over = over_of(context);
        bool yes = ad_eval_bool(rule->expr, job, NULL, context) == AD_TRUE;
        if (over_of(context) > over) { /* of this job, so its attributes are at fault */
            blame_expression(job, "system macro", rule->name, context, ret);
            return true;
        }
        if (!yes) {
            continue;
        }
        *ret = (struct policy_verdict){.action = KINDS[kind].action, .code = HOLD_SYSTEM_POLICY};
        say_value("system macro", rule->name, rule->expr, ret);
        take_reason(rule->reason, job, context, ret);
        take_subcode(rule->subcode, job, context, ret);
        return true;
    }
    return false;
}

/* Writes a duration in HTCondor's short form, such as "3+00:00:00", "2:00:00", "10:00", into the
 * reason. */
static void say_duration(const char *what, int64_t seconds, struct policy_verdict *ret)
{
    long long days = seconds / DAY_S, rest = seconds % DAY_S;
    int hours = (int)(rest / 3600), minutes = (int)(rest / 60 % 60), left = (int)(rest % 60);
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "The job exceeded allowed %s duration of ", what);
    if (days > 0) {
        strbuf_printf(&text, "%lld+%02d:%02d:%02d", days, hours, minutes, left);
    } else if (hours > 0) {
        strbuf_printf(&text, "%d:%02d:%02d", hours, minutes, left);
    } else {
        strbuf_printf(&text, "%02d:%02d", minutes, left);
    }
    set_reason(ret, strbuf_text(&text));
    strbuf_fini(&text);
}

static bool value_of(const struct ad *job, const char *name, const struct ad_context *context,
                     int64_t *ret)
{
    struct ad_value value;
    (void)ad_eval_attr(job, NULL, name, context, &value); /* absent: undefined */
    bool is_number = value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL;
    if (value.type == AD_TYPE_INT) {
        *ret = value.integer;
    } else if (is_number) {
        is_number = value.real > -9e18 && value.real < 9e18;
        *ret = is_number ? (int64_t)value.real : 0;
    }
    ad_value_fini(&value);
    return is_number;
}

static bool lasts_too_long(const struct ad *job, const struct ad_context *context,
                           struct policy_verdict *ret)
{
    int64_t allowed_s = 0, since_s = 0, shadow_s = 0;
    if (value_of(job, "AllowedJobDuration", context, &allowed_s) &&
        value_of(job, "ShadowBday", context, &since_s) && context->now_s - since_s >= allowed_s) {
        *ret = (struct policy_verdict){.action = POLICY_HOLD, .code = HOLD_JOB_DURATION};
        say_duration("job", allowed_s, ret);
        return true;
    }
    /* A start that is older than the shadow's is of an earlier run. */
    if (value_of(job, "AllowedExecuteDuration", context, &allowed_s) &&
        value_of(job, "JobCurrentStartExecutingDate", context, &since_s) &&
        value_of(job, "ShadowBday", context, &shadow_s) && since_s >= shadow_s &&
        context->now_s - since_s > allowed_s) {
        *ret = (struct policy_verdict){.action = POLICY_HOLD, .code = HOLD_EXECUTE_DURATION};
        say_duration("execute", allowed_s, ret);
        return true;
    }
    return false;
}

void policy_plan_periodic(const struct ad *job, const struct policy_system *system,
                          const struct ad_context *context, struct policy_verdict *ret)
{
    *ret = (struct policy_verdict){.action = POLICY_NONE};
    int64_t status = ad_int_or(job, "JobStatus", 0), remove_s = 0;
    uint64_t over = over_of(context);
    if (status == RUNNING || status == SUSPENDED) {
        bool too_long = lasts_too_long(job, context, ret);
        if (over_of(context) > over) {
            blame_expression(job, "job attribute", "AllowedJobDuration or AllowedExecuteDuration",
                             context, ret);
            return;
        }
        if (too_long || policy_says(job, system, POLICY_OF_VACATE, context, ret)) {
            return;
        }
    }
    if (value_of(job, "TimerRemove", context, &remove_s) && remove_s >= 0 &&
        remove_s < context->now_s) {
        *ret = (struct policy_verdict){.action = POLICY_REMOVE, .code = HOLD_JOB_POLICY};
        say_value("job attribute", "TimerRemove", ad_lookup(job, "TimerRemove"), ret);
        return;
    }
    if (over_of(context) > over) {
        blame_expression(job, "job attribute", "TimerRemove", context, ret);
        return;
    }
    if (status != HELD && status != COMPLETED &&
        policy_says(job, system, POLICY_OF_HOLD, context, ret)) {
        return;
    }
    if (status == HELD && ad_int_or(job, "HoldReasonCode", 0) != HOLD_USER_REQUEST &&
        policy_says(job, system, POLICY_OF_RELEASE, context, ret)) {
        return;
    }
    (void)policy_says(job, system, POLICY_OF_REMOVE, context, ret); /* the last */
}

void policy_plan_exit(const struct ad *job, const struct policy_system *system,
                      const struct ad_context *context, struct policy_verdict *ret)
{
    *ret = (struct policy_verdict){.action = POLICY_NONE};
    if (policy_says(job, system, POLICY_OF_HOLD, context, ret) ||
        own_says(job, "OnExitHold", POLICY_HOLD, context, ret)) {
        return;
    }
    const struct ad_expr *expr = ad_lookup(job, "OnExitRemove");
    if (expr != NULL && ad_eval_bool(expr, job, NULL, context) == AD_FALSE) {
        struct strbuf printed, text;
        strbuf_init(&printed, 0);
        strbuf_init(&text, 0);
        ad_expr_print(expr, AD_OLD, &printed);
        strbuf_printf(&text, "The job attribute OnExitRemove expression '%.*s' evaluated to FALSE",
                      TEXT_MAX, strbuf_text(&printed));
        ret->action = POLICY_REQUEUE;
        set_reason(ret, strbuf_text(&text));
        strbuf_fini(&printed);
        strbuf_fini(&text);
    }
}

bool policy_plan_is_noop(const struct ad *job, const struct ad_context *context, int64_t *code,
                         int64_t *signal)
{
    const struct ad_expr *expr = ad_lookup(job, "IsNoopJob");
    if (expr == NULL || ad_eval_bool(expr, job, NULL, context) != AD_TRUE) {
        return false;
    }
    *code = 0;
    *signal = 0;
    (void)value_of(job, "NoopJobExitCode", context, code);     /* stays 0 */
    (void)value_of(job, "NoopJobExitSignal", context, signal); /* the same */
    return true;
}

bool policy_plan_stays(const struct ad *job, const struct ad_context *context)
{
    const struct ad_expr *expr = ad_lookup(job, "LeaveJobInQueue");
    return expr != NULL && ad_eval_bool(expr, job, NULL, context) == AD_TRUE;
}
