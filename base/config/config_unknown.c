/* base/config/config_unknown.c - finds names that are not knobs, and what they might have been
 * meant to be.
 *
 * A name is known if it is a knob or of a family of knobs, of this daemon or another one; if some
 * value refers to it; or if a list of attributes (..._ATTRS, ..._EXPRS) names it.  The same holds
 * for the part after a daemon's name and a dot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

/* most bytes of an item in a list of attributes, with the terminating zero; a longer item names no
 * knob */
#define ITEM_BYTES       256
#define FAMILY_EDITS_MAX 2 /* in the prefix of a misspelt name of a family */

#define TOO_LARGE(err) \
    err_set((err), -ENOMEM, "the configuration is larger than %zu bytes", CONFIG_BYTES_MAX)

/* Returns the part after the dot of "STARTD.START" if the owner is STARTD; else NULL. */
static const char *after_owner(const char *owner, const char *name)
{
    size_t at = 0;
    while (owner[at] && text_lower(owner[at]) == text_lower(name[at])) {
        at++;
    }
    return at > 0 && !owner[at] && name[at] == '.' && name[at + 1] ? name + at + 1 : NULL;
}

const char *config_own_part(const struct config_loader *loader, const char *name)
{
    const char *subsystem = loader->options->subsystem;
    return subsystem ? after_owner(subsystem, name) : NULL;
}

int config_note_unknown(struct config_loader *loader, const char *file, unsigned line,
                        const char *what, const char *name, const char *nearest, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s:%u: unknown %s '%s'", file, line, what, name);
    if (nearest) {
        strbuf_printf(&text, " (did you mean %s?)", nearest);
    }
    char *copy = arena_strdup(loader->config->arena, strbuf_text(&text));
    strbuf_fini(&text);
    if (!copy) {
        return TOO_LARGE(err);
    }
    vec_push(&loader->config->unknown, copy);
    return 0;
}

static bool family_has(const struct knob_family *family, const char *name)
{
    const char *prefix = family->prefix;
    size_t at = 0;
    if (strchr(prefix, '*')) {
        return text_glob(prefix, name, true) && strlen(name) >= strlen(prefix);
    }
    while (prefix[at] && text_lower(prefix[at]) == text_lower(name[at])) {
        at++;
    }
    return !prefix[at] && name[at];
}

static bool is_read_at_start(const struct knob_table *table, const struct knob_family *family)
{
    const char *const *prefix = table->restart_families;
    while (prefix && *prefix && strcmp(*prefix, family->prefix) != 0) {
        prefix++;
    }
    return prefix && *prefix;
}

const struct knob_family *config_family(const struct knob_table *const *tables, size_t count,
                                        const char *name, bool *restart)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < tables[i]->family_count; j++) {
            if (family_has(&tables[i]->families[j], name)) {
                *restart = is_read_at_start(tables[i], &tables[i]->families[j]);
                return &tables[i]->families[j];
            }
        }
    }
    return NULL;
}

static bool is_of_a_family(const struct config_options *options, const char *name)
{
    bool restart;
    return config_family(options->tables, options->table_count, name, &restart) != NULL ||
           config_family(options->others, options->other_count, name, &restart) != NULL;
}

static const char *nearest_to(const struct config_loader *loader, const char *name)
{
    const struct config_options *options = loader->options;
    const char *knob = config_nearest_knob(loader->config, name);
    size_t distance = FAMILY_EDITS_MAX + 1;
    const char *own = config_nearest_family(options->tables, options->table_count, name, &distance);
    const char *other =
        config_nearest_family(options->others, options->other_count, name, &distance);
    return knob != NULL ? knob : other != NULL ? other : own;
}

/* Returns whether "SCHEDD.MAX_JOBS_RUNNING" is known, in the configuration of any daemon. */
static bool is_known_of_an_owner(const struct config_loader *loader, const char *name)
{
    const struct config_options *options = loader->options;
    for (size_t i = 0; i < options->table_count + options->other_count; i++) {
        const struct knob_table *table = i < options->table_count
                                             ? options->tables[i]
                                             : options->others[i - options->table_count];
        const char *part = after_owner(table->owner, name);
        if (part && (strmap_get(loader->config->entries, part) || is_of_a_family(options, part))) {
            return true;
        }
    }
    return false;
}

static bool is_unknown(const struct config_loader *loader, const struct config_entry *entry,
                       const char *name)
{
    return entry->kind == ENTRY_MACRO && !strmap_get(loader->referenced, name) &&
           !is_of_a_family(loader->options, name) && !is_known_of_an_owner(loader, name);
}

/* STARTD_ATTRS, SUBMIT_EXPRS, ... name settings that the site has made up. */
static void refer_to_items(struct config_loader *loader, const struct config_entry *entry)
{
    const char *at = entry->value.text;
    while (at != NULL && *at != '\0') {
        char item[ITEM_BYTES];
        at += strspn(at, ", \t\n\"+");
        size_t length = strcspn(at, ", \t\n\"");
        if (length > 0 && length < sizeof(item)) {
            memcpy(item, at, length);
            item[length] = '\0';
            const char *own = text_glob("my.?*", item, true) ? item + 3 : item;
            struct config_entry *named = strmap_get(loader->config->entries, own);
            if (named != NULL) {
                named->listed = true;
            }
            (void)strmap_set(loader->referenced, own, loader);
        }
        at += length;
    }
}

static void refer_to_lists(struct config_loader *loader)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(loader->config->entries, &at, &name, &value)) {
        struct config_entry *entry = value;
        if (entry->kind != ENTRY_MACRO &&
            (text_glob("*_ATTRS", name, true) || text_glob("*_EXPRS", name, true))) {
            (void)config_expand_entry(loader, entry, NULL); /* another daemon's is not, yet */
            refer_to_items(loader, entry);
        }
    }
}

int config_find_unknown(struct config_loader *loader, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    int rc = 0;
    refer_to_lists(loader);
    while (rc == 0 && strmap_next(loader->config->entries, &at, &name, &value)) {
        const struct config_entry *entry = value;
        if (is_unknown(loader, entry, name)) {
            const struct config_origin *origin = &entry->before_environment;
            const char *dot = strrchr(name, '.');
            rc = config_note_unknown(loader, origin->file, origin->line, "knob", entry->name,
                                     nearest_to(loader, dot ? dot + 1 : name), err);
        }
    }
    return rc;
}
