/* wire/fingerprint.c - see fingerprint.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/fingerprint.h"

#include <stdint.h>

#include "base/text.h"
#include "wire/p256.h"

#define LETTERS 20
#define GROUP   4

void fingerprint_of(const void *data, size_t length, char ret[FINGERPRINT_SIZE])
{
    static const char ALPHABET[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint8_t digest[P256_DIGEST_BYTES];
    p256_digest(&(struct p256_piece){data, length}, 1, digest);
    size_t used = 0;
    for (unsigned i = 0; i < LETTERS; i++) {
        unsigned bit = i * 5;
        unsigned two = (unsigned)digest[bit / 8] << 8 | digest[bit / 8 + 1];
        if (i > 0 && i % GROUP == 0) {
            ret[used++] = '-';
        }
        ret[used++] = ALPHABET[two >> (11 - bit % 8) & 31];
    }
    ret[used] = '\0';
}

/* Returns the letter that was meant; 0: not a letter of the alphabet. */
static char letter_of(char typed)
{
    char lower = text_lower(typed);
    return lower == 'o' ? '0' : lower == 'i' || lower == 'l' ? '1' : lower;
}

/* Moves to the next character that counts. */
static const char *skip_between(const char *at)
{
    while (*at == '-' || *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
        at++;
    }
    return at;
}

bool fingerprint_is(const char *fingerprint, const char *typed)
{
    unsigned equal = 0;
    fingerprint = skip_between(fingerprint);
    typed = skip_between(typed);
    while (*fingerprint != '\0' && letter_of(*fingerprint) == letter_of(*typed)) {
        equal++;
        fingerprint = skip_between(fingerprint + 1);
        typed = skip_between(typed + 1);
    }
    return *fingerprint == '\0' && *typed == '\0' && equal == LETTERS;
}
