/* base/config/config_file.h - reads one configuration file into a list of assignments.
 *
 * config_file.c is the only file that uses libconfuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_FILE_H
#define BASE_CONFIG_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct vec;

enum config_statement_kind {
    CONFIG_ASSIGN,  /* name = value, or the first item of name = {a, b} */
    CONFIG_APPEND,  /* name += value, or a further item of a list */
    CONFIG_SECTION, /* a section begins */
    CONFIG_INCLUDE, /* include("file"): value is the path of the file */
};

struct config_statement {
    enum config_statement_kind kind;
    const char *section; /* kind of the section that contains the statement; NULL: none */
    const char *title;   /* title of the section that contains the statement */
    const char *name;
    const char *value;
    unsigned line;
    /* true: `value` is one item of a list in braces; false: `value` is the whole value that the
     * file assigns, even if that is a list of words */
    bool list_item;
};

/* Appends the file's statements to *statements, in order; the statements live in `arena`.  Returns
 * 0; -EINVAL, with "PATH:LINE: what is wrong" in err; -ENOMEM; -EBADMSG: libconfuse refuses what
 * config_scan() accepted, which is not known to happen.  Must not run in two threads at a time,
 * because libconfuse keeps global state. */
int config_file_parse(const char *path, const char *text, size_t length, struct arena *arena,
                      struct vec *statements, struct err *err);

#endif
