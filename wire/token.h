/* wire/token.h - tokens (JWT, ES256): making and checking them.
 *
 * Claims: sub identity, scope names, exp, nbf, iat, jti id, iss and aud pool, `pattern` (glob of
 * the names that it may advertise), `slots`, `uid_domain` and `owners` (a schedd's), and cnf, the
 * public key of its holder (RFC 7800): docs/protocol/wire.md §5.  A token alone is worth nothing:
 * whoever shows one signs with the holder's private key as well (wire/proof.h).
 *
 * The pool's signing keys live in a directory: <kid>.key (private, mode 0600, only where tokens are
 * made) and <kid>.pub; `kid` in the header picks one, so that an old key stays valid for an
 * overlap.  Where a <kid>.by is there, too, another key answers for that one (wire/token_key.h).
 * ES256 is the only algorithm there is: what the header says of it is compared, never obeyed.
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

#define TOKEN_TEXT_MAX     4096
#define TOKEN_SLOTS        64 /* slot ads of each Machine, where the token says no number */
#define TOKEN_SLOTS_MAX    10000000
#define TOKEN_FILE_MAX     (TOKEN_TEXT_MAX + P256_PEM_MAX) /* bytes of a token file */
#define TOKEN_KEYS_MAX     64                              /* public keys in the directory */
#define TOKEN_KID_MAX      64                              /* bytes of a key's name with the zero */
#define TOKEN_KEY_FILE_MAX 16384                           /* bytes of a PEM file */

struct token {
    char identity[256];
    char id[64];
    char pool[256];    /* iss and aud */
    char pattern[256]; /* "" = any name */
    /* Of a schedd: whose accounts its jobs may run as, users of that UID_DOMAIN ("": nobody's)
     * whose names the glob allows ("": any). */
    char uid_domain[256], owners[256];
    uint32_t scopes;
    int64_t issued_s;
    int64_t not_before_s; /* 0: at once */
    int64_t expires_s;    /* 0: never */
    uint8_t holder[P256_POINT_BYTES];
    uint32_t slots; /* slot ads that may be advertised with it, in all; 0: it says none */
};

/* A new P-256 pair <dir>/<kid>.key and .pub, of loop's secret bytes.  kid: letters, digits, '-',
 * '_' and '.', not first.  -EEXIST when there is such a key already, -EINVAL for the name. */
int token_key_make(struct os *os, struct loop *loop, const char *dir, const char *kid,
                   struct err *err);
/* Lets the signing key `by` answer for the key kid, both in dir: tokens that are signed with kid
 * are then good also where only by's public key is (wire/token_key.h).  -ENOENT, -EACCES, -EINVAL
 * name the file at fault; -EINVAL also for a key that is to answer for itself. */
int token_key_endorse(struct os *os, const char *dir, const char *kid, const char *by,
                      struct err *err);
/* Reads the file of a private key into *pem, which the caller wipes and frees.  -EACCES: group or
 * others may read the file. */
int token_key_read(struct os *os, const char *path, char **pem, size_t *length, struct err *err);
/* Loads all <kid>.pub below dir.  -ENOENT: none there. */
int token_keys_load(struct os *os, const char *dir, struct token_keys **ret, struct err *err);
/* A set without a key in it, and one key more from PEM: -EINVAL for what is not a public key of
 * P-256 or for its name, -E2BIG for one too many. */
struct token_keys *token_keys_create(void);
int token_keys_add(struct token_keys *keys, const char *kid, const char *pem, struct err *err);
bool token_kid_is_valid(const char *kid);
void token_keys_destroy(struct token_keys *keys); /* NULL is allowed */
size_t token_keys_count(const struct token_keys *keys);
/* Appends a dot and the signature (base64url) of what is in text by the private key in PEM.
 * -EINVAL: not one of curve P-256, or locked by a passphrase; text is as it was. */
int token_sign(const char *pem, size_t pem_length, struct strbuf *text);
/* Signs; the text (owned by the caller, mem_free) is one line.  The key file must be readable by
 * its owner only (-EACCES). */
int token_issue(struct os *os, const char *key_path, const char *kid, const struct token *token,
                char **ret, struct err *err);
/* The same for a holder that is made now (token->holder is not looked at): the text of a whole
 * token file, with the private key.  The caller wipes and frees it. */
int token_issue_file(struct os *os, struct loop *loop, const char *key_path, const char *kid,
                     const struct token *token, char **ret, struct err *err);
/* Takes the text of a token file apart: *token is its first line without white space around it
 * (owned by the caller, "" for an empty file), *key the private key behind it, NULL when there is
 * none.  -EINVAL: what stands behind the token is not a private key. */
int token_file_parse(const char *text, char **token, struct evp_pkey_st **key, struct err *err);
/* What a token says of itself; the signature is not looked at.  For one's own: -EINVAL malformed,
 * -EKEYREJECTED without a holder's key. */
int token_peek(const char *text, struct token *ret, struct err *err);
/* Checks signature and dates.  Refusals, each with its own sentence in err: -ENOKEY no token (empty
 * text), -EKEYEXPIRED expired, -EKEYREJECTED wrong signature, unknown key, no holder's key in it
 * (made by a version before 2) or not valid yet, -EINVAL malformed.  With -EKEYEXPIRED *ret is
 * filled all the same, for messages.  Pool, revocation and scopes are the caller's to judge. */
int token_check(const struct token_keys *keys, const char *text, int64_t now_s, struct token *ret,
                struct err *err);
/* The part of it that depends on the time. */
int token_check_dates(const struct token *token, int64_t now_s, struct err *err);

#endif
