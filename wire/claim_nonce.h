/* wire/claim_nonce.h - by what a schedd knows the machine that dials it for a claim.
 *
 * A claim id is seen by the collector, which carries it, and by the negotiator.  So it is not
 * enough for CLAIM: whoever has it could take the machine's place, and be given the job with its
 * input. The startd makes a nonce for each claim and tells its digest in the answer to DIAL_ME,
 * which is signed; the nonce itself is shown on the claim's connection only, to a schedd that has
 * shown the certificate which came with DIAL_ME, signed as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_CLAIM_NONCE_H
#define WIRE_CLAIM_NONCE_H

#include <stdbool.h>

#define CLAIM_NONCE_DIGEST_SIZE 65 /* SHA-256 in hex, and the zero */

void claim_nonce_digest(const char *nonce, char ret[CLAIM_NONCE_DIGEST_SIZE]);
/* "" as nonce or digest fits nothing. */
bool claim_nonce_fits(const char *nonce, const char *digest);

#endif
