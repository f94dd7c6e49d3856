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
struct config_statement;
struct strbuf;
struct strmap;

/* One knob, macro or option of a section.  All texts live in the arena of the configuration. */
struct config_value {
    const struct knob *knob;     /* the knob's row in its table; NULL for a macro */
    struct config_origin origin; /* where the value was set, and its text before expansion */
    const char *text;            /* after expansion; NULL while unset or not expanded */
    int64_t integer; /* value of a KNOB_INT; a duration in milliseconds; a size in bytes */
    double real;
    bool truth;
    const char *const *items; /* items of a KNOB_LIST; ends with NULL */
    size_t item_count;
};

/* A knob of this daemon, a knob of another daemon, a predefined macro, a macro of the files. */
enum config_entry_kind { ENTRY_KNOB, ENTRY_OTHER, ENTRY_PREDEFINED, ENTRY_MACRO };

struct config_entry {
    const char *name;
    enum config_entry_kind kind;
    struct config_value value;
    /* where the value was set before a variable ROOST_<NAME> of the environment changed it */
    struct config_origin before_environment;
    /* True while the value's macros are being expanded: a reference to this entry is then a
     * cycle. */
    bool running;
    /* true: a list of attributes (a knob ..._ATTRS or ..._EXPRS) contains this name */
    bool listed;
    bool qualified; /* true when set for this daemon alone: "STARTD.START = ..." */
};

/* Has only the values that differ from the defaults of its kind: a pool has thousands of sections
 * with a few options each. */
struct config_section {
    const struct config_kind *kind;
    const char *title;
    struct config_value *values; /* on the heap, in no order; knob: the option's row */
    size_t value_count;
    /* where the section begins for the first time */
    const char *file;
    unsigned line;
    const char *last_file; /* the file that had the section last; the reading's own pointer */
    unsigned last_line;
};

struct config_kind {
    const struct knob_section *kind; /* the kind's options; NULL: a kind of another daemon */
    struct vec sections;
    struct strmap *by_title;
    /* What an option is worth in the sections that do not set it, in the order of the table; on the
     * heap; NULL: a kind of another daemon. */
    struct config_default *defaults;
};

struct config_default {
    struct config_value value;
    bool checked;  /* true: value is expanded and checked */
    bool by_title; /* true: it refers to $(TITLE), so each section has its own value */
};

/* Returns the value of the option at this index of the table, set or default. */
const struct config_value *config_section_value(const struct config_section *section, size_t index);

struct config {
    struct arena *arena;
    /* Values are struct config_entry *, by name: this daemon's knobs, other daemons' knobs,
     * predefined macros, macros of files. */
    struct strmap *entries;
    struct strmap *kinds; /* struct config_kind by name */
    size_t section_count;
    struct vec unknown;   /* char *: lines of text about unknown names */
    struct vec files;     /* char *: paths of the files that were read */
    struct vec texts;     /* char *: the texts that config_text_at() returns */
    struct vec variables; /* char *: names of environment variables that some $ENV() has read */
    const struct knob_table *const *tables;
    size_t table_count;
    const char *settings_path; /* file of the run-time settings; NULL: these are not enabled */
};

/* What is needed only while a configuration is being loaded. */
struct config_loader {
    const struct config_source *source;
    const struct config_options *options;
    struct config *config;
    struct strmap *referenced; /* names that some $(...) refers to */
    const char *shared_directory;
    /* Entries being expanded now, outermost first. */
    const struct config_entry *chain[CONFIG_MACRO_DEPTH_MAX];
    bool cycle;         /* true: the text in err says where files include each other */
    bool placed;        /* true: the text in err already names the file and line */
    struct vec foreign; /* struct foreign_option: options in sections of other daemons */
};

struct foreign_option {
    const char *title, *raw;
};

/* Returns "FILE:LINE: NAME", the place where a value was set, for messages.  The text
 * lives in the arena of the configuration. */
const char *config_place(struct config_loader *loader, const struct config_origin *origin,
                         const char *name);

/* Expands an entry into its value.text; the entries that it refers to are expanded first.  Returns
 * 0; or, with the file and line in err, -EINVAL: a malformed macro or an unknown name; -ELOOP:
 * macros that refer to themselves or are nested too deep; -EFBIG: the value is too long; -ENOMEM or
 * -E2BIG: the configuration is too large. */
