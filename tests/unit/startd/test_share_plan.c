/* Tests of startd/slot/share_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/share_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "tests/support/unit.h"

static void each_item_of_a_share_is_read(void **state)
{
    (void)state;
    static const char TEXT[] = " cpus = 2; ram=4G,\n disk=1/4, GPUs=auto, 50%";
    static const struct {
        const char *name;
        enum share_how how;
        int64_t amount; /* of a whole of 1000 */
    } WANT[] = {{"cpus", SHARE_AMOUNT, 2},
                {"Memory", SHARE_AMOUNT, 4096},
                {"disk", SHARE_PART, 250},
                {"GPUs", SHARE_AUTO, 0},
                {"", SHARE_PART, 500}};
    const char *at = TEXT;
    struct share_item item;
    for (size_t i = 0; i < ARRAY_COUNT(WANT); i++) {
        assert_int_equal(share_plan_next(&at, &item, NULL), 1);
        assert_string_equal(item.name, WANT[i].name);
        assert_int_equal(item.how, WANT[i].how);
        if (item.how != SHARE_AUTO) {
            assert_int_equal(share_plan_amount(&item, 1000), WANT[i].amount);
        }
    }
    assert_int_equal(share_plan_next(&at, &item, NULL), 0);
}

static void a_share_that_cannot_be_read_is_refused_with_its_item(void **state)
{
    (void)state;
    static const char *const BAD[] = {"cpus=200%", "cpu=1 memory=abc", "4",  "gpus=4G",
                                      "cpus=-1",   "cpus=3/2",         "=4", "cpus=",
                                      "1/0"};
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        struct err err = {""};
        if (share_plan_check(BAD[i], &err) != -EINVAL || err.text[0] == '\0') {
            fail_msg("'%s' was accepted", BAD[i]);
        }
    }
    assert_int_equal(share_plan_check("", NULL), 0);
}

static void a_resource_is_an_amount_or_identifiers(void **state)
{
    (void)state;
    assert_int_equal(share_plan_check_resource("4", NULL), 0);
    assert_int_equal(share_plan_check_resource("CUDA0, CUDA1", NULL), 0);
    assert_int_equal(share_plan_check_resource("-3", NULL), -EINVAL);
    assert_int_equal(share_plan_check_resource("1.5", NULL), -EINVAL);
    char text[RESOURCE_ID_MAX + 2];
    memset(text, 'x', sizeof text);
    text[RESOURCE_ID_MAX + 1] = '\0';
    assert_int_equal(share_plan_check_resource(text, NULL), -E2BIG);
    text[RESOURCE_ID_MAX] = '\0';
    assert_int_equal(share_plan_check_resource(text, NULL), 0);
}

UNIT_TESTS(UNIT(each_item_of_a_share_is_read),
           UNIT(a_share_that_cannot_be_read_is_refused_with_its_item),
           UNIT(a_resource_is_an_amount_or_identifiers))
