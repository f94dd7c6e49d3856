/* base/config/config_get.c - getters of a loaded configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <string.h>

#include "base/check.h"
#include "base/strmap.h"
#include "base/text.h"

/* Checks for all getters that the name is in a table and has that type. */
static const struct config_value *knob_value(const struct config *config, const char *name,
                                             enum knob_type type)
{
    const struct config_entry *entry = strmap_get(config->entries, name);
    CHECK(entry && entry->kind == ENTRY_KNOB);
    CHECK(entry->value.knob->type == type);
    return &entry->value;
}

const struct config_value *config_section_value(const struct config_section *section, size_t index)
{
    const struct knob *option = &section->kind->kind->options[index];
    for (size_t i = 0; i < section->value_count; i++) {
        if (section->values[i].knob == option) {
            return &section->values[i];
        }
    }
    return &section->kind->defaults[index].value;
}

static const struct config_value *option_value(const struct config_section *section,
                                               const char *name, enum knob_type type)
{
    const struct knob_section *table = section->kind->kind;
    size_t i = 0;
    while (i < table->option_count && !text_equal_nocase(table->options[i].name, name)) {
        i++;
    }
    CHECK(i < table->option_count);
    CHECK(table->options[i].type == type);
    return config_section_value(section, i);
}

const char *config_string(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_STRING)->text;
}

const char *config_path(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_PATH)->text;
}

const char *config_expr(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_EXPR)->text;
}

int64_t config_int(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_INT)->integer;
}

double config_real(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_REAL)->real;
}

bool config_bool(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_BOOL)->truth;
}

int64_t config_duration_s(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_DURATION_S)->integer / 1000;
}

int64_t config_duration_ms(const struct config *config, const char *name)
{
    const struct config_entry *entry = strmap_get(config->entries, name);
    bool seconds = entry && entry->value.knob && entry->value.knob->type == KNOB_DURATION_S;
    return knob_value(config, name, seconds ? KNOB_DURATION_S : KNOB_DURATION_MS)->integer;
}

int64_t config_bytes(const struct config *config, const char *name)
{
    return knob_value(config, name, KNOB_SIZE_BYTES)->integer;
}

const char *const *config_list(const struct config *config, const char *name, size_t *count)
{
    const struct config_value *value = knob_value(config, name, KNOB_LIST);
    if (count) {
        *count = value->item_count;
    }
    return value->items;
}

const char *config_text(const struct config *config, const char *name)
{
    const struct config_entry *entry = strmap_get(config->entries, name);
    return entry && entry->kind != ENTRY_OTHER ? entry->value.text : NULL;
}

/* ---- sections ---- */

static const struct config_kind *own_kind(const struct config *config, const char *kind)
{
    const struct config_kind *found = strmap_get(config->kinds, kind);
    CHECK(found && found->kind);
    return found;
}

size_t config_section_count(const struct config *config, const char *kind)
{
    return own_kind(config, kind)->sections.count;
}

const struct config_section *config_section_at(const struct config *config, const char *kind,
                                               size_t index)
{
    const struct config_kind *found = own_kind(config, kind);
    CHECK(index < found->sections.count);
    return found->sections.items[index];
}

const struct config_section *config_section_find(const struct config *config, const char *kind,
                                                 const char *title)
{
    return strmap_get(own_kind(config, kind)->by_title, title);
}

const char *section_kind(const struct config_section *section)
{
    return section->kind->kind->kind;
}

const char *section_title(const struct config_section *section)
{
    return section->title;
}

const char *section_string(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_STRING)->text;
}

const char *section_path(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_PATH)->text;
}

const char *section_expr(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_EXPR)->text;
}

int64_t section_int(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_INT)->integer;
}

double section_real(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_REAL)->real;
}

bool section_bool(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_BOOL)->truth;
}

int64_t section_duration_s(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_DURATION_S)->integer / 1000;
}

int64_t section_duration_ms(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_DURATION_MS)->integer;
}

int64_t section_bytes(const struct config_section *section, const char *name)
{
    return option_value(section, name, KNOB_SIZE_BYTES)->integer;
}

const char *const *section_list(const struct config_section *section, const char *name,
                                size_t *count)
{
    const struct config_value *value = option_value(section, name, KNOB_LIST);
    if (count) {
        *count = value->item_count;
    }
    return value->items;
}

/* ---- where from ---- */

const char *config_layer_name(enum config_layer layer)
{
    static const char *const NAMES[] = {"built-in", "shared file", "local file", "set at run time",
                                        "environment"};
    CHECK((size_t)layer < ARRAY_COUNT(NAMES));
    return NAMES[layer];
}

bool config_why(const struct config *config, const char *name, struct config_origin *ret)
{
    const struct config_entry *entry = strmap_get(config->entries, name);
    if (!entry || entry->kind == ENTRY_OTHER) {
        return false;
    }
    *ret = entry->value.origin;
    return true;
}

bool section_why(const struct config_section *section, const char *option,
                 struct config_origin *ret)
{
    if (option == NULL) {
        *ret = (struct config_origin){.file = section->file, .line = section->line};
        return true;
    }
    for (size_t i = 0; i < section->value_count; i++) {
        const struct config_value *value = &section->values[i];
        if (text_equal_nocase(value->knob->name, option) && value->origin.file != NULL) {
            *ret = value->origin;
            return true;
        }
    }
    return false;
}

bool config_next(const struct config *config, size_t *at, const char **name,
                 const struct knob **knob)
{
    const char *key = NULL;
    void *value = NULL;
    while (strmap_next(config->entries, at, &key, &value)) {
        const struct config_entry *entry = value;
        if (entry->kind == ENTRY_KNOB || entry->kind == ENTRY_MACRO) {
            *name = entry->name;
            *knob = entry->value.knob;
            return true;
        }
    }
    return false;
}

size_t config_unknown_count(const struct config *config)
{
    return config->unknown.count;
}

const char *config_unknown(const struct config *config, size_t index)
{
    CHECK(index < config->unknown.count);
    return config->unknown.items[index];
}

size_t config_text_count(const struct config *config)
{
    return config->texts.count;
}

const char *config_text_at(const struct config *config, size_t index)
{
    CHECK(index < config->texts.count);
    return config->texts.items[index];
}

bool config_reads_variable(const struct config *config, const char *name, size_t length)
{
    for (size_t i = 0; i < config->variables.count; i++) {
        const char *known = config->variables.items[i];
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return true;
        }
    }
    return false;
}

size_t config_file_count(const struct config *config)
{
    return config->files.count;
}

const char *config_file(const struct config *config, size_t index)
{
    CHECK(index < config->files.count);
    return config->files.items[index];
}
