/* submit/submit_lines.h - splits a submit file into lines, with continued lines joined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_LINES_H
#define SUBMIT_SUBMIT_LINES_H

struct submit_lines {
    const char *at; /* next byte to read */
    unsigned line;  /* number of the last line read, from 1 */
};

/* Returns the next line without the blanks around it.  Continued lines ('\' at the end) are joined,
 * and comment lines among them left out.  Other comments and empty lines are returned, too.  Freed
 * with mem_free(); NULL at the end. */
char *submit_lines_next(struct submit_lines *lines);

/* Returns the next line without the blanks around it, and without joining: for the lines between
 * `NAME @=TAG` and `@TAG`.  Freed with mem_free(); NULL at the end. */
char *submit_lines_raw(struct submit_lines *lines);

#endif
