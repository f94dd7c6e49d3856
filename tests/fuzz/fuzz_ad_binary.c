/* tests/fuzz/fuzz_ad_binary.c - hostile binary ads: what is accepted encodes to the same bytes, in
 * a pool and out of it, whole and as changes of another.
 *
 * The input is one ad, and perhaps a second one behind it, which is decoded against the first and
 * laid over it.
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

/* The ad has these bytes. */
static void check_bytes(const struct ad *ad, const uint8_t *data, size_t length)
{
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    CHECK(ad_encoded_bytes(ad) == bytes.length);
    CHECK(bytes.length == length && memcmp(bytes.data, data, length) == 0);
    strbuf_fini(&bytes);
}

/* Written and read again it is the same ad; so it is without the bytes it came from. */
static void check_return(const struct ad *ad)
{
    struct strbuf bytes;
    struct ad *again = NULL;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    CHECK(!bytes.failed);
    CHECK(ad_decode(bytes.data, bytes.length, NULL, &again, NULL) == 0);
    CHECK(ad_same(ad, again) && ad_same(again, ad));
    ad_destroy(again);
    strbuf_fini(&bytes);
    struct ad *set = ad_create();
    ad_merge(set, ad);
    CHECK(ad_same(set, ad));
    ad_destroy(set);
}

static void check_public(const struct ad *ad)
{
    struct strbuf bytes;
    struct strbuf other;
    struct ad *copy = ad_copy_public(ad);
    strbuf_init(&bytes, 0);
    strbuf_init(&other, 0);
    ad_encode(ad, false, &bytes);
    ad_encode(copy, false, &other);
    CHECK(bytes.length == other.length && memcmp(bytes.data, other.data, other.length) == 0);
    ad_destroy(copy);
    strbuf_fini(&bytes);
    strbuf_fini(&other);
}

static void check_peek(struct ad_pool *pool, const struct ad *ad, const uint8_t *data, size_t size)
{
    const char *text;
    size_t length;
    const char *expected;
    size_t expected_length;
    const struct ad_expr *expr = ad_lookup(ad, "Name");
    int rc = ad_peek_string(pool, data, size, "Name", &text, &length, NULL);
    if (expr != NULL && ad_expr_literal_string(expr, &expected, &expected_length)) {
        CHECK(rc == 0 && length == expected_length && memcmp(text, expected, length) == 0);
    } else {
        CHECK(rc == -ENOENT);
    }
}

/* changes over old: as ad_change() does it, and as setters do. */
static void check_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes)
{
    struct ad *changed = ad_change(pool, old, changes);
    if (changed == NULL) {
        return; /* a limit */
    }
    struct ad *expected = ad_create();
    ad_merge(expected, old);
    ad_merge(expected, changes);
    CHECK(ad_same(changed, expected) && ad_same(expected, changed));
    check_return(changed);
    struct ad *twice = ad_change(pool, changed, old);
    CHECK(twice != NULL);
    ad_merge(expected, old);
    CHECK(ad_same(twice, expected));
    ad_pack(pool, old, twice);
    CHECK(ad_same(twice, expected));
    ad_destroy(twice);
    ad_destroy(changed);
    ad_destroy(expected);
}

static void check_pool(const struct ad *ad, const uint8_t *data, size_t length, const uint8_t *rest,
                       size_t rest_length)
{
    struct ad_pool *pool = ad_pool_create();
    struct ad *first = NULL;
    struct ad *second = NULL;
    struct ad *alone = NULL;
    size_t used = 0;
    check_peek(pool, ad, data, length);
    CHECK(ad_decode_in(pool, NULL, data, length, NULL, &first, NULL) == 0);
    check_peek(pool, ad, data, length);
    CHECK(ad_same(first, ad));
    int rc = ad_decode_in(pool, first, rest, rest_length, &used, &second, NULL);
    CHECK(ad_decode(rest, rest_length, NULL, &alone, NULL) == rc || used < rest_length || rc < 0);
    if (rc == 0) {
        ad_destroy(alone);
        alone = NULL;
        CHECK(ad_decode(rest, used, NULL, &alone, NULL) == 0);
        CHECK(ad_same(second, alone));
        check_bytes(second, rest, used);
        check_public(second);
        check_change(pool, first, second);
        struct ad *third = NULL;
        CHECK(ad_decode_in(pool, second, data, length, NULL, &third, NULL) == 0);
        CHECK(ad_same(third, ad));
        ad_destroy(third);
    } else {
        CHECK(second == NULL);
    }
    ad_destroy(alone);
    ad_destroy(first);
    ad_pool_destroy(pool); /* before the last of its ads */
    ad_destroy(second);
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
    check_bytes(ad, data, used);
    check_pool(ad, data, used, data + used, size - used);
    check_return(ad);
    check_public(ad);

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
