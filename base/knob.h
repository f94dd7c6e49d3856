/* base/knob.h - one table for each daemon of what can be configured: its knobs.
 *
 * config_load() checks values by these tables, `roost config` and docs/CONFIG.md list them, and the
 * lint of etc/ compares the files there with them.  A daemon's table stands in <folder>/knobs.c as
 * `const struct knob_table <folder>_knobs`.  Names are HTCondor's where HTCondor has one.
 *
 *     static const struct knob KNOBS[] = {
 *         {"COLLECTOR_PORT", KNOB_INT, .fallback = "9618", .min = 1, .max = 65535,
 *          .help = "Port the collector listens on."},
 *     };
 *     const struct knob_table collector_knobs = {"COLLECTOR", KNOBS, ARRAY_COUNT(KNOBS), NULL, 0};
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_KNOB_H
#define BASE_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum knob_type {
    KNOB_STRING,     /* any text */
    KNOB_INT,        /* a whole number, or arithmetic: "15 * $(MINUTE)" */
    KNOB_REAL,       /* a number with or without a fraction, or arithmetic */
    KNOB_BOOL,       /* one of: true false yes no on off */
    KNOB_DURATION_S, /* "10m", "1h30m", or arithmetic; a number without unit counts in seconds */
    /* "250ms", "10s", or arithmetic; a number without unit counts in milliseconds */
    KNOB_DURATION_MS,
    KNOB_SIZE_BYTES, /* "2 GiB", or arithmetic; a number without unit counts in bytes */
    KNOB_EXPR,       /* a ClassAd expression; kept as text, checked by a callback of the daemon */
    KNOB_PATH,       /* an absolute path */
    /* Items separated by commas or blanks; an item that contains a comma or blank stands in
     * double quotes.  "+=" appends items. */
    KNOB_LIST,
};

struct knob {
    const char *name; /* UPPER_CASE; lower case for the options of a section */
    enum knob_type type;
    /* The default, as it would be written in a file, macros included.  NULL: unset; not possible
     * for numbers and BOOL. */
    const char *fallback;
    /* smallest and largest value in the unit of the type, for numbers; both 0: no limits.  For a
     * KNOB_LIST, min is the smallest number of items; max is not used. */
    int64_t min, max;
    /* Unit of the value for the documentation, such as "jobs", "watts".  NULL: the type tells the
     * unit, or there is none. */
    const char *unit;
    const char *help; /* what the knob does, for people: one line, a full sentence */
    /* for KNOB_STRING: the allowed values, such as "process|command"; NULL: any */
    const char *choices;
    bool not_empty; /* true: an empty text is refused; for KNOB_STRING */
    bool restart;   /* true: read only when the daemon starts, a reload does not change the value */
    /* Further check of a value that is valid for its type and not empty; for KNOB_LIST, of each
     * item.  Must be the parser that reads the value later.  Returns 0 or -errno.  NULL: none. */
    int (*check)(const char *text, struct err *err);
    /* Finds the ClassAd expressions within a value that `check` accepts; each is checked like a
     * KNOB_EXPR.  *at is 0 before the first call.  Returns false after the last.  NULL: none. */
    bool (*next_expr)(const char *text, size_t *at, const char **expr, size_t *length);
};

/* A kind of section: KIND "title" { option = value ... } */
struct knob_section {
    const char *kind; /* "node" */
    const struct knob *options;
    size_t option_count;
    const char *help;
};

/* Knobs whose names contain a word of the user's choice: SLOT_TYPE_1, MACHINE_RESOURCE_GPUS.  Only
 * config_text() and config_next() return them, as text; whoever reads a value must parse it. */
struct knob_family {
    /* beginning of the names: "SLOT_TYPE_"; or a pattern, where '*' stands for at least one byte:
     * "*_LIMIT" */
    const char *prefix;
    const char *written; /* the documented form: "SLOT_TYPE_<n>" */
    const char *help;
    enum knob_type type; /* what a value must be; KNOB_STRING: any text */
    int (*check)(const char *text, struct err *err); /* as in struct knob */
};

struct knob_table {
    /* the daemon that has these knobs: "COLLECTOR"; "" for the knobs that all daemons have */
    const char *owner;
    const struct knob *knobs;
    size_t knob_count;
    const struct knob_section *sections; /* kinds of sections of the daemon; NULL: none */
    size_t section_count;
    const struct knob_family *families; /* families of knobs of the daemon; NULL: none */
    size_t family_count;
    /* Prefixes of those families whose knobs are read only when the daemon starts, ended by NULL.
     * NULL: there are no such families. */
    const char *const *restart_families;
};

/* The knobs of all daemons and tools: COLLECTOR_HOST, LOG, SPOOL, EXECUTE, MINUTE, HOUR ... Must be
 * among the tables of each config_load(). */
extern const struct knob_table knobs_common;

/* The tables of all folders, knobs_common first, ended by NULL.  The build makes this list from the
 * folders that have a knobs.c.  For tools that show every daemon's knobs. */
extern const struct knob_table *const knob_tables[];

const char *knob_type_name(enum knob_type type); /* "duration" */

#endif
