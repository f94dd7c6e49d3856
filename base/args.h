/* base/args.h - argument and environment texts of jobs, as HTCondor writes them.
 *
 * Two syntaxes each.  V1 (attributes Args, Env): arguments separated by blanks, no quoting;
 * environment entries separated by ';'. V2 (attributes Arguments, Environment): separated by
 * blanks; '...' keeps blanks, '' inside quotes is one single quote. Source: condor_submit manual,
 * commands "arguments" and "environment".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_ARGS_H
#define BASE_ARGS_H

#include <stddef.h>

struct err;
struct strbuf;
struct vec;

#define ARGS_COUNT_MAX 20000

/* Append one mem_ block per word to `words`.  -EINVAL: a quote that is not closed (V2), or an entry
 * without '=' (env); -E2BIG. */
int args_parse_v1(const char *text, struct vec *words, struct err *err);
int args_parse_v2(const char *text, struct vec *words, struct err *err);
int env_parse_v1(const char *text, struct vec *entries, struct err *err);
int env_parse_v2(const char *text, struct vec *entries, struct err *err);

/* Appends one word in V2 form, after a blank if out is not empty: quotes around its blanks and
 * single quotes only, as HTCondor writes it. */
void args_append_v2(struct strbuf *out, const char *word);

#endif
