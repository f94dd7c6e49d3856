/* wire/token.h - tokens (JWT, ES256): making and checking them.
 *
 * Claims: sub identity, scope names, exp, iat, jti id, iss pool, and `pattern` (glob of the names
 * that it may advertise); docs/protocol/wire.md §5.  The signing keys live in a directory:
 * <kid>.key (private, mode 0600, only where tokens are made) and <kid>.pub; `kid` in the header
 * picks one, so that an old key stays valid for an overlap.  ES256 is the only algorithm there is:
 * what the header says of it is compared, never obeyed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_H
#define WIRE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct os;
struct token_keys;

#define TOKEN_TEXT_MAX 4096
#define TOKEN_KEYS_MAX 64 /* public keys in the directory */
#define TOKEN_KID_MAX  64 /* bytes of a key's name with the zero */

struct token {
    char identity[256];
    char id[64];
    char pool[256];
    char pattern[256]; /* "" = any name */
    uint32_t scopes;
    int64_t issued_s;
    int64_t expires_s; /* 0: never */
};

/* A new P-256 pair <dir>/<kid>.key and .pub, of loop's secret bytes.  kid: letters, digits, '-',
 * '_' and '.', not first.  -EEXIST when there is such a key already, -EINVAL for the name. */
int token_key_make(struct os *os, struct loop *loop, const char *dir, const char *kid,
                   struct err *err);
/* Loads all <kid>.pub below dir.  -ENOENT: none there. */
int token_keys_load(struct os *os, const char *dir, struct token_keys **ret, struct err *err);
void token_keys_destroy(struct token_keys *keys); /* NULL is allowed */
size_t token_keys_count(const struct token_keys *keys);
/* Signs; the text (owned by the caller, mem_free) is one line.  The file must be readable by its
 * owner only (-EACCES). */
int token_issue(struct os *os, const char *key_path, const char *kid, const struct token *token,
                char **ret, struct err *err);
/* Checks signature and dates.  Refusals, each with its own sentence in err: -ENOKEY no token (empty
 * text), -EKEYEXPIRED expired, -EKEYREJECTED wrong signature or unknown key, -EINVAL malformed.
 * With -EKEYEXPIRED *ret is filled all the same, for messages.  Revocation and scopes are the
 * caller's to judge. */
int token_check(const struct token_keys *keys, const char *text, int64_t now_s, struct token *ret,
                struct err *err);

#endif
