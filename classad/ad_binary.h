/* classad/ad_binary.h - the compact form of an ad, for the wire and the disk.
 *
 * A version byte, the names of all attributes, then their values: each with its length before it,
 * so that it can be compared and copied without a look inside; expressions are trees of a byte a
 * node, not text.  Version 1 (names and values by turns) is not spoken any more, but ads that are
 * nested in values still have its form.
 * The decoder takes its input as hostile: every length is checked against what is left, nesting and
 * counts against ad_limits.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_BINARY_H
#define CLASSAD_AD_BINARY_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct err;
struct strbuf;

#define AD_BINARY_VERSION 2

/* Appends; out->failed tells whether it fitted.  Ads nested in expressions keep their private
 * attributes only if with_private. */
void ad_encode(const struct ad *ad, bool with_private, struct strbuf *out);

/* Reads one ad from the front of data.  0, *used bytes (may be NULL when all must be used) and *ret
 * (ad_destroy); or -EBADMSG (malformed, with the byte offset), -EPROTONOSUPPORT (another version),
 * -E2BIG (a limit). */
int ad_decode(const void *data, size_t length, size_t *used, struct ad **ret, struct err *err);

#endif
