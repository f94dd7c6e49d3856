/* base/config/config_number.h - arithmetic in the values of numeric knobs: "15 * $(MINUTE)" after
 * expansion.
 *
 *     sum = product { ("+" | "-") product }      product = factor { ("*" | "/" | "%") factor }
 *     factor = [ "+" | "-" ] factor | "(" sum ")" | number | number unit { number unit }
 *
 * A number with a unit ("10m") is an amount, a number without a unit is plain.  Where an amount is
 * needed, a plain number counts in the knob's own unit: in "10m + 30", and as the result.  Two
 * amounts cannot be multiplied, and nothing can be divided by an amount.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_NUMBER_H
#define BASE_CONFIG_CONFIG_NUMBER_H

#include <stdint.h>

#include "base/knob.h"

#define CONFIG_NUMBER_DEPTH_MAX 50 /* most levels of nested parentheses */

struct err;

/* Computes the value of a knob of the given type: KNOB_INT, KNOB_DURATION_S, KNOB_DURATION_MS or
 * KNOB_SIZE_BYTES. *ret is in milliseconds for both kinds of durations.  Returns 0, -EINVAL
 * (malformed) or -ERANGE (too large). */
int config_number_int(const char *text, enum knob_type type, int64_t *ret, struct err *err);
/* Computes the value of a knob of type KNOB_REAL.  Returns 0, -EINVAL (malformed) or -ERANGE (too
 * large). */
int config_number_real(const char *text, double *ret, struct err *err);

#endif
