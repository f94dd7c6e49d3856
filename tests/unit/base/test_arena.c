/* Tests of base/arena.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"

#include <stdalign.h>

#include "tests/support/unit.h"

static void pieces_are_aligned_separate_and_survive_growth(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    static unsigned char *pieces[PIECES];
    struct arena *arena = arena_create(1024, 0);
    size_t total = 0;
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = 1 + i % 700; /* small ones and ones of their own block */
        pieces[i] = arena_alloc(arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)(i & 0xff), size);
        total += size;
    }
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = 1 + i % 700;
        assert_int_equal(pieces[i][0], i & 0xff);
        assert_int_equal(pieces[i][size - 1], i & 0xff);
    }
    assert_int_equal(arena_bytes(arena), total);
    arena_destroy(arena);
}

static void the_limit_is_exact_and_not_a_block(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0, 100);
    assert_non_null(arena_alloc(arena, 60));
    assert_null(arena_alloc(arena, 41));
    assert_non_null(arena_alloc(arena, 40));
    assert_null(arena_alloc(arena, 1));
    arena_reset(arena);
    assert_int_equal(arena_bytes(arena), 0);
    assert_non_null(arena_alloc(arena, 100));
    arena_destroy(arena);
}

static void sizes_that_would_overflow_are_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0, 0);
    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_null(arena_alloc(arena, SIZE_MAX - 8));
    assert_null(arena_alloc(arena, SIZE_MAX - 20));
    assert_int_equal(arena_bytes(arena), 0);
    arena_destroy(arena);
}

static void texts_are_copied_and_zalloc_is_zeroed_after_reset(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0, 0);
    memset(arena_alloc(arena, 4000), 0xff, 4000);
    arena_reset(arena);
    const unsigned char *zeroed = arena_zalloc(arena, 4000);
    for (size_t i = 0; i < 4000; i++) {
        assert_int_equal(zeroed[i], 0);
    }
    assert_string_equal(arena_strdup(arena, "abc"), "abc");
    assert_string_equal(arena_strndup(arena, "abc", 2), "ab");
    assert_string_equal(arena_strndup(arena, "abc", 9), "abc");
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void even_an_empty_piece_is_one_of_its_own(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0, 0);
    void *first = arena_alloc(arena, 0);
    void *second = arena_alloc(arena, 0);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    arena_destroy(arena);
}

static void a_reset_gives_the_same_block_again(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024, 0);
    unsigned char *first = arena_alloc(arena, 16);
    assert_ptr_equal(arena_alloc(arena, 16), first + 16);
    arena_reset(arena);
    for (int round = 0; round < 3; round++) {
        assert_ptr_equal(arena_alloc(arena, 1024), first);
        memset(arena_alloc(arena, 5000), 1, 5000);
        memset(arena_alloc(arena, 5000), 2, 5000);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void a_large_piece_does_not_end_the_block(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024, 0);
    unsigned char *before = arena_alloc(arena, 16);
    assert_non_null(arena_alloc(arena, 5000));
    assert_ptr_equal(arena_alloc(arena, 16), before + 16);
    arena_destroy(arena);
}

UNIT_TESTS(UNIT(pieces_are_aligned_separate_and_survive_growth),
           UNIT(the_limit_is_exact_and_not_a_block), UNIT(sizes_that_would_overflow_are_refused),
           UNIT(texts_are_copied_and_zalloc_is_zeroed_after_reset),
           UNIT(even_an_empty_piece_is_one_of_its_own), UNIT(a_reset_gives_the_same_block_again),
           UNIT(a_large_piece_does_not_end_the_block))
