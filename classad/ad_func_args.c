/* classad/ad_func_args.c - built-in functions on arguments and environments of jobs.
 *
 * Version 2: words are separated by blanks; single quotes keep the enclosed text together, and two
 * of them inside quotes stand for one.  Version 1: words of arguments are separated by blanks,
 * assignments of an environment by semicolons, and there are no quotes.  An environment is printed
 * sorted by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

#define WORD_STEPS 2 /* steps for writing a word, besides those for its bytes */

/* Reads one word of version 2 from *at.  False: the end, or (*bad) a quote is not closed. */
static bool next_word(const char **at, struct strbuf *word, bool *bad)
{
    while (text_is_gap(**at)) {
        (*at)++;
    }
    if (**at == '\0') {
        return false;
    }
    strbuf_clear(word);
    bool quoted = false;
    for (; **at != '\0' && (quoted || !text_is_gap(**at)); (*at)++) {
        if (**at != '\'') {
            strbuf_putc(word, **at);
        } else if (quoted && (*at)[1] == '\'') {
            strbuf_putc(word, '\'');
            (*at)++;
        } else {
            quoted = !quoted;
        }
    }
    *bad = quoted;
    return !quoted;
}

/* Appends a word so that next_word() reads it again; only the bytes that need quotes are quoted. */
static void put_word(const char *word, struct strbuf *out)
{
    if (word[0] == '\0') {
        strbuf_puts(out, "''");
    }
    bool quoted = false;
    for (; *word != '\0'; word++) {
        bool special = text_is_gap(*word) || *word == '\'';
        if (special != quoted) {
            strbuf_putc(out, '\'');
            quoted = special;
        }
        if (*word == '\'') {
            strbuf_putc(out, '\'');
        }
        strbuf_putc(out, *word);
    }
    if (quoted) {
        strbuf_putc(out, '\'');
    }
}

/* Returns the version in argument `index`, 1 or 2. 0: it is neither, and *ret is set. */
static int version_arg(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
                       struct ad_value *ret)
{
    struct ad_value version;
    ad_is_int(&version, 2);
    if (index < call->count) {
        ad_arg(ev, call, index, &version);
    }
    int32_t number = version.type == AD_TYPE_INT ? ad_to_int32(&version) : 0;
    if (number != 1 && number != 2) {
        ad_is(ret, AD_TYPE_ERROR);
        return 0;
    }
    return number;
}

static void free_word(void *word)
{
    mem_free(word);
}

static bool split_words(const char *text, int version, struct vec *words)
{
    struct strbuf word;
    bool bad = false;
    strbuf_init(&word, AD_STRING_MAX);
    if (version == 2) {
        while (next_word(&text, &word, &bad)) {
            vec_push(words, mem_strdup(strbuf_text(&word)));
        }
    }
    while (version == 1 && *text != '\0') {
        while (text_is_gap(*text)) {
            text++;
        }
        size_t length = strcspn(text, " \t\r\n");
        if (length > 0) {
            vec_push(words, mem_strndup(text, length));
        }
        text += length;
    }
    strbuf_fini(&word);
    return !bad;
}

