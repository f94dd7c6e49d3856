/* wire/credential.h - how a process proves who it is: its token and the private key of that token.
 *
 * Both are in one file, TOKEN_FILE: the token in the first line, the private key in PEM after it.
 * The file is read when it is needed, and again when it was last read too long ago.  So a token
 * that was replaced is used without a restart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CREDENTIAL_H
#define WIRE_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proof.h"
#include "wire/token.h"

#define CREDENTIAL_WHY_MAX 512 /* most bytes of a reason, with the terminating zero */

struct log;
struct loop;
struct os;
struct strbuf;

/* A process's own token and key.  Only text, token, key and why are for callers to read. */
struct credential {
    char *path; /* path of TOKEN_FILE; NULL: not configured */
    char *text; /* the token; NULL: not read yet, or missing */
    /* the token, decoded from text; not verified, because the token's receiver verifies it */
    struct token token;
    struct evp_pkey_st *key;      /* the token's private key; NULL: not read yet, or unusable */
    char why[CREDENTIAL_WHY_MAX]; /* why credential_read() returned false */
    uint8_t file_digest[P256_DIGEST_BYTES]; /* SHA-256 of the file that was read last */
    uint64_t read_ms;                       /* loop_now_ms() when the file was last read */
    bool was_read;                          /* false: the file was never read */
};

/* Sets the path of TOKEN_FILE (NULL: not configured), copied.  Reads nothing yet. */
void credential_init(struct credential *credential, const char *path);
void credential_fini(struct credential *credential); /* frees all; the key is wiped */
/* Drops token and key and sets another path; the next credential_read() reads the new file. */
void credential_change(struct credential *credential, const char *path);
/* Reads the file, unless it was last read at most max_age_ms ago.  Returns true when text, token
 * and key are there and belong together.  On false, `why` says what is missing. */
bool credential_read(struct credential *credential, struct os *os, struct loop *loop,
                     uint64_t max_age_ms);
/* Writes to ret the signature over a statement (wire/proof.h) with the private key.
 * credential_read() must have returned true. */
void credential_sign(const struct credential *credential, struct strbuf *statement,
                     uint8_t ret[PROOF_BYTES]);

#endif
