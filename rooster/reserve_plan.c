/* rooster/reserve_plan.c - the reserve of idle machines: see reserve_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/reserve_plan.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

#define DAY_MIN  1440
#define DAY_S    INT64_C(86400)
#define WEEK     7
#define ALL_DAYS 0x7fu

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return at;
}

static bool take_number(const char **at, int64_t most, int64_t *ret)
{
    int64_t number = 0;
    const char *from = *at;
    for (; isdigit((unsigned char)**at); (*at)++) {
        number = number * 10 + (**at - '0');
        if (number > most) {
            return false;
        }
    }
    *ret = number;
    return *at > from;
}

/* Parses "Mon". */
static bool take_day(const char **at, int *ret)
{
    static const char *const DAYS[WEEK] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    for (int i = 0; i < WEEK; i++) {
        if (strncasecmp(*at, DAYS[i], 3) == 0) {
            *at += 3;
            *ret = i;
            return true;
        }
    }
    return false;
}

/* Parses "Mon-Fri " or "Sat "; every day if there is none. */
static bool take_days(const char **at, unsigned *ret)
{
    int from, to;
    *ret = ALL_DAYS;
    if (!isalpha((unsigned char)**at)) {
        return true;
    }
    if (!take_day(at, &from)) {
        return false;
    }
    to = from;
    if (**at == '-') {
        (*at)++;
        if (!take_day(at, &to)) {
            return false;
        }
    }
    *ret = 0;
    for (int day = from;; day = (day + 1) % WEEK) {
        *ret |= 1u << day;
        if (day == to) {
            break;
        }
    }
    *at = skip_blanks(*at);
    return true;
}

/* Parses "07:00", up to "24:00". */
static bool take_time(const char **at, int *ret)
{
    int64_t hour, minute;
    if (!take_number(at, 24, &hour) || **at != ':') {
        return false;
    }
    (*at)++;
    if (!take_number(at, 59, &minute) || (hour == 24 && minute != 0)) {
        return false;
    }
    *ret = (int)(hour * 60 + minute);
    return true;
}

/* Passes over an expression in parentheses.  Strings in it may have parentheses, too. */
static bool take_expr(const char **at)
{
    size_t depth = 0;
    char quote = '\0';
    for (const char *here = *at; *here != '\0'; here++) {
        if (quote != '\0') {
            here += *here == '\\' && here[1] != '\0' ? 1 : 0;
            quote = *here == quote ? '\0' : quote;
        } else if (*here == '"' || *here == '\'') {
            quote = *here;
        } else if (*here == '(') {
            depth++;
        } else if (*here == ')' && --depth == 0) {
            *at = here + 1;
            return true;
        }
    }
    return false;
}

static const char ANY_TIME[] = "expected a time from 00:00 to 24:00, such as 07:00-19:00";

/* Parses "07:00-19:00 ".  Returns NULL, or what is wrong. */
static const char *take_times(const char **at, struct reserve_rule *rule)
{
    if (!take_time(at, &rule->from_min) || **at != '-') {
        return ANY_TIME;
    }
    (*at)++;
    if (!take_time(at, &rule->to_min)) {
        return ANY_TIME;
    }
    *at = skip_blanks(*at);
    return NULL;
}

