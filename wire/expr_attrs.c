/* wire/expr_attrs.c - see expr_attrs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/expr_attrs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/sleep_level.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_attr.h"
#include "classad/ad_depends.h"
#include "classad/ad_doubts.h"

struct checking {
    const struct config *config;
    const char *knob;
    expr_attrs_f warn;
    void *arg;
    struct strmap *said; /* names that were reported for this knob */
};

/* ---- knobs and what their expressions can read */

/* Expressions of slots, where MY is the slot and all its attributes are known. */
static const char *const SLOT_KNOBS[] = {"START",        "RANK",        "SUSPEND",
                                         "CONTINUE",     "PREEMPT",     "KILL",
                                         "WANT_SUSPEND", "WANT_VACATE", "MAXJOBRETIREMENTTIME",
                                         "HIBERNATE",    "UNHIBERNATE", "MACHINEMAXVACATETIME"};

/* The ad in which ROOSTER_RESERVE is evaluated has these attributes and no others. */
static const char *const RESERVE_ATTRS[] = {"PoolIdleJobs", "PoolIdleJobsWait", "MachinesTotal",
                                            "MachinesIdle", "MachinesDown",     "MachinesGoingDown",
                                            "ClockMin",     "ClockDay",         "ClockDate",
                                            "CurrentTime"};

/* Words of State and Activity; only these two attributes have them, as texts. */
static const char *const STATE_WORDS[] = {"Unclaimed", "Matched", "Claimed",   "Preempting",
                                          "Drained",   "Idle",    "Busy",      "Retiring",
                                          "Vacating",  "Killing", "Suspended", "Backfill"};

/* Lists whose items are names of attributes, of machines or of jobs. */
static const char *const ATTR_LISTS[] = {"STARTD_ATTRS",        "STARTD_EXPRS",
                                         "SUBMIT_ATTRS",        "SUBMIT_EXPRS",
                                         "SYSTEM_SUBMIT_ATTRS", "SYSTEM_JOB_MACHINE_ATTRS",
                                         "IMMUTABLE_JOB_ATTRS", "PROTECTED_JOB_ATTRS"};

static bool is_among(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equal_nocase(words[i], word)) {
            return true;
        }
    }
    return false;
}

/* Returns the part of SLOT_TYPE_1_START after the number; another knob as it is. */
static const char *plain_knob(const char *knob)
{
    if (!text_glob("SLOT_TYPE_*_*", knob, true)) {
        return knob;
    }
    const char *at = knob + strlen("SLOT_TYPE_");
    return strchr(at, '_') + 1;
}

static bool is_of_slots(const char *knob)
{
    return is_among(SLOT_KNOBS, ARRAY_COUNT(SLOT_KNOBS), plain_knob(knob));
}

/* Returns whether the expression of a slot never sees a job. */
static bool is_without_job(const char *knob)
{
    return strcmp(plain_knob(knob), "HIBERNATE") == 0 ||
           strcmp(plain_knob(knob), "UNHIBERNATE") == 0;
}

static bool is_in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, ", \t\n\"");
        if (word == length && strncasecmp(at, name, length) == 0) {
            return true;
        }
        at += word + (at[word] != '\0' ? 1 : 0);
    }
    return false;
}

/* Returns whether the configuration defines or announces the attribute. */
static bool is_of_site(const struct config *config, const char *name)
{
    char resource[160];
    (void)snprintf(resource, sizeof resource, "MACHINE_RESOURCE_%.100s", name);
    bool found = config_text(config, name) != NULL || config_text(config, resource) != NULL;
    for (size_t i = 0; i < ARRAY_COUNT(ATTR_LISTS) && !found; i++) {
        found = is_in_list(config_text(config, ATTR_LISTS[i]), name);
    }
    return found;
}

/* ---- warnings */

