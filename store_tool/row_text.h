/* store_tool/row_text.h - the value of a row as a text that can be read and edited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_TOOL_ROW_TEXT_H
#define STORE_TOOL_ROW_TEXT_H

#include <stddef.h>

struct ad;
struct err;
struct strbuf;

/* Sets in `row` the attribute Ad, if the value is a binary ad and nothing else; or Hex, its bytes
 * as hex digits. */
void row_text_put(struct ad *row, const void *value, size_t length);
/* Appends the value that Ad or Hex of `row` says to bytes.  The bytes of an ad may differ from
 * those that were read; the ad does not.  Returns 0; or, with err, -EINVAL (neither attribute, or a
 * wrong one) or -E2BIG (more than a store takes). */
int row_text_get(const struct ad *row, struct strbuf *bytes, struct err *err);

#endif
