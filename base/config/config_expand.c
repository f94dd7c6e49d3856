/* base/config/config_expand.c - replaces $(NAME) by what it stands for.
 *
 * Every entry is expanded once and its text kept.  So names that are used many times cost no more
 * than their length, and doubling chains ($(A)$(A)) reach CONFIG_VALUE_MAX instead of taking for
 * ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_parts.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/config/config_macro.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

static int expand_entry(struct config_loader *loader, struct config_entry *entry, unsigned depth,
                        struct err *err);

const char *config_place(struct config_loader *loader, const struct config_origin *origin,
                         const char *name)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (origin->layer == CONFIG_BUILTIN) {
        strbuf_printf(&text, "built-in value of %s", name);
    } else if (origin->line == 0) {
        strbuf_printf(&text, "environment variable %s", origin->file);
    } else {
        strbuf_printf(&text, "%s:%u: %s", origin->file, origin->line, name);
    }
    const char *place = arena_strdup(loader->config->arena, strbuf_text(&text));
    strbuf_fini(&text);
    return place ? place : name;
}

static int refuse_cycle(struct config_loader *loader, const struct config_entry *entry,
                        unsigned depth, struct err *err)
{
    struct strbuf names;
    strbuf_init(&names, ERR_TEXT_MAX);
    unsigned at = 0;
    while (at < depth && loader->chain[at] != entry) {
        at++;
    }
    for (; at < depth; at++) {
        strbuf_printf(&names, "%s -> ", loader->chain[at]->name);
    }
    strbuf_puts(&names, entry->name);
    int rc = err_set(err, -ELOOP, "the value refers to itself: %s", strbuf_text(&names));
    strbuf_fini(&names);
    return rc;
}

static int expand_text(struct config_loader *loader, const char *text, size_t length,
                       const char *title, unsigned depth, struct strbuf *out, struct err *err);

static int note_variable(struct config *config, const char *name, struct err *err)
{
    for (size_t i = 0; i < config->variables.count; i++) {
        if (strcmp(config->variables.items[i], name) == 0) {
            return 0;
        }
    }
    char *copy = arena_strdup(config->arena, name);
    if (copy == NULL) {
        return err_set(err, -E2BIG, "the configuration is too large");
    }
    vec_push(&config->variables, copy);
    return 0;
}

static int expand_reference(struct config_loader *loader, const struct macro_reference *reference,
                            const char *title, unsigned depth, struct strbuf *out, struct err *err)
{
    char name[CONFIG_NAME_MAX + 1];
    memcpy(name, reference->name, reference->name_length);
    name[reference->name_length] = '\0';
    if (reference->environment) {
        const char *text = loader->source->get_env(loader->source->context, name);
        if (text) {
            strbuf_puts(out, text);
            return note_variable(loader->config, name, err);
        }
    } else if (title && text_equal_nocase(name, "TITLE")) {
        strbuf_puts(out, title);
        return 0;
    } else {
        struct config_entry *entry = strmap_get(loader->config->entries, name);
        const char *bare = entry ? NULL : config_own_part(loader, name);
        entry = bare ? strmap_get(loader->config->entries, bare) : entry;
        if (entry && entry->value.origin.raw) {
            int rc = expand_entry(loader, entry, depth + 1, err);
            if (rc == 0) {
                strbuf_puts(out, entry->value.text);
            }
            return rc;
        }
    }
    if (reference->fallback) {
        return expand_text(loader, reference->fallback, reference->fallback_length, title,
                           depth + 1, out, err);
    }
    if (reference->environment) {
        return err_set(err, -EINVAL, "$ENV(%s): no such environment variable", name);
    }
    const char *nearest = config_nearest_knob(loader->config, name);
    if (nearest && text_equal_nocase(nearest, name)) {
        return err_set(err, -EINVAL,
                       "$(%s): the knob has no value; $(%s:) stands for an empty text", name, name);
    }
    return err_set(err, -EINVAL,
                   "$(%s): unknown knob or macro%s%s%s; $(%s:) stands for an empty text", name,
                   nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "",
                   name);
}

static int expand_text(struct config_loader *loader, const char *text, size_t length,
                       const char *title, unsigned depth, struct strbuf *out, struct err *err)
{
    if (depth >= CONFIG_MACRO_DEPTH_MAX) {
        return err_set(err, -ELOOP, "macros refer to one another more than %d deep",
                       CONFIG_MACRO_DEPTH_MAX);
    }
    size_t copied = 0;
    struct macro_reference reference;
    int rc = 0;
    while (!out->failed && (rc = macro_next(text, length, copied, &reference, err)) > 0) {
        strbuf_append(out, text + copied, reference.start - copied);
        rc = expand_reference(loader, &reference, title, depth, out, err);
        if (rc < 0) {
            return rc;
        }
        copied = reference.end;
    }
    strbuf_append(out, text + copied, length - copied);
    if (rc == 0 && out->failed) {
        rc = err_set(err, -EFBIG, "the value is longer than %zu bytes after expansion",
                     CONFIG_VALUE_MAX);
    }
    return rc;
}

static int keep_expanded(struct config_loader *loader, struct strbuf *out, const char **ret,
                         struct err *err)
{
    const char *text = arena_strdup(loader->config->arena, strbuf_text(out));
    if (!text) {
        return err_set(err, -ENOMEM, "the configuration is larger than %zu bytes",
                       CONFIG_BYTES_MAX);
    }
    *ret = text;
    return 0;
}

static int expand_entry(struct config_loader *loader, struct config_entry *entry, unsigned depth,
                        struct err *err)
{
    if (entry->value.text) {
        return 0;
    }
    if (entry->running) {
        return refuse_cycle(loader, entry, depth, err);
    }
    if (depth >= CONFIG_MACRO_DEPTH_MAX) {
        return err_set(err, -ELOOP, "macros refer to one another more than %d deep",
                       CONFIG_MACRO_DEPTH_MAX);
    }
    entry->running = true;
    loader->chain[depth] = entry;
    struct strbuf out;
    strbuf_init(&out, CONFIG_VALUE_MAX);
    const char *raw = entry->value.origin.raw;
    int rc = expand_text(loader, raw, strlen(raw), NULL, depth, &out, err);
    rc = rc < 0 ? rc : keep_expanded(loader, &out, &entry->value.text, err);
    strbuf_fini(&out);
    entry->running = false;
    if (rc < 0 && !loader->placed) {
        loader->placed = true;
        return err_prefix(err, rc, "%s", config_place(loader, &entry->value.origin, entry->name));
    }
    return rc;
}

int config_expand_entry(struct config_loader *loader, struct config_entry *entry, struct err *err)
{
    loader->placed = false;
    return entry->value.origin.raw ? expand_entry(loader, entry, 0, err) : 0;
}

int config_expand_text(struct config_loader *loader, const char *text, const char *title,
                       const char **ret, struct err *err)
{
    loader->placed = false;
    if (!strchr(text, '$')) {
        *ret = text;
        return 0;
    }
    struct strbuf out;
    strbuf_init(&out, CONFIG_VALUE_MAX);
    /* As if it stood in an entry of its own: chain[0] is never looked at. */
    int rc = expand_text(loader, text, strlen(text), title, 0, &out, err);
    rc = rc < 0 ? rc : keep_expanded(loader, &out, ret, err);
    strbuf_fini(&out);
    return rc;
}

