/* base/args.c - argument and environment texts of jobs: see args.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/args.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"

static int push_word(struct vec *words, char *word, struct err *err)
{
    if (words->count >= ARGS_COUNT_MAX) {
        mem_free(word);
        return err_set(err, -E2BIG, "more than %d arguments", ARGS_COUNT_MAX);
    }
    vec_push(words, word);
    return 0;
}

int args_parse_v1(const char *text, struct vec *words, struct err *err)
{
    const char *at = text;
    for (;;) {
        while (text_is_gap(*at)) {
            at++;
        }
        if (*at == '\0') {
            return 0;
        }
        const char *start = at;
        while (*at != '\0' && !text_is_gap(*at)) {
            at++;
        }
        int rc = push_word(words, mem_strndup(start, (size_t)(at - start)), err);
        if (rc != 0) {
            return rc;
        }
    }
}

/* Reads one word that begins at *at (not a blank); quoted parts may stand anywhere in it. */
static int read_word_v2(const char *text, const char **at, struct strbuf *word, struct err *err)
{
    bool quoted = false;
    const char *opened = NULL;
    for (; **at != '\0' && (quoted || !text_is_gap(**at)); (*at)++) {
        if (**at != '\'') {
            strbuf_putc(word, **at);
        } else if (!quoted) {
            quoted = true;
            opened = *at;
        } else if ((*at)[1] == '\'') {
            strbuf_putc(word, '\'');
            (*at)++;
        } else {
            quoted = false;
        }
    }
    if (quoted) {
        return err_set(err, -EINVAL, "the single quote at byte %zu is not closed: %s",
                       (size_t)(opened - text), text);
    }
    return 0;
}

int args_parse_v2(const char *text, struct vec *words, struct err *err)
{
    const char *at = text;
    for (;;) {
        while (text_is_gap(*at)) {
            at++;
        }
        if (*at == '\0') {
            return 0;
        }
        struct strbuf word;
        strbuf_init(&word, 0);
        strbuf_puts(&word, ""); /* '' is an empty word, not none */
        int rc = read_word_v2(text, &at, &word, err);
        if (rc == 0) {
            rc = push_word(words, mem_strdup(strbuf_text(&word)), err);
        }
        strbuf_fini(&word);
        if (rc != 0) {
            return rc;
        }
    }
}

static int check_entries(const struct vec *entries, size_t from, struct err *err)
{
    for (size_t i = from; i < entries->count; i++) {
        const char *entry = entries->items[i];
        const char *equals = strchr(entry, '=');
        if (equals == NULL || equals == entry) {
            return err_set(err, -EINVAL, "environment entry '%s' is not NAME=value", entry);
        }
    }
    return 0;
}

int env_parse_v1(const char *text, struct vec *entries, struct err *err)
{
    size_t from = entries->count;
    const char *at = text;
    while (*at != '\0') {
        size_t length = strcspn(at, ";");
        const char *start = at;
        at += length + (at[length] == ';' ? 1 : 0);
        while (length > 0 && text_is_gap(*start)) {
            start++;
            length--;
        }
        if (length > 0) {
            int rc = push_word(entries, mem_strndup(start, length), err);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return check_entries(entries, from, err);
}

int env_parse_v2(const char *text, struct vec *entries, struct err *err)
{
    size_t from = entries->count;
    int rc = args_parse_v2(text, entries, err);
    return rc != 0 ? rc : check_entries(entries, from, err);
}

void args_append_v2(struct strbuf *out, const char *word)
{
    if (out->length > 0) {
        strbuf_putc(out, ' ');
    }
    if (*word == '\0') {
        strbuf_puts(out, "''");
    }
    bool quoted = false;
    for (const char *at = word; *at != '\0'; at++) {
        bool quote = text_is_gap(*at) || *at == '\'';
        if (quote != quoted) {
            strbuf_putc(out, '\'');
            quoted = quote;
        }
        if (*at == '\'') {
            strbuf_putc(out, '\'');
        }
        strbuf_putc(out, *at);
    }
    if (quoted) {
        strbuf_putc(out, '\'');
    }
}
