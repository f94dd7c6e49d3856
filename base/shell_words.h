/* base/shell_words.h - splits a line into words as a shell does, without anything that a shell
 * would run or replace.
 *
 * Blanks, tabs and newlines separate words. '...' keeps everything. "..." keeps everything but \",
 * \\, \` and \$, which stand for the second character.  A backslash outside of quotes keeps the
 * next character. $'...' knows \n \t \r \\ \' \" \e \a \b \f \v, \xHH (one or two digits) and \NNN
 * (one to three octal digits).  A word that begins with # begins a comment, up to the end of the
 * line.
 *
 * Whoever writes | or $HOME expects a shell.  So the unquoted characters | & ; < > ( ) $ and ` are
 * errors instead of parts of words.  Other characters that a shell might replace (* ? [ ~ {) stand
 * for themselves.  Source: "2.2 Quoting" of the Shell Command Language in POSIX.1-2024.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SHELL_WORDS_H
#define BASE_SHELL_WORDS_H

#include <stddef.h>

struct err;
struct strbuf;
struct vec;

#define SHELL_WORDS_BYTES_MAX ((size_t)1 << 20) /* most bytes of a text */
#define SHELL_WORDS_COUNT_MAX 65536             /* most words of a text */

/* Splits text[0..length) into words and appends each word in a block of its own, which the caller
 * frees with mem_free().  Returns 0; -EINVAL: a quote is not closed, an unknown escape, an unquoted
 * character that only a shell understands, or a zero byte, and err names the character and its
 * column (in bytes, from 1); -E2BIG: more than SHELL_WORDS_BYTES_MAX bytes or SHELL_WORDS_COUNT_MAX
 * words; -ENOMEM.  On failure nothing has been appended. */
int shell_words_parse(const char *text, size_t length, struct vec *words, struct err *err);

/* Appends one word to out, after a blank if out is not empty, so that shell_words_parse() gives it
 * back, and so does a shell such as bash.  A word of harmless characters is not quoted; control
 * characters are written as $'\n': what is appended has no newline. */
void shell_words_append(struct strbuf *out, const char *word);

#endif
