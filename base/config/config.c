/* base/config/config.c - loads a configuration, layer by layer.
 *
 * Each name has one entry, whose raw text later layers replace.  Only a self-reference or += looks
 * at the earlier text, at the moment when it is read.  Macros are expanded, and values checked,
 * after the last layer: a value that a later layer corrects is not an error.  Where the name of a
 * file is needed earlier (LOCAL_CONFIG, include), the environment is applied temporarily to what is
 * known so far.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/config/config_file.h"
#include "base/config/config_macro.h"
#include "base/config/config_parts.h"
#include "base/config/config_scan.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

#define TOO_LARGE(err) \
    err_set((err), -ENOMEM, "the configuration is larger than %zu bytes", CONFIG_BYTES_MAX)

/* A file being read. */
struct reading {
    const char *path;
    const char *directory;
    enum config_layer layer;
    unsigned depth;                /* of includes */
    const struct reading *in_file; /* the file that includes this one; NULL: none does */
};

/* in_file NULL: the file is not included, and belongs to the layer. */
static int load_file(struct config_loader *loader, const char *path, enum config_layer layer,
                     const struct reading *in_file, struct err *err);

/* ---- entries ---- */

static struct config_entry *add_entry(struct config_loader *loader, const char *name,
                                      enum config_entry_kind kind, const struct knob *knob,
                                      const char *raw)
{
    struct arena *arena = loader->config->arena;
    struct config_entry *entry = arena_zalloc(arena, sizeof(*entry));
    if (entry) {
        entry->kind = kind;
        entry->name = arena_strdup(arena, name);
        entry->value.knob = knob;
        entry->value.origin.layer = CONFIG_BUILTIN;
        entry->value.origin.raw = raw ? arena_strdup(arena, raw) : NULL;
        if (!entry->name || (raw && !entry->value.origin.raw)) {
            return NULL;
        }
        (void)strmap_set(loader->config->entries, name, entry);
    }
    return entry;
}

void config_note_reference(void *arg, const char *name, size_t length)
{
    struct config_loader *loader = arg;
    char text[CONFIG_NAME_MAX + 1];
    memcpy(text, name, length);
    text[length] = '\0';
    (void)strmap_set(loader->referenced, text, loader);
}

/* A name that occurs twice in our own tables is a mistake of ours; other daemons may share knobs
 * with us. */
static int add_table(struct config_loader *loader, const struct knob_table *table, bool own,
                     struct err *err)
{
    for (size_t i = 0; i < table->knob_count; i++) {
        const struct knob *knob = &table->knobs[i];
        bool known = strmap_get(loader->config->entries, knob->name) != NULL;
        CHECK(!own || !known);
        if (!known &&
            !add_entry(loader, knob->name, own ? ENTRY_KNOB : ENTRY_OTHER, knob, knob->fallback)) {
            return TOO_LARGE(err);
        }
        int rc =
            knob->fallback ? macro_each(knob->fallback, config_note_reference, loader, err) : 0;
        CHECK(rc == 0);
    }
    for (size_t i = 0; i < table->section_count; i++) {
        config_add_kind(loader->config, &table->sections[i], own);
    }
    return 0;
}

static int add_predefined(struct config_loader *loader, const char *name, const char *value,
                          struct err *err)
{
    struct config_entry *entry = strmap_get(loader->config->entries, name);
    if (entry && entry->kind != ENTRY_PREDEFINED) {
        return 0; /* a knob of that name decides for itself */
    }
    return add_entry(loader, name, ENTRY_PREDEFINED, NULL, value) ? 0 : TOO_LARGE(err);
}

static int add_builtin(struct config_loader *loader, struct err *err)
{
    const struct config_options *options = loader->options;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < options->table_count; i++) {
        rc = add_table(loader, options->tables[i], true, err);
    }
    for (size_t i = 0; rc == 0 && i < options->other_count; i++) {
        rc = add_table(loader, options->others[i], false, err);
    }
    rc = rc < 0 ? rc : add_predefined(loader, "DOLLAR", "$", err);
    if (rc == 0 && options->subsystem) {
        rc = add_predefined(loader, "SUBSYSTEM", options->subsystem, err);
    }
    for (size_t i = 0; rc == 0 && i < options->macro_count; i++) {
        rc = add_predefined(loader, options->macros[i].name, options->macros[i].value, err);
    }
    return rc;
}

