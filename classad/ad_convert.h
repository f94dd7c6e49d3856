/* classad/ad_convert.h - converts values from one type to another; for the built-in functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_CONVERT_H
#define CLASSAD_AD_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad_evaluator;
struct ad_value;
struct strbuf;

/* Appends the value as text: a string without quotes, a time without absTime("...") or
 * relTime("...") around it, any other value as it prints. */
void ad_text_of(const struct ad_value *value, struct strbuf *out);

/* Adds to the cost of the evaluation for printing value with ad_text_of(), which made `bytes`
 * bytes.  A value that is a string costs nothing. */
void ad_charge_print(struct ad_evaluator *ev, const struct ad_value *value, size_t bytes);

/* Reads the real number at the beginning of text: decimal or hexadecimal, INF, NaN; anything may
 * follow.  False when text does not begin with a number. */
bool ad_text_to_real(const char *text, double *ret);

/* Converts a number to 32 bits as HTCondor does where it keeps the number in a C int.  Returns the
 * low 32 bits of an integer; a real is truncated as on x86-64, and is INT32_MIN when it does not
 * fit. */
int32_t ad_to_int32(const struct ad_value *number);

/* Converts a number, boolean, time or string to an integer or real.  Returns true; or false with
 * *ret undefined (value is undefined) or error (value cannot be converted). */
bool ad_to_number(const struct ad_value *value, struct ad_value *ret);

#endif
