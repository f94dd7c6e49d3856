/* What programs that speak with management controllers print, and where a controller is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "power/bmc_text.h"

static enum power_state state_of(const char *text)
{
    return bmc_text_state(text, strlen(text));
}

static void a_state_is_ipmitools_words_to_the_last_byte(void **state)
{
    (void)state;
    assert_int_equal(state_of("Chassis Power is on\n"), POWER_ON);
    assert_int_equal(state_of("Chassis Power is off\n"), POWER_OFF);
    static const char *const OTHERS[] = {
        "",
        "\n",
        "on",
        "Chassis Power is on",
        "Chassis Power is on\r\n",
        "Chassis Power is on\n\n",
        "Chassis Power is off\nChassis Power is on\n",
        "chassis power is off\n",
        "Set Session Privilege Level failed\nChassis Power is off\n",
        "Chassis Power is of\n"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_int_equal(state_of(OTHERS[i]), POWER_UNKNOWN);
    }
    assert_int_equal(bmc_text_state("Chassis Power is off\n\0", 22), POWER_UNKNOWN);
    assert_int_equal(bmc_text_state("Chassis Power is\0off\n", 21), POWER_UNKNOWN);
}

static void an_address_has_a_host_and_perhaps_a_port(void **state)
{
    (void)state;
    static const char *const CASES[][3] = {{"h", "h", "623"},
                                           {"h:1", "h", "1"},
                                           {"10.0.0.1:65535", "10.0.0.1", "65535"},
                                           {"::1", "::1", "623"},
                                           {"[::1]", "::1", "623"},
                                           {"[fe80::1]:9", "fe80::1", "9"},
                                           {"rack-1.example", "rack-1.example", "623"}};
    static const char *const BAD[] = {"",  ":",  ":1",   "h:",     "h:0",    "h:x",  "h:65536",
                                      "[", "[]", "[::1", "[::1]x", "[::1]:", "[]:1", "h:1 "};
    char host[BMC_TEXT_HOST_MAX], port[BMC_TEXT_PORT_MAX], text[BMC_TEXT_HOST_MAX + 1];
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(bmc_text_address(CASES[i][0], 623, host, port), 0);
        assert_string_equal(host, CASES[i][1]);
        assert_string_equal(port, CASES[i][2]);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(bmc_text_address(BAD[i], 623, host, port), -EINVAL);
    }
    memset(text, 'a', sizeof text);
    text[BMC_TEXT_HOST_MAX] = '\0';
    assert_int_equal(bmc_text_address(text, 623, host, port), -EINVAL);
    text[BMC_TEXT_HOST_MAX - 1] = '\0';
    assert_int_equal(bmc_text_address(text, 623, host, port), 0);
}

static void last_line_is(const char *data, size_t length, const char *want)
{
    char line[12];
    memset(line, 'x', sizeof line);
    bmc_text_last_line(data, length, line, sizeof line);
    assert_string_equal(line, want);
}

static void the_last_line_is_one_and_printable(void **state)
{
    (void)state;
    last_line_is("", 0, "");
    last_line_is(" \n\n", 3, "");
    last_line_is("one\ntwo", 7, "two");
    last_line_is("one\n  two \r\n\n", 14, "two");
    last_line_is("a\tb\033[2J", 7, "a b?[2J");
    last_line_is("\xc3\xb6\x7f", 3, "???");
    last_line_is("a\0b\n", 4, "a b");
    last_line_is("one\n0123456789012345", 20, "01234567890");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_ipmitools_words_to_the_last_byte),
        cmocka_unit_test(an_address_has_a_host_and_perhaps_a_port),
        cmocka_unit_test(the_last_line_is_one_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
