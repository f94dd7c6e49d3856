/* base/config/config_section.c - sections: kinds, their options and defaults, what a file sets.
 *
 * A pool has thousands of sections with a few options each: so a section keeps the values that it
 * sets, and all sections of a kind share one set of defaults.  Only a default that refers to
 * $(TITLE) is copied into each section.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/config/config_file.h"
#include "base/config/config_macro.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"

#define TOO_LARGE(err) \
    err_set((err), -ENOMEM, "the configuration is larger than %zu bytes", CONFIG_BYTES_MAX)

/* ---- kinds ---- */

static void note_title(void *arg, const char *name, size_t length)
{
    bool *by_title = arg;
    char text[CONFIG_NAME_MAX + 1];
    memcpy(text, name, length);
    text[length] = '\0';
    *by_title = *by_title || text_equal_nocase(text, "TITLE");
}

static struct config_default *make_defaults(const struct knob_section *table)
{
    struct config_default *defaults = mem_zalloc((table->option_count + 1) * sizeof(*defaults));
    for (size_t i = 0; i < table->option_count; i++) {
        const char *fallback = table->options[i].fallback;
        defaults[i].value.knob = &table->options[i];
        defaults[i].value.origin.raw = fallback;
        if (fallback) {
            (void)macro_each(fallback, note_title, &defaults[i].by_title, NULL);
        }
    }
    return defaults;
}

void config_add_kind(struct config *config, const struct knob_section *section, bool own)
{
    if (strmap_get(config->kinds, section->kind)) {
        CHECK(!own);
        return;
    }
    struct config_kind *kind = mem_zalloc(sizeof(*kind));
    kind->kind = own ? section : NULL;
    kind->by_title = strmap_create(STRMAP_CASE_SENSITIVE);
    kind->defaults = own ? make_defaults(section) : NULL;
    (void)strmap_set(config->kinds, section->kind, kind);
}

void config_free_kind(void *value)
{
    struct config_kind *kind = value;
    for (size_t i = 0; i < kind->sections.count; i++) {
        mem_free(((struct config_section *)kind->sections.items[i])->values);
    }
    vec_fini(&kind->sections, NULL);
    strmap_destroy(kind->by_title, NULL);
    mem_free(kind->defaults);
    mem_free(kind);
}

/* ---- assignments ---- */

static struct config_section *make_section(struct config *config, struct config_kind *kind,
                                           const char *file,
                                           const struct config_statement *statement)
{
    const char *title = statement->title;
    struct config_section *section = arena_zalloc(config->arena, sizeof(*section));
    const char *copy = arena_strdup(config->arena, title);
    if (!section || !copy) {
        return NULL;
    }
    *section =
        (struct config_section){.kind = kind, .title = copy, .file = file, .line = statement->line};
    vec_push(&kind->sections, section);
    (void)strmap_set(kind->by_title, title, section);
    config->section_count++;
    return section;
}

/* Returns the section's own value of the option; the first call copies the default. */
static struct config_value *own_value(struct config_section *section, size_t index)
{
    const struct config_value *before = config_section_value(section, index);
    for (size_t i = 0; i < section->value_count; i++) {
        if (&section->values[i] == before) {
            return &section->values[i];
        }
    }
    section->values =
        mem_realloc(section->values, (section->value_count + 1) * sizeof(*section->values));
    struct config_value *value = &section->values[section->value_count++];
    *value = (struct config_value){.knob = before->knob, .origin.raw = before->knob->fallback};
    return value;
}

static const char *nearest_kind(const struct config *config, const char *name)
{
    size_t at = 0;
    const char *kind = NULL;
    void *value = NULL;
    while (strmap_next(config->kinds, &at, &kind, &value)) {
        if (text_distance(kind, name, 2) <= 2) {
            return kind;
        }
    }
    return NULL;
}

static int note_foreign(struct config_loader *loader, const struct config_statement *statement,
                        struct err *err)
{
    struct arena *arena = loader->config->arena;
    struct foreign_option *option = arena_zalloc(arena, sizeof(*option));
    if (!option) {
        return TOO_LARGE(err);
    }
    option->title = arena_strdup(arena, statement->title);
    option->raw = arena_strdup(arena, statement->value);
    if (!option->title || !option->raw) {
        return TOO_LARGE(err);
    }
    vec_push(&loader->foreign, option);
    return 0;
}

