/* base/config/config.h - the configuration: files, macros, layers, an immutable result.
 *
 * Files are libconfuse's syntax: NAME = value (in quotes where it holds blanks or $()), NAME = {a,
 * b}, NAME += more, KIND "title" { option = value }, include("file"), comments # // and C's.  Names
 * are case-insensitive.  HTCondor's macros are added: $(NAME) and $(NAME:default) in any value,
 * $ENV(NAME), self-reference (START = "($(START)) && KeyboardIdle > 60" refers to the earlier value
 * of START), arithmetic in numbers ("15 * $(MINUTE)").  A NAME that is not a knob defines a macro;
 * if no value refers to it, it is reported as unknown.
 *
 * Layers, later ones win: the built-in tables, the shared file, local files and directories
 * (LOCAL_CONFIG_DIR, LOCAL_CONFIG_FILE, LOCAL_CONFIG), the persistent runtime configuration
 * (PERSISTENT_CONFIG_DIR/<subsystem>.conf, with ENABLE_PERSISTENT_CONFIG), the environment
 * (ROOST_<NAME>).  In files, STARTD.NAME is NAME for the startd alone, and there it wins over NAME
 * without the prefix, in whatever file either stands.  Macros are expanded after all layers are
 * read, so a macro changed in a later layer also changes the values built from it; self-references
 * are resolved where they stand.
 *
 * Design note: config_file.c, the only user of libconfuse, turns one file into a list of
 * assignments; everything else works on that list.  libconfuse needs to know all names in advance
 * and accepts a file that ends inside a section; so each file is scanned first (config_scan.c),
 * which finds names, unbalanced braces and open strings with their line.  The loader reads nothing
 * itself: files and environment come through callbacks, so that the simulator loads from memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_H
#define BASE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/knob.h"

#define CONFIG_FILE_MAX     ((size_t)8 << 20) /* largest configuration file, bytes */
#define CONFIG_SETTINGS_MAX ((size_t)1 << 20) /* largest file of run-time settings, bytes */
/* most bytes of a value after its macros are expanded, without the terminating zero */
#define CONFIG_VALUE_MAX ((size_t)64 << 10)
/* most files read in one config_load(); a file that is included twice counts twice */
#define CONFIG_FILES_MAX         1000
#define CONFIG_NAMES_MAX         10000 /* most knobs and macros defined in files */
#define CONFIG_SECTIONS_MAX      20000 /* most sections, of all kinds together, in all files */
#define CONFIG_INCLUDE_DEPTH_MAX 10
#define CONFIG_MACRO_DEPTH_MAX   32
#define CONFIG_BYTES_MAX         ((size_t)64 << 20) /* most bytes of memory of one configuration */
#define CONFIG_DEFAULT_PATH      "/etc/roost/roost.conf"

struct config; /* a loaded configuration; nothing changes it afterwards */
struct config_section;
struct err;
struct strbuf;
struct vec;

/* Where a value was set.  Later layers win over earlier ones. */
enum config_layer {
    CONFIG_BUILTIN,     /* the knob's default (`fallback`) in its table */
    CONFIG_SHARED,      /* the shared file, /etc/roost/roost.conf */
    CONFIG_LOCAL,       /* local files and directories */
    CONFIG_PERSISTENT,  /* set at run time: `roost config set` */
    CONFIG_ENVIRONMENT, /* an environment variable ROOST_<NAME> */
};

/* Callbacks through which the loader reads files and the environment. base/config/config_os.h makes
 * the real ones. */
struct config_source {
    /* Reads a whole file into *text, zero-terminated, and its size in bytes without the zero into
     * *length; the loader frees *text with mem_free().  Returns 0; -ENOENT: no such file; -EISDIR:
     * the path is a directory; -EFBIG: the file has more than max bytes; or another -errno. */
    int (*read_file)(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err);
    /* Appends the names of a directory's entries, without the directory's path, in any order.
     * The loader frees each name with mem_free().  Returns 0 or -errno. */
    int (*list_directory)(void *context, const char *path, struct vec *names, struct err *err);
    /* Returns the value of an environment variable; NULL: not set. */
    const char *(*get_env)(void *context, const char *name);
    /* Sets *ret to the absolute form of the path; the loader frees it with mem_free().  Returns 0
     * or -errno.  If the pointer `absolute` is NULL, relative paths are refused. */
    int (*absolute)(void *context, const char *path, char **ret, struct err *err);
    void *context;
};

