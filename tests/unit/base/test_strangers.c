/* Tests of base/stream/strangers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/strangers.h"

#include <stdio.h>

#include "tests/support/unit.h"

struct guest {
    struct stranger stranger;
    bool left;
};

static void guest_left(void *arg)
{
    struct guest *guest = arg;
    assert_null(guest->stranger.table); /* out of the table before it is told */
    guest->left = true;
}

static void guest_comes(struct strangers *table, struct guest *guest, const char *peer,
                        uint64_t now_ms)
{
    strangers_make_room(table, now_ms);
    strangers_add(table, &guest->stranger, peer, now_ms, guest_left, guest);
}

static void the_host_of_a_peer_is_its_address_its_network_or_its_uid(void **state)
{
    (void)state;
    static const char *const PAIRS[][2] = {
        {"tcp:192.0.2.7:40112", "192.0.2.7"},
        {"tcp:[2001:db8:0:1::7]:40112", "2001:db8:0:1"},
        {"tcp:[2001:db8:0:1:ffff::9]:1", "2001:db8:0:1"},
        {"tcp:[2001:db8:0:2::7]:40112", "2001:db8:0:2"},
        {"tcp:[fe80::1%eth0]:9", "fe80:0:0:0"},
        {"unix:/run/roost/collector.sock (uid 1000)", "uid 1000"},
        {"tcp:unknown", "unknown"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
        char host[STRANGERS_HOST_MAX];
        assert_string_equal(strangers_host_of(PAIRS[i][0], host), PAIRS[i][1]);
    }
}

static void the_oldest_of_the_busiest_address_goes(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(4);
    struct guest a = {.left = false}, b[3] = {{.left = false}}, c = a, d = a;
    guest_comes(table, &a, "tcp:192.0.2.1:1", 1);
    for (uint64_t i = 0; i < 3; i++) {
        guest_comes(table, &b[i], "tcp:192.0.2.2:1", 2 + i);
    }
    guest_comes(table, &c, "tcp:192.0.2.3:1", 9);
    assert_true(b[0].left);
    assert_false(a.left || b[1].left || b[2].left || c.left);
    strangers_remove(&b[1].stranger);
    assert_int_equal(strangers_count(table), 3);
    guest_comes(table, &d, "tcp:192.0.2.4:1", 10);
    assert_int_equal(strangers_count(table), 4);
    assert_int_equal(strangers_sent_away(table), 1);
    assert_string_equal(strangers_last_host(table), "192.0.2.2");
    strangers_make_room(table, 1); /* one each: the oldest of all */
    assert_true(a.left);
    strangers_destroy(table);
    assert_null(d.stranger.table);
}

static void one_network_of_ipv6_is_one_address(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(3);
    struct guest old = {.left = false}, many[3] = {{.left = false}};
    guest_comes(table, &old, "tcp:[2001:db8:0:1::1]:1", 1);
    guest_comes(table, &many[0], "tcp:[2001:db8:0:2::1]:1", 2);
    guest_comes(table, &many[1], "tcp:[2001:db8:0:2::2]:1", 3);
    guest_comes(table, &many[2], "tcp:[2001:db8:0:2::3]:1", 4);
    assert_true(many[0].left);
    assert_false(old.left);
    strangers_destroy(table);
}

static void who_is_fresh_is_given_time_and_less_of_it_when_nobody_proves_anything(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(2);
    struct guest guests[300] = {{.left = false}};
    assert_int_equal(strangers_wait_ms(table, 1000, false), 0);
    guest_comes(table, &guests[0], "tcp:192.0.2.1:1", 1000);
    assert_int_equal(strangers_wait_ms(table, 1000, false), 0);
    guest_comes(table, &guests[1], "tcp:192.0.2.2:1", 1000);
    assert_int_equal(strangers_wait_ms(table, 1000, false), STRANGERS_PATIENCE_MS);
    assert_int_equal(strangers_wait_ms(table, 1000 + STRANGERS_PATIENCE_MS - 1, false), 1);
    assert_int_equal(strangers_wait_ms(table, 1000 + STRANGERS_PATIENCE_MS, false), 0);
    for (size_t i = 2; i < 300; i++) {
        guest_comes(table, &guests[i], "tcp:192.0.2.3:1", 2000);
    }
    assert_int_equal(strangers_wait_ms(table, 2000, false), STRANGERS_PATIENCE_MIN_MS);
    strangers_destroy(table);
}

static void who_has_begun_its_handshake_is_given_more_time_unless_too_many_wait(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(1);
    struct guest guest = {.left = false};
    guest_comes(table, &guest, "tcp:192.0.2.1:1", 1000);
    assert_int_equal(strangers_wait_ms(table, 1000, false), STRANGERS_PATIENCE_MS);
    strangers_begin(&guest.stranger);
    assert_int_equal(strangers_wait_ms(table, 1000, false), STRANGERS_BEGUN_MS);
    assert_int_equal(strangers_wait_ms(table, 1000, true), STRANGERS_PATIENCE_MS);
    strangers_destroy(table);
}

static void proofs_lengthen_the_patience_again(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(1);
    struct guest guests[400] = {{.left = false}};
    for (size_t i = 0; i < 400; i++) {
        guest_comes(table, &guests[i], "tcp:192.0.2.1:1", 100);
    }
    uint64_t before_ms = strangers_wait_ms(table, 100, false);
    assert_int_equal(before_ms, STRANGERS_PATIENCE_MIN_MS);
    strangers_prove(&guests[399].stranger, 100);
    for (size_t i = 0; i < 20; i++) {
        struct guest one = {.left = false};
        guest_comes(table, &one, "tcp:192.0.2.1:1", 200);
        strangers_prove(&one.stranger, 200);
    }
    struct guest last = {.left = false};
    guest_comes(table, &last, "tcp:192.0.2.1:1", 300);
    assert_true(strangers_wait_ms(table, 300, false) > STRANGERS_PATIENCE_MS * 3 / 4);
    strangers_destroy(table);
}

static void who_takes_another_ones_place_is_as_old(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(2);
    struct guest first = {.left = false}, second = first, heir = first, third = first;
    guest_comes(table, &first, "tcp:192.0.2.1:1", 1);
    guest_comes(table, &second, "tcp:192.0.2.1:2", 2);
    strangers_replace(&first.stranger, &heir.stranger, guest_left, &heir);
    assert_null(first.stranger.table);
    assert_int_equal(strangers_count(table), 2);
    guest_comes(table, &third, "tcp:192.0.2.9:1", 3);
    assert_true(heir.left);
    assert_false(second.left);
    strangers_replace(&first.stranger, &heir.stranger, guest_left, &heir); /* nobody's place */
    assert_null(heir.stranger.table);
    strangers_remove(&first.stranger);
    strangers_destroy(table);
    strangers_destroy(NULL);
}

static void a_smaller_table_is_emptied_as_others_come(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(8);
    struct guest guests[8] = {{.left = false}}, next = {.left = false};
    for (uint64_t i = 0; i < 8; i++) {
        guest_comes(table, &guests[i], "tcp:192.0.2.1:1", i);
    }
    strangers_set_max(table, 3);
    guest_comes(table, &next, "tcp:192.0.2.2:1", 9);
    assert_int_equal(strangers_count(table), 3);
    assert_true(guests[5].left);
    assert_false(guests[6].left);
    strangers_destroy(table);
}

static void nobody_is_to_blame_where_all_wait(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(3);
    struct guest guests[5] = {{.left = false}};
    for (size_t i = 0; i < 3; i++) {
        guest_comes(table, &guests[i], "tcp:192.0.2.1:1", i < 2 ? 1000 : 1150);
    }
    strangers_prove(&guests[2].stranger, 1240);
    guest_comes(table, &guests[3], "tcp:192.0.2.1:1", 1245);
    assert_int_equal(strangers_wait_ms(table, 1260, false), 1240 + STRANGERS_PATIENCE_MS - 1260);
    assert_int_equal(strangers_wait_ms(table, 1240 + STRANGERS_PATIENCE_MS, false), 0);
    strangers_destroy(table);
}

static void who_is_overtaken_by_one_that_came_later_may_be_sent_away(void **state)
{
    (void)state;
    struct strangers *table = strangers_create(2);
    struct guest guests[4] = {{.left = false}};
    guest_comes(table, &guests[0], "tcp:192.0.2.1:1", 1000);
    guest_comes(table, &guests[1], "tcp:192.0.2.1:1", 1000 + STRANGERS_PATIENCE_MS);
    strangers_prove(&guests[1].stranger, 1010 + STRANGERS_PATIENCE_MS);
    guest_comes(table, &guests[2], "tcp:192.0.2.1:1", 1020 + STRANGERS_PATIENCE_MS);
    assert_int_equal(strangers_wait_ms(table, 1021 + STRANGERS_PATIENCE_MS, false), 0);
    guest_comes(table, &guests[3], "tcp:192.0.2.1:1", 1021 + STRANGERS_PATIENCE_MS);
    assert_true(guests[0].left);
    assert_false(guests[2].left);
    strangers_destroy(table);
}

static void some_get_a_second_chance_and_their_proofs_lengthen_the_patience(void **state)
{
    (void)state;
    enum { MOST = 256, SECONDS = MOST / 4, FIRST = MOST - SECONDS };
    struct strangers *table = strangers_create(MOST);
    static struct guest guests[FIRST + SECONDS + 3];
    for (size_t i = 0; i < FIRST + SECONDS; i++) {
        guest_comes(table, &guests[i], "tcp:192.0.2.1:1", i < FIRST ? 1000 : 2000);
    }
    assert_int_equal(strangers_count(table), MOST);
    assert_int_equal(strangers_sent_away(table), 0);
    guest_comes(table, &guests[FIRST + SECONDS], "tcp:192.0.2.1:1", 2000);
    assert_true(guests[SECONDS].left); /* no place for it there */
    assert_false(guests[0].left);
    guest_comes(table, &guests[FIRST + SECONDS + 1], "tcp:192.0.2.1:1", 2000 + STRANGERS_SECOND_MS);
    assert_true(guests[0].left); /* its time there is over */
    assert_false(guests[SECONDS + 1].left);
    assert_int_equal(strangers_count(table), MOST);
    uint64_t before_ms = strangers_wait_ms(table, 2000, false);
    strangers_prove(&guests[1].stranger, 2000); /* it took a second */
    assert_int_equal(strangers_count(table), MOST - 1);
    assert_true(strangers_wait_ms(table, 2000, false) > before_ms + 150);
    strangers_remove(&guests[2].stranger);
    assert_int_equal(strangers_count(table), MOST - 2);
    strangers_destroy(table);
    assert_null(guests[3].stranger.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_of_a_peer_is_its_address_its_network_or_its_uid),
        cmocka_unit_test(the_oldest_of_the_busiest_address_goes),
        cmocka_unit_test(one_network_of_ipv6_is_one_address),
        cmocka_unit_test(who_is_fresh_is_given_time_and_less_of_it_when_nobody_proves_anything),
        cmocka_unit_test(who_has_begun_its_handshake_is_given_more_time_unless_too_many_wait),
        cmocka_unit_test(proofs_lengthen_the_patience_again),
        cmocka_unit_test(who_takes_another_ones_place_is_as_old),
        cmocka_unit_test(a_smaller_table_is_emptied_as_others_come),
        cmocka_unit_test(nobody_is_to_blame_where_all_wait),
        cmocka_unit_test(who_is_overtaken_by_one_that_came_later_may_be_sent_away),
        cmocka_unit_test(some_get_a_second_chance_and_their_proofs_lengthen_the_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
