/* base/config/config_settings.c - what is set at run time, and what a new configuration changes.
 *
 * The daemon writes the file of settings itself, always completely: one line for each name, the
 * value in quotes, with macros as they were given.  So a setting may refer to itself ("$(START) &&
 * ...") and then adds to what the files say.  The ordinary parser reads the file; so a value must
 * not be able to end its quotes, and it must be one line, so that messages can name its line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <errno.h>
#include <string.h>

#include "base/config/config_file.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

const char *config_settings_path(const struct config *config)
{
    return config->settings_path;
}

static void append_name(struct strbuf *out, const char *name)
{
    strbuf_printf(out, "%s%s", out->length > 0 ? ", " : "", name);
}

void config_settings_names(const struct config *config, struct strbuf *out)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(config->entries, &at, &name, &value)) {
        const struct config_entry *entry = value;
        if (entry->value.origin.layer == CONFIG_PERSISTENT) {
            append_name(out, entry->name);
        }
    }
}

/* ---- names */

/* Returns whether the name protects the settings: whoever could set it could remove every other
 * limit, or lose what was set. */
static bool guards_settings(const char *name)
{
    return text_glob("SETTABLE_ATTRS*", name, true) ||
           text_equal_nocase(name, "ENABLE_PERSISTENT_CONFIG") ||
           text_equal_nocase(name, "PERSISTENT_CONFIG_DIR");
}

int config_settings_may_name(const struct config *config, const char *name, struct err *err)
{
    const struct config_entry *entry = strmap_get(config->entries, name);
    bool restart;
    if (guards_settings(name)) {
        return err_set(err, -EPERM, "%s can be set in files only", name);
    }
    if (!config_name_ok(name, strlen(name))) {
        return err_set(err, -EINVAL, "'%.60s' is not a valid knob name", name);
    }
    if ((entry && (entry->kind == ENTRY_KNOB || entry->kind == ENTRY_MACRO)) ||
        config_family(config->tables, config->table_count, name, &restart) != NULL) {
        return 0;
    }
    const char *nearest = config_nearest_knob(config, name);
    return err_set(err, -ENOENT, "unknown knob '%s'%s%s%s", name, nearest ? " (did you mean " : "",
                   nearest ? nearest : "", nearest ? "?)" : "");
}

/* ---- the file */

static int append_setting(struct strbuf *out, const char *name, const char *value, struct err *err)
{
    if (strlen(value) > CONFIG_VALUE_MAX) {
        return err_set(err, -EFBIG, "%s: the value is longer than %zu bytes", name,
                       CONFIG_VALUE_MAX);
    }
    strbuf_printf(out, "%s = \"", name);
    for (const char *at = value; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            return err_set(
                err, -EINVAL,
                "%s: the value contains a control character; a value is one line of text", name);
        }
        if (*at == '"' || *at == '\\' || (*at == '$' && at[1] == '{')) {
            strbuf_putc(out, '\\');
        }
        strbuf_putc(out, *at);
    }
    strbuf_puts(out, "\"\n");
    return 0;
}

/* A change of the file being made. */
struct edit {
    const char *path; /* of the file */
    const char *name; /* of the setting that changes */
    bool found;       /* whether the file has that setting */
    struct strbuf *out;
};

/* Appends a statement, unless it sets the name that changes. */
static int append_other(void *arg, const struct config_statement *statement, struct err *err)
{
    struct edit *edit = arg;
    if (statement->kind != CONFIG_ASSIGN || statement->section || statement->list_item) {
        return err_set(err, -EBADMSG, "%s: line %u is not of the form KNOB = VALUE", edit->path,
                       statement->line);
    }
    if (text_equal_nocase(statement->name, edit->name)) {
        edit->found = true;
        return 0;
    }
    int rc = append_setting(edit->out, statement->name, statement->value, err);
    return rc < 0 ? err_prefix(err, rc, "%s", edit->path) : 0;
}

static int take_nothing(void *arg, const struct config_statement *statement, struct err *err)
{
    (void)arg;
    (void)statement;
    (void)err;
    return 0;
}

