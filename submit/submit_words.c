/* submit/submit_words.c - the arguments and the environment of a job, in both ways of quoting.
 *
 * V2, the new way, is a value in double quotes ("" in it is one quote) whose words may have parts
 * in single quotes.  V1 has no quoting, and a double quote in it must be written \".  Source:
 * condor_submit manual, commands "arguments" and "environment".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_making.h"

#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_job.h"

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

static bool is_quoted(const char *value)
{
    return skip_blanks(value)[0] == '"';
}

/* Gets the text between the double quotes in *ret, freed with mem_free(). */
static int unquote_value(struct submit_making *making, const char *value, char **ret,
                         struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "");
    const char *at = skip_blanks(value);
    int rc = 0;
    if (*at != '"') {
        rc = making_refuse(making, err, "Expecting double-quoted input string (V2 format): %.200s",
                           value);
    }
    for (at++; rc == 0 && (*at != '"' || at[1] == '"'); at++) {
        if (*at == '\0') {
            rc = making_refuse(making, err, "Unterminated double-quote: %.200s", value);
            break;
        }
        at += *at == '"' ? 1 : 0;
        strbuf_putc(&text, *at);
    }
    if (rc == 0 && *skip_blanks(at + 1) != '\0') {
        rc = making_refuse(making, err,
                           "Unexpected characters following double-quote.  Did you forget to "
                           "escape the double-quote by repeating it?  Here is the quote and "
                           "trailing characters: %.200s",
                           at);
    }
    if (rc == 0) {
        *ret = mem_strdup(strbuf_text(&text));
    }
    strbuf_fini(&text);
    return rc;
}

/* Replaces \" by ".  A quote without a backslash is refused: it would reach the program as it is,
 * which nobody means. */
static int unescape_v1(struct submit_making *making, const char *value, char **ret, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "");
    int rc = 0;
    for (const char *at = value; *at != '\0' && rc == 0; at++) {
        if (*at == '"') {
            rc = making_refuse(making, err, "Found illegal unescaped double-quote: %.200s", at);
        } else {
            at += at[0] == '\\' && at[1] == '"';
            strbuf_putc(&text, *at);
        }
    }
    if (rc == 0) {
        *ret = mem_strdup(strbuf_text(&text));
    }
    strbuf_fini(&text);
    return rc;
}

/* Splits a raw V2 text into its words. */
static int parse_v2(struct submit_making *making, const char *text, struct vec *words,
                    struct err *err)
{
    struct err why = {{0}};
    return args_parse_v2(text, words, &why) == 0 ? 0
                                                 : making_refuse(making, err, "%.300s", why.text);
}

/* Refuses two commands for the same thing, unless the user allows both. */
static int refuse_both(struct submit_making *making, const char *what, struct err *err)
{
    bool allowed = false;
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "allow_%s_v1", what);
    int rc = making_bool_of(making, strbuf_text(&name), NULL, &allowed, NULL, err);
    if (rc == 0 && !allowed) {
        rc = making_refuse(making, err,
                           "If you wish to specify both '%s' and '%s2' for maximal compatibility "
                           "with different versions of Condor, then you must also specify "
                           "allow_%s_v1=true.",
                           what, what, what);
    }
    strbuf_fini(&name);
    return rc;
}

static void join_v1(const struct vec *words, struct strbuf *out)
{
    for (size_t i = 0; i < words->count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? " " : "", (const char *)words->items[i]);
    }
}

static int set_words(struct submit_making *making, const char *value, bool must_be_v2,
                     struct err *err)
{
    struct vec words = {0};
    struct strbuf text;
    char *raw = NULL;
    bool is_v2 = must_be_v2 || is_quoted(value);
    strbuf_init(&text, 0);
    int rc =
        is_v2 ? unquote_value(making, value, &raw, err) : unescape_v1(making, value, &raw, err);
    if (rc == 0) {
        rc = is_v2 ? parse_v2(making, raw, &words, err) : args_parse_v1(raw, &words, err);
    }
    for (size_t i = 0; is_v2 && i < words.count; i++) {
        args_append_v2(&text, words.items[i]);
    }
    if (!is_v2) {
        join_v1(&words, &text);
    }
    if (rc == 0) {
        ad_set_string(making->ad, is_v2 ? "Arguments" : "Args", strbuf_text(&text));
    }
    strbuf_fini(&text);
    vec_fini(&words, mem_free);
    mem_free(raw);
    return rc;
}

