/* cli/terminal_plan.h - text as a terminal shows it: columns, colours, and no control characters.
 *
 * Text is UTF-8.  Columns of a terminal are not bytes: a letter with an accent is two bytes in one
 * column, a Chinese character three bytes in two columns.  Invalid UTF-8 and control characters in
 * either form (0x1b, U+009B) could control the terminal and are shown as '?'.  The C library's
 * wcwidth() is not used, because it depends on the locale, which a cron job does not have.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TERMINAL_PLAN_H
#define CLI_TERMINAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/* Describes standard output; all zero: not a terminal, lines of any length, no colours. */
struct terminal {
    bool colour;
    int columns; /* lines are cut to this width; 0: not cut */
    int rows;
};

size_t terminal_width(const char *text, size_t length); /* width of text in columns */
/* The number of bytes of the longest prefix of text that fits into `columns` columns. */
size_t terminal_fit(const char *text, size_t length, size_t columns);
/* replaces control characters in place, byte for byte */
void terminal_clean(char *text, size_t length);
/* Cuts the line that starts at byte `begin` of out, which has no newline, to `columns` columns. */
void terminal_cut(struct strbuf *out, size_t begin, int columns);
/* Appends every line of text, cut to `columns` columns. */
void terminal_cut_lines(const char *text, int columns, struct strbuf *out);

/* The escape sequence for the colour of a table's cell with that text in the column with that
 * heading; "" for no colour.  Red: failed or held; green: working; blue: asleep. */
const char *terminal_colour(const char *heading, const char *text, size_t length);
extern const char terminal_bold[], terminal_plain[];

#endif
