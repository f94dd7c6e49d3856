/* base/config/config_number.h - arithmetic in the values of numeric knobs: "15 * $(MINUTE)" after
 * expansion.
 *
 *     sum = product { ("+" | "-") product }      product = factor { ("*" | "/" | "%") factor }
 *     factor = [ "+" | "-" ] factor | "(" sum ")" | number | number unit { number unit }
 *
 * A number with a unit is an amount; one without is plain, and counts as an amount in the knob's
 * own unit where an amount is needed: in "10m + 30" and as the result.  Two amounts are not
 * multiplied, and nothing is divided by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CONFIG_CONFIG_NUMBER_H
#define BASE_CONFIG_CONFIG_NUMBER_H

#include <stdint.h>

#include "base/knob.h"

#define CONFIG_NUMBER_DEPTH_MAX 50 /* parentheses in one another */

struct err;

/* For INT, DURATION_S, DURATION_MS (both in milliseconds) and SIZE_BYTES.  Returns 0, -EINVAL or
 * -ERANGE (does not fit). */
int config_number_int(const char *text, enum knob_type type, int64_t *ret, struct err *err);
/* For REAL. */
int config_number_real(const char *text, double *ret, struct err *err);

#endif
