/* base/config/config_parts.h - the parts of a configuration; for the files in base/config/ only.
 *
 * config.c loads layer by layer, config_expand.c replaces macros, config_check.c turns texts into
 * typed values, config_get.c answers queries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_PARTS_H
#define BASE_CONFIG_CONFIG_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config/config.h"
#include "base/vec.h"

struct arena;
struct strbuf;
struct strmap;

/* One knob, macro or option of a section.  All texts live in the arena of the configuration. */
struct config_value {
    const struct knob *knob;     /* NULL for a macro */
    struct config_origin origin; /* origin.raw is the text before expansion */
    const char *text;            /* after expansion; NULL while unset or not expanded */
    int64_t integer;             /* of INT; a duration in ms; a size in bytes */
    double real;
    bool truth;
    const char *const *items; /* of LIST; ends with NULL */
    size_t item_count;
};

/* A knob of this daemon, a knob of another daemon, a predefined macro, a macro of the files. */
enum config_entry_kind { ENTRY_KNOB, ENTRY_OTHER, ENTRY_PREDEFINED, ENTRY_MACRO };

struct config_entry {
    const char *name;
    enum config_entry_kind kind;
    struct config_value value;
    struct config_origin before_environment; /* where it was set below the environment's layer */
    bool running;   /* it is being expanded: meeting it again means a cycle */
    bool listed;    /* a macro named in a list of attributes (..._ATTRS, ..._EXPRS) */
    bool qualified; /* set for this daemon alone: "STARTD.START = ..." */
};

struct config_section {
    const struct knob_section *kind;
    const char *title;
    struct config_value *values; /* in the order of kind->options */
};

struct config_kind {
    const struct knob_section *kind; /* NULL: a kind of another daemon */
    struct vec sections;
    struct strmap *by_title;
};

struct config {
    struct arena *arena;
    /* Struct config_entry by name: own knobs, others', predefined macros, files' macros. */
    struct strmap *entries;
    struct strmap *kinds; /* struct config_kind by name */
    size_t section_count;
    struct vec unknown;   /* char *: lines of text about unknown names */
    struct vec files;     /* char *: paths of the files that were read */
    struct vec texts;     /* for config_text_at() */
    struct vec variables; /* names of environment variables that some $ENV() has read */
    const struct knob_table *const *tables;
    size_t table_count;
    const char *settings_path; /* file of the run-time settings; NULL: these are not enabled */
};

/* What is needed only while loading. */
struct config_loader {
    const struct config_source *source;
    const struct config_options *options;
    struct config *config;
    struct strmap *referenced; /* names that occur in some $(...) */
    const char *shared_directory;
    /* Entries being expanded now, outermost first. */
    const struct config_entry *chain[CONFIG_MACRO_DEPTH_MAX];
    bool placed;        /* err already says where the error is */
    struct vec foreign; /* struct foreign_option: options in sections of other daemons */
};

struct foreign_option {
    const char *title, *raw;
};

/* Returns "FILE:LINE: NAME" for messages; lives in the arena. */
const char *config_place(struct config_loader *loader, const struct config_origin *origin,
                         const char *name);

/* Expands an entry into its value.text, and first the entries that it refers to.  0, or -EINVAL,
 * -ELOOP, -EFBIG, -ENOMEM with err saying where. */
int config_expand_entry(struct config_loader *loader, struct config_entry *entry, struct err *err);
/* Expands one text. title: what $(TITLE) stands for, or NULL. *ret lives in the arena. */
int config_expand_text(struct config_loader *loader, const char *text, const char *title,
                       const char **ret, struct err *err);

/* Collects what config_text_at() returns.  Call it last. */
void config_gather_texts(struct config_loader *loader);

/* Fills the typed fields of a value from its text. */
int config_check_value(struct config_loader *loader, struct config_value *value, struct err *err);

/* Splits a list into items; both live in the arena.  0; -EINVAL: a quote is not closed; -ENOMEM. */
int config_split_list(struct arena *arena, const char *text, const char *const **items,
                      size_t *count, struct err *err);
/* Appends an item, quoted so that config_split_list() returns it as one item. */
void config_append_item(struct strbuf *out, const char *item);

/* Returns the part after the dot if name is "<this daemon>.<NAME>", as "START" of "STARTD.START";
 * else NULL. */
const char *config_own_part(const struct config_loader *loader, const char *name);

/* Adds a line to config.unknown; nearest, a similar name, may be NULL. */
int config_note_unknown(struct config_loader *loader, const char *file, unsigned line,
                        const char *what, const char *name, const char *nearest, struct err *err);
/* Notes all unknown names.  Call it when all layers are read. */
int config_find_unknown(struct config_loader *loader, struct err *err);

/* Returns whether the name belongs to a family of knobs.  Then *restart tells whether the daemon
 * reads it only when it starts. */
bool config_family(const struct knob_table *const *tables, size_t count, const char *name,
                   bool *restart);

/* Returns the most similar name of a knob, own or another daemon's; NULL if none is similar. */
const char *config_nearest_knob(const struct config *config, const char *name);
/* The same for families of knobs: compares the part before one of the name's underscores, and
 * returns the documented form ("GROUP_QUOTA_<group>").  Only a family that is nearer than *distance
 * is returned; *distance is set then. */
const char *config_nearest_family(const struct knob_table *const *tables, size_t count,
                                  const char *name, size_t *distance);
const char *config_nearest_option(const struct knob *options, size_t count, const char *name);

#endif
