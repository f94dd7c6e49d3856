/* cli/token/token_ledger.h - which tokens were made here: a file with an ad in each line.
 *
 * `Id Identity Scopes Pattern Issued Expires(0: never) Revoked RevokedTime File Fingerprint`.  The
 * tokens themselves are not in it: who reads the file can revoke, not impersonate.  It is small
 * (tokens are made by people), so each change rewrites it whole, under a lock beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_LEDGER_H
#define CLI_TOKEN_TOKEN_LEDGER_H

#include <stdint.h>

#include "base/vec.h"

struct ad;
struct err;
struct os;
struct token;

#define TOKEN_LEDGER_BYTES_MAX (16 << 20)

/* All of them, struct ad, oldest first; a file that is not there is empty.  -EINVAL names the line
 * that is no ad. */
int token_ledger_read(struct os *os, const char *path, struct vec *ret, struct err *err);
/* How a token was made. */
struct token_origin {
    const char *file;        /* where it, or the answer with it, was written; NULL: printed */
    const char *fingerprint; /* of the request that its holder made; NULL: the key was made here */
};

/* Notes a new one. */
int token_ledger_add(struct os *os, const char *path, const struct token *token,
                     const struct token_origin *origin, struct err *err);
/* -ENOENT: there is none of that id. */
int token_ledger_revoke(struct os *os, const char *path, const char *id, int64_t now_s,
                        struct err *err);

#endif
