/* tests/fuzz/fuzz_ad_xml.c - documents of ads in XML, fed in pieces whose length the first byte
 * tells: what is read and written is read again.
 *
 * LINK: classad_formats classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "classad_formats/ad_xml_read.h"
#include "tests/fuzz/fuzz_ad_text.h"

/* Reads a document; each of its ads is appended to out, when there is one. */
static size_t read_all(const char *text, size_t length, size_t step, struct strbuf *out)
{
    struct ad_xml_reader *reader = ad_xml_reader_create(NULL);
    size_t count = 0;
    int fed = 0;
    for (size_t at = 0; fed == 0; at += step) {
        size_t piece = at >= length ? 0 : length - at < step ? length - at : step;
        struct err err;
        fed = ad_xml_reader_feed(reader, text + (piece > 0 ? at : 0), piece, NULL, &err);
        struct ad *ad = NULL;
        int rc;
        while ((rc = ad_xml_reader_next(reader, &ad, NULL, &err)) != 0) {
            CHECK(rc == 1 || rc == -EINVAL || rc == -E2BIG);
            if (rc == 1 && out != NULL) {
                (void)ad_print_xml(ad, true, out); /* it may be too large */
            }
            count += rc == 1;
            if (rc == 1) {
                ad_destroy(ad);
            }
        }
        if (piece == 0) {
            break;
        }
    }
    CHECK(fed == 0 || fed == -EINVAL || fed == -E2BIG);
    ad_xml_reader_destroy(reader);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct strbuf out;
    strbuf_init(&out, AD_TEXT_MAX);
    strbuf_puts(&out, ad_xml_header);
    size_t count = read_all((const char *)data + 1, size - 1, (size_t)data[0] + 1, &out);
    strbuf_puts(&out, ad_xml_footer);
    if (!out.failed && strstr(strbuf_text(&out), "<e>") == NULL) { /* see fuzz_reads_again() */
        CHECK(read_all(strbuf_text(&out), out.length, out.length, NULL) == count);
    }
    strbuf_fini(&out);
    return 0;
}