/* ---- assignments ---- */

static bool may_append(const struct knob *knob)
{
    return !knob || knob->type == KNOB_LIST;
}

int config_assign_text(struct config_loader *loader, const struct knob *knob,
                       const struct config_statement *statement, const char *file,
                       enum config_layer layer, struct config_origin *origin, struct err *err)
{
    int rc = macro_each(statement->value, config_note_reference, loader, err);
    if (rc < 0) {
        return rc;
    }
    bool append = statement->kind == CONFIG_APPEND;
    if (append && !may_append(knob)) {
        return err_set(err, -EINVAL, "not a list; only lists take several values or +=");
    }
    struct strbuf value, text;
    strbuf_init(&value, CONFIG_VALUE_MAX);
    strbuf_init(&text, CONFIG_VALUE_MAX);
    rc = macro_replace_self(statement->value, statement->name, origin->raw, &value, err);
    if (append && origin->raw && origin->raw[0]) {
        strbuf_puts(&text, origin->raw);
        strbuf_puts(&text, ", ");
    }
    if (statement->list_item && may_append(knob)) {
        config_append_item(&text, strbuf_text(&value));
    } else {
        strbuf_puts(&text, strbuf_text(&value));
    }
    const char *raw = NULL;
    if (rc == 0 && (value.failed || text.failed)) {
        rc = err_set(err, -EFBIG, "the value is longer than %zu bytes", CONFIG_VALUE_MAX);
    } else if (rc == 0) {
        raw = arena_strdup(loader->config->arena, strbuf_text(&text));
        rc = raw ? 0 : TOO_LARGE(err);
    }
    if (rc == 0) {
        *origin = (struct config_origin){.layer = layer,
                                         .file = file,
                                         .line = statement->line,
                                         .raw = raw};
    }
    strbuf_fini(&value);
    strbuf_fini(&text);
    return rc;
}

static bool may_be_overruled(enum config_layer layer)
{
    return layer == CONFIG_SHARED || layer == CONFIG_LOCAL;
}

/* For "STARTD.START = ..." in a startd: START becomes "$(STARTD.START)", too. */
static int assign_qualified(struct config_loader *loader, const struct reading *reading,
                            const struct config_statement *statement, struct config_entry *entry,
                            struct err *err)
{
    struct config_statement bare = *statement;
    struct strbuf value;
    strbuf_init(&value, CONFIG_VALUE_MAX);
    bare.name = entry->name;
    int rc =
        macro_replace_self(statement->value, statement->name, entry->value.origin.raw, &value, err);
    if (rc == 0 && value.failed) {
        rc = err_set(err, -EFBIG, "the value is longer than %zu bytes", CONFIG_VALUE_MAX);
    }
    bare.value = strbuf_text(&value);
    rc = rc < 0 ? rc
                : config_assign_text(loader, entry->value.knob, &bare, reading->path,
                                     reading->layer, &entry->value.origin, err);
    strbuf_fini(&value);
    entry->qualified = true;
    return rc;
}

static int assign_entry(struct config_loader *loader, const struct reading *reading,
                        const struct config_statement *statement, struct err *err)
{
    struct config *config = loader->config;
    const char *bare = config_own_part(loader, statement->name);
    const char *name = bare ? bare : statement->name;
    struct config_entry *entry = strmap_get(config->entries, name);
    if (!entry) {
        if (strmap_count(config->entries) >= CONFIG_NAMES_MAX) {
            return err_set(err, -EFBIG, "more than %d names are defined", CONFIG_NAMES_MAX);
        }
        entry = add_entry(loader, name, ENTRY_MACRO, NULL, NULL);
        if (!entry) {
            return TOO_LARGE(err);
        }
    }
    if (bare) {
        return assign_qualified(loader, reading, statement, entry, err);
    }
    if (entry->qualified && may_be_overruled(reading->layer)) {
        struct config_origin unused = entry->value.origin; /* it must be right all the same */
        return config_assign_text(loader, entry->value.knob, statement, reading->path,
                                  reading->layer, &unused, err);
    }
    return config_assign_text(loader, entry->value.knob, statement, reading->path, reading->layer,
                              &entry->value.origin, err);
}

