/* classad/ad_binary.h - the compact binary form of an ad, for the network and the disk.
 *
 * The form is a version byte, the names of all attributes, then their values.  Each value has its
 * length before it, so that values can be compared and copied without decoding them.  Expressions
 * are trees with one byte for each node, not text.  Version 1 (each name followed by its value) is
 * no longer accepted as a whole ad, but ads nested in values still use it. The decoder treats its
 * input as hostile: it checks every length against the bytes that are left, and nesting and counts
 * against ad_limits.h.
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

/* Appends the ad's binary form to out; check out->failed for lack of memory.  Private attributes of
 * ads nested in expressions are written only if with_private. */
void ad_encode(const struct ad *ad, bool with_private, struct strbuf *out);

/* Reads one ad from the front of data.  Returns 0 and sets *ret (release with ad_destroy()) and
 * *used, the number of bytes read; used may be NULL, then the ad must fill all of data.  Errors:
 * -EBADMSG (malformed; err names the byte offset), -EPROTONOSUPPORT (another version), -E2BIG (a
 * limit). */
int ad_decode(const void *data, size_t length, size_t *used, struct ad **ret, struct err *err);

#endif
