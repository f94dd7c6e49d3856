/* base/config/config_scan.h - a check of one configuration file before libconfuse parses it.
 *
 * Design note: libconfuse must be told every name in advance, drops characters that it does not
 * know, takes `${X}` from the real environment, and accepts a file that ends inside a section.  So
 * the scan reads the same grammar strictly: it collects the names, refuses what libconfuse would
 * wrongly accept, says exactly where, and makes a copy in which comments are blank and an empty
 * list is an empty string.
 *
 *     file    = { assign | KIND title "{" { assign } "}" | include "(" string ")" }
 *     assign  = NAME ("=" | "+=") value
 *     value   = string | "{" [ string { "," string } [ "," ] ] "}"
 *     string  = "..." with \ escapes | '...' | a word without blanks and # " ' = { } ( ) + , *
 *
 * A quoted string ends on its line, unless the line ends in a backslash.
 *
 * Outside sections a value may also be the rest of its line, as HTCondor writes it:
 *
 *     StartIdleTime = 15 * $(MINUTE)
 *     START : $(CPU_Idle) && KeyboardIdle > $(StartIdleTime)
 *
 * That is so after ':', unless the value begins with a quote or brace; and after '=', if more than
 * one word follows and these are not another statement (`a = 1 b = 2` are two statements).  Such a
 * value ends at a comment; a backslash at the end of the line continues it on the next line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_SCAN_H
#define BASE_CONFIG_CONFIG_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* most bytes of a name, or of a kind of section, without the terminating zero */
#define CONFIG_NAME_MAX 128
/* most bytes of a section's title, without the terminating zero */
#define CONFIG_TITLE_MAX 255

/* Name of an option that config_scan() adds at the head of each section in the copy for libconfuse,
 * so that libconfuse reports empty sections, too. */
#define CONFIG_SCAN_OPENED "__opened"

/* most sections between two cuts of the copy: see struct config_scan_cut */
#define CONFIG_CUT_SECTIONS 32

struct arena;
struct err;
struct strmap;

struct config_scan_string {
    unsigned line;
    bool list_item; /* true: an item of a list in braces */
};

/* A place between two statements where the copy may be cut in two.  libconfuse compares the title
 * of a section with those of all sections before it, so it gets only few sections at a time. */
struct config_scan_cut {
    size_t text_length;  /* of the copy before the cut */
    size_t string_count; /* of strings[] before the cut */
};

/* Which sections the caller needs, and who is told what the others refer to. */
struct config_scan_needs {
    /* Returns whether sections of this kind are needed.  Sets *title to the only title that is
     * needed; NULL, as before the call: all are. */
    bool (*kind)(void *arg, const char *kind, const char **title);
    /* called with the names in $(NAME) of the sections that are not in the result */
    void (*refers)(void *arg, const char *name, size_t length);
    void *arg;
};

/* The result of config_scan(). */
struct config_scan {
    char *text; /* the copy of the file for libconfuse, zero-terminated */
    size_t text_length;
    /* Names assigned outside sections: the keys of the map; its values are any non-NULL pointer. */
    struct strmap *names;
    struct strmap *kinds; /* kinds of sections by name; values are struct config_scan_kind * */
    /* One entry for each value, include and opened section, in the order of the file: the line
     * where it stands, and whether it is an item of a list. */
    struct config_scan_string *strings;
    size_t string_count, string_capacity;
    struct config_scan_cut *cuts; /* in the order of the file; the last is the end */
    size_t cut_count, cut_capacity;
};

struct config_scan_kind {
    struct strmap *names; /* names assigned in sections of this kind */
};

/* Scans the text of a file and makes the copy for libconfuse. needs: NULL: all sections are needed;
 * the result may contain others than those that are.  Returns 0; -EINVAL, with "PATH:LINE: what is
 * wrong" in err; or -ENOMEM.  The caller releases *ret with config_scan_fini(). */
int config_scan(const char *path, const char *text, size_t length,
                const struct config_scan_needs *needs, struct config_scan *ret, struct err *err);
void config_scan_fini(struct config_scan *scan);

/* Returns whether the name is valid: a letter or _, then letters, digits, _ and dots, at most
 * CONFIG_NAME_MAX bytes. */
bool config_name_ok(const char *name, size_t length);

#endif
