/* base/config/config.h - the configuration: files, macros, layers, an immutable result.
 *
 * Files are libconfuse's syntax: NAME = value (in quotes where it holds blanks or $()), NAME = {a,
 * b}, NAME += more, KIND "title" { option = value }, include("file"), comments # // and C's.  Names
 * are case-insensitive.  On top is the macro layer of HTCondor: $(NAME) and $(NAME:default) in any
 * value, $ENV(NAME), self-reference (START = "($(START)) && KeyboardIdle > 60" refers to the value
 * START had before), arithmetic in numbers ("15 * $(MINUTE)").  A NAME that is no knob is a macro
 * of the user's; one that no value refers to is reported as unknown.
 *
 * Layers, later ones win: the built-in tables, the shared file, local files and directories
 * (LOCAL_CONFIG_DIR, LOCAL_CONFIG_FILE, LOCAL_CONFIG), the persistent runtime configuration
 * (PERSISTENT_CONFIG_DIR/<subsystem>.conf, with ENABLE_PERSISTENT_CONFIG), the environment
 * (ROOST_<NAME>).  In files, STARTD.NAME is NAME for the startd alone, and there it wins over a
 * NAME without prefix, wherever that stands.  Macros are expanded after all layers are read, so a
 * macro changed in a later layer changes what was built from it; self-references are resolved where
 * they stand.
 *
 * Design note: config.c, the only user of libconfuse, turns one file into a list of assignments;
 * everything else works on that list.  libconfuse needs to know all names beforehand and accepts a
 * file that ends inside a section; so each file is first scanned (config_scan.c), which finds
 * names, unbalanced braces and open strings with their line.  The loader reads nothing itself:
 * files and environment come through callbacks, so that the simulator loads from memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_H
#define BASE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/knob.h"

#define CONFIG_FILE_MAX          ((size_t)1 << 20)  /* bytes of one file */
#define CONFIG_VALUE_MAX         ((size_t)64 << 10) /* bytes of one value after expansion */
#define CONFIG_FILES_MAX         1000  /* files of one load, includes counted each time */
#define CONFIG_NAMES_MAX         10000 /* knobs and macros defined in files */
#define CONFIG_SECTIONS_MAX      20000 /* sections of all kinds */
#define CONFIG_INCLUDE_DEPTH_MAX 10
#define CONFIG_MACRO_DEPTH_MAX   32
#define CONFIG_BYTES_MAX         ((size_t)64 << 20) /* all memory of one configuration */
#define CONFIG_DEFAULT_PATH      "/etc/roost/roost.conf"

struct config; /* immutable once loaded */
struct err;
struct strbuf;
struct vec;

enum config_layer {
    CONFIG_BUILTIN,
    CONFIG_SHARED,
    CONFIG_LOCAL,
    CONFIG_PERSISTENT,
    CONFIG_ENVIRONMENT,
};

/* The outside world.  base/config/config_os.h has the real one. */
struct config_source {
    /* The whole file as a mem_ block, zero-terminated; -EFBIG above max bytes, -EISDIR for a
     * directory, -ENOENT. */
    int (*read_file)(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err);
    /* Appends the names (mem_ blocks, without the directory) of what is in a directory, in any
     * order. */
    int (*list_directory)(void *context, const char *path, struct vec *names, struct err *err);
    const char *(*get_env)(void *context, const char *name); /* NULL if not set */
    /* The path from the root, as a mem_ block; NULL: relative paths are refused. */
    int (*absolute)(void *context, const char *path, char **ret, struct err *err);
    void *context;
};

struct config_macro { /* predefined: HOSTNAME, FULL_HOSTNAME, IP_ADDRESS, PID, DETECTED_CPUS ... */
    const char *name;
    const char *value;
};

struct config_options {
    const char *subsystem; /* "COLLECTOR"; names the persistent file, is the macro SUBSYSTEM; NULL:
                              a tool */
    const char
        *path; /* the shared file; NULL: the environment's ROOST_CONFIG, else CONFIG_DEFAULT_PATH */
    const struct knob_table *const *tables; /* what the getters will answer */
    size_t table_count;
    const struct knob_table *const
        *others; /* knobs of other daemons: known names, may be referred to, not checked */
    size_t other_count;
    const struct config_macro *macros;
    size_t macro_count;
    int (*check_expr)(void *context, const char *text,
                      struct err *err); /* for KNOB_EXPR; NULL: any text */
    void *check_context;
    const char
        *settings; /* the text to take as persistent configuration, on trial; NULL: the file's */
};

/* Reads all layers, expands and checks everything.  Returns 0 and sets *ret; or -ENOENT (no such
 * file), -EINVAL, -ERANGE, -EFBIG, -ELOOP, -EBADMSG, -ENOMEM or what a callback returned, with *ret
 * untouched and err naming file, line, knob and, for a misspelt name, the nearest known one.  The
 * tables must outlive the result. */
int config_load(const struct config_source *source, const struct config_options *options,
                struct config **ret, struct err *err);
void config_destroy(struct config *config); /* NULL is allowed */

