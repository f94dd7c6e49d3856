/* wire/claim_nonce.c - see claim_nonce.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/claim_nonce.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "wire/proof.h"

void claim_nonce_digest(const char *nonce, char ret[CLAIM_NONCE_DIGEST_SIZE])
{
    uint8_t digest[P256_DIGEST_BYTES];
    proof_digest(nonce, strlen(nonce), digest);
    text_hex(digest, sizeof digest, ret);
}

bool claim_nonce_fits(const char *nonce, const char *digest)
{
    char own[CLAIM_NONCE_DIGEST_SIZE];
    if (nonce[0] == '\0' || strlen(digest) != sizeof own - 1) {
        return false;
    }
    claim_nonce_digest(nonce, own);
    return text_equal_secret(own, digest, sizeof own - 1);
}