int config_settings_edit(const char *path, const char *text, const char *name, const char *value,
                         struct strbuf *out, struct err *err)
{
    if (!config_name_ok(name, strlen(name))) {
        return err_set(err, -EINVAL, "'%.60s' is not a valid knob name", name);
    }
    struct edit edit = {.path = path, .name = name, .out = out};
    const struct config_file_reader others = {.take = append_other, .arg = &edit};
    const struct config_file_reader check = {.take = take_nothing};
    strbuf_puts(out, "# Set by `roost config set`, which rewrites this file each time.\n");
    int rc = config_file_read(path, text, strlen(text), &others, err);
    if (rc == 0 && value) {
        rc = append_setting(out, name, value, err);
    } else if (rc == 0 && !edit.found) {
        rc = err_set(err, -ENOENT, "%s was not set at run time", name);
    }
    if (rc == 0 && (out->failed || out->length > CONFIG_SETTINGS_MAX)) {
        rc = err_set(err, -EFBIG, "%s would be longer than %zu bytes", path, CONFIG_SETTINGS_MAX);
    }
    /* Refuses names that a file means otherwise: include, __... */
    return rc < 0 ? rc : config_file_read(path, strbuf_text(out), out->length, &check, err);
}
/* ---- what changed */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether two texts give the same value: "60" and "1m" do. */
static bool same_value(const struct config_value *a, const struct config_value *b)
{
    switch (a->knob ? a->knob->type : KNOB_STRING) {
    case KNOB_INT:
    case KNOB_DURATION_S:
    case KNOB_DURATION_MS:
    case KNOB_SIZE_BYTES:
        return a->integer == b->integer;
    case KNOB_BOOL:
        return a->truth == b->truth;
    default:
        return same_text(a->text, b->text);
    }
}

static void append_change(const char *name, bool at_start, struct strbuf *changed,
                          struct strbuf *restart)
{
    append_name(changed, name);
    if (at_start) {
        append_name(restart, name);
    }
}

static bool same_section(const struct config_section *a, const struct config_section *b)
{
    bool same = strcmp(a->title, b->title) == 0;
    for (size_t i = 0; same && i < a->kind->kind->option_count; i++) {
        same = same_value(config_section_value(a, i), config_section_value(b, i));
    }
    return same;
}

static bool same_kind(const struct config_kind *a, const struct config_kind *b)
{
    bool same = a->sections.count == b->sections.count;
    for (size_t i = 0; same && i < a->sections.count; i++) {
        same = same_section(a->sections.items[i], b->sections.items[i]);
    }
    return same;
}

static void compare_sections(const struct config *before, const struct config *after,
                             struct strbuf *changed)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(after->kinds, &at, &name, &value)) {
        const struct config_kind *kind = value;
        const struct config_kind *old = strmap_get(before->kinds, name);
        if (kind->kind && old && !same_kind(old, kind)) {
            append_name(changed, name);
        }
    }
}

/* Returns whether an entry counts, and in *restart whether it is only read at the start.  A macro
 * counts by what is made of it, or if a list of attributes names it. */
static bool is_compared(const struct config *config, const struct config_entry *entry,
                        bool *restart)
{
    if (entry->kind == ENTRY_KNOB) {
        *restart = entry->value.knob->restart;
        return true;
    }
    if (entry->kind == ENTRY_MACRO && entry->listed) {
        *restart = false;
        return true;
    }
    return entry->kind == ENTRY_MACRO &&
           config_family(config->tables, config->table_count, entry->name, restart) != NULL;
}

void config_compare(const struct config *before, const struct config *after, struct strbuf *changed,
                    struct strbuf *restart)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    bool at_start = false;
    while (strmap_next(after->entries, &at, &name, &value)) {
        const struct config_entry *entry = value;
        const struct config_entry *old = strmap_get(before->entries, name);
        if (is_compared(after, entry, &at_start) &&
            (!old || !same_value(&old->value, &entry->value))) {
            append_change(entry->name, at_start, changed, restart);
        }
    }
    at = 0;
    while (strmap_next(before->entries, &at, &name, &value)) { /* names of families that went */
        const struct config_entry *old = value;
        if (is_compared(before, old, &at_start) && !strmap_get(after->entries, name)) {
            append_change(old->name, at_start, changed, restart);
        }
    }
    compare_sections(before, after, changed);
}
