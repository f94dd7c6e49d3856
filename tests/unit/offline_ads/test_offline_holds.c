/* OfflineMatches: reading, counting and writing who waits for a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "offline_ads/offline_holds.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    if (ad_parse(text, strlen(text), &ad, NULL) != 0) {
        fail_msg("does not parse: %s", text);
    }
    return ad;
}

static struct offline_holds *read_text(const char *text)
{
    struct ad *ad = parse(text);
    struct offline_holds *holds = offline_holds_read(ad);
    ad_destroy(ad);
    return holds;
}

static void add(struct offline_holds *holds, const char *schedd, int64_t cluster, int64_t count,
                int64_t until_s)
{
    const struct offline_hold hold = {schedd, cluster, count, until_s, until_s - 100};
    assert_int_equal(offline_holds_add(holds, &hold), 0);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    struct offline_holds *holds = offline_holds_create();
    add(holds, "schedd \"one\"\\", 3, 1, 500);
    add(holds, "b", 4, 20, 600);
    struct ad *ad = ad_create();
    offline_holds_write(holds, ad);
    offline_holds_destroy(holds);
    /* Through the binary form, as it travels. */
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    struct ad *again = NULL;
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &again, NULL), 0);
    holds = offline_holds_read(again);
    assert_int_equal(offline_holds_entries(holds), 2);
    assert_string_equal(offline_holds_at(holds, 0)->schedd, "schedd \"one\"\\");
    assert_int_equal(offline_holds_at(holds, 0)->auto_cluster, 3);
    assert_int_equal(offline_holds_at(holds, 1)->count, 20);
    assert_int_equal(offline_holds_at(holds, 1)->until_s, 600);
    assert_int_equal(offline_holds_at(holds, 1)->since_s, 500);
    offline_holds_destroy(holds);
    ad_destroy(again);
    ad_destroy(ad);
    strbuf_fini(&bytes);
}

static void counts_of_one_request_are_one_entry_and_the_later_end_wins(void **state)
{
    (void)state;
    struct offline_holds *holds = offline_holds_create();
    add(holds, "s", 3, 1, 500);
    add(holds, "s", 3, 2, 400);
    add(holds, "s", 4, 10, 400);
    add(holds, "t", 3, 100, 400);
    assert_int_equal(offline_holds_entries(holds), 3);
    assert_int_equal(offline_holds_at(holds, 0)->until_s, 500);
    assert_int_equal(offline_holds_of(holds, "s", 3), 3);
    assert_int_equal(offline_holds_of(holds, "s", 5), 0);
    assert_int_equal(offline_holds_total(holds), 113);
    add(holds, "s", 3, 1, 501);
    assert_int_equal(offline_holds_at(holds, 0)->until_s, 501);
    assert_int_equal(offline_holds_at(holds, 0)->since_s, 300);
    assert_int_equal(offline_holds_since_s(holds), 300);
    assert_true(offline_holds_since_s(NULL) == INT64_MAX);
    offline_holds_destroy(holds);
}

static void a_request_that_is_served_is_cleared(void **state)
{
    (void)state;
    struct offline_holds *holds = offline_holds_create();
    add(holds, "s", 3, 5, 500);
    add(holds, "t", 3, 7, 500);
    assert_int_equal(offline_holds_clear(holds, "s", 3), 5);
    assert_int_equal(offline_holds_clear(holds, "s", 3), 0);
    assert_int_equal(offline_holds_total(holds), 7);
    assert_string_equal(offline_holds_at(holds, 0)->schedd, "t");
    offline_holds_destroy(holds);
}

static void holds_end_at_until(void **state)
{
    (void)state;
    struct offline_holds *holds = offline_holds_create();
    add(holds, "a", 1, 1, 500);
    add(holds, "b", 1, 2, 501);
    add(holds, "c", 1, 4, 499);
    assert_int_equal(offline_holds_prune(holds, 498), 0);
    assert_int_equal(offline_holds_prune(holds, 500), 5);
    assert_int_equal(offline_holds_entries(holds), 1);
    assert_string_equal(offline_holds_at(holds, 0)->schedd, "b");
    offline_holds_destroy(holds);
}

static void no_holds_are_no_attribute(void **state)
{
    (void)state;
    struct ad *ad = parse("[ OfflineMatches = { } ]");
    struct offline_holds *holds = offline_holds_read(ad);
    assert_int_equal(offline_holds_total(holds), 0);
    offline_holds_write(holds, ad);
    assert_false(ad_has(ad, "OfflineMatches"));
    offline_holds_destroy(holds);
    ad_destroy(ad);
}

static void a_malformed_entry_is_left_out_and_the_others_count(void **state)
{
    (void)state;
    struct offline_holds *holds = read_text(
        "[ OfflineMatches = { 7, [ Schedd = \"a\" ], [ Schedd = 3; AutoCluster = 1; Count = 1;"
        " Until = 9 ], [ Schedd = \"zero\"; AutoCluster = 1; Count = 0; Until = 9 ],"
        " [ Schedd = \"good\"; AutoCluster = 1; Count = 2; Until = 9 ], undefined,"
        " [ Schedd = \"many\"; AutoCluster = 1; Count = 1000001; Until = 9 ] } ]");
    assert_int_equal(offline_holds_entries(holds), 1);
    assert_int_equal(offline_holds_total(holds), 2);
    offline_holds_destroy(holds);
    holds = read_text("[ OfflineMatches = \"nonsense\" ]");
    assert_int_equal(offline_holds_entries(holds), 0);
    offline_holds_destroy(holds);
    holds = read_text("[ a = 1 ]");
    assert_int_equal(offline_holds_entries(holds), 0);
    offline_holds_destroy(holds);
}

static void there_is_a_limit_of_entries_and_of_jobs(void **state)
{
    (void)state;
    struct offline_holds *holds = offline_holds_create();
    for (int64_t i = 0; i < OFFLINE_HOLDS_MAX; i++) {
        add(holds, "s", i, 1, 5);
    }
    struct offline_hold more = {"s", OFFLINE_HOLDS_MAX, 1, 5, 0};
    assert_int_equal(offline_holds_add(holds, &more), -E2BIG);
    more = (struct offline_hold){"s", 0, OFFLINE_HOLDS_COUNT_MAX, 5, 0};
    assert_int_equal(offline_holds_add(holds, &more), -EINVAL);
    more = (struct offline_hold){"s", 0, 0, 5, 0};
    assert_int_equal(offline_holds_add(holds, &more), -EINVAL);
    assert_int_equal(offline_holds_total(holds), OFFLINE_HOLDS_MAX);
    offline_holds_destroy(holds);
}

UNIT_TESTS(UNIT(what_is_written_is_read_back),
           UNIT(counts_of_one_request_are_one_entry_and_the_later_end_wins),
           UNIT(a_request_that_is_served_is_cleared), UNIT(holds_end_at_until),
           UNIT(no_holds_are_no_attribute),
           UNIT(a_malformed_entry_is_left_out_and_the_others_count),
           UNIT(there_is_a_limit_of_entries_and_of_jobs))