/* Notes that a file has the section.  Two in one file are a mistake: the second was copied from the
 * first, and one machine would get the options of both. */
static int open_section(struct config_section *section, const char *file, unsigned line,
                        struct err *err)
{
    if (section->last_file == file) { /* the same text, not only the same path */
        return err_set(err, -EINVAL,
                       "another section of this name is in line %u; a machine has one section in a "
                       "file (a file of LOCAL_CONFIG may change its options)",
                       section->last_line);
    }
    section->last_file = file;
    section->last_line = line;
    return 0;
}

int config_assign_section(struct config_loader *loader, const char *file, enum config_layer layer,
                          const struct config_statement *statement, struct err *err)
{
    struct config *config = loader->config;
    struct config_kind *kind = strmap_get(config->kinds, statement->section);
    if (!kind || !kind->kind) {
        if (!kind && statement->kind == CONFIG_SECTION) {
            return config_note_unknown(loader, file, statement->line, "section", statement->section,
                                       nearest_kind(config, statement->section), err);
        }
        /* What another daemon's section refers to is not unknown. */
        int rc = macro_each(statement->value, config_note_reference, loader, err);
        bool wanted = loader->options->gather_texts && statement->kind != CONFIG_SECTION;
        return rc < 0 || !wanted ? rc : note_foreign(loader, statement, err);
    }
    struct config_section *section = strmap_get(kind->by_title, statement->title);
    if (!section) {
        if (config->section_count >= CONFIG_SECTIONS_MAX) {
            return err_set(err, -EFBIG, "more than %d sections", CONFIG_SECTIONS_MAX);
        }
        section = make_section(config, kind, file, statement);
        if (!section) {
            return TOO_LARGE(err);
        }
    }
    if (statement->kind == CONFIG_SECTION) {
        return open_section(section, file, statement->line, err);
    }
    const struct knob_section *table = kind->kind;
    for (size_t i = 0; i < table->option_count; i++) {
        if (text_equal_nocase(table->options[i].name, statement->name)) {
            return config_assign_text(loader, &table->options[i], statement, file, layer,
                                      &own_value(section, i)->origin, err);
        }
    }
    const char *nearest =
        config_nearest_option(table->options, table->option_count, statement->name);
    return err_set(err, -EINVAL, "unknown option of a '%s' section%s%s%s", table->kind,
                   nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

/* ---- after the last layer ---- */

static int finish_value(struct config_loader *loader, const struct config_section *section,
                        struct config_value *value, struct err *err)
{
    int rc = 0;
    if (value->origin.raw) {
        rc = config_expand_text(loader, value->origin.raw, section->title, &value->text, err);
    }
    rc = rc < 0 ? rc : config_check_value(loader, value, err);
    if (rc < 0 && !loader->placed) {
        (void)err_prefix(err, rc, "%s '%s'", section->kind->kind->kind, section->title);
        (void)err_prefix(err, rc, "%s", config_place(loader, &value->origin, value->knob->name));
    }
    return rc;
}

static int finish_section(struct config_loader *loader, struct config_section *section,
                          struct err *err)
{
    struct config_default *defaults = section->kind->defaults;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < section->kind->kind->option_count; i++) {
        if (config_section_value(section, i) != &defaults[i].value || defaults[i].by_title) {
            rc = finish_value(loader, section, own_value(section, i), err);
        } else if (!defaults[i].checked) {
            rc = finish_value(loader, section, &defaults[i].value, err);
            defaults[i].checked = true;
        }
    }
    return rc < 0 ? rc : config_check_section(loader, section, err);
}

int config_finish_sections(struct config_loader *loader, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    int rc = 0;
    while (rc == 0 && strmap_next(loader->config->kinds, &at, &name, &value)) {
        const struct config_kind *kind = value;
        for (size_t i = 0; rc == 0 && i < kind->sections.count; i++) {
            rc = finish_section(loader, kind->sections.items[i], err);
        }
    }
    return rc;
}
