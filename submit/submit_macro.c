/* submit/submit_macro.c - $(NAME) and $FUNCTION(...): see submit_macro.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_macro.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_format.h"
#include "submit/submit_path.h"

struct expanding {
    const struct submit_scope *scope;
    unsigned steps;
    int depth;
};

static int expand_text(struct expanding *expanding, const char *text, size_t length,
                       const char *self, struct strbuf *out, struct err *err);

/* ---- arguments of functions */

static const char *lookup_macro(const struct expanding *expanding, const char *name)
{
    return expanding->scope->lookup(expanding->scope->arg, name);
}

/* Expands text into a new string *ret, freed with mem_free(). */
static int expand_copy(struct expanding *expanding, const char *text, const char *self, char **ret,
                       struct err *err)
{
    struct strbuf out;
    strbuf_init(&out, SUBMIT_VALUE_MAX);
    strbuf_puts(&out, "");
    int rc = expand_text(expanding, text, strlen(text), self, &out, err);
    if (rc == 0 && out.failed) {
        rc = err_set(err, -E2BIG, "the value of %.50s is longer than %zu bytes", self,
                     SUBMIT_VALUE_MAX);
    }
    *ret = rc == 0 ? mem_strdup(strbuf_text(&out)) : NULL;
    strbuf_fini(&out);
    return rc;
}

static char *trim_copy(const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        length--;
    }
    while (length > 0 && strchr(" \t\r\n", *text) != NULL) {
        text++;
        length--;
    }
    return mem_strndup(text, length);
}

/* Appends the parts between commas, without the blanks around them; an empty list has one empty
 * part. */
static void split_arguments(const char *text, struct vec *parts)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        vec_push(parts, trim_copy(text, length));
        if (text[length] == '\0') {
            return;
        }
        text += length + 1;
    }
}

/* Gets the expanded value of an argument, which is the name of a macro or a text. */
static int value_of(struct expanding *expanding, const char *argument, char **ret, struct err *err)
{
    const char *value = lookup_macro(expanding, argument);
    return expand_copy(expanding, value != NULL ? value : argument, argument, ret, err);
}

/* Evaluates an expression.  The value borrows from *expr, so free the value first. */
static int evaluate_text(const char *text, struct ad_expr **expr, struct ad_value *ret)
{
    int rc = ad_expr_parse(text, strlen(text), AD_OLD, expr, NULL);
    if (rc == 0) {
        ad_eval(*expr, NULL, NULL, NULL, ret);
    }
    return rc;
}

/* Gets an argument as a number.  Returns 0, or -EINVAL with err. */
static int number_of(struct expanding *expanding, const char *function, const char *argument,
                     struct ad_value *ret, struct err *err)
{
    char *text;
    int rc = value_of(expanding, argument, &text, err);
    if (rc != 0) {
        return rc;
    }
    struct ad_value value;
    struct ad_expr *expr;
    rc = evaluate_text(text, &expr, &value);
    if (rc == 0) {
        if (value.type == AD_TYPE_BOOL) {
            *ret = (struct ad_value){.type = AD_TYPE_INT, .integer = value.boolean ? 1 : 0};
        } else if (value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL) {
            *ret = (struct ad_value){.type = value.type};
            if (value.type == AD_TYPE_INT) {
                ret->integer = value.integer;
            } else {
                ret->real = value.real;
            }
        } else {
            rc = -EINVAL;
        }
        ad_value_fini(&value);
        ad_expr_destroy(expr);
    }
    if (rc != 0) {
        rc = err_set(err, -EINVAL, "$%s(): %.100s is not a number", function, text);
    }
    mem_free(text);
    return rc;
}

static int int_of(struct expanding *expanding, const char *function, const char *argument,
                  int64_t *ret, struct err *err)
{
    struct ad_value value = {0};
    int rc = number_of(expanding, function, argument, &value, err);
    if (rc == 0 && value.type == AD_TYPE_REAL) {
        if (!(value.real > -9.2e18 && value.real < 9.2e18)) {
            return err_set(err, -EINVAL, "$%s(): %.100s is not a whole number", function, argument);
        }
        *ret = (int64_t)value.real;
    } else if (rc == 0) {
        *ret = value.integer;
    }
    return rc;
}

/* ---- functions */

/* A call of a function: its name as written ("INT", "Fqd"), its arguments split at commas, and all
 * arguments as one text. */
struct call {
    const char *name;
    struct vec parts;
    const char *body;
};

typedef int (*function_f)(struct expanding *expanding, const struct call *call, struct strbuf *out,
                          struct err *err);

