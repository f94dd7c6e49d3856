/* base/config/config_check.c - turns an expanded text into a value of the knob's type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/config/config_number.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

const char *knob_type_name(enum knob_type type)
{
    switch (type) {
    case KNOB_STRING:
        return "text";
    case KNOB_INT:
        return "whole number";
    case KNOB_REAL:
        return "number";
    case KNOB_BOOL:
        return "true or false";
    case KNOB_DURATION_S:
    case KNOB_DURATION_MS:
        return "duration";
    case KNOB_SIZE_BYTES:
        return "size";
    case KNOB_EXPR:
        return "expression";
    case KNOB_PATH:
        return "path";
    case KNOB_LIST:
        return "list";
    }
    CHECK(false); /* not a type */
    return "";
}

/* ---- likeness ---- */

/* bytes of the longest prefix of a family, with the terminating zero */
#define FAMILY_HEAD_MAX 64

const char *config_nearest_knob(const struct config *config, const char *name)
{
    const char *best = NULL;
    size_t distance = text_near_enough(name) + 1;
    size_t at = 0;
    const char *candidate = NULL;
    void *value = NULL;
    while (strmap_next(config->entries, &at, &candidate, &value)) {
        if (((const struct config_entry *)value)->value.knob) {
            text_take_nearer(candidate, name, &best, &distance);
        }
    }
    return best;
}

const char *config_nearest_family(const struct knob_table *const *tables, size_t count,
                                  const char *name, size_t *distance)
{
    const char *best = NULL;
    char head[FAMILY_HEAD_MAX];
    for (const char *end = strchr(name, '_'); end != NULL; end = strchr(end + 1, '_')) {
        size_t length = (size_t)(end - name) + 1;
        if (length >= sizeof head) {
            break;
        }
        memcpy(head, name, length);
        head[length] = '\0';
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < tables[i]->family_count; j++) {
                const struct knob_family *family = &tables[i]->families[j];
                const char *found = NULL;
                text_take_nearer(family->prefix, head, &found, distance);
                best = found != NULL ? family->written : best;
            }
        }
    }
    return best;
}

const char *config_nearest_option(const struct knob *options, size_t count, const char *name)
{
    const char *best = NULL;
    size_t distance = text_near_enough(name) + 1;
    for (size_t i = 0; i < count; i++) {
        text_take_nearer(options[i].name, name, &best, &distance);
    }
    return best;
}

/* ---- lists ---- */

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

void config_append_item(struct strbuf *out, const char *item)
{
    if (*item && !strpbrk(item, ", \t\n\"\\")) {
        strbuf_puts(out, item);
        return;
    }
    strbuf_putc(out, '"');
    for (; *item; item++) {
        if (*item == '"' || *item == '\\') {
            strbuf_putc(out, '\\');
        }
        strbuf_putc(out, *item);
    }
    strbuf_putc(out, '"');
}

/* Reads the item at *at into out, which is as long as the text.  Returns the end of what it wrote;
 * NULL: a quote is not closed. */
static char *read_item(const char **at, char *out)
{
    bool quoted = false;
    for (; **at && (quoted || !is_separator(**at)); ++*at) {
        if (**at == '"') {
            quoted = !quoted;
        } else {
            if (quoted && **at == '\\' && (*at)[1]) {
                ++*at;
            }
            *out++ = **at;
        }
    }
    *out = '\0';
    return quoted ? NULL : out + 1;
}

int config_split_list(struct arena *arena, const char *text, const char *const **items,
                      size_t *count, struct err *err)
{
    const size_t length = strlen(text);
    /* Items are at least one byte and a separator, but for "" which is two quotes and may touch
     * nothing. */
    const char **found = arena_alloc(arena, (length / 2 + 2) * sizeof(*found));
    char *out = arena_alloc(arena, length + 2);
    if (!found || !out) {
        return err_set(err, -ENOMEM, "the configuration is larger than %zu bytes",
                       CONFIG_BYTES_MAX);
    }
    size_t used = 0;
    for (const char *at = text;;) {
        while (is_separator(*at)) {
            at++;
        }
        if (!*at) {
            break;
        }
        found[used++] = out;
        out = read_item(&at, out);
        if (!out) {
            return err_set(err, -EINVAL, "the item '%.60s' has an open quote", found[used - 1]);
        }
    }
    found[used] = NULL;
    *items = found;
    *count = used;
    return 0;
}

