/* user_maps/user_map.c - see user_map.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "user_maps/user_map.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad_regex.h"

/* Steps that examining one entry of a map costs: a pattern, or a group of adjacent literal
 * users. */
#define ENTRY_STEPS 10u

struct entry {
    struct ad_regex *regex;
    char *names;          /* with it */
    struct strmap *users; /* user -> names, if this entry is not a pattern */
};

struct user_map {
    struct strmap *methods; /* to struct vec of struct entry */
};

struct user_map *user_map_create(void)
{
    struct user_map *map = mem_zalloc(sizeof(*map));
    map->methods = strmap_create(STRMAP_CASE_SENSITIVE);
    return map;
}

static void destroy_entry(void *arg)
{
    struct entry *entry = arg;
    ad_regex_destroy(entry->regex);
    strmap_destroy(entry->users, mem_free);
    mem_free(entry->names);
    mem_free(entry);
}

static void destroy_method(void *arg)
{
    vec_fini(arg, destroy_entry);
    mem_free(arg);
}

void user_map_destroy(struct user_map *map)
{
    if (map != NULL) {
        strmap_destroy(map->methods, destroy_method);
        mem_free(map);
    }
}

/* ---- reading ---- */

/* Copies the next field of a line to `field` and moves *at behind it.  patterns: the field may be a
 * pattern between slashes; its options are then copied to options, zero-terminated.  Returns
 * whether it was a pattern. */
static bool next_field(const char **at, const char *end, bool patterns, struct strbuf *field,
                       char options[3])
{
    const char *from = *at;
    strbuf_clear(field);
    while (from < end && text_is_gap(*from)) {
        from++;
    }
    char quote = from < end && (*from == '"' || (patterns && *from == '/')) ? *from : '\0';
    from += quote != '\0';
    for (; from < end; from++) {
        if (quote != '\0' ? *from == quote : text_is_gap(*from)) {
            break;
        }
        if (quote != '\0' && *from == '\\' && from + 1 < end) {
            from++;
            if (*from != quote && *from != '\\') {
                strbuf_putc(field, '\\'); /* it escapes nothing here; in a pattern it means more */
            }
        }
        strbuf_putc(field, *from);
    }
    from += quote != '\0' && from < end;
    size_t count = 0;
    while (quote == '/' && from < end && (*from == 'i' || *from == 'U')) {
        if (count < 2 && (count == 0 || options[0] != *from)) {
            options[count++] = *from;
        }
        from++;
    }
    if (quote == '/') {
        options[count] = '\0';
    }
    *at = from;
    return quote == '/';
}

static struct vec *entries_of(struct user_map *map, const char *method)
{
    struct vec *entries = strmap_get(map->methods, method);
    if (entries == NULL) {
        entries = mem_zalloc(sizeof(*entries));
        (void)strmap_set(map->methods, method, entries);
    }
    return entries;
}

static bool add_pattern(struct vec *entries, const struct strbuf *pattern, const char *options,
                        const char *names)
{
    struct strbuf whole;
    strbuf_init(&whole, 0);
    strbuf_puts(&whole, strchr(options, 'U') != NULL ? "(?U)" : "");
    strbuf_append(&whole, pattern->data, pattern->length);
    struct ad_regex *regex =
        ad_regex_create(strbuf_text(&whole), whole.length, strchr(options, 'i') != NULL ? "i" : "");
    strbuf_fini(&whole);
    if (regex == NULL) {
        return false;
    }
    struct entry *entry = mem_zalloc(sizeof(*entry));
    entry->regex = regex;
    entry->names = mem_strdup(names);
    vec_push(entries, entry);
    return true;
}

static void add_user(struct vec *entries, const char *user, const char *names)
{
    struct entry *last = entries->count > 0 ? entries->items[entries->count - 1] : NULL;
    if (last == NULL || last->users == NULL) {
        last = mem_zalloc(sizeof(*last));
        last->users = strmap_create(STRMAP_CASE_SENSITIVE);
        vec_push(entries, last);
    }
    if (strmap_get(last->users, user) == NULL) { /* the first one counts */
        (void)strmap_set(last->users, user, mem_strdup(names));
    }
}

static void add_text(struct user_map *map, const char *text, size_t length,
                     const struct user_map_reader *reader, bool may_include);

