/* tests/fuzz/fuzz_ad_text.h - what holds for every text of either syntax.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FUZZ_FUZZ_AD_TEXT_H
#define TESTS_FUZZ_FUZZ_AD_TEXT_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* libFuzzer calls it */

/* HTCondor's printed form, which is ours, cannot always be read again: names after a dot lose their
 * quotes, the largest reals round up to infinity, and in the old syntax a string may end in a
 * backslash only at the end of the text. */
static inline bool fuzz_reads_again(const char *printed, enum ad_syntax syntax)
{
    return strchr(printed, '\'') == NULL && strstr(printed, "E+308") == NULL &&
           (syntax == AD_NEW || strchr(printed, '\\') == NULL);
}

static inline void fuzz_print(const struct ad_expr *expr, enum ad_syntax syntax, struct strbuf *out)
{
    strbuf_clear(out);
    ad_expr_print(expr, syntax, out);
    (void)strbuf_text(out);
}

/* Once printed (which joins `- 5` to a literal) an expression prints the same after being read
 * again. */
static inline void fuzz_check_print(const struct ad_expr *expr, enum ad_syntax syntax, bool quoted)
{
    struct strbuf text[3];
    struct ad_expr *again = ad_expr_ref(expr);
    for (int i = 0; i < 3; i++) {
        strbuf_init(&text[i], 0);
    }
    for (int i = 0; i < 3 && again != NULL; i++) {
        fuzz_print(again, syntax, &text[i]);
        ad_expr_destroy(again);
        again = NULL;
        if (i == 2 || quoted || text[i].failed || !fuzz_reads_again(text[i].data, syntax)) {
            break;
        }
        int rc = ad_expr_parse(text[i].data, text[i].length, syntax, &again, NULL);
        CHECK(rc == 0 || rc == -E2BIG);
    }
    if (text[2].length > 0) {
        CHECK(strcmp(text[1].data, text[2].data) == 0);
    }
    for (int i = 0; i < 3; i++) {
        strbuf_fini(&text[i]);
    }
}

static inline void fuzz_evaluate(const struct ad_expr *expr, const struct ad *my,
                                 const struct ad *target)
{
    uint64_t seed = 1;
    struct ad_context context = {.now_s = 1700000000, .random_state = &seed};
    struct ad_value value;
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_eval(expr, my, target, &context, &value);
    ad_value_print(&value, &text);
    for (size_t i = 0; i < ad_value_count(&value) && i < 4; i++) {
        struct ad_value item;
        ad_value_item(&value, i, &item);
        ad_value_print(&item, &text);
        ad_value_fini(&item);
    }
    ad_value_fini(&value);
    strbuf_fini(&text);
}

#endif
