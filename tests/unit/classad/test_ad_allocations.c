/* tests/unit/classad/test_ad_allocations.c - what allocates nothing, or little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_stream.h"
#include "tests/support/allocations.h"
#include "tests/support/unit.h"

static struct ad *in_pool(struct ad_pool *pool, const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    ad_pack(pool, NULL, ad);
    return ad;
}

static void evaluating_numbers_booleans_and_comparisons_of_strings_allocates_nothing(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *slot = in_pool(pool, "[ Arch = \"X86_64\"; OpSys = \"LINUX\"; Memory = 16384; "
                                    "Load = 0.25; HasDocker = true; Up = Memory > 5; "
                                    "START = (KeyboardIdle > 900) && TARGET.Size < 1e5 || Up; "
                                    "KeyboardIdle = 1000; Requirements = START ]");
    struct ad *job = in_pool(pool, "[ Size = 100; RequestMemory = ifThenElse(Size > 10, 2048, 1); "
                                   "Requirements = TARGET.Arch == \"x86_64\" && OpSys != "
                                   "\"WINDOWS\" && TARGET.Memory >= RequestMemory && "
                                   "TARGET.Load * 2 < 1.0 && TARGET.HasDocker && OpSys =?= "
                                   "\"LINUX\" && Arch < \"Y\" ]");
    assert_true(ad_match(job, slot, NULL)); /* makes the expressions, once */
    size_t before = allocations;
    for (int i = 0; i < 100; i++) {
        assert_true(ad_match(job, slot, NULL));
        assert_int_equal(ad_int_or(slot, "Memory", 0), 16384);
        assert_string_equal(ad_string_or(slot, "Arch", ""), "X86_64");
    }
    assert_int_equal(allocations, before);
    struct ad *copy = ad_copy(slot);
    assert_true(!COUNTS_ALLOCATIONS || allocations > before); /* it does count */
    ad_destroy(copy);
    ad_destroy(slot);
    ad_destroy(job);
    ad_pool_destroy(pool);
}

static void an_update_of_an_ad_alike_allocates_the_ad_and_its_differences(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct strbuf bytes;
    struct ad *ads[4] = {NULL};
    strbuf_init(&bytes, 0);
    for (int i = 0; i < 4; i++) {
        struct ad *sent = ad_create();
        ad_set_int(sent, "Load", i);
        ad_set_string(sent, "Text", "something longer, the same in all of them");
        assert_int_equal(ad_set_expr(sent, "Rank", "TARGET.x + Load * 2 - foo(1)", NULL), 0);
        strbuf_clear(&bytes);
        ad_encode(sent, true, &bytes);
        ad_destroy(sent);
        size_t before = allocations;
        assert_int_equal(ad_decode_in(pool, ads[2], bytes.data, bytes.length, NULL, &ads[i], NULL),
                         0);
        assert_true(!COUNTS_ALLOCATIONS || i == 0 || allocations == before + 2);
    }
    for (int i = 0; i < 4; i++) {
        ad_destroy(ads[i]);
    }
    strbuf_fini(&bytes);
    ad_pool_destroy(pool);
}

/* A file of a pool's slots has thousands of such ads. */
static void a_line_as_in_the_ad_before_is_not_parsed_again(void **state)
{
    (void)state;
    enum { LINES = 160, DIFFERENT = 10, ADS = 3 };
    struct ad_pool *pool = ad_pool_create();
    struct ad_stream *stream = ad_stream_create(AD_FORM_LONG, NULL, pool);
    struct strbuf text;
    size_t cost = 0;
    strbuf_init(&text, 0);
    for (int i = 0; i < ADS; i++) {
        for (int line = 0; line < LINES; line++) {
            strbuf_printf(&text, "Attribute%d = TARGET.Memory > %d && foo(\"text\")\n", line,
                          line < DIFFERENT ? i : line);
        }
        strbuf_puts(&text, "\n");
    }
    ad_stream_feed(stream, text.data, text.length);
    ad_stream_end(stream);
    for (int i = 0; i < ADS; i++) {
        struct ad *ad = NULL;
        size_t before = allocations;
        assert_int_equal(ad_stream_next(stream, &ad, NULL, NULL), 1);
        assert_int_equal(ad_count(ad), LINES);
        cost = allocations - before;
        assert_true(!COUNTS_ALLOCATIONS || i > 0 || cost > LINES);
        ad_destroy(ad);
    }
    assert_in_range(cost, 0, 8 * DIFFERENT);
    ad_stream_destroy(stream);
    strbuf_fini(&text);
    ad_pool_destroy(pool);
}

UNIT_TESTS(UNIT(evaluating_numbers_booleans_and_comparisons_of_strings_allocates_nothing),
           UNIT(an_update_of_an_ad_alike_allocates_the_ad_and_its_differences),
           UNIT(a_line_as_in_the_ad_before_is_not_parsed_again))
