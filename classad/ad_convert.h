/* classad/ad_convert.h - values of one type as another; for the functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_CONVERT_H
#define CLASSAD_AD_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad_call;
struct ad_evaluator;
struct ad_value;
struct strbuf;

/* Appends a string as it is, a time without its function, anything else as it prints. */
void ad_text_of(const struct ad_value *value, struct strbuf *out);

/* What that text costs is charged: bytes of it were printed. */
void ad_charge_print(struct ad_evaluator *ev, const struct ad_value *value, size_t bytes);

/* The real at the beginning of a text: decimal or hexadecimal, INF, NaN; what follows it does not
 * matter.  False when there is none. */
bool ad_text_to_real(const char *text, double *ret);

/* Where HTCondor keeps a number in a C int: the low 32 bits of an integer; of a real what x86-64
 * makes of it, INT32_MIN when it does not fit. */
int32_t ad_to_int32(const struct ad_value *number);

/* Evaluates all arguments into args[].  False: one is error, or none is and one is undefined; *ret
 * is set. */
bool ad_args_strict(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *args,
                    struct ad_value *ret);

/* Integer or real from a number, boolean, time or text.  False: *ret has been set, to undefined or
 * error. */
bool ad_to_number(const struct ad_value *value, struct ad_value *ret);

#endif