/* Name and value of a macro that the program predefines: HOSTNAME, FULL_HOSTNAME, IP_ADDRESS, PID,
 * DETECTED_CPUS ... */
struct config_macro {
    const char *name;
    const char *value;
};

struct config_options {
    /* The daemon's name in capitals, such as "COLLECTOR": the value of the macro SUBSYSTEM, and
     * the name of the file with its run-time settings.  NULL: the program is a tool. */
    const char *subsystem;
    /* The shared file.  NULL: the file in the variable ROOST_CONFIG, else CONFIG_DEFAULT_PATH. */
    const char *path;
    /* Tables of this program's knobs; config_string() and the other getters accept only names in
     * these tables. */
    const struct knob_table *const *tables;
    size_t table_count;
    /* Tables of other daemons' knobs: files may set these knobs and macros may refer to them, but
     * their values are not checked. */
    const struct knob_table *const *others;
    size_t other_count;
    const struct config_macro *macros;
    size_t macro_count;
    /* Checks the text of a knob of type KNOB_EXPR; returns 0 or -errno.  NULL: any text is
     * accepted. */
    int (*check_expr)(void *context, const char *text, struct err *err);
    /* Of the sections of this program's kinds, those with this title are read, and all others are
     * stepped over.  NULL: all are read. */
    const char *only_title;
    /* true: config_text_at() gives texts; false: it gives none, and sections of other daemons,
     * which then nobody asks for, are stepped over */
    bool gather_texts;
    /* Checks a section as a whole, when each of its options is valid.  Returns 0 or -errno; the
     * line of the first option that err names is added to err.  NULL: all sections are accepted. */
    int (*check_section)(void *context, const struct config_section *section, struct err *err);
    void *check_context; /* `context` of both */
    /* Text to use in place of the file of run-time settings, to check a change before it is
     * written.  NULL: the file is read. */
    const char *settings;
};

/* Reads all layers, expands macros and checks all values.  Returns 0 and sets *ret; -ENOENT:
 * the shared file does not exist; -EINVAL: malformed text or value; -ERANGE: a number out of range;
 * -EFBIG: a limit exceeded, such as CONFIG_NAMES_MAX; -ELOOP: macros or includes that refer to
 * themselves, or are nested too deep; -EBADMSG: an error of libconfuse; -ENOMEM; or what a callback
 * returned. On failure *ret is untouched, and err names file, line, knob and, for a misspelt name,
 * the nearest known one.  The tables must outlive the result. */
int config_load(const struct config_source *source, const struct config_options *options,
                struct config **ret, struct err *err);
void config_destroy(struct config *config); /* NULL is allowed */

/* Returns the value of a KNOB_STRING; NULL when unset.  For config_string() and the getters below,
 * down to config_list(): the result lives as long as the configuration; a name that is in none of
 * this program's tables, or a knob of another type, is a mistake of the caller (CHECK). */
const char *config_string(const struct config *config, const char *name);
/* Returns the value of a KNOB_PATH; NULL when unset. */
const char *config_path(const struct config *config, const char *name);
/* Returns the value of a KNOB_EXPR; NULL when unset. */
const char *config_expr(const struct config *config, const char *name);
int64_t config_int(const struct config *config, const char *name);
double config_real(const struct config *config, const char *name);
bool config_bool(const struct config *config, const char *name);
int64_t config_duration_s(const struct config *config, const char *name);
/* Returns the value of a KNOB_DURATION_MS or KNOB_DURATION_S in milliseconds. */
int64_t config_duration_ms(const struct config *config, const char *name);
int64_t config_bytes(const struct config *config, const char *name);
/* Returns the items of a KNOB_LIST, ended by NULL; count may be NULL.  An unset list is an empty
 * list. */
const char *const *config_list(const struct config *config, const char *name, size_t *count);

/* Returns the expanded text of any knob or macro.  NULL: there is no such name, it belongs to
 * another daemon, or its macros cannot be expanded. */
const char *config_text(const struct config *config, const char *name);

/* Returns how many sections of this kind (KIND "title" { ... }) there are; config_section_at()
 * returns them in the order of their first appearance.  Parts of one section in several files
 * and layers are merged. */
