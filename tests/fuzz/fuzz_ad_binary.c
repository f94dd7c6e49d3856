/* tests/fuzz/fuzz_ad_binary.c - hostile binary ads: what is accepted encodes to the same bytes.
 *
 * LINK: classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "tests/fuzz/fuzz_ad_text.h"

static void check_json(const struct ad *ad)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    (void)ad_print_json(ad, &text); /* may be too large */
    strbuf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ad *ad = NULL;
    struct err err;
    size_t used = 0;
    if (ad_decode(data, size, &used, &ad, &err) < 0) {
        CHECK(ad == NULL);
        return 0;
    }
    CHECK(used <= size);
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    CHECK(bytes.length == used && memcmp(bytes.data, data, used) == 0);
    strbuf_fini(&bytes);

    size_t at = 0;
    const struct ad_expr *attribute;
    while (ad_next(ad, &at, NULL, &attribute) && at < 8) {
        fuzz_evaluate(attribute, ad, at % 2 != 0 ? ad : NULL);
    }
    struct ad *copy = ad_copy(ad);
    CHECK(ad_same(ad, copy));
    check_json(copy);
    ad_destroy(ad);
    ad_destroy(copy);
    return 0;
}
