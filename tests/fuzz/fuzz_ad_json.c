/* tests/fuzz/fuzz_ad_json.c - ads in JSON: what is read and written reads as the same ad.
 *
 * LINK: classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "tests/fuzz/fuzz_ad_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ad *ad = NULL;
    struct err err;
    size_t fault = 0;
    int rc = ad_parse_json((const char *)data, size, NULL, &ad, &fault, &err);
    CHECK((rc == 0) == (ad != NULL));
    if (ad == NULL) {
        CHECK((rc == -EINVAL || rc == -E2BIG) && fault <= size);
        return 0;
    }
    struct strbuf written;
    strbuf_init(&written, AD_TEXT_MAX);
    if (ad_print_json_lines(ad, true, &written) == 0) {
        struct ad *again = NULL;
        rc = ad_parse_json(strbuf_text(&written), written.length, NULL, &again, &fault, &err);
        /* Escapes may make it larger than a text may be; an expression cannot always be read again
         * (see fuzz_reads_again()). */
        CHECK(rc == 0 || rc == -E2BIG || strstr(strbuf_text(&written), "Expr(") != NULL);
        bool plain =
            true; /* bytes that are no UTF-8 become alike, and then names may be the same */
        for (size_t i = 0; i < size; i++) {
            plain = plain && data[i] < 0x80;
        }
        if (rc == 0 && plain) {
            CHECK(ad_count(again) == ad_count(ad));
        }
        ad_destroy(again);
    }
    strbuf_clear(&written);
    (void)ad_print_xml(ad, true, &written); /* it may be too large */
    strbuf_fini(&written);
    ad_destroy(ad);
    return 0;
}