/* ---- which files are named ---- */

static void gather_text(struct config *config, const char *text)
{
    if (text && strchr(text, '/')) {
        vec_push(&config->texts, (void *)(uintptr_t)text);
    }
}

static void gather_kind(struct config *config, const struct config_kind *kind)
{
    for (size_t i = 0; i < kind->sections.count; i++) {
        const struct config_section *section = kind->sections.items[i];
        for (size_t j = 0; j < section->value_count; j++) {
            gather_text(config, section->values[j].text);
        }
    }
    for (size_t i = 0; kind->kind != NULL && i < kind->kind->option_count; i++) {
        gather_text(config, kind->defaults[i].value.text);
    }
}

static void gather_sections(struct config_loader *loader)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(loader->config->kinds, &at, &name, &value)) {
        gather_kind(loader->config, value);
    }
}

void config_gather_texts(struct config_loader *loader)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(loader->config->entries, &at, &name, &value)) {
        struct config_entry *entry = value;
        const char *raw = entry->value.origin.raw;
        if (entry->kind == ENTRY_OTHER && raw && strpbrk(raw, "/$")) {
            (void)config_expand_entry(loader, entry, NULL);
        }
        gather_text(loader->config, entry->value.text);
    }
    gather_sections(loader);
    for (size_t i = 0; i < loader->foreign.count; i++) {
        const struct foreign_option *option = loader->foreign.items[i];
        const char *text = NULL;
        if (config_expand_text(loader, option->raw, option->title, &text, NULL) == 0) {
            gather_text(loader->config, text);
        }
    }
}
