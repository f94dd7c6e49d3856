/* base/config/config_file.h - one configuration file as a list of assignments; the only user of
 * libconfuse.
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
    CONFIG_ASSIGN,  /* name = value, or the first item of a list */
    CONFIG_APPEND,  /* name += value, or the further items of a list */
    CONFIG_SECTION, /* a section opens */
    CONFIG_INCLUDE, /* value is the file */
};

struct config_statement {
    enum config_statement_kind kind;
    const char *section; /* kind of the section it stands in; NULL outside */
    const char *title;   /* of that section */
    const char *name;
    const char *value;
    unsigned line;
    bool list_item; /* one of NAME = {a, b}: an item, not a text that may hold several */
};

/* Appends the file's statements in their order to *statements; they live in the arena.  Returns 0;
 * -EINVAL, err "PATH:LINE: what is wrong"; -ENOMEM; or -EBADMSG if libconfuse refuses what the scan
 * let pass, which is not known to happen.  libconfuse keeps state of its own between its calls:
 * this function is not for two threads at a time. */
int config_file_parse(const char *path, const char *text, size_t length, struct arena *arena,
                      struct vec *statements, struct err *err);

#endif