/* ---- the environment ---- */

/* Applies the environment to one entry; its earlier text is kept in before_environment. */
static int overlay_entry(struct config_loader *loader, struct config_entry *entry, struct err *err)
{
    struct strbuf variable;
    strbuf_init(&variable, 0);
    strbuf_printf(&variable, "ROOST_%s", entry->name);
    const char *text = loader->source->get_env(loader->source->context, strbuf_text(&variable));
    int rc = 0;
    if (text) {
        const char *file = arena_strdup(loader->config->arena, strbuf_text(&variable));
        const struct config_statement statement = {.kind = CONFIG_ASSIGN,
                                                   .name = entry->name,
                                                   .value = text};
        rc = file ? config_assign_text(loader, entry->value.knob, &statement, file,
                                       CONFIG_ENVIRONMENT, &entry->value.origin, err)
                  : TOO_LARGE(err);
        rc = rc < 0 ? err_prefix(err, rc, "environment variable %s", strbuf_text(&variable)) : 0;
    }
    strbuf_fini(&variable);
    return rc;
}

static int overlay_environment(struct config_loader *loader, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    int rc = 0;
    while (strmap_next(loader->config->entries, &at, &name, &value)) {
        struct config_entry *entry = value;
        entry->before_environment = entry->value.origin;
        /* Predefined names (PID, DOLLAR) are facts, and ROOST_CONFIG is no knob. */
        if (rc == 0 && entry->kind != ENTRY_PREDEFINED) {
            rc = overlay_entry(loader, entry, err);
        }
    }
    return rc;
}

/* Undoes that, and forgets what was expanded meanwhile. */
static void lift_environment(struct config_loader *loader)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(loader->config->entries, &at, &name, &value)) {
        struct config_entry *entry = value;
        entry->value.origin = entry->before_environment;
        entry->value.text = NULL;
    }
}

/* Expands a text with what is known so far. */
static int expand_now(struct config_loader *loader, const char *text, const char **ret,
                      struct err *err)
{
    if (!strchr(text, '$')) {
        *ret = text;
        return 0;
    }
    int rc = overlay_environment(loader, err);
    rc = rc < 0 ? rc : config_expand_text(loader, text, NULL, ret, err);
    lift_environment(loader);
    return rc;
}

/* ---- files ---- */

/* Returns the directory part of a path, in the arena; NULL: out of memory. */
static const char *directory_of(struct config_loader *loader, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    return slash ? arena_strndup(loader->config->arena, path, length)
                 : arena_strdup(loader->config->arena, ".");
}

/* Makes a path of a file absolute: a relative one starts at `directory`. *ret lives in the
 * arena. */
static int resolve_path(struct config_loader *loader, const char *directory, const char *path,
                        const char **ret, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, CONFIG_VALUE_MAX);
    if (path[0] != '/') {
        strbuf_puts(&text, directory);
        strbuf_puts(&text, directory[1] ? "/" : "");
    }
    strbuf_puts(&text, path);
    *ret = text.failed ? NULL : arena_strdup(loader->config->arena, strbuf_text(&text));
    strbuf_fini(&text);
    return *ret ? 0 : TOO_LARGE(err);
}

/* Refuses a file that is being read already: with one place, not one for each file on the way. */
static int refuse_cycle(const struct reading *reading, unsigned line, const char *path,
                        struct err *err)
{
    const struct reading *before = reading;
    while (before != NULL && strcmp(before->path, path) != 0) {
        before = before->in_file;
    }
    if (before == NULL) {
        return 0;
    }
    return before == reading
               ? err_set(err, -ELOOP, "%s:%u: include: a cycle: the file includes itself",
                         reading->path, line)
               : err_set(err, -ELOOP, "%s:%u: include: a cycle: %s includes this file already",
                         reading->path, line, path);
}