static void say(const struct checking *checking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct checking *checking, const char *format, ...)
{
    struct config_origin origin;
    struct strbuf text;
    char what[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args); /* cut: the beginning says it */
    va_end(args);
    strbuf_init(&text, 0);
    if (config_why(checking->config, checking->knob, &origin) && origin.file != NULL) {
        strbuf_puts(&text, origin.file);
        if (origin.line > 0) {
            strbuf_printf(&text, ":%u", origin.line);
        }
        strbuf_puts(&text, ": ");
    }
    strbuf_printf(&text, "%s %s", checking->knob, what);
    checking->warn(checking->arg, strbuf_text(&text));
    strbuf_fini(&text);
}

/* Says that no ad has the name, and what was probably meant. */
static void say_unknown(const struct checking *checking, const char *name, const char *nearest,
                        bool is_bare)
{
    if (nearest != NULL) {
        say(checking, "names the attribute '%s', which no ad has; did you mean %s?", name, nearest);
    } else if (!is_bare) {
        say(checking, "names the attribute '%s', which no ad has", name);
    } else if (strcmp(checking->knob, "HIBERNATE") == 0 && sleep_level_of(name) >= 0) {
        say(checking,
            "names the attribute '%s', which no ad has; a level is a text in quotes of its own: "
            "HIBERNATE = \"\\\"%s\\\"\"",
            name, name);
    } else if (is_without_job(checking->knob)) {
        say(checking,
            "names the attribute '%s', which no ad has; a text needs quotes of its own: "
            "\\\"%s\\\"",
            name, name);
    } else {
        say(checking,
            "names the attribute '%s', which no ad has; a text needs quotes of its own, "
            "\\\"%s\\\", and an attribute that jobs of this site have is written TARGET.%s",
            name, name, name);
    }
}

static void check_of_reserve(const struct checking *checking, const char *name)
{
    if (is_among(RESERVE_ATTRS, ARRAY_COUNT(RESERVE_ATTRS), name)) {
        return;
    }
    if (!ad_attr_is_known(name) && ad_attr_nearest(name) != NULL) {
        say_unknown(checking, name, ad_attr_nearest(name), false);
        return;
    }
    say(checking,
        "names '%s', which the rooster does not have there: the reserve is one of the whole pool; "
        "it may use PoolIdleJobs, PoolIdleJobsWait, MachinesTotal, MachinesIdle, MachinesDown, "
        "MachinesGoingDown, ClockMin, ClockDay and ClockDate",
        name);
}

static void check_of_ads(const struct checking *checking, const char *name, bool in_my,
                         bool in_target)
{
    bool is_bare = in_my && in_target;
    bool of_slots = is_of_slots(checking->knob);
    if (is_of_site(checking->config, name)) {
        return;
    }
    if (of_slots && is_bare && is_among(STATE_WORDS, ARRAY_COUNT(STATE_WORDS), name)) {
        say(checking,
            "names the attribute '%s', which no slot has; a state is a text in quotes of "
            "its own: \\\"%s\\\"",
            name, name);
        return;
    }
    const char *nearest = NULL;
    if (ad_attr_is_known(name)) {
        /* RequestMemry could be of a resource Memry; it is none of this configuration */
        nearest = ad_attr_is_listed(name) || text_glob("*_RAW", name, true) ? NULL
                                                                            : ad_attr_nearest(name);
        if (nearest == NULL || strlen(nearest) == strlen(name)) {
            return;
        }
    } else {
        nearest = ad_attr_nearest(name);
    }
    if (nearest != NULL || (of_slots && in_my)) {
        say_unknown(checking, name, nearest, is_bare);
    }
}

static void check_name(void *arg, const char *name, bool in_my, bool in_target)
{
    struct checking *checking = arg;
    if (strmap_get(checking->said, name) != NULL) {
        return;
    }
    (void)strmap_set(checking->said, name, checking); /* was absent */
    if (strcmp(checking->knob, "ROOSTER_RESERVE") == 0) {
        check_of_reserve(checking, name);
    } else {
        check_of_ads(checking, name, in_my, in_target);
    }
}

static void check_call(void *arg, const char *text)
{
    say(arg, "%s", text);
}