static const char *include_file(struct user_map *map, const char *path,
                                const struct user_map_reader *reader, bool may_include)
{
    if (!may_include || reader->include == NULL) {
        return "@include is not allowed here";
    }
    struct strbuf text;
    strbuf_init(&text, USER_MAP_BYTES_MAX);
    bool good = *path != '\0' && reader->include(reader->arg, path, &text) && !text.failed;
    if (good) {
        add_text(map, strbuf_text(&text), text.length, reader, false);
    }
    strbuf_fini(&text);
    return good ? NULL : "cannot read the file to include";
}

/* Adds a line.  Returns NULL, or what is wrong with the line. */
static const char *add_line(struct user_map *map, const char *at, const char *end,
                            const struct user_map_reader *reader, bool may_include,
                            struct strbuf *fields)
{
    char options[3] = "";
    (void)next_field(&at, end, false, &fields[0], options);
    const char *method = strbuf_text(&fields[0]);
    if (*method == '\0' || *method == '#') {
        return NULL;
    }
    if (strcmp(method, "@include") == 0) {
        (void)next_field(&at, end, false, &fields[1], options);
        return include_file(map, strbuf_text(&fields[1]), reader, may_include);
    }
    bool is_pattern = next_field(&at, end, true, &fields[1], options);
    (void)next_field(&at, end, false, &fields[2], options);
    const char *user = strbuf_text(&fields[1]);
    const char *names = strbuf_text(&fields[2]);
    if (*user == '\0' || *names == '\0') {
        return "a line needs a method, a user and names";
    }
    struct vec *entries = entries_of(map, method);
    if (is_pattern) {
        return add_pattern(entries, &fields[1], options, names)
                   ? NULL
                   : "the user is not a valid regular expression";
    }
    add_user(entries, user, names);
    return NULL;
}

static void add_text(struct user_map *map, const char *text, size_t length,
                     const struct user_map_reader *reader, bool may_include)
{
    const char *end = text + length;
    unsigned number = 0;
    struct strbuf fields[3];
    for (int i = 0; i < 3; i++) {
        strbuf_init(&fields[i], 0);
    }
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop != NULL ? stop : end;
        number++;
        const char *why = add_line(map, text, stop, reader, may_include, fields);
        if (why != NULL && reader->complain != NULL) {
            reader->complain(reader->arg, number, why);
        }
        text = stop < end ? stop + 1 : end;
    }
    for (int i = 0; i < 3; i++) {
        strbuf_fini(&fields[i]);
    }
}

void user_map_add(struct user_map *map, const char *text, size_t length,
                  const struct user_map_reader *reader)
{
    static const struct user_map_reader NOTHING = {0};
    add_text(map, text, length, reader != NULL ? reader : &NOTHING, true);
}

/* ---- finding ---- */

/* Appends names with \0 to \9 replaced; the number of a group that does not exist stays as it
 * is. */
static void put_names(const char *names, struct ad_regex *regex, const char *user,
                      struct strbuf *out)
{
    size_t groups = regex != NULL ? ad_regex_matched(regex) : 1;
    for (const char *at = names; *at != '\0'; at++) {
        size_t group = *at == '\\' && at[1] >= '0' && at[1] <= '9' ? (size_t)(at[1] - '0') : groups;
        size_t from = 0;
        size_t to = group == 0 ? strlen(user) : 0;
        if (group >= groups) {
            strbuf_putc(out, *at);
            if (*at == '\\' && at[1] != '\0') {
                strbuf_putc(out, *++at);
            }
            continue;
        }
        if (regex == NULL || ad_regex_group(regex, group, &from, &to)) {
            strbuf_append(out, user + from, to - from);
        }
        at++;
    }
}

bool user_map_find(const struct user_map *map, const char *method, const char *user,
                   struct strbuf *out, uint32_t *steps)
{
    const struct vec *entries = strmap_get(map->methods, method);
    for (size_t i = 0; entries != NULL && i<entries->count && * steps> 0; i++) {
        const struct entry *entry = entries->items[i];
        const char *names = NULL;
        *steps -= *steps < ENTRY_STEPS ? *steps : ENTRY_STEPS;
        if (entry->users != NULL) {
            names = strmap_get(entry->users, user);
        } else if (ad_regex_match(entry->regex, user, strlen(user), 0, AD_REGEX_ANYWHERE, steps) ==
                   1) {
            names = entry->names;
        }
        if (names != NULL) {
            put_names(names, entry->regex, user, out);
            return true;
        }
    }
    return false;
}
