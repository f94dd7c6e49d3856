/* base/config/config_scan.h - a look over one configuration file before libconfuse parses it.
 *
 * Design note: libconfuse needs to be told every name it may meet, drops characters it does not
 * know, takes `${X}` from the real environment, and is content with a file that ends inside a
 * section.  The scan reads the same grammar strictly: it collects the names, refuses what
 * libconfuse would let pass, says exactly where, and hands on a copy in which comments are blank
 * and an empty list is an empty string.
 *
 *     file    = { NAME ("=" | "+=") value | KIND title "{" { NAME ("=" | "+=") value } "}" |
 * include "(" string ")" } value   = string | "{" [ string { "," string } [ "," ] ] "}" string  =
 * "..." with \ escapes | '...' | a run of characters without blanks and # " ' = { } ( ) + , *
 *
 * A quoted string ends on its line, unless the line ends in a backslash.
 *
 * Outside sections a value may also be the rest of its line, as the seeds and HTCondor write it:
 *
 *     StartIdleTime = 15 * $(MINUTE)
 *     START : $(CPU_Idle) && KeyboardIdle > $(StartIdleTime)
 *
 * After ':' always, unless it begins with a quote or brace; after '=' where it is more than one
 * word and no second statement (`a = 1 b = 2` are two).  A comment ends it, and a backslash at the
 * line's end goes on with the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_SCAN_H
#define BASE_CONFIG_CONFIG_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_NAME_MAX  128 /* bytes of a name or kind */
#define CONFIG_TITLE_MAX 255 /* bytes of a section's title */

/* First in every section of the copy: tells that it is there even if nothing else is in it. */
#define CONFIG_SCAN_OPENED "__opened"

struct arena;
struct err;
struct strmap;

struct config_scan_string {
    unsigned line;
    bool list_item; /* stands in { } */
};

struct config_scan {
    char *text; /* the copy for libconfuse, zero-terminated */
    size_t text_length;
    /* Values are struct config_scan_kind for sections, any non-NULL pointer for the rest. */
    struct strmap *names; /* assigned outside sections */
    struct strmap *kinds; /* of sections */
    struct config_scan_string
        *strings; /* of values, includes and opened sections, in their order */
    size_t string_count, string_capacity;
};

struct config_scan_kind {
    struct strmap *names; /* assigned in sections of this kind */
};

/* Everything in *ret is released by config_scan_fini().  Returns 0; -EINVAL, err "PATH:LINE: what
 * is wrong"; or -ENOMEM. */
int config_scan(const char *path, const char *text, size_t length, struct config_scan *ret,
                struct err *err);
void config_scan_fini(struct config_scan *scan);

/* A letter or _, then letters, digits, _ and dots, at most CONFIG_NAME_MAX bytes. */
bool config_name_ok(const char *name, size_t length);

#endif