/* HIBERNATE is a level of sleep. */
static void check_level(void *arg, const struct ad_value *value)
{
    static const char LEVELS[] = "expected NONE, S1, S3, S4 or S5";
    if (value->type == AD_TYPE_STRING && sleep_level_of(value->string.text) < 0) {
        say(arg, "may be '%.40s', which is not a level of sleep; %s", value->string.text, LEVELS);
    } else if (value->type == AD_TYPE_INT &&
               (value->integer < 0 || value->integer > SLEEP_LEVEL_MAX)) {
        say(arg, "may be %lld, which is not a level of sleep; %s", (long long)value->integer,
            LEVELS);
    } else if ((value->type == AD_TYPE_BOOL && value->boolean) || value->type == AD_TYPE_REAL) {
        say(arg, "may be %s, which is not a level of sleep; %s",
            value->type == AD_TYPE_BOOL ? "true" : "a fraction", LEVELS);
    }
}

/* A reserve is a number of machines. */
static void check_number(void *arg, const struct ad_value *value)
{
    if (value->type == AD_TYPE_STRING || value->type == AD_TYPE_BOOL) {
        say(arg, "may be a %s; expected a number of machines",
            value->type == AD_TYPE_BOOL ? "truth value" : "text");
    }
}

/* ---- expressions */

static void check_text(struct checking *checking, const char *text, size_t length)
{
    struct ad_expr *expr = NULL;
    if (ad_expr_parse(text, length, AD_OLD, &expr, NULL) == 0) {
        (void)ad_depends(expr, check_name, checking); /* computed names are not checked */
        ad_call_doubts(expr, check_call, checking);
        if (strcmp(checking->knob, "HIBERNATE") == 0) {
            ad_constant_results(expr, check_level, checking);
        } else if (strcmp(checking->knob, "ROOSTER_RESERVE") == 0) {
            ad_constant_results(expr, check_number, checking);
        }
        ad_expr_destroy(expr);
    }
}

/* Checks the expressions that stand within the value of a knob. */
static void check_inner(struct checking *checking, const struct knob *knob)
{
    const char *text = config_string(checking->config, checking->knob), *expr;
    size_t at = 0, length;
    while (text != NULL && knob->next_expr(text, &at, &expr, &length)) {
        check_text(checking, expr, length);
    }
}

static void check_knob(struct checking *checking, const struct knob *knob)
{
    struct config_origin origin;
    if (!config_why(checking->config, checking->knob, &origin) || origin.layer == CONFIG_BUILTIN) {
        return;
    }
    bool of_type =
        knob == NULL && checking->knob != plain_knob(checking->knob) && is_of_slots(checking->knob);
    const char *text = of_type ? config_text(checking->config, checking->knob)
                       : knob != NULL && knob->type == KNOB_EXPR
                           ? config_expr(checking->config, checking->knob)
                           : NULL;
    checking->said = strmap_create(STRMAP_CASE_IGNORED);
    if (text != NULL) {
        check_text(checking, text, strlen(text));
    } else if (knob != NULL && knob->next_expr != NULL) {
        check_inner(checking, knob);
    }
    strmap_destroy(checking->said, NULL);
}

void expr_attrs_check(const struct config *config, expr_attrs_f warn, void *arg)
{
    struct checking checking = {.config = config, .warn = warn, .arg = arg};
    const struct knob *knob = NULL;
    size_t at = 0;
    while (config_next(config, &at, &checking.knob, &knob)) {
        check_knob(&checking, knob);
    }
}

void expr_attrs_check_knob(const struct config *config, const char *knob, expr_attrs_f warn,
                           void *arg)
{
    struct checking checking = {.config = config, .warn = warn, .arg = arg};
    const struct knob *found = NULL;
    size_t at = 0;
    while (config_next(config, &at, &checking.knob, &found)) {
        if (text_equal_nocase(checking.knob, knob)) {
            check_knob(&checking, found);
        }
    }
}

static void log_doubt(void *arg, const char *text)
{
    log_warn((struct log *)arg, "config.attribute", text);
}

void expr_attrs_log(const struct config *config, struct log *log)
{
    expr_attrs_check(config, log_doubt, log);
}
