/* The orders that roost-libvirt reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "virt/line_plan.h"

static void an_order_to_wake_names_its_domain_with_blanks(void **state)
{
    (void)state;
    struct virt_line line;
    assert_int_equal(virt_line_parse("7 wake 30 lab 01", &line, NULL), 0);
    assert_int_equal(line.id, 7);
    assert_int_equal(line.verb, VIRT_WAKE);
    assert_int_equal(line.limit_s, 30);
    assert_string_equal(line.domain, "lab 01");
}

static void an_order_to_sleep_says_how_and_how_long_to_wait(void **state)
{
    (void)state;
    static const char *const HOWS[] = {"shutdown", "acpi", "agent",  "save",
                                       "suspend",  "disk", "destroy"};
    for (unsigned i = 0; i < 7; i++) {
        struct virt_line line;
        char text[64];
        (void)snprintf(text, sizeof text, "18446744073709551615 sleep %s 60 75 n1", HOWS[i]);
        assert_int_equal(virt_line_parse(text, &line, NULL), 0);
        assert_true(line.id == UINT64_MAX);
        assert_int_equal(line.verb, VIRT_SLEEP);
        assert_int_equal(line.how, i);
        assert_int_equal(line.patience_s, 60);
        assert_int_equal(line.limit_s, 75);
        assert_string_equal(line.domain, "n1");
    }
}

static void a_watch_and_its_end_name_the_domain_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum virt_verb verb;
    } LINES[] = {{"9 watch lab 01", VIRT_WATCH},
                 {"9 unwatch lab 01", VIRT_UNWATCH},
                 {"9 cancel lab 01", VIRT_CANCEL}};
    for (unsigned i = 0; i < 3; i++) {
        struct virt_line line;
        assert_int_equal(virt_line_parse(LINES[i].text, &line, NULL), 0);
        assert_int_equal(line.id, 9);
        assert_int_equal(line.verb, LINES[i].verb);
        assert_string_equal(line.domain, "lab 01");
    }
}

static void what_is_no_order_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "",
        "wake 30 n1",
        "x wake 30 n1",
        "-1 wake 30 n1",
        "99999999999999999999 wake 30 n1",
        "1 wakes 30 n1",
        "1 wake",
        "1 wake n1",
        "1 wake 30",
        "1 wake 30 ",
        "1 wake 99999999 n1",
        "1  wake 30 n1",
        "1 sleep 30 n1",
        "1 watch",
        "1 watch ",
        "1 sleep saved 60 75 n1",
        "1 sleep save 75 n1",
        "1 sleep save x 75 n1",
        "1 wake 3000000000000000000000000000000000000000000000000000000000 n1",
    };
    for (unsigned i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct virt_line line = {.id = 99};
        struct err err = {.text = ""};
        if (virt_line_parse(BAD[i], &line, &err) != -EINVAL || err.text[0] == '\0') {
            fail_msg("'%s' was taken", BAD[i]);
        }
        assert_int_equal(line.id, 99);
    }
}

static void a_domain_is_bounded(void **state)
{
    (void)state;
    char text[400];
    struct virt_line line;
    (void)snprintf(text, sizeof text, "1 status 5 %0255d", 0);
    assert_int_equal(virt_line_parse(text, &line, NULL), 0);
    (void)snprintf(text, sizeof text, "1 status 5 %0256d", 0);
    assert_int_equal(virt_line_parse(text, &line, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_to_wake_names_its_domain_with_blanks),
        cmocka_unit_test(an_order_to_sleep_says_how_and_how_long_to_wait),
        cmocka_unit_test(a_watch_and_its_end_name_the_domain_alone),
        cmocka_unit_test(what_is_no_order_is_refused),
        cmocka_unit_test(a_domain_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