static const char *argument_at(const struct call *call, size_t at)
{
    return at < call->parts.count ? call->parts.items[at] : NULL;
}

static int puts_expanded(struct expanding *expanding, const char *text, const char *self,
                         struct strbuf *out, struct err *err)
{
    return expand_text(expanding, text, strlen(text), self, out, err);
}

static int f_env(struct expanding *expanding, const struct call *call, struct strbuf *out,
                 struct err *err)
{
    const struct submit_scope *scope = expanding->scope;
    const char *colon = strchr(call->body, ':');
    char *name =
        trim_copy(call->body, colon != NULL ? (size_t)(colon - call->body) : strlen(call->body));
    const char *value = scope->env != NULL ? scope->env(scope->arg, name) : NULL;
    int rc = 0;
    if (value != NULL && (value[0] != '\0' || colon == NULL)) {
        strbuf_puts(out, value); /* what the environment holds is no macro */
    } else if (colon != NULL) {
        rc = puts_expanded(expanding, colon + 1, name, out, err);
    } else {
        strbuf_puts(out, "UNDEFINED");
    }
    mem_free(name);
    return rc;
}

/* Prints a value with the FORMAT argument.  conversions: the printf conversions that the function
 * allows. */
static int print_as(const struct call *call, const char *conversions, const struct ad_value *value,
                    struct strbuf *out, struct err *err)
{
    const char *format = argument_at(call, 1);
    struct ad_format how;
    if (!ad_format_find(format, &how) || strchr(conversions, how.conversion) == NULL) {
        return err_set(err, -EINVAL, "$%s(): '%.50s' is not a valid format", call->name, format);
    }
    strbuf_append(out, format, how.begin);
    ad_format_print(&how, value, out);
    strbuf_puts(out, format + how.end);
    return 0;
}

static int f_int(struct expanding *expanding, const struct call *call, struct strbuf *out,
                 struct err *err)
{
    struct ad_value value = {.type = AD_TYPE_INT};
    int rc = int_of(expanding, call->name, argument_at(call, 0), &value.integer, err);
    if (rc == 0 && call->parts.count > 1) {
        rc = print_as(call, "diuxX", &value, out, err);
    } else if (rc == 0) {
        strbuf_printf(out, "%lld", (long long)value.integer);
    }
    return rc;
}

static int f_real(struct expanding *expanding, const struct call *call, struct strbuf *out,
                  struct err *err)
{
    struct ad_value value = {0};
    int rc = number_of(expanding, call->name, argument_at(call, 0), &value, err);
    if (rc != 0) {
        return rc;
    }
    if (value.type == AD_TYPE_INT) {
        value = (struct ad_value){.type = AD_TYPE_REAL, .real = (double)value.integer};
    }
    if (call->parts.count == 1) {
        strbuf_printf(out, "%.16G", value.real);
        return 0;
    }
    size_t from = out->length;
    rc = print_as(call, "fegFEG", &value, out, err);
    if (rc == 0 && strchr(strbuf_text(out) + from, '.') == NULL) {
        strbuf_puts(out, ".0"); /* it is to be seen that it is real */
    }
    return rc;
}

/* Gets an argument as a text: the value of the expression in it if that is a string (with all: any
 * value), else the text as it is. */
static int text_of(struct expanding *expanding, const struct call *call, bool all,
                   struct strbuf *ret, struct err *err)
{
    char *text;
    struct ad_value value;
    struct ad_expr *expr;
    int rc = value_of(expanding, all ? call->body : argument_at(call, 0), &text, err);
    if (rc != 0) {
        return rc;
    }
    if (evaluate_text(text, &expr, &value) != 0) {
        strbuf_puts(ret, text);
    } else {
        if (value.type == AD_TYPE_STRING || all) {
            ad_value_print_bare(&value, ret);
        } else {
            strbuf_puts(ret, text);
        }
        ad_value_fini(&value);
        ad_expr_destroy(expr);
    }
    mem_free(text);
    return 0;
}

static int f_string(struct expanding *expanding, const struct call *call, struct strbuf *out,
                    struct err *err)
{
    if (call->parts.count == 1) {
        return text_of(expanding, call, false, out, err);
    }
    struct strbuf text;
    strbuf_init(&text, SUBMIT_VALUE_MAX);
    int rc = text_of(expanding, call, false, &text, err);
    if (rc == 0) {
        struct ad_value value = {.type = AD_TYPE_STRING};
        value.string.text = strbuf_text(&text);
        value.string.length = text.length;
        rc = print_as(call, "s", &value, out, err);
    }
    strbuf_fini(&text);
    return rc;
}