/* ---- types ---- */

static int check_range(const struct knob *knob, double value, const char *text, struct err *err)
{
    if ((knob->min == 0 && knob->max == 0) ||
        (value >= (double)knob->min && value <= (double)knob->max)) {
        return 0;
    }
    const char *unit = knob->unit                       ? knob->unit
                       : knob->type == KNOB_DURATION_S  ? "seconds"
                       : knob->type == KNOB_DURATION_MS ? "milliseconds"
                       : knob->type == KNOB_SIZE_BYTES  ? "bytes"
                                                        : "";
    return err_set(err, -ERANGE, "'%s' is out of range: %lld to %lld%s%s", text,
                   (long long)knob->min, (long long)knob->max, *unit ? " " : "", unit);
}

static int check_number(struct config_value *value, struct err *err)
{
    const struct knob *knob = value->knob;
    bool is_real = knob->type == KNOB_REAL;
    struct err why = {""};
    int rc = is_real ? config_number_real(value->text, &value->real, &why)
                     : config_number_int(value->text, knob->type, &value->integer, &why);
    if (rc < 0) {
        return knob->unit != NULL ? err_set(err, rc, "%s (its unit is %s)", why.text, knob->unit)
                                  : err_set(err, rc, "%s", why.text);
    }
    if (is_real) {
        return check_range(knob, value->real, value->text, err);
    }
    if (knob->type != KNOB_INT && value->integer < 0) {
        return err_set(err, -ERANGE, "'%s' is negative", value->text);
    }
    if (knob->type != KNOB_DURATION_S) {
        return check_range(knob, (double)value->integer, value->text, err);
    }
    if (value->integer % 1000 != 0) {
        return err_set(err, -EINVAL, "'%s' is not a whole number of seconds", value->text);
    }
    return check_range(knob, (double)(value->integer / 1000), value->text, err);
}

/* Replaces the text by the table's spelling of that choice. */
static int check_choice(struct config_loader *loader, struct config_value *value, struct err *err)
{
    const char *at = value->knob->choices;
    while (*at) {
        size_t length = strcspn(at, "|");
        char *choice = arena_strndup(loader->config->arena, at, length);
        if (!choice) {
            return err_set(err, -ENOMEM, "the configuration is larger than %zu bytes",
                           CONFIG_BYTES_MAX);
        }
        if (text_equal_nocase(choice, value->text)) {
            value->text = choice;
            return 0;
        }
        at += length + (at[length] == '|' ? 1 : 0);
    }
    return err_set(err, -EINVAL, "'%s' is not one of: %s", value->text, value->knob->choices);
}

static int check_list(const struct config_loader *loader, struct config_value *value,
                      struct err *err)
{
    int rc = config_split_list(loader->config->arena, value->text, &value->items,
                               &value->item_count, err);
    return rc == 0 && (int64_t)value->item_count < value->knob->min
               ? err_set(err, -EINVAL, "the list is empty; expected at least %lld item%s",
                         (long long)value->knob->min, value->knob->min == 1 ? "" : "s")
               : rc;
}

static int check_by_type(struct config_loader *loader, struct config_value *value, struct err *err)
{
    switch (value->knob->type) {
    case KNOB_STRING:
        if (value->knob->not_empty && value->text[0] == '\0') {
            return err_set(err, -EINVAL, "the value is empty; expected a name");
        }
        return value->knob->choices ? check_choice(loader, value, err) : 0;
    case KNOB_INT:
    case KNOB_REAL:
    case KNOB_DURATION_S:
    case KNOB_DURATION_MS:
    case KNOB_SIZE_BYTES:
        return check_number(value, err);
    case KNOB_BOOL:
        return text_parse_bool(value->text, &value->truth, err);
    case KNOB_EXPR:
        if (value->text[strspn(value->text, " \t\n")] == '\0') {
            value->text = NULL;
        } else if (loader->options->check_expr) {
            return loader->options->check_expr(loader->options->check_context, value->text, err);
        }
        return 0;
    case KNOB_PATH:
        if (value->text[0] == '\0') {
            value->text = NULL;
        } else if (value->text[0] != '/') {
            return err_set(err, -EINVAL,
                           "'%s' is not an absolute path ($(CONFIG_ROOT) is the directory of the "
                           "shared file)",
                           value->text);
        }
        return 0;
    case KNOB_LIST:
        return check_list(loader, value, err);
    }
    CHECK(false); /* not a type */
    return -EINVAL;
}