static int include_file(struct config_loader *loader, const struct reading *reading,
                        const struct config_statement *statement, struct err *err)
{
    const char *name = NULL;
    const char *path = NULL;
    int rc = macro_each(statement->value, config_note_reference, loader, err);
    rc = rc < 0 ? rc : expand_now(loader, statement->value, &name, err);
    rc = rc < 0 ? rc : resolve_path(loader, reading->directory, name, &path, err);
    if (rc == 0 && refuse_cycle(reading, statement->line, path, err) != 0) {
        loader->cycle = true;
        return -ELOOP;
    }
    if (rc == 0 && reading->depth + 1 >= CONFIG_INCLUDE_DEPTH_MAX) {
        loader->cycle = true; /* probably: through links, or different names of one file */
        return err_set(err, -ELOOP,
                       "%s:%u: include: include statements are nested more than %d "
                       "deep",
                       reading->path, statement->line, CONFIG_INCLUDE_DEPTH_MAX);
    }
    rc = rc < 0 ? rc : load_file(loader, path, reading->layer, reading, err);
    return rc < 0 && !loader->cycle
               ? err_prefix(err, rc, "%s:%u: include", reading->path, statement->line)
               : rc;
}

static int apply_statement(struct config_loader *loader, const struct reading *reading,
                           const struct config_statement *statement, struct err *err)
{
    int rc = 0;
    if (statement->kind == CONFIG_INCLUDE) {
        return include_file(loader, reading, statement, err);
    }
    if (statement->section) {
        rc = config_assign_section(loader, reading->path, reading->layer, statement, err);
        if (rc < 0 && statement->kind == CONFIG_SECTION) {
            return err_prefix(err, rc, "%s:%u: %s '%s'", reading->path, statement->line,
                              statement->section, statement->title);
        }
        return rc < 0 ? err_prefix(err, rc, "%s:%u: %s '%s': %s", reading->path, statement->line,
                                   statement->section, statement->title, statement->name)
                      : 0;
    }
    rc = assign_entry(loader, reading, statement, err);
    return rc < 0
               ? err_prefix(err, rc, "%s:%u: %s", reading->path, statement->line, statement->name)
               : 0;
}

/* A file's statements on their way to the configuration. */
struct applying {
    struct config_loader *loader;
    const struct reading *reading;
};

static int take_statement(void *arg, const struct config_statement *statement, struct err *err)
{
    const struct applying *applying = arg;
    return apply_statement(applying->loader, applying->reading, statement, err);
}

/* Returns whether sections of this kind are read: of another daemon's only the texts could be. */
static bool is_kind_read(void *arg, const char *name, const char **title)
{
    const struct config_loader *loader = ((const struct applying *)arg)->loader;
    const struct config_kind *kind = strmap_get(loader->config->kinds, name);
    if (kind && kind->kind) {
        *title = loader->options->only_title;
        return true;
    }
    return !kind || loader->options->gather_texts;
}

static void note_skipped(void *arg, const char *name, size_t length)
{
    config_note_reference(((const struct applying *)arg)->loader, name, length);
}

static int load_text(struct config_loader *loader, const struct reading *reading, const char *text,
                     size_t length, struct err *err)
{
    struct applying applying = {loader, reading};
    const struct config_scan_needs needs = {is_kind_read, note_skipped, &applying};
    const struct config_file_reader reader = {take_statement, &applying, &needs};
    return config_file_read(reading->path, text, length, &reader, err);
}

/* -ENOENT only if the file itself does not exist. */
static int load_file(struct config_loader *loader, const char *path, enum config_layer layer,
                     const struct reading *in_file, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    int rc = loader->source->read_file(loader->source->context, path, CONFIG_FILE_MAX, &text,
                                       &length, err);
    if (rc < 0) {
        return rc;
    }
    char *copy = arena_strdup(loader->config->arena, path);
    struct reading reading = {copy, copy ? directory_of(loader, copy) : NULL, layer,
                              in_file ? in_file->depth + 1 : 0, in_file};
    if (loader->config->files.count >= CONFIG_FILES_MAX) {
        rc = err_set(err, -EFBIG, "more than %d files are read", CONFIG_FILES_MAX);
    } else if (reading.directory) {
        vec_push(&loader->config->files, copy);
        rc = load_text(loader, &reading, text, length, err);
        rc = rc == -ENOENT ? -EINVAL : rc; /* of an include */
    } else {
        rc = TOO_LARGE(err);
    }
    mem_free(text);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Loads all *.conf of a directory, in the order of their names. */
static int load_directory(struct config_loader *loader, const char *directory, struct err *err)
{
    struct vec names = {0};
    int rc = loader->source->list_directory(loader->source->context, directory, &names, err);
    if (rc == 0 && names.count > 0) {
        qsort(names.items, names.count, sizeof(names.items[0]), by_name);
    }
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        const char *name = names.items[i];
        const char *path = NULL;
        if (name[0] != '.' && text_glob("*.conf", name, false)) {
            rc = resolve_path(loader, directory, name, &path, err);
            rc = rc < 0 ? rc : load_file(loader, path, CONFIG_LOCAL, NULL, err);
        }
    }
    vec_fini(&names, mem_free);
    return rc;
}

