/* base/config/config_parts.h - what a configuration is made of; for the files base/config*.c only.
 *
 * config.c loads layer by layer, config_expand.c replaces macros, config_check.c turns texts into
 * typed values, config_get.c answers.
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

/* One knob, macro or option of a section.  All texts live in the configuration's arena. */
struct config_value {
    const struct knob *knob;     /* NULL for a macro */
    struct config_origin origin; /* origin.raw is the text before expansion */
    const char *text;            /* after expansion; NULL while unset or not expanded */
    int64_t integer;             /* INT; durations in ms; bytes */
    double real;
    bool truth;
    const char *const *items; /* NULL-terminated */
    size_t item_count;
};

enum config_entry_kind { ENTRY_KNOB, ENTRY_OTHER, ENTRY_PREDEFINED, ENTRY_MACRO };

struct config_entry {
    const char *name;
    enum config_entry_kind kind;
    struct config_value value;
    struct config_origin before_environment;
    bool running;   /* being expanded: met again, it is a cycle */
    bool listed;    /* a macro that a list of attributes (..._ATTRS, ..._EXPRS) has */
    bool qualified; /* a file says it for this very daemon: "STARTD.START = ..." */
};

struct config_section {
    const struct knob_section *kind;
    const char *title;
    struct config_value *values; /* as kind->options */
};

struct config_kind {
    const struct knob_section *kind; /* NULL: another daemon's */
    struct vec sections;
    struct strmap *by_title;
};

struct config {
    struct arena *arena;
    struct strmap
        *entries; /* by name; own knobs first, then others', predefined, the files' macros */
    struct strmap *kinds; /* of sections */
    size_t section_count;
    struct vec unknown;   /* lines of text */
    struct vec files;     /* paths */
    struct vec texts;     /* of config_text_at() */
    struct vec variables; /* names of the environment's that some $ENV( ) has read */
    const struct knob_table *const *tables;
    size_t table_count;
    const char *settings_path; /* of what was set at run time; NULL: nothing may be */
};

/* What is needed only while loading. */
struct config_loader {
    const struct config_source *source;
    const struct config_options *options;
    struct config *config;
    struct strmap *referenced; /* names that some $( ) mentions */
    const char *shared_directory;
    const struct config_entry *chain[CONFIG_MACRO_DEPTH_MAX]; /* being expanded, outermost first */
    bool placed;        /* err already says where the error is */
    struct vec foreign; /* struct foreign_option, the arena's: of other daemons' sections */
};

struct foreign_option {
    const char *title, *raw;
};

/* "FILE:LINE: NAME", for messages; the arena's. */
const char *config_place(struct config_loader *loader, const struct config_origin *origin,
                         const char *name);

/* Expands an entry into its value.text, those it refers to first.  -EINVAL, -ELOOP, -EFBIG,
 * -ENOMEM; err says where. */
int config_expand_entry(struct config_loader *loader, struct config_entry *entry, struct err *err);
/* Expands a text on its own; title: what $(TITLE) is, or NULL.  *ret is the arena's. */
int config_expand_text(struct config_loader *loader, const char *text, const char *title,
                       const char **ret, struct err *err);

/* After all else: what config_text_at() tells. */
void config_gather_texts(struct config_loader *loader);

/* Fills the typed members of a value from its text. */
int config_check_value(struct config_loader *loader, struct config_value *value, struct err *err);

/* Splits a list into items, both the arena's.  -EINVAL (an open quote), -ENOMEM. */
int config_split_list(struct arena *arena, const char *text, const char *const **items,
                      size_t *count, struct err *err);
/* Appends an item so that config_split_list() gives it back as one. */
void config_append_item(struct strbuf *out, const char *item);

/* What follows the dot in "STARTD.START" for the daemon STARTD; NULL for other names. */
const char *config_own_part(const struct config_loader *loader, const char *name);

/* Adds a line to the unknown; nearest may be NULL. */
int config_note_unknown(struct config_loader *loader, const char *file, unsigned line,
                        const char *what, const char *name, const char *nearest, struct err *err);
/* After all layers: the unknown knobs. */
int config_find_unknown(struct config_loader *loader, struct err *err);

/* Is the name of a family?  *restart, set only then: one that is read at the start only. */
bool config_family(const struct knob_table *const *tables, size_t count, const char *name,
                   bool *restart);

/* The nearest name of a knob (own and others'), or NULL if none is near. */
const char *config_nearest_knob(const struct config *config, const char *name);
/* Likewise of families, by what stands before one of the name's underscores, as it is documented
 * ("GROUP_QUOTA_<group>"); only one that is nearer than *distance, which is set. */
const char *config_nearest_family(const struct knob_table *const *tables, size_t count,
                                  const char *name, size_t *distance);
const char *config_nearest_option(const struct knob *options, size_t count, const char *name);

#endif
