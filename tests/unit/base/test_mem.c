/* Tests of base/mem.h (the body of real processes) and base/check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/support/death.h"
#include "tests/support/unit.h"

#define STACK_STEP ((size_t)2048)
#define STACK_USED ((size_t)100 << 10)

static void copies_are_equal_and_separate(void **state)
{
    (void)state;
    char text[] = "abcdef";
    char *whole = mem_strdup(text);
    char *part = mem_strndup(text, 3);
    char *longer = mem_strndup(text, 100);
    unsigned char *bytes = mem_dup("a\0b", 3);
    text[0] = 'X';
    assert_string_equal(whole, "abcdef");
    assert_string_equal(part, "abc");
    assert_string_equal(longer, "abcdef");
    assert_memory_equal(bytes, "a\0b", 3);
    mem_free(whole);
    mem_free(part);
    mem_free(longer);
    mem_free(bytes);
}

static void nothing_can_be_copied_and_freed(void **state)
{
    (void)state;
    void *nothing = mem_dup("", 0);
    assert_non_null(nothing);
    mem_free(nothing);
    mem_free(NULL);
}

static void zalloc_is_zeroed_and_realloc_keeps(void **state)
{
    (void)state;
    unsigned char *bytes = mem_zalloc(64);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(bytes[i], 0);
    }
    memset(bytes, 7, 64);
    bytes = mem_realloc(bytes, 4096);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(bytes[i], 7);
    }
    mem_free(bytes);
}

static void fail_check(void *arg)
{
    CHECK(*(const int *)arg == 5);
}

static void a_failed_check_names_its_place_and_aborts(void **state)
{
    (void)state;
    char text[512];
    int five = 5;
    assert_int_equal(death_by_abort(fail_check, &five, text, sizeof(text)), 0);
    int four = 4;
    assert_int_equal(death_by_abort(fail_check, &four, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "test_mem.c:"));
    assert_non_null(strstr(text, "fail_check"));
    assert_non_null(strstr(text, "== 5"));
}

static void alloc_nothing(void *arg)
{
    (void)arg;
    mem_free(mem_alloc(0));
}

static void an_allocation_of_nothing_is_our_bug(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(death_by_abort(alloc_nothing, NULL, text, sizeof(text)), 1);
}

/* Calls itself until so much of the stack is in use; returns the lowest address. */
static __attribute__((noinline)) uintptr_t use_stack(size_t bytes)
{
    volatile char frame[STACK_STEP];
    memset((char *)frame, 1, sizeof(frame));
    uintptr_t lowest = (uintptr_t)frame;
    if (bytes > STACK_STEP) {
        lowest = use_stack(bytes - STACK_STEP);
    }
    frame[0] = frame[1]; /* used after the call, so that it is not a jump */
    return lowest;
}

static void what_deep_calls_used_of_the_stack_is_given_back(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* frames of functions are elsewhere */
#endif
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char kept[8000];
    unsigned char resident[4] = {0};
    memset(kept, 'k', sizeof(kept));
    uintptr_t lowest = use_stack(STACK_USED) & ~(page - 1);
    assert_int_equal(mincore((void *)lowest, sizeof(resident) * page, resident), 0);
    assert_int_equal(resident[1] & 1, 1);
    mem_trim();
    assert_int_equal(mincore((void *)lowest, sizeof(resident) * page, resident), 0);
    assert_int_equal(resident[1] & 1, 0);
    for (size_t i = 0; i < sizeof(kept); i++) {
        assert_int_equal(kept[i], 'k');
    }
}

UNIT_TESTS(UNIT(copies_are_equal_and_separate), UNIT(nothing_can_be_copied_and_freed),
           UNIT(zalloc_is_zeroed_and_realloc_keeps),
           UNIT(a_failed_check_names_its_place_and_aborts),
           UNIT(an_allocation_of_nothing_is_our_bug),
           UNIT(what_deep_calls_used_of_the_stack_is_given_back))
