/* cli/terminal_plan.h - text as a terminal shows it: columns, colours, and nothing that moves the
 * cursor.
 *
 * Text is UTF-8.  A terminal's columns are not bytes: a letter with an accent is two bytes in one
 * column, a Chinese one three bytes in two.  What is not UTF-8, and control characters in either
 * form (0x1b, U+009B), could make a terminal do things, and is shown as '?'.  The C library's
 * wcwidth() is not used: it depends on the locale, which a cron job has not.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TERMINAL_PLAN_H
#define CLI_TERMINAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/* What standard output is; all zero: no terminal, lines of any length, no colours. */
struct terminal {
    bool colour;
    int columns; /* lines are cut there; 0: never */
    int rows;
};

size_t terminal_width(const char *text, size_t length); /* in columns */
/* The bytes of the longest beginning that fits into so many columns. */
size_t terminal_fit(const char *text, size_t length, size_t columns);
void terminal_clean(char *text, size_t length); /* in place, byte for byte */
/* The line that was printed from begin on, without its end, is cut to so many columns. */
void terminal_cut(struct strbuf *out, size_t begin, int columns);
/* Every line of text, cut likewise. */
void terminal_cut_lines(const char *text, int columns, struct strbuf *out);

/* The escape sequence for a cell of that text under that heading, "" for none.  Colours say what
 * wants attention: red what failed or is held, green what works, blue what sleeps. */
const char *terminal_colour(const char *heading, const char *text, size_t length);
extern const char terminal_bold[], terminal_plain[];

#endif
