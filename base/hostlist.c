/* base/hostlist.c - see hostlist.h.
 *
 * Expanding replaces the first bracket of a word by each of its numbers and continues with the
 * rest; so several brackets give all combinations.  The limit counts names before they are made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/hostlist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"

#define DIGITS_MAX   18 /* of one number */
#define BRACKETS_MAX 8  /* in one word */
#define GROUPS_MAX   8  /* groups within groups; more contain themselves */
#define WORD_MAX     ((size_t)8 << 20)
#define SHOWN_MAX    60 /* bytes of a word in a message */

#define DIGITS     "0123456789"
#define SEPARATORS ", \t\n"

/* ---- out of the fold */

struct expansion {
    const char *word; /* for messages */
    int word_length;
    const struct hostlist_groups *groups; /* NULL: none */
    int depth;                            /* of groups within groups */
    struct vec *names;
    struct strmap *known;
    size_t made; /* with those that were there already: what is made is work */
    struct err *err;
};

static int set_wrong(const struct expansion *expansion, const char *what)
{
    int shown = expansion->word_length < SHOWN_MAX ? expansion->word_length : SHOWN_MAX;
    return err_set(expansion->err, -EINVAL, "'%.*s': %s", shown, expansion->word, what);
}

static int too_many(const struct expansion *expansion)
{
    int shown = expansion->word_length < SHOWN_MAX ? expansion->word_length : SHOWN_MAX;
    return err_set(expansion->err, -E2BIG, "'%.*s': more than %zu names", shown, expansion->word,
                   HOSTLIST_COUNT_MAX);
}

static int add_name(struct expansion *expansion, const char *name)
{
    if (name[0] == '\0') {
        return set_wrong(expansion, "the name is empty");
    }
    if (++expansion->made > HOSTLIST_COUNT_MAX) {
        return too_many(expansion);
    }
    if (strmap_get(expansion->known, name) != NULL) {
        return 0;
    }
    if (expansion->names->count >= HOSTLIST_COUNT_MAX) {
        return too_many(expansion);
    }
    vec_push(expansion->names, mem_strdup(name));
    (void)strmap_set(expansion->known, name, expansion->names);
    return 0;
}

/* Reads the number at *at and moves *at behind it. */
static bool read_number(const char **at, int64_t *ret, int *digits)
{
    char text[DIGITS_MAX + 1];
    size_t length = strspn(*at, DIGITS);
    if (length == 0 || length > DIGITS_MAX) {
        return false;
    }
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length;
    *digits = (int)length;
    return text_parse_int64(text, ret, NULL) == 0;
}

static int expand_rest(struct expansion *expansion, const char *done, const char *rest, int depth);

