/* tests/unit/classad/test_ad_allocations.c - what allocates nothing.
 *
 * The heap is asked by way of malloc, which this program defines itself.  (Not under
 * AddressSanitizer, which has its own.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static size_t allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS true
void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *__libc_calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void *__libc_realloc(void *block, size_t size);
void *realloc(void *block, size_t size)
{
    allocations++;
    return __libc_realloc(block, size);
}
#else
#define COUNTS false
#endif

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
    assert_true(!COUNTS || allocations > before); /* it does count */
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
        assert_true(!COUNTS || i == 0 || allocations == before + 2);
    }
    for (int i = 0; i < 4; i++) {
        ad_destroy(ads[i]);
    }
    strbuf_fini(&bytes);
    ad_pool_destroy(pool);
}

UNIT_TESTS(UNIT(evaluating_numbers_booleans_and_comparisons_of_strings_allocates_nothing),
           UNIT(an_update_of_an_ad_alike_allocates_the_ad_and_its_differences))
