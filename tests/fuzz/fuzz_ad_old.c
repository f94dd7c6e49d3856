/* tests/fuzz/fuzz_ad_old.c - texts in old syntax: expressions, and ads in long form.
 *
 * LINK: classad base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdint.h>

#include "tests/fuzz/fuzz_ad_text.h"

static void check_long(const struct ad *ad, bool quoted)
{
    struct strbuf once;
    struct strbuf twice;
    struct ad *again = NULL;
    strbuf_init(&once, 0);
    strbuf_init(&twice, 0);
    ad_print_long(ad, &once);
    const char *text = strbuf_text(&once);
    if (!quoted && !once.failed && fuzz_reads_again(text, AD_OLD)) {
        int rc = ad_parse_long(text, once.length, &again, NULL);
        CHECK(rc == 0 || rc == -E2BIG);
        if (rc == 0) {
            CHECK(ad_count(again) == ad_count(ad));
            ad_print_long(again, &twice);
        }
    }
    strbuf_fini(&once);
    strbuf_fini(&twice);
    ad_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    bool quoted = memchr(data, '\'', size) != NULL;
    struct ad_expr *expr = NULL;
    struct ad *ad = NULL;
    struct err err;
    if (ad_expr_parse(text, size, AD_OLD, &expr, &err) == 0) {
        fuzz_check_print(expr, AD_OLD, quoted);
        fuzz_evaluate(expr, NULL, NULL);
    }
    if (ad_parse_long(text, size, &ad, &err) == 0) {
        check_long(ad, quoted);
        struct ad_context context = {.now_s = 1700000000};
        (void)ad_match(ad, ad, &context); /* any answer will do, if it comes */
    }
    ad_expr_destroy(expr);
    ad_destroy(ad);
    return 0;
}