/* Loads the files and directories that one knob names. */
static int load_named(struct config_loader *loader, const char *knob, struct err *err)
{
    const struct config_entry *entry = strmap_get(loader->config->entries, knob);
    if (!entry) {
        return 0;
    }
    char reference[CONFIG_NAME_MAX];
    const char *text = NULL;
    const char *const *items = NULL;
    size_t count = 0;
    (void)snprintf(reference, sizeof(reference), "$(%s:)", knob);
    int rc = expand_now(loader, reference, &text, err);
    if (rc < 0) {
        return rc;
    }
    rc = config_split_list(loader->config->arena, text, &items, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *path = NULL;
        rc = resolve_path(loader, loader->shared_directory, items[i], &path, err);
        rc = rc < 0 ? rc : load_file(loader, path, CONFIG_LOCAL, NULL, err);
        if (rc == -EISDIR) {
            rc = load_directory(loader, path, err);
        }
    }
    return rc < 0 ? err_prefix(err, rc, "%s", knob) : 0;
}

static int load_local(struct config_loader *loader, struct err *err)
{
    int rc = load_named(loader, "LOCAL_CONFIG_DIR", err);
    rc = rc < 0 ? rc : load_named(loader, "LOCAL_CONFIG_FILE", err);
    return rc < 0 ? rc : load_named(loader, "LOCAL_CONFIG", err);
}

/* Finds the file of the run-time settings; *ret NULL: these are not enabled. */
static int find_settings(struct config_loader *loader, const char **ret, struct err *err)
{
    const char *subsystem = loader->options->subsystem;
    const struct config_entry *entry = strmap_get(loader->config->entries, "PERSISTENT_CONFIG_DIR");
    *ret = NULL;
    if (!entry || !subsystem) {
        return 0;
    }
    bool enabled = false;
    const char *directory = NULL, *said = NULL;
    int rc = expand_now(loader, "$(ENABLE_PERSISTENT_CONFIG:false)", &said, err);
    rc = rc < 0 ? rc : text_parse_bool(said, &enabled, err);
    if (rc < 0) {
        return err_prefix(err, rc, "ENABLE_PERSISTENT_CONFIG");
    }
    if (!enabled) {
        return 0;
    }
    rc = expand_now(loader, "$(PERSISTENT_CONFIG_DIR:)", &directory, err);
    if (rc < 0 || !directory[0]) {
        return rc;
    }
    struct strbuf name;
    strbuf_init(&name, 0);
    for (const char *at = subsystem; *at; at++) {
        strbuf_putc(&name, text_lower(*at));
    }
    strbuf_puts(&name, ".conf");
    rc = resolve_path(loader, directory, strbuf_text(&name), ret, err);
    strbuf_fini(&name);
    return rc;
}

/* Loads the settings made at run time; normally there are none. */
static int load_persistent(struct config_loader *loader, struct err *err)
{
    const char *path = NULL;
    const char *trial = loader->options->settings;
    int rc = find_settings(loader, &path, err);
    loader->config->settings_path = path;
    if (rc < 0 || !path) {
        return rc;
    }
    if (trial) {
        const struct reading reading = {path, directory_of(loader, path), CONFIG_PERSISTENT, 0,
                                        NULL};
        return reading.directory ? load_text(loader, &reading, trial, strlen(trial), err)
                                 : TOO_LARGE(err);
    }
    rc = load_file(loader, path, CONFIG_PERSISTENT, NULL, err);
    return rc == -ENOENT ? 0 : rc;
}

