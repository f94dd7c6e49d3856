/* tests/unit/base/test_trimmer.c - when memory is given back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <malloc.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/trimmer.h"

static bool is_trimmed, is_over;

/* In place of the C library's. */
int malloc_trim(size_t pad)
{
    (void)pad;
    is_trimmed = true;
    is_over = true;
    return 1;
}

static void stop(void *arg)
{
    (void)arg;
    is_over = true;
}

static void it_waits_for_enough_and_until_nothing_moves(void **state)
{
    (void)state;
    struct loop *loop = NULL;
    struct trimmer trimmer;
    assert_int_equal(loop_create(&loop, NULL), 0);
    trimmer_init(&trimmer, loop, 10);
    trimmer_moved(&trimmer, 4);
    trimmer_moved(&trimmer, 5);
    assert_false(loop_timer_is_set(trimmer.timer)); /* not enough */
    trimmer_moved(&trimmer, 1);
    assert_true(loop_timer_is_set(trimmer.timer));
    struct loop_timer *look = loop_timer_create(loop, stop, NULL);
    loop_timer_set(look, 0);
    loop_run_until(loop, &is_over);
    assert_false(is_trimmed); /* more may come */
    is_over = false;
    loop_run_until(loop, &is_over);
    assert_true(is_trimmed);
    assert_false(loop_timer_is_set(trimmer.timer));
    trimmer_moved(&trimmer, 9);
    assert_false(loop_timer_is_set(trimmer.timer)); /* it counts anew */
    loop_timer_destroy(look);
    trimmer_fini(&trimmer);
    loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_waits_for_enough_and_until_nothing_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
