/* base/config/config_skip.h - steps over sections that this program does not need.
 *
 * Design note: a pool's configuration may have 10,000 `node` sections, which only the rooster
 * reads. Every other daemon and each command steps over them in one pass over the bytes, and keeps
 * nothing. Only plain sections are stepped over: what config_scan() would accept, and nothing that
 * needs a closer look (escapes, lists, +=, comments in C's form, defaults in macros).  For all else
 * the functions return NULL, and the section is read like any other; so an error in a section is
 * found, with its line, whether the section is needed or not.
 *
 *     section = KIND title "{" { NAME "=" string } "}"
 *     string  = a word, or a text in quotes without backslash; with $(NAME) only in quotes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_SKIP_H
#define BASE_CONFIG_CONFIG_SKIP_H

#include <stddef.h>

struct config_skip {
    const char *kind; /* the kind of the sections to step over, as it is written */
    size_t kind_length;
    const char *needed_title; /* a section with this title is not stepped over; NULL: none is */
    /* Called with each name that a $(NAME) in a section refers to; not again for a name that
     * follows itself. */
    void (*refers)(void *arg, const char *name, size_t length);
    void *arg;
    const char *last_name; /* set to NULL by the caller: the name that `refers` saw last */
    size_t last_length;
};

/* Steps over one section that begins at text[0], where blanks and comments may stand first. Returns
 * where it ends and adds its lines to *lines; NULL: text does not begin with a plain section of
 * this kind, or the section is needed.  *lines is then unchanged. */
const char *config_skip_section(struct config_skip *skip, const char *text, const char *end,
                                unsigned *lines);
/* The same when the kind was read already: text begins with the title. */
const char *config_skip_titled(struct config_skip *skip, const char *text, const char *end,
                               unsigned *lines);

#endif
