/* schedd/submission/dollar_plan.c - see dollar_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/dollar_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"

#define EXPANDED  "MATCH_EXP_"
#define LOOKED_UP "MATCH_"
/* most bytes of one expanded attribute, without the terminating zero */
#define TEXT_MAX 65536

static const char *text_of(const struct ad_expr *expr)
{
    const char *text = NULL;
    size_t length = 0;
    if (!ad_expr_literal_string(expr, &text, &length) || strstr(text, "$$(") == NULL) {
        return NULL;
    }
    return text;
}

/* Returns true for HoldReason, VacateReason and the like: texts that may mention $$() and are not
 * expanded. */
static bool is_reason(const char *attribute)
{
    static const char END[] = "Reason";
    size_t length = strlen(attribute), end = sizeof(END) - 1;
    return length >= end && ad_name_compare(attribute + length - end, END) == 0;
}

bool dollar_plan_matters(const struct ad *ad)
{
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *expr = NULL;
    if (ad == NULL || !ad_may_contain(ad, "$$(")) {
        return false; /* as nearly always, so that no job keeps an expression for this question */
    }
    while (ad_next(ad, &at, &name, &expr)) {
        if (text_of(expr) != NULL && !is_reason(name)) {
            return true;
        }
    }
    return false;
}

static bool names_a_file(const char *attribute)
{
    static const char *const FILES[] = {
        "Cmd",
        "Iwd",
        "In",
        "Out",
        "Err",
        "UserLog",
        "TransferInput",
        "TransferOutput",
        "TransferOutputRemaps",
    };
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        if (ad_name_compare(FILES[i], attribute) == 0) {
            return true;
        }
    }
    return false;
}

struct expanding {
    const struct ad *job, *slot;
    const struct ad_context *context;
    const char *attribute;
    struct ad *ret;
    struct strbuf *out;
};

/* Appends a value.  Returns false when it is undefined or an error. */
static bool put_value(const struct ad_value *value, struct strbuf *out)
{
    switch (value->type) {
    case AD_TYPE_UNDEFINED:
    case AD_TYPE_ERROR:
        return false;
    case AD_TYPE_STRING:
        strbuf_append(out, value->string.text, value->string.length);
        return true;
    default:
        ad_value_print_bare(value, out);
        return true;
    }
}

static int cannot_expand(const char *form, const char *body, struct err *err)
{
    return err_set(err, -EINVAL, "Cannot expand $$%s(%.200s).", form, body);
}

static int expand_expression(struct expanding *expanding, const char *body, struct err *err)
{
    struct ad_expr *expr = NULL;
    size_t length = strlen(body);
    CHECK(length >= 2); /* it is between brackets */
    if (ad_expr_parse_in(body + 1, length - 2, AD_OLD, expanding->context, &expr, NULL, NULL) !=
        0) {
        return cannot_expand(" expression ", body, err);
    }
    struct ad_value value;
    ad_eval(expr, expanding->job, expanding->slot, expanding->context, &value);
    bool is_there = put_value(&value, expanding->out);
    ad_value_fini(&value);
    ad_expr_destroy(expr);
    return is_there ? 0 : cannot_expand(" expression ", body, err);
}

static int expand_name(struct expanding *expanding, char *body, struct err *err)
{
    char *colon = strchr(body, ':');
    const char *otherwise = colon != NULL ? colon + 1 : NULL;
    if (colon != NULL) {
        *colon = '\0';
    }
    if (ad_name_compare(body, "DOLLARDOLLAR") == 0) {
        strbuf_puts(expanding->out, "$$");
        return 0;
    }
    if (!ad_name_is_valid(body) || ad_attr_is_private(body)) {
        return cannot_expand("", body, err);
    }
    struct ad_value value;
    struct strbuf text;
    strbuf_init(&text, TEXT_MAX);
    (void)ad_eval_attr(expanding->slot, expanding->job, body, expanding->context, &value);
    int result = 0;
    if (put_value(&value, &text)) {
        if (names_a_file(expanding->attribute) && strchr(strbuf_text(&text), '/') != NULL) {
            result = err_set(err, -EINVAL, "Cannot expand $$(%.200s) in %s: it has a '/' in it.",
                             body, expanding->attribute);
        }
        strbuf_puts(expanding->out, strbuf_text(&text));
        struct strbuf name;
        strbuf_init(&name, 0);
        strbuf_printf(&name, LOOKED_UP "%s", body);
        ad_set_string(expanding->ret, strbuf_text(&name), strbuf_text(&text));
        strbuf_fini(&name);
    } else if (otherwise != NULL) {
        strbuf_puts(expanding->out, otherwise);
    } else {
        result = cannot_expand("", body, err);
    }
    ad_value_fini(&value);
    strbuf_fini(&text);
    return result;
}

