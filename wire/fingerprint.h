/* wire/fingerprint.h - a short digest that two people compare over the telephone.
 *
 * 20 characters of Crockford's base32 in groups of four: the first 100 bits of a SHA-256.  To find
 * another text with the same fingerprint, an attacker has to try 2^100 texts.  The alphabet lacks
 * I, L, O and U.  A typed fingerprint may be in lower case, without dashes or with blanks; I and L
 * are read as 1, O as 0.
 *
 * Rejected: fewer characters (a key is made in microseconds, so 40 bits are searched in days),
 * words of a list (they belong to one language), hex (25 characters for the same bits).  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_FINGERPRINT_H
#define WIRE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>

#define FINGERPRINT_SIZE 25 /* "7K2M-...-W3PD" and the zero */

/* Writes the fingerprint of data[0..length) to ret. */
void fingerprint_of(const void *data, size_t length, char ret[FINGERPRINT_SIZE]);
/* Returns whether the text that somebody typed is this whole fingerprint; a part is not enough. */
bool fingerprint_is(const char *fingerprint, const char *typed);

#endif
