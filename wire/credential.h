/* wire/credential.h - what a process proves itself with: its token and the key that it is bound to.
 *
 * Both stand in one file, TOKEN_FILE: the token in the first line, the private key in PEM behind
 * it. The file is read when it is needed and read again when the last reading is too old: a token
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

#define CREDENTIAL_WHY_MAX 512

struct log;
struct loop;
struct os;
struct strbuf;

struct credential {
    char *path;              /* NULL: none is configured */
    char *text;              /* the token; NULL: not read yet, or there is none */
    struct token token;      /* what it says of itself, unverified: whoever sees it verifies it */
    struct evp_pkey_st *key; /* NULL where text is */
    char why[CREDENTIAL_WHY_MAX];           /* why there is none */
    uint8_t file_digest[P256_DIGEST_BYTES]; /* of the file that text and key are from */
    uint64_t read_ms;
    bool was_read;
};

void credential_init(struct credential *credential, const char *path);
void credential_fini(struct credential *credential); /* wipes it */
void credential_change(struct credential *credential, const char *path);
/* Reads it (again) when the last reading is older than max_age_ms.  True: text, token and key are
 * there; false: why says what is missing. */
bool credential_read(struct credential *credential, struct os *os, struct loop *loop,
                     uint64_t max_age_ms);
/* Signs a statement of wire/proof.h with the key that credential_read() found. */
void credential_sign(const struct credential *credential, struct strbuf *statement,
                     uint8_t ret[PROOF_BYTES]);

#endif
