/* tests/fuzz/fuzz_ad_new.c - texts in new syntax: expressions, and ads in brackets.
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
    const char *text = (const char *)data;
    bool quoted = memchr(data, '\'', size) != NULL;
    struct ad_expr *expr = NULL;
    struct ad *ad = NULL;
    struct err err;
    int expr_rc = ad_expr_parse(text, size, AD_NEW, &expr, &err);
    int ad_rc = ad_parse(text, size, &ad, &err);
    CHECK((expr_rc == 0) == (expr != NULL) && (ad_rc == 0) == (ad != NULL));
    if (ad != NULL) {
        CHECK(expr != NULL); /* an ad is an expression */
        size_t at = 0;
        const struct ad_expr *attribute;
        while (ad_next(ad, &at, NULL, &attribute) && at < 8) {
            fuzz_evaluate(attribute, ad, at % 2 != 0 ? ad : NULL);
        }
    }
    if (expr != NULL) {
        CHECK(ad_expr_same(expr, expr));
        fuzz_check_print(expr, AD_NEW, quoted);
        fuzz_evaluate(expr, ad, ad);
    }
    ad_expr_destroy(expr);
    ad_destroy(ad);
    return 0;
}
