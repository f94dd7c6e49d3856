/* Tests of base/knob_check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/knob_check.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "tests/support/unit.h"

static void a_value_that_its_reader_refuses_is_refused_with_its_text(void **state)
{
    (void)state;
    static const struct {
        int (*check)(const char *text, struct err *err);
        const char *good, *bad[4];
    } CASES[] = {
        {knob_check_address, "cm:9618", {"cm:99999", ":9618", "[::1", "cm:x"}},
        {knob_check_address, "[::1]:0", {"[::1]x:7", "cm:-1", "::1", "cm: 7"}},
        {knob_check_address, "cm", {"cm:", "cm .example.org", "a;b", "http://cm"}},
        {knob_check_listen, "*:9618", {"9618", "cm:x", "a b", "::1"}},
        {knob_check_fingerprint,
         "0123456789abcdef0123456789ABCDEF:0123456789abcdef0123456789abcdef",
         {"zz", "ab", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"}},
        {knob_check_name, "wn01.lab@x_y-z", {"a b", "a,b", "a/b", "\"a\""}},
        {knob_check_name, "lab", {"a#b", "a\tb", "it's", " "}},
        {knob_check_account, "nobody", {"root"}},
        {knob_check_program, "/bin/wake 'a b'", {"wake", "bin/wake", " ", "'/bin/wake"}},
        {knob_check_cpus, "0,2,4-7", {"0-", "1,,2", "7-4", "0,1024"}},
        {knob_check_number, "0.5", {"many", "-1", "1e999", ""}},
        {knob_check_whole, "7", {"two", "-1", "0.5", "7 "}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        assert_int_equal(CASES[i].check(CASES[i].good, NULL), 0);
        for (size_t j = 0; j < ARRAY_COUNT(CASES[i].bad) && CASES[i].bad[j] != NULL; j++) {
            struct err err = {""};
            if (CASES[i].check(CASES[i].bad[j], &err) != -EINVAL || err.text[0] == '\0') {
                fail_msg("'%s' was accepted", CASES[i].bad[j]);
            }
        }
    }
}

UNIT_TESTS(UNIT(a_value_that_its_reader_refuses_is_refused_with_its_text))
