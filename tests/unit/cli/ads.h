/* tests/unit/cli/ads.h - makes ads from text, for tests of what the command line prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_CLI_ADS_H
#define TESTS_UNIT_CLI_ADS_H

#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"

static inline void ads_add(struct vec *ads, const char *text)
{
    struct ad *ad = NULL;
    struct err err = {.text = ""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s in %s", err.text, text);
    }
    vec_push(ads, ad);
}

static inline void ads_destroy_one(void *ad)
{
    ad_destroy(ad);
}

static inline const struct ad *const *ads_list(const struct vec *ads)
{
    return (const struct ad *const *)ads->items;
}

static inline void ads_expect(struct strbuf *out, const char *expected)
{
    assert_false(out->failed);
    assert_string_equal(strbuf_text(out), expected);
    strbuf_fini(out);
}

#endif
