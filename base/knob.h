/* base/knob.h - one table per daemon of what can be configured.
 *
 * From these tables are made: the checks of config_load(), `roost config`, docs/CONFIG.md and the
 * lint of etc/.  A daemon's table is in <folder>/knobs.c and is exported as `const struct
 * knob_table <folder>_knobs`; names are HTCondor's where HTCondor has one.
 *
 *     static const struct knob KNOBS[] = {
 *         {"COLLECTOR_PORT", KNOB_INT, .fallback = "9618", .min = 1, .max = 65535, .help = "Port
 * the collector ..."},
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

enum knob_type {
    KNOB_STRING,      /* any text */
    KNOB_INT,         /* whole number, or arithmetic of them: "15 * $(MINUTE)" */
    KNOB_REAL,        /* number, or arithmetic */
    KNOB_BOOL,        /* true false yes no on off */
    KNOB_DURATION_S,  /* "10m", "1h30m"; a number without unit counts in seconds; arithmetic */
    KNOB_DURATION_MS, /* "250ms", "10s"; a number without unit counts in milliseconds; arithmetic */
    KNOB_SIZE_BYTES,  /* "2 GiB"; a number without unit counts in bytes; arithmetic */
    KNOB_EXPR,        /* a ClassAd expression, kept as text and checked by the caller's callback */
    KNOB_PATH,        /* an absolute path */
    KNOB_LIST, /* items separated by commas or blanks, an item with either in double quotes; +=
                  appends */
};

struct knob {
    const char *name; /* UPPER_CASE; lower case for the options of a section */
    enum knob_type type;
    const char *fallback; /* as it would be written in a file, macros included; NULL: unset (not for
                             numbers and BOOL) */
    int64_t min, max;     /* both 0: no limits; in the unit of the type; numbers only */
    const char *unit; /* for the documentation where the type does not tell ("jobs", "watts"); may
                         be NULL */
    const char *help; /* one line, a full sentence */
    const char *choices; /* KNOB_STRING: "process|command", the only values allowed; NULL: any */
    bool restart;        /* read when the daemon starts: a reload does not change it */
};

/* A kind of section: KIND "title" { option = value ... } */
struct knob_section {
    const char *kind; /* "node" */
    const struct knob *options;
    size_t option_count;
    const char *help;
};

/* Names that the user makes: SLOT_TYPE_1, MACHINE_RESOURCE_GPUS.  No getter but config_text() and
 * config_next() knows them; what they hold is checked by who reads them. */
struct knob_family {
    const char *prefix;  /* "SLOT_TYPE_"; with a '*' for at least one byte: "*_LIMIT" */
    const char *written; /* as documented: "SLOT_TYPE_<n>" */
    const char *help;
};

struct knob_table {
    const char *owner; /* "COLLECTOR"; "" for the common knobs */
    const struct knob *knobs;
    size_t knob_count;
    const struct knob_section *sections; /* may be NULL */
    size_t section_count;
    const struct knob_family *families; /* may be NULL */
    size_t family_count;
    const char *const *restart_families; /* prefixes of those that are read when the daemon starts,
                                            ended by NULL; may be NULL */
};

/* What all daemons and tools share: COLLECTOR_HOST, LOG, SPOOL, EXECUTE, MINUTE, HOUR ...  Pass it
 * with every load. */
extern const struct knob_table knobs_common;

/* The tables of all folders, the common one first, NULL-terminated; made by the build from the
 * folders that have a knobs.c.  For tools that speak of every daemon's knobs. */
extern const struct knob_table *const knob_tables[];

const char *knob_type_name(enum knob_type type); /* "duration" */

#endif
