/* cli/ads_text_plan.h - several ads in one text, in the form that they were written in.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ADS_TEXT_PLAN_H
#define CLI_ADS_TEXT_PLAN_H

#include <stddef.h>

struct err;
struct vec;

#define ADS_TEXT_BYTES_MAX ((size_t)1 << 30) /* of a file of ads */

/* Appends the ads of text to `ads` (struct ad, the caller's).  The form is seen from the first
 * characters: new syntax (`[ ... ] [ ... ]`, or a list `{ [ ... ], [ ... ] }`), JSON (an object, or
 * an array of them), else the long form: ads with empty lines between them.  -EINVAL or -E2BIG,
 * naming the ad by its number and the place in it; ads then holds those before it. */
int ads_text_read(const char *text, size_t length, struct vec *ads, struct err *err);

#endif
