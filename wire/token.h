/* wire/token.h - makes and checks tokens (JWT, ES256).
 *
 * Claims of a token: sub (identity), scope (names), exp, nbf, iat, jti (id), iss and aud (the
 * pool), `pattern` (glob of the names that the holder may advertise), `slots`, `uid_domain` and
 * `owners` (of a schedd), and cnf, the public key of the token's holder (RFC 7800):
 * docs/protocol/wire.md §5.  A token alone proves nothing: whoever shows a token also signs with
 * the holder's private key (wire/proof.h).
 *
 * The pool's signing keys are in a directory: <kid>.key (private, mode 0600, only where tokens are
 * made) and <kid>.pub.  `kid` in the token's header selects the key, so that an old and a new key
 * can both be valid for a time.  If there is a file <kid>.by, another signing key vouches for this
 * one (wire/token_key.h).  ES256 is the only algorithm: the algorithm in the header is compared
 * with it, never obeyed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_H
#define WIRE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/p256.h"

struct err;
struct loop;
struct os;
struct strbuf;
struct token_keys;

#define TOKEN_TEXT_MAX 4096 /* most bytes of a token, without the terminating zero */
/* how many slot ads of each Machine may be advertised, if the token does not say a number */
#define TOKEN_SLOTS        64
#define TOKEN_SLOTS_MAX    10000000
#define TOKEN_FILE_MAX     (TOKEN_TEXT_MAX + P256_PEM_MAX) /* longest token file, bytes */
#define TOKEN_KEYS_MAX     64    /* most public keys in the pool's directory of keys */
#define TOKEN_KID_MAX      64    /* most bytes of a key's name, with the zero */
#define TOKEN_KEY_FILE_MAX 16384 /* most bytes of a PEM file */

/* What a token says. */
struct token {
    char identity[256]; /* claim sub of the token: "alice@pool" */
    char id[64];        /* jti */
    char pool[256];     /* claims iss and aud of the token: the pool */
    char pattern[256];  /* names that the holder may advertise, a glob; "": any */
    /* Whom the jobs of a schedd with this token may run as: users of this UID_DOMAIN ("": nobody)
     * whose names match the glob `owners` ("": all). */
    char uid_domain[256], owners[256];
    uint32_t scopes;                  /* SCOPE_* bits (wire/verbs.h) */
    int64_t issued_s;                 /* seconds since 1970 */
    int64_t not_before_s;             /* seconds since 1970; 0: valid at once */
    int64_t expires_s;                /* 0: never */
    uint8_t holder[P256_POINT_BYTES]; /* claim cnf of the token: the holder's public key */
    /* slot ads that may be advertised with this token in all; 0: the token does not say */
    uint32_t slots;
};

/* Makes a P-256 key pair from loop's secret random bytes: the files <dir>/<kid>.key and <kid>.pub.
 * kid: letters, digits, '-', '_' and '.', but '.' not first.  Returns 0; -EEXIST: the key exists
 * already; -EINVAL: bad name; or an error of writing the files. */
int token_key_make(struct os *os, struct loop *loop, const char *dir, const char *kid,
                   struct err *err);
/* Makes the signing key `by` vouch for the signing key kid, both in dir.  Tokens that are signed
 * with kid are then also accepted where only by's public key is known (wire/token_key.h).  Returns
 * 0; -ENOENT: <kid>.pub or <by>.key is missing; -EACCES: group or others may access <by>.key, or
 * this process may not; -EINVAL: one of the files is not such a key, a name is bad, or by and kid
 * are the same; or an error of reading or writing the files. */
int token_key_endorse(struct os *os, const char *dir, const char *kid, const char *by,
                      struct err *err);
/* Reads the file of a private key into *pem, which the caller wipes and frees.  Returns 0; -EACCES
 * when group or others may access the file; or an error of reading. */
int token_key_read(struct os *os, const char *path, char **pem, size_t *length, struct err *err);
/* Loads all public keys <kid>.pub in dir; *ret is the caller's.  Returns 0, or -ENOENT when there
 * are none. */
int token_keys_load(struct os *os, const char *dir, struct token_keys **ret, struct err *err);
/* Returns an empty set of public keys, owned by the caller. */
struct token_keys *token_keys_create(void);
/* Adds the public key in PEM to the set, under the name kid.  Returns 0; -EINVAL when pem is not
 * a public key of P-256 or kid is a bad name; -E2BIG when the set is full. */
int token_keys_add(struct token_keys *keys, const char *kid, const char *pem, struct err *err);
/* Returns whether kid may be the name of a key, see token_key_make(). */
bool token_kid_is_valid(const char *kid);
void token_keys_destroy(struct token_keys *keys); /* NULL is allowed */
size_t token_keys_count(const struct token_keys *keys);
/* Signs the content of text with the private key in PEM; appends a dot and the signature in
 * base64url.  Returns 0; or -EINVAL, with text unchanged, when pem is not a key of P-256 or is
 * locked by a passphrase. */
int token_sign(const char *pem, size_t pem_length, struct strbuf *text);
/* Makes a token signed by the key file key_path.  *ret is one line, which the caller frees with
 * mem_free().  Returns 0, or -EACCES when others than its owner may access the key file, or an
 * error of reading the file. */
int token_issue(struct os *os, const char *key_path, const char *kid, const struct token *token,
                char **ret, struct err *err);
/* Makes a token together with a new key pair for its holder (token->holder is ignored).  *ret is
 * the content of a whole token file, with the private key; the caller wipes and frees *ret.
 * Returns as token_issue(), or -ENOMEM. */
int token_issue_file(struct os *os, struct loop *loop, const char *key_path, const char *kid,
                     const struct token *token, char **ret, struct err *err);
/* Splits the content of a token file.  *token is the first line without surrounding white space (""
 * for an empty file), *key the private key after it, or NULL if there is none; both are the
 * caller's.  Returns 0, or -EINVAL when what follows the token is not a private key. */
int token_file_parse(const char *text, char **token, struct evp_pkey_st **key, struct err *err);
/* Decodes a token without checking its signature; use it only for one's own token.  Returns 0;
 * -EINVAL malformed; -EKEYREJECTED no holder's key in the token. */
int token_peek(const char *text, struct token *ret, struct err *err);
/* Checks a token's signature and dates and fills *ret.  Errors, each with a sentence of its own in
 * err: -ENOKEY text is empty; -EKEYEXPIRED expired; -EKEYREJECTED wrong signature, unknown key, no
 * holder's key in the token (made by version 1) or not valid yet; -EINVAL malformed.  With
 * -EKEYEXPIRED *ret is filled, too, for messages.  Pool, revocation and scopes are left to the
 * caller. */
int token_check(const struct token_keys *keys, const char *text, int64_t now_s, struct token *ret,
                struct err *err);
/* Checks only the dates of a token.  Returns 0; -EKEYEXPIRED: expired; -EKEYREJECTED: not valid
 * yet. */
int token_check_dates(const struct token *token, int64_t now_s, struct err *err);

#endif
