/* Signals by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <signal.h>

#include "base/signal_name.h"

static void signals_are_those_of_this_machine(void **state)
{
    (void)state;
    assert_int_equal(signal_name_number("SIGTERM"), SIGTERM);
    assert_int_equal(signal_name_number("sigusr1"), SIGUSR1);
    assert_int_equal(signal_name_number("SIGSYS"), SIGSYS);
    assert_int_equal(signal_name_number("2"), SIGINT);
    assert_string_equal(signal_name_text(SIGHUP), "SIGHUP");
    assert_string_equal(signal_name_text(SIGXCPU), "SIGXCPU");
}

static void what_is_no_signal_has_no_number(void **state)
{
    (void)state;
    assert_int_equal(signal_name_number("TERM"), 0);
    assert_int_equal(signal_name_number("0"), 0);
    assert_int_equal(signal_name_number("99"), 0);
    assert_int_equal(signal_name_number(""), 0);
    assert_null(signal_name_text(0));
    assert_null(signal_name_text(64));
}

UNIT_TESTS(UNIT(signals_are_those_of_this_machine), UNIT(what_is_no_signal_has_no_number))