static int expand_range(struct expansion *expansion, const char *done, const char **at,
                        const char *rest, int depth)
{
    char name[HOSTLIST_NAME_MAX + 1];
    int64_t first, last;
    int digits, last_digits;
    if (!read_number(at, &first, &digits)) {
        return set_wrong(expansion,
                         "expected numbers and ranges between [ and ], as in [01-16,20]");
    }
    last = first;
    if (**at == '-') {
        (*at)++;
        if (!read_number(at, &last, &last_digits)) {
            return set_wrong(expansion, "a range needs a last number, as in [01-16]");
        }
    }
    if (last < first) {
        return set_wrong(expansion, "the first number of a range must be the smaller one");
    }
    if ((uint64_t)(last - first) >= HOSTLIST_COUNT_MAX) {
        return too_many(expansion);
    }
    for (int64_t number = first; number <= last; number++) {
        int length = snprintf(name, sizeof name, "%s%0*" PRId64, done, digits, number);
        if (length < 0 || (size_t)length >= sizeof name) {
            return set_wrong(expansion, "the host name is too long");
        }
        int rc = expand_rest(expansion, name, rest, depth + 1);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Appends `done` followed by each expansion of `rest`. */
static int expand_rest(struct expansion *expansion, const char *done, const char *rest, int depth)
{
    char name[HOSTLIST_NAME_MAX + 1];
    size_t plain = strcspn(rest, "[");
    int length = snprintf(name, sizeof name, "%s%.*s", done, (int)plain, rest);
    if (length < 0 || (size_t)length >= sizeof name) {
        return set_wrong(expansion, "the host name is too long");
    }
    if (rest[plain] == '\0') {
        return add_name(expansion, name);
    }
    const char *at = rest + plain + 1, *end = strchr(at, ']');
    if (end == NULL) {
        return set_wrong(expansion, "[ without ]");
    }
    if (depth >= BRACKETS_MAX) {
        return set_wrong(expansion, "too many brackets");
    }
    for (;;) {
        int rc = expand_range(expansion, name, &at, end + 1, depth);
        if (rc != 0) {
            return rc;
        }
        if (at == end) {
            return 0;
        }
        if (*at != ',') {
            return set_wrong(expansion,
                             "expected numbers and ranges between [ and ], as in [01-16,20]");
        }
        at++;
    }
}

static int expand_text(struct expansion *expansion, const char *text);

/* Adds the machines of a group: the word without its '@' is the group's name. */
static int expand_group(struct expansion *expansion)
{
    struct expansion outer = *expansion;
    if (expansion->groups == NULL) {
        return set_wrong(expansion, "not a host name");
    }
    const char *machines = NULL;
    char *name = mem_strndup(expansion->word + 1, (size_t)expansion->word_length - 1);
    int rc =
        expansion->groups->machines_of(expansion->groups->arg, name, &machines, expansion->err);
    mem_free(name);
    if (rc != 0) {
        return rc;
    }
    if (++expansion->depth > GROUPS_MAX) {
        return set_wrong(expansion, "the group contains itself");
    }
    rc = expand_text(expansion, machines);
    expansion->word = outer.word;
    expansion->word_length = outer.word_length;
    expansion->depth = outer.depth;
    return rc;
}

static int expand_word(struct expansion *expansion)
{
    bool inside = false;
    for (int i = 0; i < expansion->word_length; i++) {
        char c = expansion->word[i];
        if (c == '"' || c == '\'' || c == '\\' || (unsigned char)c < ' ' || c == 0x7f) {
            return set_wrong(expansion, "not a host name");
        }
        if ((c == '[' && inside) || (c == ']' && !inside)) {
            return set_wrong(expansion, "unexpected bracket");
        }
        inside = c == '[' || (inside && c != ']');
    }
    if (expansion->word[0] == '@') {
        return expand_group(expansion);
    }
    char *rest = mem_strndup(expansion->word, (size_t)expansion->word_length);
    int rc = expand_rest(expansion, "", rest, 0);
    mem_free(rest);
    return rc;
}

/* Returns the length of a word.  Commas within brackets do not end it. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    bool inside = false;
    while (text[length] != '\0' && (inside ? strchr(" \t\n", text[length]) == NULL
                                           : strchr(SEPARATORS, text[length]) == NULL)) {
        inside = text[length] == '[' || (inside && text[length] != ']');
        length++;
    }
    return length;
}

static int expand_text(struct expansion *expansion, const char *text)
{
    const char *at = text + strspn(text, SEPARATORS);
    if (*at == '\0') {
        return err_set(expansion->err, -EINVAL, "no host names in '%.60s'", text);
    }
    int rc = 0;
    while (rc == 0 && *at != '\0') {
        size_t length = word_length(at);
        expansion->word = at;
        expansion->word_length = length < WORD_MAX ? (int)length : SHOWN_MAX;
        rc = length < WORD_MAX ? expand_word(expansion)
                               : set_wrong(expansion, "the list of hosts is too long");
        at += length;
        at += strspn(at, SEPARATORS);
    }
    return rc;
}

int hostlist_expand(const char *text, const struct hostlist_groups *groups, struct vec *names,
                    struct err *err)
{
    size_t before = names->count;
    struct expansion expansion = {.groups = groups,
                                  .names = names,
                                  .known = strmap_create(STRMAP_CASE_IGNORED),
                                  .err = err};
    for (size_t i = 0; i < before; i++) {
        (void)strmap_set(expansion.known, names->items[i], names);
    }
    int rc = expand_text(&expansion, text);
    while (rc != 0 && names->count > before) {
        mem_free(names->items[--names->count]);
    }
    strmap_destroy(expansion.known, NULL);
    return rc;
}

/* ---- into the fold */

struct host {
    const char *name;
    size_t prefix; /* bytes before the number; all of the name if there is none */
    int digits;    /* 0: no number */
    int64_t number;
};

static struct host take_apart(const char *name)
{
    struct host host = {.name = name};
    size_t end = strcspn(name, ".");
    while (end > 0 && strchr(DIGITS, name[end - 1]) == NULL) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && strchr(DIGITS, name[begin - 1]) != NULL) {
        begin--;
    }
    const char *at = name + begin;
    bool is_plain = strpbrk(name, "[]" SEPARATORS) == NULL;
    if (begin == end || !is_plain || !read_number(&at, &host.number, &host.digits)) {
        host.prefix = strlen(name);
        host.number = 0;
        host.digits = 0;
        return host;
    }
    host.prefix = begin;
    return host;
}

static const char *suffix_of(const struct host *host)
{
    return host->name + host->prefix + host->digits;
}

/* Compares everything except the number. */
static int compare_kind(const struct host *a, const struct host *b)
{
    size_t shorter = a->prefix < b->prefix ? a->prefix : b->prefix;
    int order = memcmp(a->name, b->name, shorter);
    if (order == 0 && a->prefix != b->prefix) {
        order = a->prefix < b->prefix ? -1 : 1;
    }
    order = order != 0 ? order : strcmp(suffix_of(a), suffix_of(b));
    return order != 0 ? order : (a->digits == 0) - (b->digits == 0);
}

static int compare_hosts(const void *left, const void *right)
{
    const struct host *a = left, *b = right;
    int order = compare_kind(a, b);
    if (order == 0) {
        order = a->number < b->number ? -1 : a->number > b->number;
    }
    return order != 0 ? order : a->digits - b->digits;
}

static int length_of(int64_t number)
{
    char text[32];
    return snprintf(text, sizeof text, "%" PRId64, number);
}

/* Returns whether a range that begins with `first` and has reached `last` continues with `next`. */
static bool goes_on(const struct host *first, const struct host *last, const struct host *next)
{
    int plain = length_of(next->number);
    return next->number == last->number + 1 &&
           next->digits == (plain > first->digits ? plain : first->digits);
}

/* Appends the numbers of hosts[0..count), which differ in nothing else. */
static void put_numbers(const struct host *hosts, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && goes_on(&hosts[i], &hosts[last], &hosts[last + 1])) {
            last++;
        }
        strbuf_puts(out, i > 0 ? "," : "");
        strbuf_append(out, hosts[i].name + hosts[i].prefix, (size_t)hosts[i].digits);
        if (last > i) {
            strbuf_puts(out, last == i + 1 ? "," : "-");
            strbuf_append(out, hosts[last].name + hosts[last].prefix, (size_t)hosts[last].digits);
        }
        i = last + 1;
    }
}

void hostlist_fold(const char *const *names, size_t count, struct strbuf *out)
{
    struct host *hosts = mem_alloc((count + 1) * sizeof *hosts);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        hosts[i] = take_apart(names[i]);
    }
    if (count > 1) {
        qsort(hosts, count, sizeof *hosts, compare_hosts);
    }
    for (size_t i = 0; i < count; i++) { /* each once */
        if (kept == 0 || strcmp(hosts[kept - 1].name, hosts[i].name) != 0) {
            hosts[kept++] = hosts[i];
        }
    }
    for (size_t i = 0; i < kept;) {
        size_t end = i + 1;
        while (end < kept && hosts[i].digits > 0 && compare_kind(&hosts[i], &hosts[end]) == 0) {
            end++;
        }
        strbuf_puts(out, i > 0 ? "," : "");
        if (end == i + 1) {
            strbuf_puts(out, hosts[i].name);
        } else {
            strbuf_append(out, hosts[i].name, hosts[i].prefix);
            strbuf_putc(out, '[');
            put_numbers(hosts + i, end - i, out);
            strbuf_putc(out, ']');
            strbuf_puts(out, suffix_of(&hosts[i]));
        }
        i = end;
    }
    mem_free(hosts);
}
