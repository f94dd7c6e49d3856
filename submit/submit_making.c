/* submit/submit_making.c - what all commands of a submit file need: see submit_making.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_making.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

int making_value(struct submit_making *making, const char *name, const char *alias, char **ret,
                 struct err *err)
{
    int rc = submit_file_value_of(making->file, name, alias, ret, &making->line, err);
    if (rc == 0 && *ret != NULL && (*ret)[0] == '\0') {
        mem_free(*ret);
        *ret = NULL;
    }
    return rc;
}

bool making_is_for_machines(const struct submit_making *making)
{
    return making->universe == UNIVERSE_VANILLA || making->universe == UNIVERSE_STANDARD;
}

int making_refuse(const struct submit_making *making, struct err *err, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return making->line == 0
               ? err_set(err, -EINVAL, "%s: %s", making->file_name, text)
               : err_set(err, -EINVAL, "%s:%u: %s", making->file_name, making->line, text);
}

void making_warn(const struct submit_making *making, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (making->place->warn != NULL) {
        making->place->warn(making->place->arg, text);
    }
}

int making_expr(struct submit_making *making, const char *attribute, const char *text,
                struct err *err)
{
    struct err why = {{0}};
    if (ad_set_expr_old(making->ad, attribute, text, &why) != 0) {
        return making_refuse(making, err, "Parse error in expression: %s = %.200s: %.200s",
                             attribute, text, why.text);
    }
    return 0;
}

int making_expr_of(struct submit_making *making, const char *name, const char *attribute,
                   struct err *err)
{
    char *value;
    int rc = making_value(making, name, attribute, &value, err);
    if (rc == 0 && value != NULL) {
        rc = making_expr(making, attribute, value, err);
    }
    mem_free(value);
    return rc;
}

bool making_int(const char *text, int64_t *ret)
{
    if (text_parse_int64(text, ret, NULL) == 0) {
        return true;
    }
    struct ad *scratch = ad_create();
    bool is_int = ad_set_expr_old(scratch, "Value", text, NULL) == 0 &&
                  ad_get_int(scratch, "Value", ret) == 0;
    ad_destroy(scratch);
    return is_int;
}

bool making_bool(const char *text, bool *ret)
{
    struct ad *scratch = ad_create();
    bool is_bool = ad_set_expr_old(scratch, "Value", text, NULL) == 0 &&
                   ad_get_bool(scratch, "Value", ret) == 0;
    ad_destroy(scratch);
    return is_bool;
}

int making_bool_of(struct submit_making *making, const char *name, const char *alias, bool *ret,
                   bool *is_set, struct err *err)
{
    char *value;
    int rc = making_value(making, name, alias, &value, err);
    if (is_set != NULL) {
        *is_set = value != NULL;
    }
    if (rc == 0 && value != NULL && !making_bool(value, ret)) {
        rc = making_refuse(making, err, "%s=%.200s is invalid, must eval to a boolean.", name,
                           value);
    }
    mem_free(value);
    return rc;
}

/* Reads the digits after a decimal point as thousandths; only the first three count. */
static const char *read_thousandths(const char *at, int64_t *ret)
{
    int64_t place = 100;
    for (*ret = 0; *at >= '0' && *at <= '9'; at++, place /= 10) {
        *ret += (*at - '0') * place;
    }
    return at;
}

