/* wire/token_key.h - lets one signing key of the pool vouch for another.
 *
 * So a pool can replace its signing key without visiting every machine.  The old key signs the new
 * public key, and each token that is signed with the new key carries this signature in its header.
 * Whoever has the old public key can verify it.  Keys are not distributed over the network, so
 * nobody (least of all the hub) can add one.  There is one step only: the key that vouches must be
 * in the verifier's own directory.
 *
 * This endorsement is one line in <kid>.by, beside the keys: the name of the key that vouches, a
 * blank, its signature (base64url), and, of a limited key, a blank and the limits.  It is not
 * secret.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_KEY_H
#define WIRE_TOKEN_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/proof.h"
#include "wire/token.h"
#include "wire/token_limits.h"

struct err;
struct evp_pkey_st;
struct loop;
struct os;

/* The signature of one signing key over another. */
struct token_key_endorsement {
    char by[TOKEN_KID_MAX];          /* name of the key that vouches; "": there is no endorsement */
    uint8_t point[P256_POINT_BYTES]; /* the public key for which the key `by` vouches */
    uint8_t proof[PROOF_BYTES];      /* signature of the key `by` */
    char limits[TOKEN_LIMITS_TEXT];  /* by token_limits_print(); "": the key has no limits */
};

/* Reads <kid>.by, which is beside the private key key_path (<kid>.key).  Sets ret->by to "" if
 * there is no such file.  The caller sets ret->point.  Returns 0, or -EINVAL when the file does not
 * hold an endorsement. */
int token_key_endorsement_read(struct os *os, const char *key_path,
                               struct token_key_endorsement *ret, struct err *err);

/* What token_key_make_limited() makes. */
struct token_key_limited {
    const char *kid, *by;
    struct token_limits limits;
};

/* Makes a limited signing key: <dir>/<kid>.key, and <kid>.by with the limits, signed by the key
 * `by`.  There is no <kid>.pub: where it were, the key would have no limits.  Returns as
 * token_key_make() and token_key_endorse(); -EINVAL also when the limits are not complete. */
int token_key_make_limited(struct os *os, struct loop *loop, const char *dir,
                           const struct token_key_limited *spec, struct err *err);

/* Returns whether the key `by` (named endorsement->by) has signed that endorsement->point is the
 * public key named kid, with these limits. */
bool token_key_is_endorsed(const struct token_key_endorsement *endorsement, const char *kid,
                           struct evp_pkey_st *by);

#endif