static int f_eval(struct expanding *expanding, const struct call *call, struct strbuf *out,
                  struct err *err)
{
    return text_of(expanding, call, true, out, err);
}

static int f_substr(struct expanding *expanding, const struct call *call, struct strbuf *out,
                    struct err *err)
{
    int64_t start = 0, length = INT64_MAX / 2;
    char *text;
    if (argument_at(call, 1) == NULL) {
        return err_set(err, -EINVAL, "$SUBSTR(%.50s): the start is missing", call->body);
    }
    int rc = int_of(expanding, call->name, argument_at(call, 1), &start, err);
    if (rc == 0 && argument_at(call, 2) != NULL) {
        rc = int_of(expanding, call->name, argument_at(call, 2), &length, err);
    }
    rc = rc != 0 ? rc : value_of(expanding, argument_at(call, 0), &text, err);
    if (rc != 0) {
        return rc;
    }
    int64_t all = (int64_t)strlen(text);
    start = start < -all ? 0 : start < 0 ? all + start : start > all ? all : start;
    int64_t left = all - start;
    length = length < -left ? 0 : length < 0 ? left + length : length > left ? left : length;
    strbuf_append(out, text + start, (size_t)length);
    mem_free(text);
    return 0;
}

/* Gets the items of a list: the parts of the call from `from` on, or, if there is only one, the
 * items of the macro of that name.  must: it has to be the name of a macro. */
static int items_of(struct expanding *expanding, const struct call *call, size_t from, bool must,
                    struct vec *ret, struct err *err)
{
    if (call->parts.count > from + 1) {
        for (size_t i = from; i < call->parts.count; i++) {
            vec_push(ret, mem_strdup(call->parts.items[i]));
        }
        return 0;
    }
    const char *name = argument_at(call, from);
    if (name == NULL || name[0] == '\0' || (must && lookup_macro(expanding, name) == NULL)) {
        return err_set(err, -EINVAL, "$%s(): no list%s%.50s", call->name,
                       name != NULL && name[0] != '\0' ? " named " : "", name != NULL ? name : "");
    }
    char *text;
    int rc = value_of(expanding, name, &text, err);
    if (rc == 0) {
        split_arguments(text, ret);
        mem_free(text);
    }
    return rc;
}

static int f_choice(struct expanding *expanding, const struct call *call, struct strbuf *out,
                    struct err *err)
{
    int64_t index = 0;
    struct vec items = {0};
    int rc = int_of(expanding, call->name, argument_at(call, 0), &index, err);
    rc = rc != 0 ? rc : items_of(expanding, call, 1, true, &items, err);
    if (rc == 0 && (index < 0 || (size_t)index >= items.count)) {
        rc = err_set(err, -EINVAL, "$CHOICE(): index %lld is not in the range 0 to %zu",
                     (long long)index, items.count - 1);
    }
    if (rc == 0) {
        strbuf_puts(out, items.items[index]);
    }
    vec_fini(&items, mem_free);
    return rc;
}

static uint64_t random_number(const struct expanding *expanding)
{
    return expanding->scope->random != NULL ? expanding->scope->random(expanding->scope->arg) : 0;
}

static int f_random_choice(struct expanding *expanding, const struct call *call, struct strbuf *out,
                           struct err *err)
{
    struct vec items = {0};
    int rc = items_of(expanding, call, 0, false, &items, err);
    if (rc == 0) {
        strbuf_puts(out, items.items[random_number(expanding) % items.count]);
    }
    vec_fini(&items, mem_free);
    return rc;
}

static int f_random_integer(struct expanding *expanding, const struct call *call,
                            struct strbuf *out, struct err *err)
{
    int64_t numbers[3] = {0, 0, 1};
    int rc = call->parts.count < 2 ? err_set(err, -EINVAL, "$RANDOM_INTEGER() needs MIN,MAX") : 0;
    for (size_t i = 0; i < 3 && i < call->parts.count && rc == 0; i++) {
        rc = int_of(expanding, call->name, argument_at(call, i), &numbers[i], err);
    }
    if (rc == 0 && (numbers[2] < 1 || numbers[0] > numbers[1])) {
        rc = err_set(err, -EINVAL, "$RANDOM_INTEGER(%.60s): %s", call->body,
                     numbers[2] < 1 ? "the step must be 1 or more" : "MIN is above MAX");
    }
    if (rc == 0) {
        uint64_t range = (uint64_t)numbers[1] - (uint64_t)numbers[0];
        uint64_t step = (uint64_t)numbers[2], steps = range / step;
        uint64_t chosen =
            steps == UINT64_MAX ? random_number(expanding) : random_number(expanding) % (steps + 1);
        strbuf_printf(out, "%lld", (long long)((uint64_t)numbers[0] + chosen * step));
    }
    return rc;
}