/* Checks the expressions that stand within the value. */
static int check_inner(const struct config_loader *loader, const struct config_value *value,
                       struct err *err)
{
    const struct knob *knob = value->knob;
    const char *expr;
    size_t at = 0, length;
    int rc = 0;
    while (rc == 0 && knob->next_expr != NULL && loader->options->check_expr != NULL &&
           knob->next_expr(value->text, &at, &expr, &length)) {
        char *copy = mem_strndup(expr, length);
        rc = loader->options->check_expr(loader->options->check_context, copy, err);
        mem_free(copy);
    }
    return rc;
}

/* Applies the check of the knob's table. */
static int check_further(const struct config_loader *loader, const struct config_value *value,
                         struct err *err)
{
    const struct knob *knob = value->knob;
    if (!knob->check || !value->text || !value->text[0]) {
        return 0;
    }
    if (knob->type != KNOB_LIST) {
        int checked = knob->check(value->text, err);
        return checked != 0 ? checked : check_inner(loader, value, err);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < value->item_count; i++) {
        rc = knob->check(value->items[i], err);
    }
    return rc;
}

int config_check_family(struct config_loader *loader, const struct config_entry *entry,
                        struct err *err)
{
    const struct config_options *options = loader->options;
    bool restart;
    const struct knob_family *family =
        config_family(options->tables, options->table_count, entry->name, &restart);
    if (!family || !entry->value.text || !entry->value.text[0]) {
        return 0;
    }
    const struct knob knob = {.name = entry->name, .type = family->type, .check = family->check};
    struct config_value value = {.knob = &knob, .text = entry->value.text};
    return config_check_value(loader, &value, err);
}

int config_check_value(struct config_loader *loader, struct config_value *value, struct err *err)
{
    static const char *const NOTHING[] = {NULL};
    value->items = NOTHING;
    value->item_count = 0;
    if (value->text) {
        int rc = check_by_type(loader, value, err);
        return rc < 0 ? rc : check_further(loader, value, err);
    }
    /* A table without fallback for something that cannot be unset is our bug. */
    CHECK(value->knob->type == KNOB_STRING || value->knob->type == KNOB_EXPR ||
          value->knob->type == KNOB_PATH || value->knob->type == KNOB_LIST);
    return 0;
}

/* ---- sections ---- */

static bool is_of_name(char c)
{
    return c == '_' || (text_lower(c) >= 'a' && text_lower(c) <= 'z');
}

/* Returns the last place where the message has this name as a word; NULL: nowhere. */
static const char *last_word(const char *message, const char *name)
{
    const char *last = NULL;
    size_t length = strlen(name);
    for (const char *at = strstr(message, name); at != NULL; at = strstr(at + 1, name)) {
        bool is_word = (at == message || !is_of_name(at[-1])) && !is_of_name(at[length]);
        last = is_word ? at : last;
    }
    return last;
}

/* Returns the option that was set in a file and that the message names last; else the first option
 * that was set; NULL: none was. */
static const struct config_value *option_at_fault(const struct config_section *section,
                                                  const char *message)
{
    const struct config_value *fault = NULL;
    const char *last = NULL;
    for (size_t i = 0; i < section->kind->kind->option_count; i++) {
        const struct config_value *value = config_section_value(section, i);
        if (value->origin.file != NULL) {
            const char *at = last_word(message, value->knob->name);
            fault = fault == NULL || (at != NULL && (last == NULL || at > last)) ? value : fault;
            last = at != NULL && (last == NULL || at > last) ? at : last;
        }
    }
    return fault;
}

int config_check_section(struct config_loader *loader, const struct config_section *section,
                         struct err *err)
{
    const struct config_options *options = loader->options;
    struct err why = {""};
    int rc = options->check_section == NULL
                 ? 0
                 : options->check_section(options->check_context, section, &why);
    if (rc == 0) {
        return 0;
    }
    const struct config_value *value = option_at_fault(section, why.text);
    return value != NULL
               ? err_set(err, rc, "%s: %s", config_place(loader, &value->origin, value->knob->name),
                         why.text)
               : err_set(err, rc, "%s:%u: %s", section->file, section->line, why.text);
}