int config_expand_entry(struct config_loader *loader, struct config_entry *entry, struct err *err);
/* Expands the macros in one text. title: value of $(TITLE), or NULL. *ret lives in the arena
 * of the configuration, or is the text itself if that has none.  Returns 0 or an error of
 * config_expand_entry(). */
int config_expand_text(struct config_loader *loader, const char *text, const char *title,
                       const char **ret, struct err *err);

/* Sets origin to the text of a statement; self-references and += use the text that it had before.
 * knob: NULL for a macro.  Returns 0 or -errno. */
int config_assign_text(struct config_loader *loader, const struct knob *knob,
                       const struct config_statement *statement, const char *file,
                       enum config_layer layer, struct config_origin *origin, struct err *err);
/* Notes that some text refers to the name; arg: struct config_loader. */
void config_note_reference(void *arg, const char *name, size_t length);

/* Adds a kind of section. own: of this program's tables. */
void config_add_kind(struct config *config, const struct knob_section *section, bool own);
void config_free_kind(void *value); /* for strmap_destroy() */
/* Applies a statement that stands in a section, or opens one.  Returns 0 or -errno. */
int config_assign_section(struct config_loader *loader, const char *file, enum config_layer layer,
                          const struct config_statement *statement, struct err *err);
/* Expands and checks the values of all sections, and the defaults that they use.  Returns 0 or
 * -errno. */
int config_finish_sections(struct config_loader *loader, struct err *err);

/* Collects the texts that config_text_at() returns.  Must be called last, when all entries and
 * sections are loaded. */
void config_gather_texts(struct config_loader *loader);

/* Converts value->text into the typed fields of value.  Returns 0; or -errno: the text is not valid
 * for the knob, err says why. */
int config_check_value(struct config_loader *loader, struct config_value *value, struct err *err);

/* Checks the expanded text of an entry whose name belongs to a family of this program's tables, by
 * the family's type and check.  Returns 0, also for other entries; or -errno. */
int config_check_family(struct config_loader *loader, const struct config_entry *entry,
                        struct err *err);

/* Has the section checked by the caller of config_load() (check_section).  Returns its result, with
 * the place of the option at fault added to err. */
int config_check_section(struct config_loader *loader, const struct config_section *section,
                         struct err *err);

/* Splits the text of a list into items.  The array *items, ended by NULL, and its texts live in the
 * arena.  Returns 0; -EINVAL: a quote is not closed; or -ENOMEM. */
int config_split_list(struct arena *arena, const char *text, const char *const **items,
                      size_t *count, struct err *err);
/* Appends an item to a list, in quotes if config_split_list() needs them to read it back as one
 * item. */
void config_append_item(struct strbuf *out, const char *item);

/* Returns the part after the dot if name is "<this daemon>.<NAME>", as "START" of "STARTD.START";
 * else NULL. */
const char *config_own_part(const struct config_loader *loader, const char *name);

/* Adds the line "FILE:LINE: unknown WHAT 'NAME'" to config.unknown. what: "knob", "section";
 * nearest: a similar name, or NULL.  Returns 0 or -ENOMEM. */
int config_note_unknown(struct config_loader *loader, const char *file, unsigned line,
                        const char *what, const char *name, const char *nearest, struct err *err);
/* Adds a line to config.unknown for each unknown name.  To be called when all layers are read.
 * Returns 0 or -ENOMEM. */
int config_find_unknown(struct config_loader *loader, struct err *err);

/* Returns the first family of these tables that the name belongs to, such as SLOT_TYPE_<n> for
 * SLOT_TYPE_1, and in *restart whether the daemon reads this knob only when it starts.  NULL: the
 * name belongs to none. */
const struct knob_family *config_family(const struct knob_table *const *tables, size_t count,
                                        const char *name, bool *restart);

/* Returns the most similar name of a knob of this or another daemon; NULL if none is similar. */
const char *config_nearest_knob(const struct config *config, const char *name);
/* Returns the documented form ("GROUP_QUOTA_<group>") of the family of knobs whose prefix is
 * most similar to a beginning of name that ends in '_'.  Only families nearer than *distance are
 * considered, counted in changed letters; *distance is then lowered to that of the result. NULL:
 * no such family. */
const char *config_nearest_family(const struct knob_table *const *tables, size_t count,
                                  const char *name, size_t *distance);
const char *config_nearest_option(const struct knob *options, size_t count, const char *name);

#endif
