/* wire/claim_nonce.h - how a schedd recognizes the machine that dials it for a claim.
 *
 * A claim id alone must not be enough for the verb CLAIM.  The collector relays claim ids and the
 * negotiator reads them; either could take the machine's place and be given the job with its input.
 * So the startd makes a nonce (a random secret) for each claim.  When the schedd asks the startd to
 * dial (DIAL_ME), the startd's signed answer holds only the digest of the nonce.  The startd shows
 * the nonce itself only on the claim's connection, after the schedd has shown the certificate
 * whose fingerprint was in its signed DIAL_ME.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CLAIM_NONCE_H
#define WIRE_CLAIM_NONCE_H

#include <stdbool.h>

#define CLAIM_NONCE_DIGEST_SIZE 65 /* SHA-256 in hex, and the terminating zero */

/* Writes the SHA-256 of nonce, in hex, to ret. */
void claim_nonce_digest(const char *nonce, char ret[CLAIM_NONCE_DIGEST_SIZE]);
/* Returns whether digest is the digest of nonce.  False when nonce or digest is "". */
bool claim_nonce_fits(const char *nonce, const char *digest);

#endif
