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

static bool take_rule(const char *text, const char **at, struct reserve_rule *rule)
{
    *rule = (struct reserve_rule){.days = ALL_DAYS, .to_min = DAY_MIN};
    const char *digits = *at + strspn(*at, "0123456789");
    bool plain = **at == '(' || (digits > *at && *digits != ':');
    if (strncasecmp(*at, "else", 4) == 0) {
        *at = skip_blanks(*at + 4);
    } else if (!plain) {
        if (!take_days(at, &rule->days)) {
            return false;
        }
        if (isdigit((unsigned char)**at)) { /* else the whole day */
            if (!take_time(at, &rule->from_min) || **at != '-') {
                return false;
            }
            (*at)++;
            if (!take_time(at, &rule->to_min)) {
                return false;
            }
            *at = skip_blanks(*at);
        }
        if (**at != '=') {
            return false;
        }
        *at = skip_blanks(*at + 1);
    }
    const char *from = *at;
    if (**at != '(' ? !take_number(at, RESERVE_NUMBER_MAX, &rule->number) : !take_expr(at)) {
        return false;
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
    return !rule->is_percent || rule->number <= 100;
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
        if (!take_rule(text, &at, &rule) || (*at != ',' && *at != '\0')) {
            return err_set(err, -EINVAL,
                           "'%.60s' is not a valid rule; expected a rule such as 'Mon-Fri "
                           "07:00-19:00 = 5', 'else 10%%'",
                           from);
        }
        reserve.rules[reserve.count++] = rule;
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    *ret = reserve;
    return 0;
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
