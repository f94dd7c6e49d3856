/* cli/token/token_terms_plan.h - decides what a requested token grants, and shows that to people.
 *
 * The administrator's options win; where an option is missing, the request's value is taken, after
 * the administrator has seen it.  Two things are never taken from a request: scopes beyond those of
 * a user or a machine, and a lifetime longer than the default.  Such a request is refused, not
 * reduced, so that its holder does not get something else than he asked for.
 *
 * Pure.  Scopes are bits of wire/verbs.h; only the caller knows their meaning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_TERMS_PLAN_H
#define CLI_TOKEN_TOKEN_TERMS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;

/* What a token grants: as a token request asks, as the options say, or as finally granted.  "" and
 * 0 mean: not given. */
struct token_terms {
    char identity[256];
    char pattern[256];
    uint32_t scopes;
    uint32_t slots;
    int64_t lifetime_s; /* lifetime of the token, seconds; in granted terms, 0 means forever */
    bool says_lifetime; /* true: lifetime_s was given; an administrator may give 0 */
};

typedef const char *(*token_scope_names_f)(uint32_t scopes, char *ret, unsigned size);

struct token_rules {
    const char *domain; /* domain that is added to an identity without a domain */
    uint32_t may_ask;   /* scopes that a request may ask for */
    uint32_t scopes;    /* scopes when none are given */
    /* lifetime in seconds when none is given, and the longest that a request may ask for */
    int64_t lifetime_s;
    token_scope_names_f names;
};

/* Computes the granted terms *ret from the request `asked` and the administrator's options `said`.
 * -EPERM: the request asks for something that only an option can grant; -ENAMETOOLONG: identity and
 * domain are too long. */
int token_terms_grant(const struct token_terms *asked, const struct token_terms *said,
                      const struct token_rules *rules, struct token_terms *ret, struct err *err);

/* Prints the granted terms `given`, each with the requested value (`asked`) where that differs.
 * names: writes the names of scopes to its buffer and returns them. */
void token_terms_show(const struct token_terms *asked, const struct token_terms *given,
                      token_scope_names_f names, struct strbuf *out);
/* Prints a line with a name and a value in the layout of token_terms_show(). */
void token_terms_line(const char *name, const char *value, struct strbuf *out);

#endif
