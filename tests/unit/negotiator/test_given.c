/* Claim ids that another negotiator gave away are not given again.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "wire/secret_list.h"

struct rig {
    struct negotiator negotiator;
    struct pool_slot slot;
    char name[16];
    struct ad *ad; /* a partitionable slot with the claim ids a, b, c, d */
};

static void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    assert_int_equal(loop_create(&rig->negotiator.env.loop, NULL), 0);
    rig->negotiator.given.ids = strmap_create(STRMAP_CASE_SENSITIVE);
    rig->negotiator.given.timer =
        loop_timer_create(rig->negotiator.env.loop, given_forget_old, &rig->negotiator);
    (void)snprintf(rig->negotiator.lease.holder, sizeof rig->negotiator.lease.holder,
                   "negotiator-us");
    (void)snprintf(rig->name, sizeof rig->name, "slot1@m");
    rig->slot.negotiator = &rig->negotiator;
    rig->slot.name = rig->name;
    rig->ad = ad_create();
    static const struct wire_secret IDS[] = {{SECRET_CLAIM_ID, 0, "a"},
                                             {SECRET_CLAIM_ID, 0, "b"},
                                             {SECRET_CLAIM_ID, 0, "c"},
                                             {SECRET_CLAIM_ID, 0, "d"}};
    rig->slot.ids = secret_list_create(IDS, 4);
    rig->slot.id_count = 4;
    rig->slot.claim_id = "a";
    rig->slot.facts.ad = rig->ad;
}

static void rig_fini(struct rig *rig)
{
    secret_list_unref(rig->slot.ids);
    ad_destroy(rig->ad);
    loop_timer_destroy(rig->negotiator.given.timer);
    strmap_destroy(rig->negotiator.given.ids, given_gift_destroy);
    loop_destroy(rig->negotiator.env.loop);
}

/* As everybody may see it. */
static void digest_of(const char *id, char ret[DIGEST_HEX_SIZE])
{
    struct digest *digest = digest_create();
    digest_update(digest, "roost given claim ", strlen("roost given claim "));
    digest_update(digest, id, strlen(id));
    digest_hex(digest, ret);
    digest_destroy(digest);
}

/* The slot's ad with ids "a" and "b" given away by holder, until so many seconds from now. */
static void read_mark(struct rig *rig, const char *holder, int64_t left_s)
{
    char a[DIGEST_HEX_SIZE], b[DIGEST_HEX_SIZE];
    const char *const IDS[] = {a, b};
    struct ad *note = ad_create();
    digest_of("a", a);
    digest_of("b", b);
    ad_set_string(note, "Holder", holder);
    ad_set_int(note, "Until", loop_wall_s(rig->negotiator.env.loop) + left_s);
    ad_set_strings(note, "Ids", IDS, 2);
    ad_set_ad(rig->ad, "GivenClaims", note);
    given_read(&rig->slot);
}

static void what_another_gave_away_is_given_and_nothing_else(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    read_mark(&rig, "negotiator-dead", 100);
    assert_true(given_is(&rig.negotiator, "a"));
    assert_true(given_is(&rig.negotiator, "b"));
    assert_false(given_is(&rig.negotiator, "c"));
    assert_null(given_job(&rig.negotiator, "a")); /* whose it is only the dead one knew */
    given_forget_old(&rig.negotiator);
    assert_true(given_is(&rig.negotiator, "a"));
    rig_fini(&rig);
}

static void a_mark_of_our_own_does_not_give_again_what_was_taken_back(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    read_mark(&rig, "negotiator-us", 100);
    assert_false(given_is(&rig.negotiator, "a"));
    rig_fini(&rig);
}

static void a_mark_whose_time_is_over_says_nothing(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    read_mark(&rig, "negotiator-dead", 0);
    assert_false(given_is(&rig.negotiator, "a"));
    rig_fini(&rig);
}