bool making_amount(const char *text, int64_t unit, int64_t *ret)
{
    const int64_t max = INT64_C(1) << 40; /* of the number: what is above has no use, and no room */
    const char *at = text + strspn(text, " \t");
    const char *first = at;
    bool negative = *at == '-';
    int64_t whole = 0, part = 0, factor = 1;
    for (at += *at == '-' || *at == '+'; *at >= '0' && *at <= '9' && whole < max; at++) {
        whole = whole * 10 + (*at - '0');
    }
    if (at == first || whole >= max || (at == first + 1 && (negative || *first == '+'))) {
        return false;
    }
    at = *at == '.' ? read_thousandths(at + 1, &part) : at;
    at += strspn(at, " \t");
    if (*at == '\0') {
        factor = unit;
    } else {
        static const char UNITS[] = "bkmgt";
        const char *found = strchr(UNITS, text_lower(*at));
        if (found == NULL) {
            return false;
        }
        for (const char *step = UNITS; step < found; step++) {
            factor *= 1024;
        }
        at++;
        at += found > UNITS && text_lower(*at) == 'b';
        if (at[strspn(at, " \t")] != '\0') {
            return false;
        }
    }
    if (factor > unit && whole > INT64_MAX / (factor / unit)) {
        return false;
    }
    int64_t amount = factor >= unit ? whole * (factor / unit) + part * (factor / unit) / 1000 +
                                          (part * (factor / unit) % 1000 != 0)
                                    : (whole * factor + part * factor / 1000 + unit - 1) / unit;
    *ret = negative ? -amount : amount;
    return true;
}

bool making_is_loose(const char *text, const char *op)
{
    struct ad_expr *expr;
    struct strbuf joined;
    bool is_loose = false;
    strbuf_init(&joined, 0);
    strbuf_printf(&joined, "%s %s probe", text, op);
    if (ad_expr_parse(strbuf_text(&joined), joined.length, AD_OLD, &expr, NULL) == 0) {
        struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
        enum ad_clause_kind kind = op[0] == '|' ? AD_CLAUSE_OR : AD_CLAUSE_AND;
        is_loose = ad_clauses_at(clauses, 0)->kind != kind;
        ad_clauses_destroy(clauses);
        ad_expr_destroy(expr);
    }
    strbuf_fini(&joined);
    return is_loose;
}

void making_split(const char *text, const char *separators, struct vec *items)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, separators);
        const char *first = at, *end = at + length;
        for (; first < end && strchr(" \t\r\n", *first) != NULL; first++) {
        }
        for (; end > first && strchr(" \t\r\n", end[-1]) != NULL; end--) {
        }
        if (end > first) {
            vec_push(items, mem_strndup(first, (size_t)(end - first)));
        }
        at += length + (at[length] != '\0' ? 1 : 0);
    }
}

void making_join(const struct vec *items, struct strbuf *out)
{
    for (size_t i = 0; i < items->count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? "," : "", (const char *)items->items[i]);
    }
}

char *making_unquote(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    if (length > 1 && text[0] == '"' && text[length - 1] == '"') {
        text[length - 1] = '\0';
        text++;
    }
    return text;
}

/* Copies a part of a path behind what stands between ret and to, without doubled slashes.  Returns
 * the end. */
static char *put_path(char *ret, char *to, const char *part)
{
    for (; *part != '\0'; part++) {
        if (*part != '/' || to == ret || to[-1] != '/') {
            *to++ = *part;
        }
    }
    return to;
}

char *making_path(const char *directory, const char *path)
{
    const bool is_absolute = path[0] == '/';
    char *ret = mem_alloc(strlen(is_absolute ? "" : directory) + strlen(path) + 2), *to = ret;
    if (!is_absolute) {
        to = put_path(ret, to, directory);
        to = put_path(ret, to, "/");
    }
    to = put_path(ret, to, path);
    *to = '\0';
    return ret;
}

bool making_is_url(const char *text)
{
    const char *at = text;
    if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'))) {
        return false;
    }
    at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return strncmp(at, "://", 3) == 0 && at[3] != '\0';
}

int64_t making_size_kib(const struct submit_making *making, const char *path)
{
    int64_t bytes = 0;
    if (making->place->look == NULL || making_is_url(path) ||
        making->place->look(making->place->arg, SUBMIT_LOOK_SIZE, path, &bytes, NULL) != 0 ||
        bytes < 0) {
        return 0;
    }
    return bytes / 1024 + (bytes % 1024 != 0);
}

const char *making_site(const struct submit_making *making, const char *knob, const char *otherwise)
{
    const char *value =
        making->place->site != NULL ? making->place->site(making->place->arg, knob) : NULL;
    return value != NULL && value[0] != '\0' ? value : otherwise;
}
