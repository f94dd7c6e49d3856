/* classad/ad_stream.h - reads several ads from one text that arrives in parts.
 *
 * Only the current ad is kept in memory, so a file of any size needs no more than its largest ad.
 * Long form: ads are separated by blank lines.  New syntax: `[ ... ]` one after another, or between
 * braces and separated by commas.  JSON: `{ ... }` one after another, or an array of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_STREAM_H
#define CLASSAD_AD_STREAM_H

#include <stddef.h>

struct ad;
struct ad_context;
struct ad_pool;
struct ad_stream;
struct err;

enum ad_form { AD_FORM_LONG, AD_FORM_NEW, AD_FORM_JSON };

/* A position in a text.  Line and column count from 1; columns count bytes. */
struct ad_place {
    unsigned long line;
    unsigned long column;
};

/* Guesses the form of a text from its first byte that is not white space.  Two forms may begin with
 * '[', and two with '{': after these bytes, the next byte that is not white space decides. */
enum ad_form ad_form_guess(const char *text, size_t length);

/* Makes a stream for texts of one form.  context: the time zone for times that name none (NULL:
 * UTC); must outlive the stream.  pool: the ads are put into it (NULL: into none), and in the long
 * form an ad that is like an earlier one takes a tenth of the time (ad_alike.h). */
struct ad_stream *ad_stream_create(enum ad_form form, const struct ad_context *context,
                                   struct ad_pool *pool);
void ad_stream_destroy(struct ad_stream *stream); /* NULL is allowed */

void ad_stream_feed(struct ad_stream *stream, const char *bytes, size_t length);
void ad_stream_end(struct ad_stream *stream); /* tells the stream that no more text will come */

/* Returns 1 and sets *ret (release with ad_destroy()): the next ad.  0: more input is needed or,
 * after ad_stream_end(), there are no more ads.  -EINVAL or -E2BIG: the next ad is refused; err
 * says why and *place where (with place NULL, err also says where).  The next call continues after
 * the refused ad; if the end of that ad cannot be found, all further calls return 0. */
int ad_stream_next(struct ad_stream *stream, struct ad **ret, struct ad_place *place,
                   struct err *err);

/* Returns the text of the ad that the last ad_stream_next() returned or refused, and sets *length
 * and *place (where the text begins).  The text is borrowed until the next call with this stream.
 */
const char *ad_stream_text(const struct ad_stream *stream, size_t *length, struct ad_place *place);

/* Returns the line and column of byte `offset` of a text whose first byte is at `from`. */
struct ad_place ad_place_of(const char *text, size_t offset, struct ad_place from);

/* Returns the part of a parser's message that follows the position "at byte 12: " or "line 3: at
 * byte 12: "; a pointer into text. */
const char *ad_place_reason(const char *text);

#endif