static void a_mark_holds_for_its_time_at_most_however_late_its_end(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    read_mark(&rig, "negotiator-dead", 18446744073709551); /* in ms: 616 less than 2^64 */
    given_forget_old(&rig.negotiator);
    assert_true(given_is(&rig.negotiator, "a"));
    uint64_t left_ms = rig.negotiator.given.due_ms - loop_now_ms(rig.negotiator.env.loop);
    assert_in_range(left_ms, 1, 5000); /* what it gave away, or nobody, is known by then */
    rig_fini(&rig);
}

static void it_is_not_known_what_became_of_what_a_dead_negotiator_gave_away(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    assert_false(given_awaits_word(&rig.slot));
    read_mark(&rig, "negotiator-dead", 100);
    assert_true(given_awaits_word(&rig.slot));
    rig_fini(&rig);
}

static void a_broken_mark_is_left_out(void **state)
{
    (void)state;
    static const char *const MARKS[] = {
        "7", "[ Holder = 3 ]", "[ Holder = \"x\"; Until = \"soon\"; Ids = 4 ]",
        "[ Holder = \"x\"; Until = -9223372036854775807 - 1; Ids = { \"a\" } ]",
        "[ Holder = \"x\"; Until = 1E300; Ids = { 1, error } ]"};
    struct rig rig;
    rig_init(&rig);
    for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++) {
        assert_int_equal(ad_set_expr(rig.ad, "GivenClaims", MARKS[i], NULL), 0);
        given_read(&rig.slot);
        assert_int_equal(strmap_count(rig.negotiator.given.ids), 0);
    }
    rig_fini(&rig);
}

/* 20,000 ids that are no one's or another slot's, and one of its own. */
static void a_startd_that_marks_what_is_not_its_own_hurts_only_itself(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    struct strbuf mark;
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "[ Holder = \"x\"; Until = %lld; Ids = { \"\"",
                  (long long)loop_wall_s(rig.negotiator.env.loop) + 100);
    for (int i = 0; i < 20000; i++) {
        strbuf_printf(&mark, ", \"other%d\"", i);
    }
    char c[DIGEST_HEX_SIZE];
    digest_of("c", c);
    strbuf_printf(&mark, ", \"d\", \"%s\" } ]", c);
    assert_int_equal(ad_set_expr(rig.ad, "GivenClaims", strbuf_text(&mark), NULL), 0);
    strbuf_fini(&mark);
    given_read(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.given.ids), 1);
    assert_true(given_is(&rig.negotiator, "c"));
    assert_false(given_is(&rig.negotiator, "d")); /* the id itself is no mark */
    assert_false(given_is(&rig.negotiator, "other7"));
    rig_fini(&rig);
}

static void a_refusal_gives_the_claim_id_back_and_a_lost_answer_does_not(void **state)
{
    (void)state;
    static const int UNUSED[] = {-ENOENT, -EDQUOT, -ESHUTDOWN, -ENOTCONN, -EHOSTUNREACH};
    static const int UNKNOWN[] = {0, -EEXIST, -ECONNRESET, -ETIMEDOUT, -EINVAL, -EIO};
    for (size_t i = 0; i < sizeof UNUSED / sizeof UNUSED[0]; i++) {
        assert_true(given_was_declined(UNUSED[i]));
    }
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof UNKNOWN[0]; i++) {
        assert_false(given_was_declined(UNKNOWN[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_gave_away_is_given_and_nothing_else),
        cmocka_unit_test(a_mark_of_our_own_does_not_give_again_what_was_taken_back),
        cmocka_unit_test(a_mark_whose_time_is_over_says_nothing),
        cmocka_unit_test(a_mark_holds_for_its_time_at_most_however_late_its_end),
        cmocka_unit_test(it_is_not_known_what_became_of_what_a_dead_negotiator_gave_away),
        cmocka_unit_test(a_broken_mark_is_left_out),
        cmocka_unit_test(a_startd_that_marks_what_is_not_its_own_hurts_only_itself),
        cmocka_unit_test(a_refusal_gives_the_claim_id_back_and_a_lost_answer_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
