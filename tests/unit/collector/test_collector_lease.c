/* One holder at a time of a role.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "collector/collector_lease.h"

static int take(struct collector_leases *leases, const char *holder, const char *identity,
                int64_t duration_s, uint64_t session, uint64_t now_ms, struct err *err)
{
    const struct lease_wish wish = {"negotiator", holder, identity, duration_s, session};
    return collector_leases_take(leases, &wish, now_ms, err);
}

static void another_waits_until_it_is_over(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    struct err err = {""};
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, &err), 0);
    assert_int_equal(take(leases, "b", "n@pool", 10, 2, 10999, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another 1 s"));
    assert_int_equal(take(leases, "b", "n@pool", 10, 2, 11000, &err), 0);
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 11000, &err), -EBUSY);
    collector_leases_destroy(leases);
}

static void who_has_it_is_told(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    struct lease_holder has = {0};
    assert_false(collector_leases_holder(leases, "negotiator", 1000, &has));
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, NULL), 0);
    assert_true(collector_leases_holder(leases, "negotiator", 2001, &has));
    assert_string_equal(has.holder, "a");
    assert_string_equal(has.identity, "n@pool");
    assert_int_equal(has.remaining_s, 9);
    assert_false(collector_leases_holder(leases, "negotiator", 11000, &has));
    collector_leases_destroy(leases);
}

static void its_holder_renews_it(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, NULL), 0);
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 9000, NULL), 0);
    assert_int_equal(take(leases, "b", "n@pool", 10, 2, 12000, NULL), -EBUSY);
    collector_leases_destroy(leases);
}

static void the_same_holder_of_another_identity_is_another(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, NULL), 0);
    assert_int_equal(take(leases, "a", "m@pool", 10, 2, 1001, NULL), -EBUSY);
    assert_int_equal(take(leases, "a", "m@pool", 0, 2, 1001, NULL), -EBUSY);
    collector_leases_destroy(leases);
}

static void it_is_given_back(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, NULL), 0);
    assert_int_equal(take(leases, "a", "n@pool", 0, 1, 1001, NULL), 0);
    assert_int_equal(take(leases, "b", "n@pool", 10, 2, 1002, NULL), 0);
    collector_leases_destroy(leases);
}

static void it_ends_with_the_connection_that_renewed_it_last(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    assert_int_equal(take(leases, "a", "n@pool", 10, 1, 1000, NULL), 0);
    assert_int_equal(take(leases, "a", "n@pool", 10, 2, 1001, NULL), 0);
    collector_leases_session_over(leases, 1); /* the old connection ends late */
    assert_int_equal(take(leases, "b", "n@pool", 10, 3, 1002, NULL), -EBUSY);
    collector_leases_session_over(leases, 2);
    assert_int_equal(take(leases, "b", "n@pool", 10, 3, 1003, NULL), 0);
    collector_leases_destroy(leases);
}

static void roles_are_apart_and_wishes_have_limits(void **state)
{
    (void)state;
    struct collector_leases *leases = collector_leases_create();
    struct lease_wish wish = {"x", "a", "i", 10, 1};
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), 0);
    assert_int_equal(take(leases, "b", "i", 10, 2, 0, NULL), 0);
    wish.duration_s = -1;
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), -EINVAL);
    wish.duration_s = LEASE_SECONDS_MAX + 1;
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), -EINVAL);
    wish = (struct lease_wish){"", "a", "i", 10, 1};
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), -EINVAL);
    wish = (struct lease_wish){"y", "", "i", 10, 1};
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), -EINVAL);
    char role[16];
    for (int i = 2; i < LEASE_ROLES_MAX; i++) {
        snprintf(role, sizeof(role), "%d", i);
        wish = (struct lease_wish){role, "a", "i", 10, 1};
        assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), 0);
    }
    wish.role = "one more";
    assert_int_equal(collector_leases_take(leases, &wish, 0, NULL), -ENOSPC);
    collector_leases_destroy(leases);
}

UNIT_TESTS(UNIT(another_waits_until_it_is_over), UNIT(who_has_it_is_told),
           UNIT(its_holder_renews_it), UNIT(the_same_holder_of_another_identity_is_another),
           UNIT(it_is_given_back), UNIT(it_ends_with_the_connection_that_renewed_it_last),
           UNIT(roles_are_apart_and_wishes_have_limits))
