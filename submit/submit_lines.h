/* submit/submit_lines.h - the lines of a submit file: continued, without comments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_LINES_H
#define SUBMIT_SUBMIT_LINES_H

struct submit_lines {
    const char *at;
    unsigned line; /* number of the last line that was read */
};

/* The next line without blanks around it, continuations ('\' at the end) put together, comment
 * lines among them left out; empty lines and comments are given as they are.  mem_free it; NULL at
 * the end. */
char *submit_lines_next(struct submit_lines *lines);

/* The same without putting together: what is between `NAME @=TAG` and `@TAG`. */
char *submit_lines_raw(struct submit_lines *lines);

#endif