/* Returns the end of the $$( that begins before text: a ")", or "])" when it begins with "[". */
static const char *end_of(const char *text)
{
    if (text[0] != '[') {
        return strchr(text, ')');
    }
    const char *end = strstr(text + 1, "])");
    return end != NULL ? end + 1 : NULL;
}

static int expand_text(struct expanding *expanding, const char *text, struct err *err)
{
    int result = 0;
    while (result == 0) {
        const char *begin = strstr(text, "$$(");
        const char *end = begin != NULL ? end_of(begin + 3) : NULL;
        if (end == NULL) { /* none, or one that never ends: a text as any */
            break;
        }
        strbuf_append(expanding->out, text, (size_t)(begin - text));
        char *body = mem_strndup(begin + 3, (size_t)(end - begin - 3));
        result = body[0] == '[' ? expand_expression(expanding, body, err)
                                : expand_name(expanding, body, err);
        mem_free(body);
        text = end + 1;
    }
    strbuf_puts(expanding->out, text);
    if (result == 0 && expanding->out->failed) {
        result = err_set(err, -EINVAL, "%s is too long with $$() expanded.", expanding->attribute);
    }
    return result;
}

static int expand_own(struct expanding *expanding, const struct ad *ad, const struct ad *but,
                      struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *expr = NULL;
    int result = 0;
    while (result == 0 && ad != NULL && ad_next(ad, &at, &name, &expr)) {
        const char *text = text_of(expr);
        if (text == NULL || is_reason(name) || (but != NULL && ad_lookup(but, name) != expr)) {
            continue;
        }
        struct strbuf out, expanded;
        strbuf_init(&out, TEXT_MAX);
        strbuf_init(&expanded, 0);
        expanding->attribute = name;
        expanding->out = &out;
        result = expand_text(expanding, text, err);
        strbuf_printf(&expanded, EXPANDED "%s", name);
        ad_set_string(expanding->ret, strbuf_text(&expanded), strbuf_text(&out));
        strbuf_fini(&expanded);
        strbuf_fini(&out);
    }
    return result;
}

int dollar_plan_expand(const struct ad *job, const struct ad *parent, const struct ad *slot,
                       const struct ad_context *context, struct ad *ret, struct err *err)
{
    struct expanding expanding = {.job = job, .slot = slot, .context = context, .ret = ret};
    int result = expand_own(&expanding, job, NULL, err);
    /* What the job has of its own hides its parent's. */
    return result == 0 ? expand_own(&expanding, parent, job, err) : result;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

void dollar_plan_apply(const struct ad *own, struct ad *flat)
{
    size_t at = 0;
    const char *name = NULL;
    while (own != NULL && ad_next(own, &at, &name, NULL)) {
        if (begins_with(name, EXPANDED) && name[strlen(EXPANDED)] != '\0') {
            (void)ad_copy_attr(flat, name + strlen(EXPANDED), own, name); /* it is there */
        }
    }
}

void dollar_plan_forget(struct ad *own)
{
    struct vec names = {0};
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(own, &at, &name, NULL)) {
        if (begins_with(name, LOOKED_UP)) {
            vec_push(&names, mem_strdup(name));
        }
    }
    for (size_t i = 0; i < names.count; i++) {
        ad_remove(own, names.items[i]);
    }
    vec_fini(&names, mem_free);
}
