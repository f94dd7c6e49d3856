/* wire/fingerprint.h - a digest that two people compare over the telephone.
 *
 * 20 letters of Crockford's base32 in groups of four, the first 100 bits of SHA-256: who wants
 * another text with the same fingerprint has to try 2^100 of them.  The alphabet has no I, L, O and
 * U; what is typed may be in lower case, without dashes or with blanks, and with these letters in
 * the place of 1, 1 and 0.
 *
 * Rejected: fewer letters (a key is made in microseconds, so 40 bits are tried in days), words of a
 * list (they are read in one language), hex (25 letters for as much).  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_FINGERPRINT_H
#define WIRE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>

#define FINGERPRINT_SIZE 25 /* "7K2M-...-W3PD" and the zero */

void fingerprint_of(const void *data, size_t length, char ret[FINGERPRINT_SIZE]);
/* Did somebody type this fingerprint?  All of it: a part is not enough. */
bool fingerprint_is(const char *fingerprint, const char *typed);

#endif