size_t config_section_count(const struct config *config, const char *kind);
const struct config_section *config_section_at(const struct config *config, const char *kind,
                                               size_t index);
/* Returns the section of this kind with this title; NULL: no such section. */
const struct config_section *config_section_find(const struct config *config, const char *kind,
                                                 const char *title);
const char *section_title(const struct config_section *section);
const char *section_kind(const struct config_section *section); /* its KIND */
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

/* Where a value was set. */
struct config_origin {
    enum config_layer layer;
    /* Path of the file.  For CONFIG_ENVIRONMENT: name of the variable.  For CONFIG_BUILTIN:
     * NULL. */
    const char *file;
    unsigned line; /* 0: none */
    /* The value before its macros are expanded; only references of the value to its own name are
     * already replaced.  NULL when unset. */
    const char *raw;
};
/* Returns the layer's name for people: "shared file". */
const char *config_layer_name(enum config_layer layer);

/* Writes to *ret where a knob or macro was set.  Returns false if there is no such name. */
bool config_why(const struct config *config, const char *name, struct config_origin *ret);
/* Writes to *ret where an option of a section was set; option NULL: where the section begins first,
 * with raw NULL.  Returns false if the option was not set in a file. */
bool section_why(const struct config_section *section, const char *option,
                 struct config_origin *ret);

/* Iterates over all knobs of the tables, then over the macros defined in files.  The caller
 * sets *at to 0 before the first call.  Returns false at the end. *knob is NULL for a macro. */
bool config_next(const struct config *config, size_t *at, const char **name,
                 const struct knob **knob);

/* Returns how many names in the files are neither knobs nor used by any value.  config_unknown()
 * returns one line of text about each: "roost.conf:12: unknown knob 'STRAT' (did you mean
 * START?)".  An unknown name deserves a warning and is not an error, because a later version may
 * know the name. */
size_t config_unknown_count(const struct config *config);
const char *config_unknown(const struct config *config, size_t index);

/* ---- settings made at run time (base/config/config_settings.c) */

/* Returns the file that holds this daemon's settings made at run time.  NULL:
 * ENABLE_PERSISTENT_CONFIG is not set, or no directory for the file is known. */
const char *config_settings_path(const struct config *config);
/* Appends the names that were set at run time, separated by commas; nothing if there are none. */
void config_settings_names(const struct config *config, struct strbuf *out);
/* Checks whether this name may be set at run time.  Returns 0 for a knob (also of a family) or a
 * macro of the files; -EINVAL: not a valid name; -ENOENT: unknown name, err has the nearest known
 * one; -EPERM: the knob controls run-time settings, and can be set in files only. */
int config_settings_may_name(const struct config *config, const char *name, struct err *err);
/* Computes the new text of the settings file after one change and appends it to out. text: the
 * present content of the file; path: the file's path, for messages; value NULL: remove the setting.
 * Returns 0; -ENOENT: the name to remove was not set; -EINVAL: invalid name, or the value is not
 * one line; -EFBIG: the value is too long; -EBADMSG: the present file is malformed. */
int config_settings_edit(const char *path, const char *text, const char *name, const char *value,
                         struct strbuf *out, struct err *err);
/* Compares two configurations of one daemon.  Appends to `changed`, separated by ", ", the names
 * that differ: knobs, macros that a list of attributes contains, kinds of sections.  Appends to
 * `restart` those differing names that the daemon reads only when it starts. */
void config_compare(const struct config *before, const struct config *after, struct strbuf *changed,
                    struct strbuf *restart);

/* Returns how many expanded texts contain a '/'; config_text_at() returns them.  None without
 * gather_texts in struct config_options.  They are values of knobs, macros and options of sections,
 * also those of other daemons.  For callers that must know which files the configuration names.
 * Texts that cannot be expanded here are left out. */
size_t config_text_count(const struct config *config);
const char *config_text_at(const struct config *config, size_t index);

/* Returns whether the configuration uses $ENV(name) and the environment has that variable.
 * name[0..length) need not be zero-terminated. */
bool config_reads_variable(const struct config *config, const char *name, size_t length);

/* Returns how many files were read; config_file() returns their paths in the order of reading.
 * For messages, and to watch the files for changes. */
size_t config_file_count(const struct config *config);
const char *config_file(const struct config *config, size_t index);

#endif
