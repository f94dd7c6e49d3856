/* wire/expr_attrs.c - see expr_attrs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/expr_attrs.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_attr.h"
#include "classad/ad_depends.h"

struct checking {
    const struct config *config;
    const char *knob;
    expr_attrs_f warn;
    void *arg;
};

/* Returns whether MY is a slot in this expression, or the rooster's ad: all its attributes are
 * known. */
static bool is_of_slots(const char *knob)
{
    static const char *const KNOBS[] = {"START",          "RANK",        "SUSPEND",
                                        "CONTINUE",       "PREEMPT",     "KILL",
                                        "WANT_SUSPEND",   "WANT_VACATE", "MAXJOBRETIREMENTTIME",
                                        "HIBERNATE",      "UNHIBERNATE", "MACHINEMAXVACATETIME",
                                        "ROOSTER_RESERVE"};
    for (size_t i = 0; i < ARRAY_COUNT(KNOBS); i++) {
        if (strcmp(KNOBS[i], knob) == 0) {
            return true;
        }
    }
    return false;
}

static void check_name(void *arg, const char *name, bool in_my, bool in_target)
{
    const struct checking *checking = arg;
    if (ad_attr_is_known(name) || config_text(checking->config, name) != NULL) {
        return;
    }
    const char *nearest = ad_attr_nearest(name);
    if (nearest == NULL && (in_target || !in_my || !is_of_slots(checking->knob))) {
        return; /* perhaps an attribute of jobs */
    }
    struct config_origin origin;
    struct strbuf text;
    strbuf_init(&text, 0);
    if (config_why(checking->config, checking->knob, &origin) && origin.file != NULL) {
        strbuf_printf(&text, "%s:%u: ", origin.file, origin.line);
    }
    strbuf_printf(&text, "%s names the attribute '%s', which no ad has", checking->knob, name);
    if (nearest != NULL) {
        strbuf_printf(&text, "; did you mean %s?", nearest);
    }
    checking->warn(checking->arg, strbuf_text(&text));
    strbuf_fini(&text);
}

static void check_text(struct checking *checking, const char *text, size_t length)
{
    struct ad_expr *expr = NULL;
    if (ad_expr_parse(text, length, AD_OLD, &expr, NULL) == 0) {
        (void)ad_depends(expr, check_name, checking); /* computed names are not checked */
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

void expr_attrs_check(const struct config *config, expr_attrs_f warn, void *arg)
{
    struct checking checking = {.config = config, .warn = warn, .arg = arg};
    const struct knob *knob = NULL;
    struct config_origin origin;
    size_t at = 0;
    while (config_next(config, &at, &checking.knob, &knob)) {
        if (knob == NULL || !config_why(config, checking.knob, &origin) ||
            origin.layer == CONFIG_BUILTIN) {
            continue;
        }
        const char *text = knob->type == KNOB_EXPR ? config_expr(config, checking.knob) : NULL;
        if (text != NULL) {
            check_text(&checking, text, strlen(text));
        } else if (knob->next_expr != NULL) {
            check_inner(&checking, knob);
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
