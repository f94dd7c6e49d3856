/* base/config/config_file.h - reads the statements of one configuration file.
 *
 * config_file.c is the only file that uses libconfuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_FILE_H
#define BASE_CONFIG_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct config_scan_needs;
struct err;

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

/* What happens with a file's statements. */
struct config_file_reader {
    /* Called for each statement, in the order of the file, after the whole file was found to be
     * well formed.  The statement is valid until the function returns.  Returns 0; or -errno, which
     * ends the reading. */
    int (*take)(void *arg, const struct config_statement *statement, struct err *err);
    void *arg;
    /* which sections are needed; NULL: all */
    const struct config_scan_needs *needs;
};

/* Reads the text of a file.  Returns 0; -EINVAL, with "PATH:LINE: what is wrong" in err; -ENOMEM;
 * -EBADMSG: libconfuse refuses what config_scan() accepted, which is not known to happen; or what
 * take() returned.  Linear in the length of the text.  Must not run in two threads at a time,
 * because libconfuse keeps global state; take() may call it. */
int config_file_read(const char *path, const char *text, size_t length,
                     const struct config_file_reader *reader, struct err *err);

#endif
