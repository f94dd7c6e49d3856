/* classad/ad_format.h - printf's directives for values: the -format of listings, $INT(X,FORMAT) of
 * submit files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_FORMAT_H
#define CLASSAD_AD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#define AD_FORMAT_WIDTH_MAX 1000

struct ad_value;
struct strbuf;

/* "%[-+ 0#][width][.precision]conversion": where it begins, ends, and what it asks. */
struct ad_format {
    size_t begin, end; /* end is behind the conversion */
    bool left, zero, plus;
    int width, precision; /* precision -1: none */
    char conversion;
};

/* The first directive in a format ("%%" is none); false: there is none. */
bool ad_format_find(const char *format, struct ad_format *ret);

/* Appends the value as the directive says: d i u x X of its whole part, e f g (E F G) of it as a
 * real number, V as an expression is printed, anything else as text without quotes. */
void ad_format_print(const struct ad_format *how, const struct ad_value *value, struct strbuf *out);

#endif
