/* tests/fuzz/fuzz_ad_text.h - properties that hold for every text in both ClassAd syntaxes.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* called by libFuzzer */

/* Returns false when `printed`, the printed text of an expression, may be one that cannot be parsed
 * again, otherwise true.  HTCondor and Roost print such texts in these cases: names after a dot
 * lose their quotes; the largest reals round up to infinity; `a ? : ~b` becomes `a ?: ~b`;
 * relative times too long for 32 bits become `-24855+-3:-14:-8`, and those below 100 microseconds
 * `1e-05`; in the old syntax a string may end in a backslash only at the end of the text. */
static inline bool fuzz_reads_again(const char *printed, enum ad_syntax syntax)
{
    return strchr(printed, '\'') == NULL && strstr(printed, "E+308") == NULL &&
           strstr(printed, "?:") == NULL && strstr(printed, "+-") == NULL &&
           strstr(printed, "e-") == NULL && (syntax == AD_NEW || strchr(printed, '\\') == NULL);
}

static inline void fuzz_print(const struct ad_expr *expr, enum ad_syntax syntax, struct strbuf *out)
{
    strbuf_clear(out);
    ad_expr_print(expr, syntax, out);
    (void)strbuf_text(out);
}

/* Checks that printing and parsing the expression repeatedly reaches a text that no longer changes.
 * It may take some rounds: `- 5` becomes a literal, and each round removes one minus from `- - -0`.
 * quoted: the original text has a quote ', so nothing is checked. */
static inline void fuzz_check_print(const struct ad_expr *expr, enum ad_syntax syntax, bool quoted)
{
    struct strbuf now;
    struct strbuf before;
    struct ad_expr *again = ad_expr_ref(expr);
    bool stays = quoted;
    strbuf_init(&now, 0);
    strbuf_init(&before, 0);
    for (int round = 0; round < AD_DEPTH_MAX + 3 && !stays; round++) {
        fuzz_print(again, syntax, &now);
        stays = now.failed || !fuzz_reads_again(now.data, syntax) ||
                (round > 0 && strcmp(now.data, before.data) == 0);
        ad_expr_destroy(again);
        again = NULL;
        int rc = stays ? -E2BIG : ad_expr_parse(now.data, now.length, syntax, &again, NULL);
        CHECK(rc == 0 || rc == -E2BIG);
        stays = stays || rc == -E2BIG;
        strbuf_clear(&before);
        strbuf_append(&before, now.data, now.length);
        (void)strbuf_text(&before);
    }
    CHECK(stays);
    ad_expr_destroy(again);
    strbuf_fini(&now);
    strbuf_fini(&before);
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
