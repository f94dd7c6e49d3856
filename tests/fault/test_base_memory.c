/* What base/ does when memory is refused.  No failing allocator is needed: the sizes asked for are
 * beyond any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "tests/support/death.h"
#include "tests/support/unit.h"

#define HUGE_BYTES ((size_t)1 << 60)

/* AddressSanitizer would end the program where malloc returns NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void the_try_calls_return_null_and_keep_the_old_block(void **state)
{
    (void)state;
    assert_null(mem_try_alloc(HUGE_BYTES));
    char *block = mem_strdup("kept");
    assert_null(mem_try_realloc(block, HUGE_BYTES));
    assert_string_equal(block, "kept");
    mem_free(block);
}

static void alloc_huge(void *arg)
{
    (void)arg;
    mem_free(mem_alloc(HUGE_BYTES));
}

static void zalloc_huge(void *arg)
{
    (void)arg;
    mem_free(mem_zalloc(HUGE_BYTES));
}

static void realloc_huge(void *arg)
{
    (void)arg;
    mem_free(mem_realloc(NULL, HUGE_BYTES));
}

static void the_fixed_calls_end_the_process_and_say_why(void **state)
{
    (void)state;
    void (*const acts[])(void *arg) = {alloc_huge, zalloc_huge, realloc_huge};
    for (size_t i = 0; i < 3; i++) {
        char text[4096];
        assert_int_equal(death_by_abort(acts[i], NULL, text, sizeof(text)), 1);
        assert_non_null(strstr(text, "memory exhausted: 1152921504606846976 bytes were refused"));
    }
}

static void a_strbuf_that_gets_no_memory_fails_and_keeps_its_text(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 2 * HUGE_BYTES);
    strbuf_puts(&buf, "kept");
    strbuf_append(&buf, "", HUGE_BYTES); /* nothing is read: the room is asked for first */
    assert_true(buf.failed);
    assert_string_equal(strbuf_text(&buf), "kept");
    strbuf_puts(&buf, "more");
    assert_string_equal(strbuf_text(&buf), "kept");
    assert_null(strbuf_take(&buf));
}

static void an_arena_that_gets_no_memory_returns_null_and_goes_on(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0, 0);
    assert_null(arena_alloc(arena, HUGE_BYTES));
    assert_null(arena_zalloc(arena, HUGE_BYTES));
    assert_int_equal(arena_bytes(arena), 0);
    assert_string_equal(arena_strdup(arena, "goes on"), "goes on");
    arena_destroy(arena);
    arena = arena_create(HUGE_BYTES, 8);
    assert_null(arena_alloc(arena, 8)); /* the block itself is refused */
    assert_null(arena_strdup(arena, "text"));
    arena_destroy(arena);
}

UNIT_TESTS(UNIT(the_try_calls_return_null_and_keep_the_old_block),
           UNIT(the_fixed_calls_end_the_process_and_say_why),
           UNIT(a_strbuf_that_gets_no_memory_fails_and_keeps_its_text),
           UNIT(an_arena_that_gets_no_memory_returns_null_and_goes_on))
