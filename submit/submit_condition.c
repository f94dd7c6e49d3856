/* submit/submit_condition.c - the condition of an if: see submit_condition.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_condition.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "submit/submit_macro.h"

/* The HTCondor version whose submit language this is; `version` is compared with it. */
static const int64_t OBEYED[] = {25, 14, 0};

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static bool is_word(const char *text, bool *ret)
{
    static const char *const TRUE_WORDS[] = {"true", "yes", "t"};
    static const char *const FALSE_WORDS[] = {"false", "no", "f"};
    for (size_t i = 0; i < ARRAY_COUNT(TRUE_WORDS); i++) {
        if (text_equal_nocase(text, TRUE_WORDS[i]) || text_equal_nocase(text, FALSE_WORDS[i])) {
            *ret = text_equal_nocase(text, TRUE_WORDS[i]);
            return true;
        }
    }
    double number;
    if (text_parse_double(text, &number, NULL) == 0) {
        *ret = number < 0 || number > 0;
        return true;
    }
    return false;
}

static bool is_identifier(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        char c = text_lower(*at);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("_./", c) != NULL)) {
            return false;
        }
    }
    return text[0] != '\0';
}

/* For "keyword ..." or "keyword" alone: returns the text after the keyword, else NULL. */
static const char *after_keyword(const char *text, const char *keyword)
{
    for (; *keyword != '\0'; keyword++, text++) {
        if (text_lower(*text) != *keyword) {
            return NULL;
        }
    }
    char c = text_lower(*text);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ? NULL : skip_blanks(text);
}

static int judge_defined(const struct submit_scope *scope, const char *name, bool *ret,
                         struct err *err)
{
    bool ignored;
    const char *value = is_identifier(name) ? scope->lookup(scope->arg, name) : NULL;
    *ret = (value != NULL && value[0] != '\0') || (value == NULL && is_word(name, &ignored));
    if (name[0] != '\0' && !is_identifier(name) && !is_word(name, &ignored)) {
        return err_set(err, -EINVAL, "defined argument must be param name, boolean, or number");
    }
    return 0;
}

/* Reads a version such as "25.4", "25.4.1" or "v25.4"; a missing part counts as ours. */
static bool parse_version(const char *text, int64_t ret[3])
{
    char *copy = mem_strdup(text_lower(text[0]) == 'v' ? text + 1 : text), *at = copy;
    size_t parts = 0;
    bool good = true;
    while (good && at != NULL && parts < 3) {
        char *dot = strchr(at, '.');
        if (dot != NULL) {
            *dot++ = '\0';
        }
        good = text_parse_int64(at, &ret[parts++], NULL) == 0;
        at = dot;
    }
    for (size_t i = parts; i < 3; i++) {
        ret[i] = OBEYED[i];
    }
    mem_free(copy);
    return good && at == NULL && parts >= 2 && ret[0] >= 6;
}

static int judge_version(const char *text, bool *ret, struct err *err)
{
    static const char *const OPERATORS[] = {">=", "<=", "==", "!=", ">", "<", "="};
    int64_t asked[3];
    size_t op = 0;
    while (op < ARRAY_COUNT(OPERATORS) &&
           strncmp(text, OPERATORS[op], strlen(OPERATORS[op])) != 0) {
        op++;
    }
    if (op == ARRAY_COUNT(OPERATORS) ||
        !parse_version(skip_blanks(text + strlen(OPERATORS[op])), asked)) {
        return err_set(err, -EINVAL, "the version literal is invalid");
    }
    int order = 0;
    for (size_t i = 0; i < 3 && order == 0; i++) {
        order = OBEYED[i] < asked[i] ? -1 : OBEYED[i] > asked[i] ? 1 : 0;
    }
    const bool answers[] = {order >= 0, order <= 0, order == 0, order != 0,
                            order > 0,  order < 0,  order == 0};
    *ret = answers[op];
    return 0;
}

static int judge_positive(const struct submit_scope *scope, const char *text, bool *ret,
                          struct err *err)
{
    const char *rest;
    if (is_word(text, ret)) {
        return 0;
    }
    if ((rest = after_keyword(text, "defined")) != NULL) {
        return judge_defined(scope, rest, ret, err);
    }
    if ((rest = after_keyword(text, "version")) != NULL) {
        return judge_version(rest, ret, err);
    }
    return err_set(err, -EINVAL, "%s",
                   is_identifier(text) ? "expression is not a conditional"
                                       : "complex conditionals are not supported");
}

int submit_condition(const struct submit_scope *scope, const char *text, bool *ret, struct err *err)
{
    struct strbuf expanded;
    strbuf_init(&expanded, SUBMIT_VALUE_MAX);
    strbuf_puts(&expanded, "");
    int rc = submit_expand(scope, text, &expanded, err);
    if (rc == 0 && expanded.failed) {
        rc = err_set(err, -E2BIG, "the condition is longer than %zu bytes", SUBMIT_VALUE_MAX);
    }
    if (rc == 0) {
        size_t length = expanded.length;
        char *copy = mem_strdup(strbuf_text(&expanded));
        while (length > 0 && strchr(" \t\r\n", copy[length - 1]) != NULL) {
            copy[--length] = '\0';
        }
        const char *at = skip_blanks(copy);
        bool inverted = *at == '!';
        at = inverted ? skip_blanks(at + 1) : at;
        bool value = false;
        if (*at != '\0' || strchr(text, '$') == NULL) {
            rc = judge_positive(scope, at, &value, err);
        }
        *ret = value != inverted;
        mem_free(copy);
    }
    strbuf_fini(&expanded);
    return rc;
}