static int f_path(struct expanding *expanding, const struct call *call, struct strbuf *out,
                  struct err *err)
{
    char *path;
    bool base = strcmp(call->name, "BASENAME") == 0;
    int rc = value_of(expanding, base ? argument_at(call, 0) : call->body, &path, err);
    if (rc != 0) {
        return rc;
    }
    const char *letters = base ? "nx" : strcmp(call->name, "DIRNAME") == 0 ? "p" : call->name + 1;
    const char *suffix = base ? argument_at(call, 1) : NULL;
    submit_path_parts(letters, path, expanding->scope->cwd, out);
    size_t length = suffix != NULL ? strlen(suffix) : 0;
    if (length > 0 && out->length > length && !out->failed &&
        memcmp(out->data + out->length - length, suffix, length) == 0) {
        out->length -= length;
        out->data[out->length] = '\0';
    }
    mem_free(path);
    return 0;
}

static const struct {
    const char *name;
    function_f make;
} FUNCTIONS[] = {
    {"ENV", f_env},
    {"INT", f_int},
    {"REAL", f_real},
    {"STRING", f_string},
    {"EVAL", f_eval},
    {"SUBSTR", f_substr},
    {"CHOICE", f_choice},
    {"RANDOM_CHOICE", f_random_choice},
    {"RANDOM_INTEGER", f_random_integer},
    {"DIRNAME", f_path},
    {"BASENAME", f_path},
};

static function_f function_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(FUNCTIONS); i++) {
        if (strcmp(FUNCTIONS[i].name, name) == 0) {
            return FUNCTIONS[i].make;
        }
    }
    return name[0] == 'F' && submit_path_letters_are_valid(name + 1) ? f_path : NULL;
}

/* ---- $(NAME) */

static bool is_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        char c = text_lower(*at);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return false;
        }
    }
    return text[0] != '\0' && strlen(text) <= SUBMIT_NAME_MAX;
}

/* Replaces one $(...).  body: its text, expanded except for the part behind the ':'. *taken: it is
 * a macro. */
static int expand_name(struct expanding *expanding, const char *body, bool *taken,
                       struct strbuf *out, struct err *err)
{
    const char *colon = strchr(body, ':');
    char *name = mem_strndup(body, colon != NULL ? (size_t)(colon - body) : strlen(body));
    int rc = 0;
    *taken = is_name(name);
    if (*taken) {
        const char *value = lookup_macro(expanding, name);
        if (value != NULL && (value[0] != '\0' || colon == NULL)) {
            rc = puts_expanded(expanding, value, name, out, err);
        } else if (text_equal_nocase(name, "DOLLAR")) {
            strbuf_putc(out, '$');
        } else if (colon != NULL) {
            rc = puts_expanded(expanding, colon + 1, name, out, err);
        } /* else: not set: nothing */
    }
    mem_free(name);
    return rc;
}

/* ---- text */

/* Returns the ')' that belongs to the '(' before at; NULL when there is none. */
static const char *find_closing(const char *at, const char *end)
{
    int open = 1;
    for (; at < end; at++) {
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (open == 0) {
            return at;
        }
    }
    return NULL;
}

/* Expands the text up to the first ':' outside parentheses, and copies the rest: a default is
 * expanded only when it is needed. */
static int expand_body(struct expanding *expanding, const char *text, size_t length,
                       bool has_default, char **ret, struct err *err)
{
    size_t head = length;
    int open = 0;
    for (size_t i = 0; i < length && has_default; i++) {
        open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] == ':' && open == 0) {
            head = i;
            break;
        }
    }
    struct strbuf body;
    strbuf_init(&body, SUBMIT_VALUE_MAX);
    strbuf_puts(&body, "");
    int rc = expand_text(expanding, text, head, "$(...)", &body, err);
    strbuf_append(&body, text + head, length - head);
    if (rc == 0 && body.failed) {
        rc = err_set(err, -E2BIG, "the name of a macro is longer than %zu bytes", SUBMIT_VALUE_MAX);
    }
    *ret = rc == 0 ? mem_strdup(strbuf_text(&body)) : NULL;
    strbuf_fini(&body);
    return rc;
}

/* Replaces the macro that begins with the '$' at text. *used: its length; 0 when it is not a
 * macro. */
