/* base/config/config_macro.c - reads $(NAME:default).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_macro.h"

#include <errno.h>
#include <string.h>

#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"

static bool is_letter(char c)
{
    c = text_lower(c);
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* Reads what stands in the parentheses that open at text[open]. */
static int read_inside(const char *text, size_t length, size_t open, struct macro_reference *ret,
                       struct err *err)
{
    size_t at = open + 1;
    unsigned depth = 1;
    for (; at < length && depth > 0; at++) {
        if (text[at] == '(') {
            depth++;
        } else if (text[at] == ')') {
            depth--;
        }
    }
    if (depth > 0) {
        return err_set(err, -EINVAL, "'%.40s': $( is not closed", text + ret->start);
    }
    ret->end = at;
    ret->name = text + open + 1;
    const size_t inside = at - 1 - (open + 1);
    const char *colon = memchr(ret->name, ':', inside);
    ret->name_length = colon ? (size_t)(colon - ret->name) : inside;
    ret->fallback = colon ? colon + 1 : NULL;
    ret->fallback_length = colon ? inside - ret->name_length - 1 : 0;
    if (!config_name_ok(ret->name, ret->name_length)) {
        return err_set(err, -EINVAL,
                       "'%.*s' is not the name of a macro ($(DOLLAR) stands for a dollar sign)",
                       ret->name_length < 40 ? (int)ret->name_length : 40, ret->name);
    }
    return 1;
}

int macro_next(const char *text, size_t length, size_t at, struct macro_reference *ret,
               struct err *err)
{
    for (; at < length; at++) {
        if (text[at] != '$') {
            continue;
        }
        if (at + 1 < length && text[at + 1] == '$') {
            at++;
            continue;
        }
        size_t open = at + 1;
        while (open < length && is_letter(text[open])) {
            open++;
        }
        if (open == length || text[open] != '(') {
            continue;
        }
        *ret = (struct macro_reference){.start = at};
        const size_t word = open - at - 1;
        ret->environment = word == 3 && memcmp(text + at + 1, "ENV", 3) == 0;
        if (word > 0 && !ret->environment) {
            return err_set(err, -EINVAL,
                           "unknown function $%.*s ($(DOLLAR) stands for a dollar sign)",
                           word < 40 ? (int)word : 40, text + at + 1);
        }
        return read_inside(text, length, open, ret, err);
    }
    return 0;
}

static bool is_name(const struct macro_reference *reference, const char *name)
{
    if (reference->environment || strlen(name) != reference->name_length) {
        return false;
    }
    for (size_t i = 0; i < reference->name_length; i++) {
        if (text_lower(reference->name[i]) != text_lower(name[i])) {
            return false;
        }
    }
    return true;
}

/* Returns where to continue after a reference whose default must be looked at, too. */
static size_t into_default(const char *text, const struct macro_reference *reference)
{
    return reference->fallback ? (size_t)(reference->fallback - text) : reference->end;
}

int macro_replace_self(const char *text, const char *self, const char *old, struct strbuf *out,
                       struct err *err)
{
    const size_t length = strlen(text);
    size_t copied = 0;
    size_t at = 0;
    struct macro_reference reference;
    int rc = 0;
    while ((rc = macro_next(text, length, at, &reference, err)) > 0) {
        at = into_default(text, &reference);
        if (is_name(&reference, self)) {
            strbuf_append(out, text + copied, reference.start - copied);
            if (old) {
                strbuf_puts(out, old);
            } else {
                strbuf_append(out, reference.fallback ? reference.fallback : "",
                              reference.fallback_length);
            }
            copied = reference.end;
            at = reference.end;
        }
    }
    strbuf_append(out, text + copied, length - copied);
    return rc;
}

int macro_each(const char *text, void (*each)(void *arg, const char *name, size_t length),
               void *arg, struct err *err)
{
    const size_t length = strlen(text);
    size_t at = 0;
    struct macro_reference reference;
    int rc = 0;
    while ((rc = macro_next(text, length, at, &reference, err)) > 0) {
        if (!reference.environment) {
            each(arg, reference.name, reference.name_length);
        }
        at = into_default(text, &reference);
    }
    return rc;
}
