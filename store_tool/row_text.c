/* store_tool/row_text.c - see row_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store_tool/row_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "store/store.h"

void row_text_put(struct ad *row, const void *value, size_t length)
{
    struct ad *ad = NULL, *again = NULL;
    size_t used = 0;
    struct strbuf text;
    strbuf_init(&text, 0);
    if (ad_decode(value, length, &used, &ad, NULL) == 0 && used == length) {
        ad_print(ad, &text);
        (void)ad_parse(strbuf_text(&text), text.length, &again, NULL); /* NULL then */
    }
    if (again != NULL && ad_same(ad, again)) {
        ad_set_ad(row, "Ad", ad);
        ad = NULL;
    } else {
        strbuf_clear(&text);
        for (size_t i = 0; i < length; i++) {
            strbuf_printf(&text, "%02x", ((const unsigned char *)value)[i]);
        }
        ad_set_string(row, "Hex", strbuf_text(&text));
    }
    ad_destroy(ad);
    ad_destroy(again);
    strbuf_fini(&text);
}

int row_text_get(const struct ad *row, struct strbuf *bytes, struct err *err)
{
    const struct ad *ad = NULL;
    const char *hex = ad_string_or(row, "Hex", "");
    const size_t digits = strlen(hex);
    if (ad_get_ad(row, "Ad", &ad) == 0) {
        ad_encode(ad, true, bytes);
    } else if (ad_has(row, "Ad") || !ad_has(row, "Hex") || digits % 2 != 0 ||
               strspn(hex, "0123456789abcdefABCDEF") != digits) {
        return err_set(err, -EINVAL, "a row that has neither an ad as Ad nor digits as Hex");
    }
    for (size_t i = 0; ad == NULL && i < digits; i += 2) {
        const char pair[3] = {hex[i], hex[i + 1], '\0'};
        const char byte = (char)strtoul(pair, NULL, 16);
        strbuf_append(bytes, &byte, 1);
    }
    if (bytes->length > STORE_VALUE_MAX) {
        return err_set(err, -E2BIG, "the value is larger than a store takes");
    }
    return 0;
}
