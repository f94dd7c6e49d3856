/* classad/ad_convert.h - values of one type as another; for the functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_CONVERT_H
#define CLASSAD_AD_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

struct ad_value;
struct strbuf;

/* Appends a string as it is, a time without its function, anything else as it prints. */
void ad_text_of(const struct ad_value *value, struct strbuf *out);

/* A number from a text: decimal or hexadecimal integer, real, INF, NaN; blanks around it.  False
 * when it is none. */
bool ad_text_to_number(const char *text, size_t length, struct ad_value *ret);

/* Integer or real from a number, boolean, time or text.  False: *ret has been set, to undefined or
 * error. */
bool ad_to_number(const struct ad_value *value, struct ad_value *ret);

#endif
