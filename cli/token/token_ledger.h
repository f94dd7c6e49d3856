/* cli/token/token_ledger.h - the list of tokens made here: a file with one ad on each line.
 *
 * `Id Identity Scopes Pattern Issued Expires(0: never) Revoked RevokedTime File Fingerprint`.  The
 * file does not contain the tokens: its reader can revoke a token but not use it.  The file is
 * small, because people make tokens by hand, so each change rewrites it whole, under a lock file
 * beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TOKEN_TOKEN_LEDGER_H
#define CLI_TOKEN_TOKEN_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ad;
struct err;
struct os;
struct token;

#define TOKEN_LEDGER_BYTES_MAX (16 << 20)

/* Reads all entries (struct ad *), oldest first; a missing file is empty.  -EINVAL: err names a
 * line that is not an ad. */
int token_ledger_read(struct os *os, const char *path, struct vec *ret, struct err *err);
/* How a token was made. */
struct token_origin {
    const char *file;        /* file with the token or the answer; NULL: printed */
    const char *fingerprint; /* fingerprint of the holder's request; NULL: the key was made here */
};

struct token_entry {
    const struct token *token;
    struct token_origin origin;
};

/* Adds entries for new tokens; the file is rewritten once. */
int token_ledger_add_all(struct os *os, const char *path, const struct token_entry *entries,
                         size_t count, struct err *err);
/* Adds an entry for a new token. */
int token_ledger_add(struct os *os, const char *path, const struct token *token,
                     const struct token_origin *origin, struct err *err);
/* Marks a token as revoked.  -ENOENT: no token has that id. */
int token_ledger_revoke(struct os *os, const char *path, const char *id, int64_t now_s,
                        struct err *err);

#endif
