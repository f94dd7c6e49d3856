/* cli/token/token_terms_plan.h - what a token that was asked for gives, and how people are shown
 * it.
 *
 * The administrator's options rule; where he says nothing, what was asked for is taken, and he has
 * seen it.  Two things are never taken from a request: scopes that make more than a user or a
 * machine of its holder, and a life that is longer than that of tokens without an option.  Such a
 * request is refused, not trimmed: its holder would get what he did not ask for.
 *
 * Pure.  Scopes are bits of wire/verbs.h, which are the caller's business.
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

struct token_terms { /* "" and 0: nothing was said of it */
    char identity[256];
    char pattern[256];
    uint32_t scopes;
    uint32_t slots;
    int64_t lifetime_s; /* of what is given: 0 is for ever */
    bool says_lifetime; /* an administrator may say 0 */
};

typedef const char *(*token_scope_names_f)(uint32_t scopes, char *ret, unsigned size);

struct token_rules {
    const char *domain; /* of an identity that names none */
    uint32_t may_ask;   /* scopes that a request may give */
    uint32_t scopes;    /* where nothing is said of them */
    int64_t lifetime_s; /* likewise, and the most that a request may give */
    token_scope_names_f names;
};

/* -EPERM: the request asks for what only an option gives; -ENAMETOOLONG: the identity and the
 * domain. */
int token_terms_grant(const struct token_terms *asked, const struct token_terms *said,
                      const struct token_rules *rules, struct token_terms *ret, struct err *err);

/* Lines of what is given, with what was asked for where that is something else. */
void token_terms_show(const struct token_terms *asked, const struct token_terms *given,
                      token_scope_names_f names, struct strbuf *out);
/* One line more, in the same form. */
void token_terms_line(const char *name, const char *value, struct strbuf *out);

#endif