int words_set_arguments(struct submit_making *making, struct err *err)
{
    char *v1 = NULL, *v2 = NULL, *shell = NULL;
    int rc = making_value(making, "shell", NULL, &shell, err);
    rc = rc != 0 ? rc : making_value(making, "arguments2", NULL, &v2, err);
    rc = rc != 0 ? rc : making_value(making, "arguments", "Args", &v1, err);
    if (rc == 0 && shell != NULL) {
        struct strbuf text;
        strbuf_init(&text, 0);
        args_append_v2(&text, "-c");
        args_append_v2(&text, shell);
        ad_set_string(making->ad, "Arguments", strbuf_text(&text));
        strbuf_fini(&text);
    } else if (rc == 0 && v1 != NULL && v2 != NULL &&
               (rc = refuse_both(making, "arguments", err))) {
        /* said already */
    } else if (rc == 0 && (v1 != NULL || v2 != NULL)) {
        rc = set_words(making, v2 != NULL ? v2 : v1, v2 != NULL, err);
    } else if (rc == 0 && !ad_has(making->ad, "Args") && !ad_has(making->ad, "Arguments")) {
        ad_set_string(making->ad, "Arguments", "");
    }
    mem_free(v1);
    mem_free(v2);
    mem_free(shell);
    return rc;
}

/* ---- environment ------------------------------------------------------------------------------
 */

static size_t name_length(const char *entry)
{
    return strcspn(entry, "=");
}

