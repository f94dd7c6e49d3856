/* cli/ads_text_plan.h - reads several ads from one text of any form.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ADS_TEXT_PLAN_H
#define CLI_ADS_TEXT_PLAN_H

#include <stddef.h>

struct ad_pool;
struct err;
struct vec;

#define ADS_TEXT_BYTES_MAX ((size_t)1 << 30) /* largest file of ads */

/* Appends the ads of text to `ads` (struct ad *, owned by the caller).  The first characters tell
 * the form: new syntax (`[ ... ] [ ... ]`, or a list `{ [ ... ], [ ... ] }`), JSON (an object, or
 * an array of objects), otherwise the long form: ads separated by empty lines.  pool: as for
 * ad_stream_create().  -EINVAL or -E2BIG:
 * err names the number of the bad ad and the place in it; `ads` then holds the ads before it. */
int ads_text_read(const char *text, size_t length, struct ad_pool *pool, struct vec *ads,
                  struct err *err);

#endif
