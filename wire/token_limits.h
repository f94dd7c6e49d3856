/* wire/token_limits.h - what a limited signing key may sign.
 *
 * A limited key is for one daemon that makes tokens by itself, the factory.  Whoever steals it can
 * do only what its limits allow.  Its public key is in no machine's directory of keys: a signing
 * key of the pool vouches for it and for its limits in one statement (wire/token_key.h), each of
 * its tokens carries this statement in its header, and each receiver holds the token against the
 * limits.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_LIMITS_H
#define WIRE_TOKEN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define TOKEN_LIMITS_LIFE_MAX_S ((int64_t)366 * 86400) /* longest life of a token of such a key */

#define TOKEN_LIMITS_TEXT 300 /* most bytes of the text of limits, with the zero */

struct err;
struct strbuf;
struct token;

struct token_limits {
    /* The identities and name patterns of its tokens begin with this, without the '*' at its end:
     * "factory-*".  "": the key has no limits. */
    char pattern[128];
    uint32_t scopes; /* SCOPE_* bits; its tokens have no others */
    int64_t life_s;  /* none of its tokens is valid for longer than this */
    int64_t until_s; /* nor later than this, seconds since 1970 */
};

/* Checks that the limits are complete.  Returns 0, or -EINVAL, with the limit at fault in err. */
int token_limits_valid(const struct token_limits *limits, struct err *err);
/* Checks what a key with these limits, named kid, has signed.  Returns 0, or -EKEYREJECTED, with
 * the limit that was passed in err. */
int token_limits_check(const struct token_limits *limits, const char *kid,
                       const struct token *token, int64_t now_s, struct err *err);
/* Appends the limits as the words of a line: "factory-* READ,ADVERTISE 86400 1830000000". */
void token_limits_print(const struct token_limits *limits, struct strbuf *out);
/* Parses what token_limits_print() wrote.  Returns 0, or -EINVAL when text is anything else. */
int token_limits_parse(const char *text, struct token_limits *ret);

#endif
