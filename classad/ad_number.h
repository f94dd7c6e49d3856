/* classad/ad_number.h - fast printing of numbers.  Only for this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_NUMBER_H
#define CLASSAD_AD_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AD_NUMBER_MAX 32 /* enough bytes for any printed number, which gets no terminating zero */

/* Both print functions write at most AD_NUMBER_MAX bytes to out, without a terminating zero, and
 * return the number of bytes. */
size_t ad_number_print_int(int64_t value, char *out);
/* Writes real to out as "%.15E" (exponent) or "%.16G" in the C locale, without a terminating zero;
 * returns the number of bytes.  real must be finite. */
size_t ad_number_print_real(double real, bool exponent, char *out);

#endif
