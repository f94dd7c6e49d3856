/* X displays: names of sockets, command lines of servers, Xauthority files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "kbdd/display_plan.h"

static void a_socket_names_its_display(void **state)
{
    (void)state;
    assert_int_equal(display_plan_number("X0"), 0);
    assert_int_equal(display_plan_number("X1024"), 1024);
    static const char *const OTHERS[] = {"X", "X-1", "X1a", "Y1", "", "X65536", "X123456", ".X1"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        assert_int_equal(display_plan_number(OTHERS[i]), -1);
    }
}

#define LINE(text) text, sizeof(text)

static void a_server_is_known_by_its_command_line(void **state)
{
    (void)state;
    char auth[32] = "as it was";
    assert_int_equal(display_plan_server(LINE("vim\0:7"), 7, auth, sizeof auth), DISPLAY_OTHER);
    assert_int_equal(display_plan_server(LINE("Xvfb\0:70"), 7, auth, sizeof auth), DISPLAY_OTHER);
    assert_int_equal(display_plan_server("Xorg", 4, 7, auth, sizeof auth), DISPLAY_OTHER);
    assert_int_equal(display_plan_server("", 0, 7, auth, sizeof auth), DISPLAY_OTHER);
    assert_string_equal(auth, "as it was");
    assert_int_equal(display_plan_server(LINE("/usr/bin/Xvfb\0:7\0-auth\0/run/a"), 7, auth,
                                         sizeof auth),
                     DISPLAY_SURELY);
    assert_string_equal(auth, "/run/a");
    assert_int_equal(display_plan_server(LINE("Xorg\0vt2\0-displayfd\0003\0-auth\0/b"), 7, auth,
                                         sizeof auth),
                     DISPLAY_MAYBE);
    assert_string_equal(auth, "/b");
    assert_int_equal(display_plan_server(LINE("X\0:7\0-auth"), 7, auth, sizeof auth),
                     DISPLAY_SURELY);
    assert_string_equal(auth, "");
    char small[3] = "";
    assert_int_equal(display_plan_server(LINE("X\0:7\0-auth\0/long"), 7, small, sizeof small),
                     DISPLAY_SURELY);
    assert_string_equal(small, "");
}

#define ENTRY(number, digits, name, name_size, cookie) \
    "\x01\x00\x00\x04host\x00" digits number "\x00" name_size name "\x00\x04" cookie

static void a_cookie_is_that_of_the_display(void **state)
{
    (void)state;
    static const char TWO[] = ENTRY("12", "\x02", "MIT-MAGIC-COOKIE-1", "\x12", "abcd")
        ENTRY("7", "\x01", "OTHER", "\x05", "nono")
            ENTRY("7", "\x01", "MIT-MAGIC-COOKIE-1", "\x12", "efgh");
    static const char ANY[] = ENTRY("", "\x00", "MIT-MAGIC-COOKIE-1", "\x12", "ijkl");
    unsigned char cookie[DISPLAY_COOKIE_MAX];
    assert_int_equal(display_plan_cookie(TWO, sizeof TWO - 1, 7, cookie), 4);
    assert_memory_equal(cookie, "efgh", 4);
    assert_int_equal(display_plan_cookie(TWO, sizeof TWO - 1, 12, cookie), 4);
    assert_memory_equal(cookie, "abcd", 4);
    assert_int_equal(display_plan_cookie(TWO, sizeof TWO - 1, 1, cookie), -ENOENT);
    assert_int_equal(display_plan_cookie("", 0, 1, cookie), -ENOENT);
    assert_int_equal(display_plan_cookie(ANY, sizeof ANY - 1, 3, cookie), 4);
    assert_memory_equal(cookie, "ijkl", 4);
    for (size_t cut = 1; cut < sizeof ANY - 1; cut++) { /* wherever it is cut off */
        assert_int_equal(display_plan_cookie(ANY, cut, 3, cookie), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_names_its_display),
        cmocka_unit_test(a_server_is_known_by_its_command_line),
        cmocka_unit_test(a_cookie_is_that_of_the_display),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
