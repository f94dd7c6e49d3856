/* tests/unit/site/test_batch_text.c - what the texts of all batch systems have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/batch_text.h"

#include <string.h>

#include "base/strbuf.h"
#include "tests/support/unit.h"

static void arrays_and_numbers_are_names_of_glideins(void **state)
{
    char array[SITE_NAME_MAX + 1], name[SITE_NAME_MAX + 1] = "unchanged";
    (void)state;
    batch_text_array_name("f-s-1", 0, array);
    assert_string_equal(array, "f-s-1");
    batch_text_array_name("f-s-1", 1000, array);
    assert_int_equal(batch_text_glidein_name(array, 7, name), 0);
    assert_string_equal(name, "f-s-1.1007");
    static const char *const BAD[] = {"a b", "f+x", "f+-1", "f+99999999", "", "-f", "f.1"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_not_equal(batch_text_glidein_name(BAD[i], 1, name), 0);
    }
    assert_int_not_equal(batch_text_glidein_name("f", 0, name), 0);
    assert_int_not_equal(batch_text_glidein_name("f", -1, name), 0);
    assert_string_equal(name, "f-s-1.1007");
}

static void numbers_are_folded(void **state)
{
    static const int64_t NUMBERS[] = {1, 2, 3, 5, 7, 8};
    struct strbuf out;
    (void)state;
    strbuf_init(&out, 0);
    batch_text_ranges(NUMBERS, 6, &out);
    assert_string_equal(strbuf_text(&out), "1-3,5,7-8");
    strbuf_clear(&out);
    batch_text_ranges(NUMBERS, 1, &out);
    assert_string_equal(strbuf_text(&out), "1");
    strbuf_fini(&out);
}

static void the_script_has_no_secret(void **state)
{
    const char *arguments[] = {"--pool", "it's"};
    const struct site_request request = {.batch = "f-s-1",
                                         .secret = "hidden",
                                         .arguments = arguments,
                                         .argument_count = 2};
    struct strbuf out;
    (void)state;
    strbuf_init(&out, 0);
    batch_text_script(&request, "/the pilot", "/d", 1000, "TASK", &out);
    assert_null(strstr(strbuf_text(&out), "hidden"));
    assert_non_null(strstr(strbuf_text(&out), "p='/the pilot'\n"));
    assert_non_null(strstr(strbuf_text(&out), "n=f-s-1.$((1000 + TASK))\n"));
    strbuf_fini(&out);
}

UNIT_TESTS(UNIT(arrays_and_numbers_are_names_of_glideins), UNIT(numbers_are_folded),
           UNIT(the_script_has_no_secret))
