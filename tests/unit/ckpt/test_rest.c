/* What is left of calls that wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "ckpt/rest.h"

#define CODE UINT64_C(0x1000001040)

static const struct ckpt_registers CALL = {
    .rdi = 1, .rsi = 2, .rdx = 3, .r10 = 4, .r8 = 5, .r9 = 6, .rsp = 0x7000, .rip = 0x400000};

static void limits_are_where_each_call_has_them(void **state)
{
    (void)state;
    static const struct {
        long number;
        enum rest_limit limit;
        int64_t value;
    } CASES[] = {{SYS_poll, REST_MS, 3},
                 {SYS_epoll_wait, REST_MS, 4},
                 {SYS_epoll_pwait, REST_MS, 4},
                 {SYS_nanosleep, REST_AT, 2},
                 {SYS_clock_nanosleep, REST_NONE, 0},
                 {SYS_ppoll, REST_AT, 3},
                 {SYS_pselect6, REST_AT, 5},
                 {SYS_rt_sigtimedwait, REST_AT, 3},
                 {SYS_epoll_pwait2, REST_AT, 4},
                 {SYS_semtimedop, REST_AT, 4},
                 {SYS_futex, REST_NONE, 0},
                 {SYS_read, REST_NONE, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ckpt_registers call = CALL;
        int64_t value = 0;
        call.rax = (uint64_t)CASES[i].number;
        assert_int_equal(rest_limit_of(&call, &value), CASES[i].limit);
        assert_true(CASES[i].limit == REST_NONE || value == CASES[i].value);
    }
}

static void sleeps_tell_where_they_were_interrupted(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    int64_t value = 0;
    call.rax = SYS_nanosleep;
    call.rsi = 0;
    assert_int_equal(rest_limit_of(&call, &value), REST_AT);
    assert_int_equal(value, 1);
    call.rax = SYS_clock_nanosleep; /* not till a time: rsi is 0 */
    assert_int_equal(rest_limit_of(&call, &value), REST_AT);
    assert_int_equal(value, 4);
    call.r10 = 0;
    assert_int_equal(rest_limit_of(&call, &value), REST_AT);
    assert_int_equal(value, 3);
}

static void only_a_futex_that_waits_for_a_time_has_a_rest(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    int64_t value = 0;
    call.rax = SYS_futex;
    call.rsi = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
    assert_int_equal(rest_limit_of(&call, &value), REST_AT);
    assert_int_equal(value, 4);
    call.rsi = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
    assert_int_equal(rest_limit_of(&call, &value), REST_NONE);
    call.rsi = FUTEX_WAIT;
    call.r10 = 0;
    assert_int_equal(rest_limit_of(&call, &value), REST_NONE);
}

static void who_waits_for_ever_or_not_at_all_has_no_limit(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    int64_t value = 0;
    call.rax = SYS_epoll_wait;
    call.r10 = (uint32_t)-1;
    assert_int_equal(rest_limit_of(&call, &value), REST_NONE);
    call.r10 = 0;
    assert_int_equal(rest_limit_of(&call, &value), REST_NONE);
    call.rax = SYS_rt_sigtimedwait;
    call.rdx = 0;
    assert_int_equal(rest_limit_of(&call, &value), REST_NONE);
}

static void the_record_holds_the_calls_own_registers(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    struct ckpt_wait record;
    call.rax = SYS_epoll_wait;
    rest_begin(&call, CODE, 0, 2500001, 7000, &record);
    assert_int_equal(call.rip, CODE);
    assert_int_equal(call.rsp, CALL.rsp - CKPT_WAIT_ROOM);
    assert_int_equal(call.r10, 3); /* ms, not too few */
    assert_int_equal(record.r10, CALL.r10);
    assert_int_equal(record.rip, CALL.rip + CKPT_SYSCALL_BYTES);
    assert_int_equal(record.number, SYS_epoll_wait);
    assert_int_equal(record.until_ns, 2507001);
}

static void what_is_left_grows_less_and_never_negative(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    struct ckpt_wait record;
    call.rax = SYS_rt_sigtimedwait;
    rest_begin(&call, CODE, 3, 5, 1000000000, &record);
    assert_int_equal(call.rdx, call.rsp);
    assert_true(rest_update(&call, 3000000000, &record));
    assert_int_equal(record.left_s, 1);
    assert_int_equal(record.left_ns, 5);
    assert_true(rest_update(&call, 9000000000, &record));
    assert_int_equal(record.left_s, 0);
    assert_int_equal(record.left_ns, 0);
}

static void what_the_kernel_keeps_is_left_to_it(void **state)
{
    (void)state;
    static const long KEPT[] = {SYS_poll, SYS_ppoll, SYS_pselect6, SYS_nanosleep,
                                SYS_clock_nanosleep};
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        struct ckpt_registers call = CALL;
        struct ckpt_wait record;
        call.rax = (uint64_t)KEPT[i];
        rest_begin(&call, CODE, 3, 5, 1000000000, &record);
        assert_true(call.rdx == call.rsp || call.r8 == call.rsp);
        assert_false(rest_update(&call, 3000000000, &record));
        assert_int_equal(record.left_s, 3);
    }
}

static void a_sleep_tells_the_program_what_was_left(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    struct ckpt_wait record;
    call.rax = SYS_nanosleep;
    rest_begin(&call, CODE, 3, 5, 0, &record);
    assert_int_equal(call.rax, SYS_clock_nanosleep);
    assert_int_equal(call.r10, CALL.rsi);
    assert_int_equal(call.rsi, 0);
}

static void a_wait_of_ages_is_cut_not_overflown(void **state)
{
    (void)state;
    struct ckpt_registers call = CALL;
    struct ckpt_wait record;
    call.rax = SYS_rt_sigtimedwait;
    rest_begin(&call, CODE, INT64_MAX, 999999999, INT64_C(1) << 55, &record);
    assert_int_equal(record.left_s, REST_MAX_S);
    assert_true(record.until_ns > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_where_each_call_has_them),
        cmocka_unit_test(sleeps_tell_where_they_were_interrupted),
        cmocka_unit_test(only_a_futex_that_waits_for_a_time_has_a_rest),
        cmocka_unit_test(who_waits_for_ever_or_not_at_all_has_no_limit),
        cmocka_unit_test(the_record_holds_the_calls_own_registers),
        cmocka_unit_test(what_is_left_grows_less_and_never_negative),
        cmocka_unit_test(what_the_kernel_keeps_is_left_to_it),
        cmocka_unit_test(a_sleep_tells_the_program_what_was_left),
        cmocka_unit_test(a_wait_of_ages_is_cut_not_overflown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
