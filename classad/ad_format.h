/* classad/ad_format.h - printf's directives for ClassAd values: for -format of the listings and for
 * $INT(X,FORMAT) in submit files.
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

/* A directive "%[-+ 0#][width][.precision]conversion": its place in the format and its parts. */
struct ad_format {
    size_t begin, end; /* bytes begin to end - 1 of the format are the directive */
    bool left, zero, plus;
    int width, precision; /* width 0, precision -1: not given */
    char conversion;
};

/* Finds the first directive in format ("%%" is not a directive); false when there is none. */
bool ad_format_find(const char *format, struct ad_format *ret);

/* Appends the value as the directive asks: d i u x X print its whole part, e f g (E F G) the value
 * as a real number, V the value as an expression, any other conversion the value as text without
 * quotes. */
void ad_format_print(const struct ad_format *how, const struct ad_value *value, struct strbuf *out);

#endif
