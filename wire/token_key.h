/* wire/token_key.h - one signing key of the pool answers for another.
 *
 * A pool replaces its signing key without going to every machine: the key that is valid signs the
 * new public key, and each token that is signed with the new key carries that in its header, so
 * whoever has the old public key can verify it.  Nobody hands out keys, so nobody (the hub least of
 * all) can add one.  One step only: the key that answers must be in the verifier's own directory.
 *
 * The endorsement lies in <kid>.by beside the keys, one line: the name of the key that answers, a
 * blank, its signature (base64url).  It holds nothing secret.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_KEY_H
#define WIRE_TOKEN_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/proof.h"
#include "wire/token.h"

struct err;
struct evp_pkey_st;
struct os;

struct token_key_endorsement {
    char by[TOKEN_KID_MAX];          /* the key that answers; "": none does */
    uint8_t point[P256_POINT_BYTES]; /* the public key that it answers for */
    uint8_t proof[PROOF_BYTES];
};

/* Reads <kid>.by, which lies beside the private key key_path (<kid>.key).  A key without that file
 * has no endorsement: ret->by is "".  ret->point is the caller's to set.  -EINVAL: the file does
 * not hold an endorsement. */
int token_key_endorsement_read(struct os *os, const char *key_path,
                               struct token_key_endorsement *ret, struct err *err);

/* Has the holder of that key (endorsement->by's) signed that kid is the name of that point? */
bool token_key_is_endorsed(const struct token_key_endorsement *endorsement, const char *kid,
                           struct evp_pkey_st *by);

#endif
