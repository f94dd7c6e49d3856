/* tests/fuzz/fuzz_ad_stream.c - several ads in one text of any form: in whatever pieces it comes,
 * the same ads are found, in a pool or not.
 *
 * LINK: classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "classad/ad_pool.h"
#include "classad/ad_stream.h"
#include "tests/fuzz/fuzz_ad_text.h"

static void read_all(enum ad_form form, const char *text, size_t length, size_t step,
                     struct ad_pool *pool, struct strbuf *out)
{
    struct ad_stream *stream = ad_stream_create(form, NULL, pool);
    for (size_t at = 0;; at += step) {
        bool last = at >= length;
        if (last) {
            ad_stream_end(stream);
        } else {
            ad_stream_feed(stream, text + at, length - at < step ? length - at : step);
        }
        struct ad *ad = NULL;
        struct ad_place place;
        struct err err;
        int rc;
        while ((rc = ad_stream_next(stream, &ad, &place, &err)) != 0) {
            CHECK(rc == 1 || rc == -EINVAL || rc == -E2BIG);
            if (rc == 1) {
                ad_print(ad, out);
                ad_destroy(ad);
            } else {
                strbuf_printf(out, "refused %lu %lu", place.line, place.column);
            }
            strbuf_putc(out, '\n');
        }
        if (last) {
            break;
        }
    }
    ad_stream_destroy(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const char *text = (const char *)data + 2;
    struct strbuf pieces;
    struct strbuf whole;
    strbuf_init(&pieces, AD_TEXT_MAX);
    strbuf_init(&whole, AD_TEXT_MAX);
    struct strbuf pooled;
    strbuf_init(&pooled, AD_TEXT_MAX);
    struct ad_pool *pool = ad_pool_create();
    enum ad_form form = (enum ad_form)(data[0] % 3);
    read_all(form, text, size - 2, (size_t)data[1] + 1, NULL, &pieces);
    read_all(form, text, size - 2, size, NULL, &whole);
    read_all(form, text, size - 2, size, pool, &pooled);
    CHECK(strcmp(strbuf_text(&pieces), strbuf_text(&whole)) == 0);
    CHECK(strcmp(strbuf_text(&pooled), strbuf_text(&whole)) == 0);
    ad_pool_destroy(pool);
    strbuf_fini(&pooled);
    strbuf_fini(&pieces);
    strbuf_fini(&whole);
    (void)ad_form_guess(text, size - 2); /* any of them */
    return 0;
}