/* Returns whether the text is an expression that stands without parentheses. */
static bool is_bare_expr(const char *at)
{
    size_t end = strcspn(at, ",");
    for (size_t i = 0; i < end; i++) {
        if (strchr("?<>&|+*/", at[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static const char ANY_NUMBER[] = "expected a number of machines (5), a percentage (10%) or an "
                                 "expression in parentheses";
static const char BARE_EXPR[] = "an expression needs parentheses: (PoolIdleJobs > 0 ? 5 : 1)";

/* Parses "Mon-Fri 07:00-19:00 = ".  Returns NULL, or what is wrong. */
static const char *take_when(const char **at, struct reserve_rule *rule)
{
    const char *from = *at, *wrong = NULL;
    if (!isalnum((unsigned char)*from)) {
        return ANY_NUMBER;
    }
    if (!take_days(at, &rule->days)) {
        return is_bare_expr(from) ? BARE_EXPR
                                  : "expected a weekday such as Mon or Mon-Fri (Mon Tue Wed Thu "
                                    "Fri Sat Sun)";
    }
    if (isdigit((unsigned char)**at)) { /* else the whole day */
        wrong = take_times(at, rule);
    }
    if (wrong == NULL && **at != '=') {
        wrong = "expected '=' and the number of machines after the day and time";
    }
    if (wrong == NULL) {
        *at = skip_blanks(*at + 1);
    }
    return wrong;
}

/* Returns NULL, or what is wrong with the rule. */
static const char *take_rule(const char *text, const char **at, struct reserve_rule *rule)
{
    *rule = (struct reserve_rule){.days = ALL_DAYS, .to_min = DAY_MIN};
    const char *digits = *at + strspn(*at, "0123456789"), *wrong = NULL;
    bool plain = **at == '(' || (digits > *at && *digits != ':');
    if (strncasecmp(*at, "else", 4) == 0) {
        *at = skip_blanks(*at + 4);
    } else if (!plain) {
        wrong = take_when(at, rule);
    }
    if (wrong != NULL) {
        return wrong;
    }
    const char *from = *at;
    if (**at == '(' && !take_expr(at)) {
        return "the expression's parenthesis is not closed";
    }
    if (*from != '(' && !take_number(at, RESERVE_NUMBER_MAX, &rule->number)) {
        return is_bare_expr(from) ? BARE_EXPR : ANY_NUMBER;
    }
    if (*from == '(') {
        rule->expr_at = (size_t)(from - text);
        rule->expr_length = (size_t)(*at - from);
        *at = skip_blanks(*at);
    }
    if (**at == '%') {
        rule->is_percent = true;
        (*at)++;
    }
    *at = skip_blanks(*at);
    if (rule->is_percent && rule->number > 100) {
        return "a percentage is 0% to 100%";
    }
    return **at == ',' || **at == '\0'          ? NULL
           : is_bare_expr(from) && *from != '(' ? BARE_EXPR
                                                : "expected ',' or the end after the number";
}

int reserve_plan_parse(const char *text, struct reserve *ret, struct err *err)
{
    struct reserve reserve = {.count = 0};
    const char *at = skip_blanks(text);
    while (*at != '\0') {
        const char *from = at;
        struct reserve_rule rule;
        if (reserve.count == RESERVE_RULES_MAX) {
            return err_set(err, -E2BIG,
                           "the reserve has more than %d rules; the first too many is '%.40s'",
                           RESERVE_RULES_MAX, from);
        }
        const char *wrong = take_rule(text, &at, &rule);
        if (wrong != NULL) {
            bool shown = *at != '\0' && wrong != BARE_EXPR;
            return err_set(err, -EINVAL, "'%.60s' is not a valid rule: %s%s%.20s%s", from, wrong,
                           shown ? ", not '" : "", shown ? at : "", shown ? "'" : "");
        }
        reserve.rules[reserve.count++] = rule;
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    *ret = reserve;
    return 0;
}

static bool is_always(const struct reserve_rule *rule)
{
    return rule->days == ALL_DAYS && rule->from_min == 0 && rule->to_min == DAY_MIN;
}

bool reserve_plan_doubt(const struct reserve *reserve, struct err *ret)
{
    for (size_t i = 0; i < reserve->count; i++) {
        const struct reserve_rule *rule = &reserve->rules[i];
        if (rule->from_min == rule->to_min) {
            (void)
                err_set(ret, -EINVAL,
                        "entry %zu begins and ends at %02d:%02d: it applies for 24 hours; expected "
                        "two times that differ",
                        i + 1, rule->from_min / 60, rule->from_min % 60);
            return true;
        }
        if (is_always(rule) && i + 1 < reserve->count) {
            (void)err_set(ret, -EINVAL,
                          "entry %zu is never reached: entry %zu applies at all times, and the "
                          "first entry that applies counts",
                          i + 2, i + 1);
            return true;
        }
    }
    return false;
}

static bool rule_applies(const struct reserve_rule *rule, int minute, int day)
{
    if (rule->from_min < rule->to_min) {
        return minute >= rule->from_min && minute < rule->to_min && (rule->days & 1u << day) != 0;
    }
    if (minute >= rule->from_min) {
        return (rule->days & 1u << day) != 0;
    }
    return minute < rule->to_min && (rule->days & 1u << (day + WEEK - 1) % WEEK) != 0;
}

size_t reserve_plan_rule_at(const struct reserve *reserve, int64_t local_s)
{
    int64_t days = local_s / DAY_S;
    int minute = (int)(local_s % DAY_S / 60);
    int day = (int)((days + 4) % WEEK); /* 1970 began on a Thursday */
    size_t i = 0;
    while (i < reserve->count && !rule_applies(&reserve->rules[i], minute, day)) {
        i++;
    }
    return i;
}

int64_t reserve_plan_machines(const struct reserve_rule *rule, int64_t number, int64_t machines)
{
    return rule->is_percent ? (machines * number + 99) / 100 : number;
}

bool reserve_plan_next_expr(const char *text, size_t *at, const char **expr, size_t *length)
{
    struct reserve reserve;
    size_t after = *at;
    if (reserve_plan_parse(text, &reserve, NULL) != 0) {
        return false;
    }
    for (size_t i = 0; i < reserve.count; i++) {
        const struct reserve_rule *rule = &reserve.rules[i];
        if (rule->expr_length > 0 && rule->expr_at + 1 > after) {
            *at = rule->expr_at + 1;
            *expr = text + rule->expr_at;
            *length = rule->expr_length;
            return true;
        }
    }
    return false;
}

int reserve_plan_check(const char *text, struct err *err)
{
    struct reserve reserve;
    return reserve_plan_parse(text, &reserve, err);
}