static int expand_macro(struct expanding *expanding, const char *text, const char *end,
                        size_t *used, struct strbuf *out, struct err *err)
{
    size_t word = 1;
    char name[32];
    *used = 0;
    while (text + word < end &&
           (text_lower(text[word]) == '_' ||
            (text_lower(text[word]) >= 'a' && text_lower(text[word]) <= 'z'))) {
        word++;
    }
    if (text + word >= end || text[word] != '(' || word > sizeof name) {
        return 0;
    }
    memcpy(name, text + 1, word - 1);
    name[word - 1] = '\0';
    function_f function = word > 1 ? function_named(name) : NULL;
    const char *close = find_closing(text + word + 1, end);
    if (close == NULL || (word > 1 && function == NULL)) {
        return 0;
    }
    char *body;
    bool taken = true;
    int rc = expand_body(expanding, text + word + 1, (size_t)(close - text) - word - 1,
                         function == NULL || function == f_env, &body, err);
    if (rc != 0) {
        return rc;
    }
    if (function != NULL) {
        struct call call = {.name = name, .body = body};
        split_arguments(body, &call.parts);
        rc = function(expanding, &call, out, err);
        vec_fini(&call.parts, mem_free);
    } else {
        rc = expand_name(expanding, body, &taken, out, err);
    }
    mem_free(body);
    *used = taken ? (size_t)(close - text) + 1 : 0;
    return rc;
}

static int spend_work(struct expanding *expanding, size_t bytes, struct err *err)
{
    size_t *work = expanding->scope->work;
    if (work != NULL && *work < bytes) {
        return err_set(err, -E2BIG,
                       "the values of the job's macros are longer than %zu bytes together",
                       SUBMIT_WORK_MAX);
    }
    if (work != NULL) {
        *work -= bytes;
    }
    return 0;
}

static int expand_text(struct expanding *expanding, const char *text, size_t length,
                       const char *self, struct strbuf *out, struct err *err)
{
    const char *end = text + length;
    if (expanding->depth >= SUBMIT_DEPTH_MAX) {
        return err_set(err, -ELOOP,
                       "$(%.100s) refers to itself, or macros are nested more than %d deep", self,
                       SUBMIT_DEPTH_MAX);
    }
    int rc = spend_work(expanding, length, err);
    if (rc != 0) {
        return rc;
    }
    expanding->depth++;
    for (const char *at = text; at < end && rc == 0 && !out->failed;) {
        size_t used = 0;
        if (at[0] == '$' && at + 1 < end && at[1] == '$') {
            used = 2; /* for the schedd */
            strbuf_append(out, at, used);
        } else if (at[0] == '$') {
            if (++expanding->steps > SUBMIT_STEPS_MAX) {
                rc = err_set(err, -E2BIG, "more than %d macros in one value", SUBMIT_STEPS_MAX);
                break;
            }
            rc = spend_work(expanding, SUBMIT_MACRO_BYTES, err);
            rc = rc != 0 ? rc : expand_macro(expanding, at, end, &used, out, err);
        }
        if (used == 0) { /* plain text, or a '$' that begins nothing */
            const char *next = memchr(at + 1, '$', (size_t)(end - at - 1));
            used = (size_t)((next != NULL ? next : end) - at);
            strbuf_append(out, at, used);
        }
        at += used;
    }
    expanding->depth--;
    return rc;
}

int submit_expand(const struct submit_scope *scope, const char *text, struct strbuf *out,
                  struct err *err)
{
    struct expanding expanding = {.scope = scope};
    return expand_text(&expanding, text, strlen(text), text, out, err);
}

/* ---- a name in its own value */

char *submit_expand_self(const char *name, const char *old, const char *text)
{
    size_t length = strlen(name);
    struct strbuf out;
    strbuf_init(&out, SUBMIT_VALUE_MAX);
    strbuf_puts(&out, "");
    for (const char *at = text; *at != '\0';) {
        const char *close = at[0] == '$' && at[1] == '(' && (at == text || at[-1] != '$')
                                ? find_closing(at + 2, at + strlen(at))
                                : NULL;
        bool self = close != NULL && (size_t)(close - at) >= length + 2 &&
                    (at[2 + length] == ')' || at[2 + length] == ':');
        for (size_t i = 0; self && i < length; i++) {
            self = text_lower(at[2 + i]) == text_lower(name[i]);
        }
        if (!self) {
            strbuf_putc(&out, *at++);
        } else if (old != NULL && (old[0] != '\0' || at[2 + length] != ':')) {
            strbuf_puts(&out, old);
            at = close + 1;
        } else {
            size_t from = 2 + length + (at[2 + length] == ':' ? 1 : 0);
            strbuf_append(&out, at + from, (size_t)(close - at) - from);
            at = close + 1;
        }
    }
    char *ret = out.failed ? NULL : mem_strdup(strbuf_text(&out));
    strbuf_fini(&out);
    return ret;
}