static int load_shared(struct config_loader *loader, struct err *err)
{
    const struct config_source *source = loader->source;
    const char *said = loader->options->path;
    said = said ? said : source->get_env(source->context, "ROOST_CONFIG");
    const char *path = said && *said ? said : CONFIG_DEFAULT_PATH;
    char *absolute = NULL;
    if (path[0] != '/') {
        int rc = source->absolute
                     ? source->absolute(source->context, path, &absolute, err)
                     : err_set(err, -EINVAL, "%s: not an absolute path; give the whole path", path);
        if (rc < 0) {
            return rc;
        }
        path = absolute;
    }
    loader->shared_directory = directory_of(loader, path);
    int rc = loader->shared_directory ? 0 : TOO_LARGE(err);
    rc = rc < 0 ? rc : add_predefined(loader, "CONFIG_ROOT", loader->shared_directory, err);
    rc = rc < 0 ? rc : load_file(loader, path, CONFIG_SHARED, NULL, err);
    if (rc == -ENOENT && path != said && !absolute) {
        (void)err_set(err, rc,
                      "no configuration file %s; set ROOST_CONFIG to the configuration of a pool, "
                      "or make a pool with 'roost init'",
                      path);
    }
    mem_free(absolute);
    return rc;
}

/* ---- after the last layer ---- */

static int finish_knobs(struct config_loader *loader, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    void *value = NULL;
    while (strmap_next(loader->config->entries, &at, &name, &value)) {
        struct config_entry *entry = value;
        if (entry->kind == ENTRY_KNOB) {
            int rc = config_expand_entry(loader, entry, err);
            if (rc < 0) {
                return rc;
            }
            rc = config_check_value(loader, &entry->value, err);
            if (rc < 0) {
                return err_prefix(err, rc, "%s",
                                  config_place(loader, &entry->value.origin, entry->name));
            }
        } else if (entry->kind == ENTRY_MACRO || entry->kind == ENTRY_PREDEFINED) {
            /* A macro that nobody uses may be nonsense. */
            bool is_valid = config_expand_entry(loader, entry, NULL) == 0;
            int rc = is_valid ? config_check_family(loader, entry, err) : 0;
            if (rc < 0) {
                return err_prefix(err, rc, "%s",
                                  config_place(loader, &entry->value.origin, entry->name));
            }
        }
    }
    return 0;
}

static int load_layers(struct config_loader *loader, struct err *err)
{
    int rc = add_builtin(loader, err);
    rc = rc < 0 ? rc : load_shared(loader, err);
    rc = rc < 0 ? rc : load_local(loader, err);
    rc = rc < 0 ? rc : load_persistent(loader, err);
    rc = rc < 0 ? rc : overlay_environment(loader, err);
    rc = rc < 0 ? rc : finish_knobs(loader, err);
    rc = rc < 0 ? rc : config_finish_sections(loader, err);
    rc = rc < 0 ? rc : config_find_unknown(loader, err);
    if (rc == 0 && loader->options->gather_texts) {
        config_gather_texts(loader);
    }
    return rc;
}

int config_load(const struct config_source *source, const struct config_options *options,
                struct config **ret, struct err *err)
{
    struct config *config = mem_zalloc(sizeof(*config));
    config->arena = arena_create(0, CONFIG_BYTES_MAX);
    config->entries = strmap_create(STRMAP_CASE_IGNORED);
    config->kinds = strmap_create(STRMAP_CASE_IGNORED);
    config->tables = options->tables;
    config->table_count = options->table_count;
    struct config_loader loader = {.source = source, .options = options, .config = config};
    loader.referenced = strmap_create(STRMAP_CASE_IGNORED);
    int rc = load_layers(&loader, err);
    strmap_destroy(loader.referenced, NULL);
    vec_fini(&loader.foreign, NULL);
    if (rc < 0) {
        config_destroy(config);
        return rc;
    }
    *ret = config;
    return 0;
}

void config_destroy(struct config *config)
{
    if (config) {
        strmap_destroy(config->entries, NULL);
        strmap_destroy(config->kinds, config_free_kind);
        vec_fini(&config->unknown, NULL);
        vec_fini(&config->files, NULL);
        vec_fini(&config->texts, NULL);
        vec_fini(&config->variables, NULL);
        arena_destroy(config->arena);
        mem_free(config);
    }
}
