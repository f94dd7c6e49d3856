/* Tests of base/strbuf.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"

#include "base/mem.h"
#include "tests/support/unit.h"

static void appends_of_all_kinds_add_up(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 0);
    assert_string_equal(strbuf_text(&buf), "");
    strbuf_puts(&buf, "ab");
    strbuf_putc(&buf, 'c');
    strbuf_append(&buf, "d\0e", 3);
    strbuf_printf(&buf, "%d-%s", 42, "x");
    assert_int_equal(buf.length, 10);
    assert_memory_equal(strbuf_text(&buf), "abcd\0e42-x", 11);
    assert_false(buf.failed);
    strbuf_fini(&buf);
}

static void it_grows_past_every_boundary(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 0);
    for (int i = 0; i < 10000; i++) {
        strbuf_printf(&buf, "%04d", i);
    }
    assert_int_equal(buf.length, 40000);
    assert_string_equal(strbuf_text(&buf) + 39996, "9999");
    assert_memory_equal(strbuf_text(&buf) + 4 * 1234, "1234", 4);
    strbuf_fini(&buf);
}

static void printf_of_every_length_is_whole(void **state)
{
    (void)state;
    for (int length = 0; length < 300; length++) {
        struct strbuf buf;
        strbuf_init(&buf, 0);
        strbuf_putc(&buf, '<');
        strbuf_printf(&buf, "%*s", length, "");
        strbuf_putc(&buf, '>');
        assert_int_equal(buf.length, length + 2);
        assert_int_equal(strbuf_text(&buf)[length + 1], '>');
        assert_int_equal(strbuf_text(&buf)[length + 2], '\0');
        strbuf_fini(&buf);
    }
}

static void the_limit_holds_exactly_and_the_failure_sticks(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 5);
    strbuf_puts(&buf, "12345");
    assert_false(buf.failed);
    strbuf_putc(&buf, '6');
    assert_true(buf.failed);
    assert_string_equal(strbuf_text(&buf), "12345");
    assert_null(strbuf_take(&buf));
    assert_false(buf.failed);
    strbuf_puts(&buf, "1234");
    strbuf_puts(&buf, "56");
    strbuf_puts(&buf, "7");
    strbuf_printf(&buf, "8");
    assert_string_equal(strbuf_text(&buf), "1234");
    strbuf_fini(&buf);
}

static void a_printf_over_the_limit_leaves_nothing_behind(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 100);
    strbuf_puts(&buf, "keep");
    strbuf_printf(&buf, "%0200d", 1);
    assert_true(buf.failed);
    assert_string_equal(strbuf_text(&buf), "keep");
    strbuf_clear(&buf);
    assert_false(buf.failed);
    assert_string_equal(strbuf_text(&buf), "");
    strbuf_printf(&buf, "%0100d", 1);
    assert_false(buf.failed);
    assert_int_equal(buf.length, 100);
    strbuf_fini(&buf);
}

static void take_hands_over_the_text_and_empties(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf, 0);
    char *empty = strbuf_take(&buf);
    assert_string_equal(empty, "");
    strbuf_puts(&buf, "text");
    char *text = strbuf_take(&buf);
    assert_string_equal(text, "text");
    assert_int_equal(buf.length, 0);
    assert_string_equal(strbuf_text(&buf), "");
    mem_free(empty);
    mem_free(text);
    strbuf_fini(&buf);
}

UNIT_TESTS(UNIT(appends_of_all_kinds_add_up), UNIT(it_grows_past_every_boundary),
           UNIT(printf_of_every_length_is_whole),
           UNIT(the_limit_holds_exactly_and_the_failure_sticks),
           UNIT(a_printf_over_the_limit_leaves_nothing_behind),
           UNIT(take_hands_over_the_text_and_empties))
