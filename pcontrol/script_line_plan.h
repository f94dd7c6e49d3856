/* pcontrol/script_line_plan.h - a line of a script, and what is said of it.
 *
 * Scripts are read by pcontrol itself and by its client; a person's line at a terminal has the
 * number 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_SCRIPT_LINE_PLAN_H
#define PCONTROL_SCRIPT_LINE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/shell_words.h"

struct err;
struct strbuf;
struct vec;

#define SCRIPT_LINE_MAX SHELL_WORDS_BYTES_MAX /* most bytes of a line, without its newline */

/* Appends the words of text[0..length), a line without its newline, as shell_words_parse() does.
 * Returns 0; -E2BIG: the line is too long, and its first SCRIPT_LINE_MAX + 1 bytes are enough to
 * say so; -EINVAL: it ends with a carriage return, as lines of Windows do; or an error of
 * shell_words_parse(). */
int script_line_read(const char *text, size_t length, struct vec *words, struct err *err);

/* Appends what is to be printed for an error why[0..length): each of its lines behind "pcontrol: "
 * and, unless number is 0, "line NUMBER: ". */
void script_line_blame(uint64_t number, const char *why, size_t length, struct strbuf *out);

#endif