/* Typed getters.  A name that is in none of the tables, or asked for with another type, is our bug
 * (CHECK).  Results live as long as the configuration. */
const char *config_string(const struct config *config,
                          const char *name); /* STRING; NULL when unset */
const char *config_path(const struct config *config, const char *name); /* PATH; NULL when unset */
const char *config_expr(const struct config *config, const char *name); /* EXPR; NULL when unset */
int64_t config_int(const struct config *config, const char *name);
double config_real(const struct config *config, const char *name);
bool config_bool(const struct config *config, const char *name);
int64_t config_duration_s(const struct config *config, const char *name);
int64_t config_duration_ms(const struct config *config, const char *name); /* of a DURATION_S too */
int64_t config_bytes(const struct config *config, const char *name);
/* NULL-terminated; count may be NULL; an unset list is an empty one. */
const char *const *config_list(const struct config *config, const char *name, size_t *count);

/* Any name, knob or macro, as it came out of expansion; NULL if there is none, or if it is another
 * daemon's or a macro that cannot be expanded. */
const char *config_text(const struct config *config, const char *name);

/* Sections of one kind in order of first appearance; parts of one section in several files and
 * layers are merged. */
size_t config_section_count(const struct config *config, const char *kind);
const struct config_section *config_section_at(const struct config *config, const char *kind,
                                               size_t index);
const struct config_section *config_section_find(const struct config *config, const char *kind,
                                                 const char *title); /* NULL if absent */
const char *section_title(const struct config_section *section);
const char *section_string(const struct config_section *section, const char *name);
const char *section_path(const struct config_section *section, const char *name);
const char *section_expr(const struct config_section *section, const char *name);
int64_t section_int(const struct config_section *section, const char *name);
double section_real(const struct config_section *section, const char *name);
bool section_bool(const struct config_section *section, const char *name);
int64_t section_duration_s(const struct config_section *section, const char *name);
int64_t section_duration_ms(const struct config_section *section, const char *name);
int64_t section_bytes(const struct config_section *section, const char *name);
const char *const *section_list(const struct config_section *section, const char *name,
                                size_t *count);

/* Where a value came from. */
struct config_origin {
    enum config_layer layer;
    const char *file; /* the environment variable for CONFIG_ENVIRONMENT; NULL for CONFIG_BUILTIN */
    unsigned line;    /* 0 where there is none */
    const char *raw;  /* as written, self-references resolved; NULL when unset */
};
const char *config_layer_name(enum config_layer layer); /* "shared file" */

/* Of a knob or macro; false if the name is neither. */
bool config_why(const struct config *config, const char *name, struct config_origin *ret);

/* Walks all knobs of the tables, then the macros defined in files; at = 0 first; false at the end.
 * knob is NULL for a macro. */
bool config_next(const struct config *config, size_t *at, const char **name,
                 const struct knob **knob);

/* Names that are no knob and that no value refers to, each as one line: "roost.conf:12: unknown
 * knob 'STRAT' (did you mean START?)".  Worth a warning; never an error by itself, for the next
 * version may know the name. */
size_t config_unknown_count(const struct config *config);
const char *config_unknown(const struct config *config, size_t index);

/* ---- settings made at run time (base/config/config_settings.c) */

/* The file of this daemon's; NULL: ENABLE_PERSISTENT_CONFIG is not set, or there is no directory.
 */
const char *config_settings_path(const struct config *config);
/* The names that hold because they were set so, with commas between; "" for none. */
void config_settings_names(const struct config *config, struct strbuf *out);
/* May a file set this name at all?  0 for a knob, a name of a family of knobs, or a macro of the
 * files; -ENOENT with the nearest name; -EPERM for what guards the settings themselves. */
int config_settings_may_name(const struct config *config, const char *name, struct err *err);
/* Appends the text of the file after a change of one name; value NULL: taken back.  text is what
 * the file held, path is for messages.  -ENOENT: it was not set; -EINVAL: no such name can be, or
 * the value is not one line; -EFBIG; -EBADMSG: the file is broken. */
int config_settings_edit(const char *path, const char *text, const char *name, const char *value,
                         struct strbuf *out, struct err *err);
/* Appends what differs between two configurations of one daemon, names with ", " between: knobs,
 * names of families of knobs, kinds of sections; those that are read at the start only to restart.
 */
void config_compare(const struct config *before, const struct config *after, struct strbuf *changed,
                    struct strbuf *restart);

/* All texts with a '/' in them, after expansion, that knobs, macros and options of sections are set
 * to, those of other daemons, too: for who has to know which files the configuration names.  Left
 * out is what cannot be expanded here. */
size_t config_text_count(const struct config *config);
const char *config_text_at(const struct config *config, size_t index);

/* Does the configuration say $ENV(name) somewhere, and had the environment such a variable? */
bool config_reads_variable(const struct config *config, const char *name, size_t length);

/* The files read, in order, for messages and to watch for changes. */
size_t config_file_count(const struct config *config);
const char *config_file(const struct config *config, size_t index);

#endif
