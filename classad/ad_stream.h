/* classad/ad_stream.h - several ads in one text, taken out as the text comes.
 *
 * Only the ad under way is kept: a file of any size can be read with the memory of its largest ad.
 * Long form: ads are apart by lines with nothing but blanks.  New syntax: `[ ... ]`, one behind
 * another, or between braces and commas.  JSON: `{ ... }`, one behind another, or an array of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_STREAM_H
#define CLASSAD_AD_STREAM_H

#include <stddef.h>

struct ad;
struct ad_context;
struct ad_stream;
struct err;

enum ad_form { AD_FORM_LONG, AD_FORM_NEW, AD_FORM_JSON };

struct ad_place { /* both from 1; columns count bytes */
    unsigned long line;
    unsigned long column;
};

/* The form that a text has, by its first byte that is no blank: '[' and '{' may begin two of them,
 * and then the next such byte tells. */
enum ad_form ad_form_guess(const char *text, size_t length);

/* context (for the zone of times that name none) may be NULL and outlives the stream. */
struct ad_stream *ad_stream_create(enum ad_form form, const struct ad_context *context);
void ad_stream_destroy(struct ad_stream *stream); /* NULL is allowed */

void ad_stream_feed(struct ad_stream *stream, const char *bytes, size_t length);
void ad_stream_end(struct ad_stream *stream); /* nothing more will be fed */

/* 1 and *ret (ad_destroy): the next ad.  0: it wants more, or after the end: that was all.  -EINVAL
 * or -E2BIG: the next ad is refused; err says why, and *place where (NULL: err says so, too).  It
 * has been passed over, and the next call goes on behind it, except where no ad could be told from
 * the next: then every further call gives 0. */
int ad_stream_next(struct ad_stream *stream, struct ad **ret, struct ad_place *place,
                   struct err *err);

/* The text of the ad that the last call gave or refused, and where it begins; borrowed until the
 * next call with this stream. */
const char *ad_stream_text(const struct ad_stream *stream, size_t *length, struct ad_place *place);

/* Where a byte of a text is that begins at `from`. */
struct ad_place ad_place_of(const char *text, size_t offset, struct ad_place from);

/* What is wrong, without the place that a parser's error begins with: "at byte 12: ...",
 * "line 3: at byte 12: ...".  Within text. */
const char *ad_place_reason(const char *text);

#endif