/* argsToList(text[, version]) */
void ad_func_args_to_list(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    int version = version_arg(ev, call, 1, ret);
    ad_arg(ev, call, 0, &text);
    struct vec words = {0};
    if (version == 0 || text.type != AD_TYPE_STRING ||
        !ad_evaluator_spend(ev, text.string.length / 4) ||
        !split_words(text.string.text, version, &words)) {
        vec_fini(&words, free_word);
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    struct ad_node *items = ad_make_list(ev, (uint32_t)words.count, ret);
    struct ad_value made = *ret;
    for (size_t i = 0; items != NULL && i < words.count; i++) {
        struct ad_value word;
        ad_make_string(ev, words.items[i], strlen(words.items[i]), &word);
        ad_list_put(ev, items, (uint32_t)i, &word);
    }
    *ret = made;
    vec_fini(&words, free_word);
}

/* listToArgs(list[, version]).  A word with blanks is an error in version 1. */
void ad_func_list_to_args(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value list;
    int version = version_arg(ev, call, 1, ret);
    ad_arg(ev, call, 0, &list);
    if (version == 0 || list.type != AD_TYPE_LIST) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    for (uint32_t i = 0; i < list.list->count; i++) {
        struct ad_value word;
        ad_item_from(ev, &list, i, call->scope, &word);
        (void)ad_evaluator_spend(ev, WORD_STEPS); /* error at the end if it is too much */
        bool plain = word.type == AD_TYPE_STRING && strpbrk(word.string.text, " \t\r\n") == NULL;
        if (word.type != AD_TYPE_STRING || (version == 1 && !plain)) {
            strbuf_fini(&text);
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        if (text.length > 0) {
            strbuf_putc(&text, ' ');
        }
        if (version == 1) {
            strbuf_puts(&text, word.string.text);
        } else {
            put_word(word.string.text, &text);
        }
    }
    ad_make_text(ev, &text, ret);
}

/* ---- environments ---- */

/* stands for "no value" in the map, as in HTCondor */
static const char AS_IT_IS[] = "\1\2\3\4\5\6";

/* Sets "NAME=value" in the map; false when there is no name.  A text with "$$" and without '=' is
 * kept unchanged, because it will be expanded later. */
static bool assign_variable(struct strmap *variables, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL && strstr(text, "$$") != NULL) {
        mem_free(strmap_set(variables, text, mem_strdup(AS_IT_IS)));
        return true;
    }
    if (equals == NULL || equals == text) {
        return false;
    }
    char *name = mem_strndup(text, (size_t)(equals - text));
    mem_free(strmap_set(variables, name, mem_strdup(equals + 1)));
    mem_free(name);
    return true;
}

struct variable {
    const char *name;
    const char *value;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

static void put_environment(const struct strmap *variables, struct strbuf *out)
{
    size_t count = 0;
    size_t at = 0;
    void *value;
    struct variable *sorted = mem_alloc((strmap_count(variables) + 1) * sizeof(*sorted));
    while (strmap_next(variables, &at, &sorted[count].name, &value)) {
        sorted[count++].value = value;
    }
    qsort(sorted, count, sizeof(*sorted), by_name);
    struct strbuf word;
    strbuf_init(&word, AD_STRING_MAX);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_putc(out, ' ');
        }
        strbuf_clear(&word);
        strbuf_puts(&word, sorted[i].name);
        if (strcmp(sorted[i].value, AS_IT_IS) != 0) {
            strbuf_putc(&word, '=');
            strbuf_puts(&word, sorted[i].value);
        }
        put_word(strbuf_text(&word), out);
    }
    strbuf_fini(&word);
    mem_free(sorted);
}

static void finish_environment(struct ad_evaluator *ev, struct strmap *variables, bool good,
                               struct ad_value *ret)
{
    size_t count = strmap_count(variables);
    if (!good || !ad_evaluator_spend(ev, count * 4)) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        struct strbuf text;
        strbuf_init(&text, AD_STRING_MAX);
        put_environment(variables, &text);
        ad_make_text(ev, &text, ret);
    }
    strmap_destroy(variables, free_word);
}

/* Returns whether a text that begins with c has c as its separator. */
static bool may_separate(char c)
{
    return c != '\0' && strchr("!#$%&*+,-/:;<>?@^`|~\x1f", c) != NULL;
}

/* envV1ToV2(text).  The assignments are separated by semicolons or ends of lines. */
void ad_func_env_v1_to_v2(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    if (!ad_arg_string(ev, call, 0, &text, ret)) {
        return;
    }
    struct strmap *variables = strmap_create(STRMAP_CASE_SENSITIVE);
    bool good = true;
    const char *at = text.string.text;
    char separators[3] = ";\n";
    if (may_separate(*at)) {
        separators[0] = *at++;
    }
    while (good && *at != '\0') {
        while (text_is_gap(*at)) {
            at++;
        }
        size_t length = strcspn(at, separators);
        if (length > 0) {
            char *assignment = mem_strndup(at, length);
            good = assign_variable(variables, assignment);
            mem_free(assignment);
        }
        at += length + (at[length] != '\0');
    }
    finish_environment(ev, variables, good, ret);
}

/* mergeEnvironment(text...).  Later assignments win; undefined arguments are ignored. */
void ad_func_merge_environment(struct ad_evaluator *ev, const struct ad_call *call,
                               struct ad_value *ret)
{
    struct strmap *variables = strmap_create(STRMAP_CASE_SENSITIVE);
    bool good = true;
    for (uint32_t i = 0; good && i < call->count; i++) {
        struct ad_value text;
        struct vec words = {0};
        ad_arg(ev, call, i, &text);
        if (text.type == AD_TYPE_UNDEFINED) {
            continue;
        }
        good = text.type == AD_TYPE_STRING && split_words(text.string.text, 2, &words);
        for (size_t word = 0; good && word < words.count; word++) {
            good = assign_variable(variables, words.items[word]);
        }
        vec_fini(&words, free_word);
    }
    finish_environment(ev, variables, good, ret);
}