/* Returns the index of the entry with the same name; SIZE_MAX: none. */
static size_t find_entry(const struct vec *entries, const char *entry)
{
    size_t length = name_length(entry);
    for (size_t i = 0; i < entries->count; i++) {
        const char *other = entries->items[i];
        if (name_length(other) == length && memcmp(other, entry, length) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Adds an entry, or replaces the entry with the same name. */
static void put_entry(struct vec *entries, char *entry)
{
    size_t at = find_entry(entries, entry);
    if (at == SIZE_MAX) {
        vec_push(entries, entry);
    } else {
        mem_free(entries->items[at]);
        entries->items[at] = entry;
    }
}

/* Moves the words to entries.  A word that is not NAME=value is refused, unless the schedd will
 * expand it ($$). */
static int merge_words(struct submit_making *making, struct vec *words, struct vec *entries,
                       struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < words->count; i++) {
        char *word = words->items[i];
        const char *equals = strchr(word, '=');
        if (rc == 0 && equals == NULL && strstr(word, "$$") == NULL) {
            rc = making_refuse(making, err, "Missing '=' after environment variable '%.200s'.",
                               word);
        } else if (rc == 0 && equals == word) {
            rc = making_refuse(making, err, "missing variable in '%.200s'.", word);
        }
        if (rc == 0) {
            put_entry(entries, word);
        } else {
            mem_free(word);
        }
    }
    vec_fini(words, NULL);
    return rc;
}

static int merge_value(struct submit_making *making, const char *value, bool must_be_v2,
                       struct vec *entries, struct err *err)
{
    struct vec words = {0};
    char *raw = NULL;
    int rc = 0;
    if (must_be_v2 || is_quoted(value)) {
        rc = unquote_value(making, value, &raw, err);
        rc = rc != 0 ? rc : parse_v2(making, raw, &words, err);
    } else {
        for (const char *at = value; *at != '\0';) {
            const char *first = skip_blanks(at);
            size_t length = strcspn(first, ";\n");
            if (length > 0) {
                vec_push(&words, mem_strndup(first, length));
            }
            at = first + length + (first[length] != '\0' ? 1 : 0);
        }
    }
    int merged = merge_words(making, &words, entries, err);
    mem_free(raw);
    return rc != 0 ? rc : merged;
}

/* Returns whether the patterns select the variable; a pattern after '!' excludes. */
static bool passes_patterns(const struct vec *patterns, const char *entry)
{
    char *name = mem_strndup(entry, name_length(entry));
    bool wanted = false, any_wanted = false, unwanted = false;
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->items[i];
        if (pattern[0] == '!') {
            unwanted = unwanted || text_glob(skip_blanks(pattern + 1), name, true);
        } else {
            any_wanted = true;
            wanted = wanted || text_glob(pattern, name, true);
        }
    }
    mem_free(name);
    return !unwanted && (wanted || !any_wanted);
}

/* For getenv = true or a list of patterns: adds those variables of the submitter's environment that
 * are not set yet. */
static int import_environment(struct submit_making *making, const char *value, bool safe_in_v1,
                              struct vec *entries)
{
    struct vec patterns = {0};
    bool all = false;
    bool is_bool = making_bool(value, &all);
    if (!is_bool) {
        making_split(value, ", \t;\n", &patterns);
    }
    for (char **at = making->place->env; (!is_bool || all) && at != NULL && *at != NULL; at++) {
        const char *equals = strchr(*at, '=');
        if (equals != NULL && equals != *at && find_entry(entries, *at) == SIZE_MAX &&
            passes_patterns(&patterns, *at) && !(safe_in_v1 && strpbrk(equals, ";\n") != NULL)) {
            vec_push(entries, mem_strdup(*at));
        }
    }
    vec_fini(&patterns, mem_free);
    return 0;
}

static int by_name(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    size_t length_a = name_length(a), length_b = name_length(b);
    int order = memcmp(a, b, length_a < length_b ? length_a : length_b);
    return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

static int write_v1(struct submit_making *making, const struct vec *entries, struct strbuf *out,
                    struct err *err)
{
    for (size_t i = 0; i < entries->count; i++) {
        const char *entry = entries->items[i];
        if (strpbrk(entry, ";\n") != NULL) {
            return making_refuse(making, err,
                                 "Environment entry is not compatible with V1 syntax: %.200s",
                                 entry);
        }
        strbuf_printf(out, "%s%s", i > 0 ? ";" : "", entry);
    }
    return 0;
}

/* Sets the environment; for env = ... in the old quoting the old attribute is set. */
static int write_environment(struct submit_making *making, struct vec *entries, bool as_v1,
                             struct err *err)
{
    struct strbuf text;
    int rc = 0;
    strbuf_init(&text, 0);
    if (entries->count > 1) {
        qsort(entries->items, entries->count, sizeof(char *), by_name);
    }
    if (as_v1) {
        rc = write_v1(making, entries, &text, err);
    }
    for (size_t i = 0; !as_v1 && i < entries->count; i++) {
        args_append_v2(&text, entries->items[i]);
    }
    if (rc == 0) {
        ad_set_string(making->ad, as_v1 ? "Env" : "Environment", strbuf_text(&text));
    }
    if (rc == 0 && as_v1) {
        ad_set_string(making->ad, "EnvDelim", ";");
    }
    strbuf_fini(&text);
    return rc;
}

int words_set_environment(struct submit_making *making, struct err *err)
{
    char *v1 = NULL, *v2 = NULL, *old = NULL, *wanted = NULL;
    struct vec entries = {0};
    int rc = making_value(making, "env", NULL, &old, err);
    rc = rc != 0 ? rc : making_value(making, "environment2", NULL, &v2, err);
    rc = rc != 0 ? rc : making_value(making, "environment", "env", &v1, err);
    if (rc == 0 && v1 != NULL && v2 != NULL) {
        rc = refuse_both(making, "environment", err);
    }
    if (rc == 0 && (v1 != NULL || v2 != NULL)) {
        rc = merge_value(making, v2 != NULL ? v2 : v1, v2 != NULL, &entries, err);
    }
    rc = rc != 0 ? rc : making_value(making, "getenv", "get_env", &wanted, err);
    if (rc == 0 && wanted != NULL) {
        rc = import_environment(making, wanted, v1 != NULL && v2 == NULL, &entries);
    }
    if (rc == 0) {
        bool as_v1 = v1 != NULL && v2 == NULL && old != NULL && !is_quoted(old);
        rc = write_environment(making, &entries, as_v1, err);
    }
    vec_fini(&entries, mem_free);
    mem_free(v1);
    mem_free(v2);
    mem_free(old);
    mem_free(wanted);
    return rc;
}
