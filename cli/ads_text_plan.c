/* cli/ads_text_plan.c - see ads_text_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/ads_text_plan.h"

#include "base/err.h"
#include "base/vec.h"
#include "classad/ad_stream.h"

int ads_text_read(const char *text, size_t length, struct ad_pool *pool, struct vec *ads,
                  struct err *err)
{
    struct ad_stream *stream = ad_stream_create(ad_form_guess(text, length), NULL, pool);
    struct ad *ad;
    struct ad_place place;
    int rc;
    ad_stream_feed(stream, text, length);
    ad_stream_end(stream);
    while ((rc = ad_stream_next(stream, &ad, &place, err)) > 0) {
        vec_push(ads, ad);
    }
    ad_stream_destroy(stream);
    return rc != 0 ? err_prefix(err, rc, "ad %zu, line %lu, column %lu", ads->count + 1, place.line,
                                place.column)
                   : 0;
}
