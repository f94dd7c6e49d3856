/* base/args.h - splits the argument and environment texts of jobs into words, as HTCondor writes
 * them.
 *
 * There are two syntaxes of each.  V1 (attributes Args, Env): arguments are separated by blanks,
 * without quoting; environment entries are separated by ';'.  V2 (attributes Arguments,
 * Environment): words are separated by blanks; '...' keeps blanks, and '' inside quotes is one
 * single quote.  Source: condor_submit manual, commands "arguments" and "environment".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <stddef.h>

struct err;
struct strbuf;
struct vec;

#define ARGS_COUNT_MAX 20000 /* most words in one text of arguments or environment */

/* args_parse_v1() and args_parse_v2() split a text of arguments, env_parse_v1() and env_parse_v2()
 * a text of environment entries NAME=value.  Each word is appended to the vector in a block of its
 * own, which the caller frees with mem_free().  Each function returns 0; -EINVAL: a quote is not
 * closed (V2), or an entry has no '='; -E2BIG: more than ARGS_COUNT_MAX words.  On failure some
 * words may have been appended. */
int args_parse_v1(const char *text, struct vec *words, struct err *err);
int args_parse_v2(const char *text, struct vec *words, struct err *err);
int env_parse_v1(const char *text, struct vec *entries, struct err *err);
int env_parse_v2(const char *text, struct vec *entries, struct err *err);

/* Appends one word to out in V2 form, after a blank if out is not empty.  Only blanks and single
 * quotes are quoted, as HTCondor writes it. */
void args_append_v2(struct strbuf *out, const char *word);

#endif
