/* The rooster over real wires: machines that others switch, as their method tells without being
 * asked; and sleeps that it carries out.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include "rooster/wakes.h"

/* Stands in for roost-libvirt.  It tells of the machine that is watched what the test adds to the
 * file `says`, and writes down its orders.  A wake is answered "ok", a sleep not at all, a status
 * with what is in the file `status`. */
static const char HELPER[] = "#!/bin/sh\ncd \"$(dirname $0)\"\n"
                             "while read -r id verb rest; do\n"
                             " echo \"$verb $rest\" >>orders\n"
                             " case $verb in\n"
                             " watch) tail -n +1 -f says | sed -u \"s/^/$id /\" & ;;\n"
                             " wake) echo \"$id ok started\" ;;\n"
                             " status) echo \"$id $(cat status)\" ;;\n"
                             " esac\ndone\n";

static void put_file(struct rig *rig, const char *name, const char *text, mode_t mode)
{
    char path[300];
    bed_path(rig->bed, name, path);
    MUST(os_write_file(rig->bed->os, path, text, strlen(text), mode, false, err));
}

static void file_of(struct rig *rig, const char *name, char *text, size_t size)
{
    char path[300], *data = NULL;
    size_t length = 0;
    bed_path(rig->bed, name, path);
    text[0] = '\0';
    if (os_read_file(rig->bed->os, path, size - 1, &data, &length, NULL) == 0) {
        memcpy(text, data, length);
        text[length] = '\0';
        mem_free(data);
    }
}

/* Its hypervisor tells that of wn01. */
static void tells(struct rig *rig, const char *words)
{
    char path[300];
    bed_path(rig->bed, "says", path);
    FILE *file = fopen(path, "ae"); /* in place: it is being read */
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", words) > 0);
    assert_int_equal(fclose(file), 0);
}

static void with(struct rig *rig, const char *more)
{
    char text[900], helper[300];
    put_file(rig, "helper", HELPER, 0755);
    put_file(rig, "says", "", 0644);
    put_file(rig, "status", "unknown nobody asked", 0644);
    bed_path(rig->bed, "helper", helper);
    (void)snprintf(
        text, sizeof text,
        "node \"wn01\" {\n method = libvirt\n helper = \"%s\"\n shutdown_timeout = 20m\n}\n"
        "ROOSTER_WAKE_BACKOFF = 1s\n%s",
        helper, more);
    stop(rig);
    load(rig, text);
    start(rig);
}

/* The ad of wn01 that `roost power status` has; the caller destroys it. */
static bool says_(struct rig *rig, const char *name, const char *value)
{
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    bool same = strstr(ad_string_or(ad, name, ""), value) != NULL;
    ad_destroy(ad);
    return same;
}
static bool says_on(struct rig *rig)
{
    return says_(rig, "PowerMethodSays", "On");
}
static bool says_off(struct rig *rig)
{
    return says_(rig, "PowerMethodSays", "Off");
}
static bool says_paused(struct rig *rig)
{
    return says_(rig, "PowerMethodReason", "paused");
}
static bool says_silent(struct rig *rig)
{
    return says_(rig, "PowerMethodSays", "Silent");
}
static bool is_unknown(struct rig *rig)
{
    return says_(rig, "PowerState", "Unknown");
}
static bool is_shown_unknown(struct rig *rig)
{
    return shows(rig, "Unknown");
}
static bool is_staying(struct rig *rig)
{
    return is(rig, "wn01", WAKE_STAYING);
}
static bool is_going_down(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->state == WAKE_GOING_DOWN;
}

static void is_asleep(struct rig *rig)
{
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    until(rig, is_off);
    tells(rig, "off shut off (shut down)");
    until(rig, says_off);
    assert_false(is_unknown(rig));
}

/* ---- asleep, and switched on by somebody else ---- */

static void one_that_somebody_else_starts_is_unknown_until_it_joins(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    tells(rig, "on running (booted)");
    until(rig, is_shown_unknown);
    assert_true(is_unknown(rig));
    assert_true(says_(rig, "PowerStateReason",
                      "the machine was switched on from outside and has not joined the pool; its "
                      "power method says: running (booted)"));
    boots(rig);
    until(rig, is_up);
    assert_false(is_unknown(rig));
    assert_string_equal(node_named(rig, "wn01")->reason, "the machine came up without an order");
}

static void it_is_asleep_again_when_it_is_off_again(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    tells(rig, "on running (booted)");
    until(rig, is_shown_unknown);
    tells(rig, "off shut off (destroyed)");
    until(rig, shows_off);
    assert_false(is_unknown(rig));
}

static void no_job_wakes_one_that_is_unknown_and_an_order_by_name_does(void **state)
{
    struct rig *rig = *state;
    char orders[300];
    with(rig, "");
    is_asleep(rig);
    tells(rig, "unknown paused (by somebody)");
    until(rig, is_shown_unknown);
    assert_true(says_(rig, "PowerStateReason", "paused (by somebody)"));
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    look_now(rig->rooster);
    assert_true(is_off(rig));
    node_order(node_named(rig, "wn01"), "me", false);
    until(rig, is_waking);
    file_of(rig, "orders", orders, sizeof orders);
    assert_string_equal(orders, "watch wn01\nwake 28 wn01\n");
}

static void one_whose_hypervisor_is_gone_is_unknown_and_says_why(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    tells(rig, "silent cannot connect");
    until(rig, is_shown_unknown);
    assert_true(says_(rig, "PowerStateReason",
                      "the state of the machine is not known; its power method says: cannot"));
    tells(rig, "unknown no such domain: 'wn01'"); /* unknown for another reason */
    until(rig, is_shown_unknown);
    while (!says_(rig, "PowerStateReason", "no such domain")) {
        until(rig, is_unknown);
        until(rig, is_shown_unknown);
    }
    tells(rig, "off shut off");
    until(rig, shows_off);
}

/* ---- awake, and stopped by somebody else ---- */

static void is_awake(struct rig *rig)
{
    boots(rig);
    until(rig, is_up);
    tells(rig, "on running (booted)");
    until(rig, says_on);
    assert_false(is_unknown(rig));
}

static void one_that_somebody_else_stops_is_unknown_while_its_ads_are_there(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    tells(rig, "unknown paused (by somebody)");
    until(rig, says_paused);
    assert_true(is_unknown(rig));
    tells(rig, "on running (unpaused)");
    until(rig, says_on);
    assert_false(is_unknown(rig));
    tells(rig, "off shut off (destroyed)");
    until(rig, says_off);
    assert_true(is_unknown(rig));
    assert_true(
        says_(rig, "PowerStateReason",
              "the machine's ads say that it is on; its power method says: shut off (destroyed)"));
}

static void live_ads_are_believed_when_nobody_else_can_be_asked(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    tells(rig, "silent cannot connect");
    until(rig, says_silent);
    assert_false(is_unknown(rig));
}

static void what_was_told_before_the_ads_changed_counts_after_a_while(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    falls_asleep(rig, "wn01"); /* it goes down by itself: it is still on */
    until(rig, is_off);
    assert_true(says_on(rig));
    assert_false(is_unknown(rig));
    node_named(rig, "wn01")->since_s -= 61;
    assert_true(is_unknown(rig));
}

static void the_configuration_may_come_to_name_another_helper(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    tells(rig, "on running (booted)");
    until(rig, is_shown_unknown);
    load(rig, "");
    rig->rooster->env.config = rig->daemon.config;
    rooster_daemon.reload(rig->rooster, rig->daemon.config);
    until(rig, shows_off); /* nobody tells any more */
}

/* ---- being woken ---- */

static void one_that_goes_off_while_it_is_woken_is_not_waited_for(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    put_file(rig, "status", "off shut off (crashed)", 0644);
    tells(rig, "on running (booted)");
    tells(rig, "off shut off (crashed)");
    until(rig, is_backing_off);
    assert_string_equal(node_named(rig, "wn01")->wake.fault, FAULT_OFF);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "was off again before it joined"));
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "shut off (crashed)"));
}

static void news_that_the_order_has_overtaken_ends_no_wake(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_asleep(rig);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    put_file(rig, "status", "on running (booted)", 0644);
    tells(rig, "off shut off (saved)");
    until(rig, says_off);
    until(rig, is_waking); /* it has been asked */
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
}

/* ---- taken down from here ---- */

static void goes_down(struct rig *rig)
{
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b2\"; ClassAdLifetime = 86400; PowerState = \"GoingDown\";"
         " HibernationState = \"S5\" ]");
}

static bool shows_how_long(struct rig *rig)
{
    size_t at = 0;
    const struct ad *ad;
    while (watch_next(rig->rooster->watch, &at, NULL, &ad)) {
        if (strcmp(ad_string_or(ad, "Machine", ""), "wn01") == 0) {
            return ad_int_or(ad, "PowerDownSeconds", 0) == 20 * 60 + 15 + 1;
        }
    }
    return false;
}

static bool shows_not_how_long(struct rig *rig)
{
    size_t at = 0;
    const struct ad *ad;
    while (watch_next(rig->rooster->watch, &at, NULL, &ad)) {
        if (strcmp(ad_string_or(ad, "Machine", ""), "wn01") == 0) {
            return !ad_has(ad, "PowerDownSeconds");
        }
    }
    return false;
}

static bool was_cancelled(struct rig *rig)
{
    char orders[300];
    file_of(rig, "orders", orders, sizeof orders);
    return strstr(orders, "cancel wn01\n") != NULL;
}

static void an_order_says_how_long_it_may_take(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    goes_down(rig);
    until(rig, is_going_down);
    until(rig, shows_how_long);
    is_held(rig, "wn01", 0); /* a change of the ad: nothing else is written */
    until(rig, shows_how_long);
}

static void an_order_is_taken_back_when_live_ads_come(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    goes_down(rig);
    until(rig, shows_how_long);
    must(rig->startd, VERB_UPDATE, "[ CancelOffline = true ]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b2\";"
         " BootTime = 77; State = \"Unclaimed\" ]");
    until(rig, is_up);
    until(rig, was_cancelled);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void an_order_of_an_earlier_life_may_be_under_way(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    goes_down(rig);
    until(rig, shows_how_long);
    stop(rig);
    put_file(rig, "status", "on running", 0644);
    start(rig);
    struct node *node = node_named(rig, "wn01");
    assert_non_null(node);
    node->sleep.began_s -= 61; /* too late to begin */
    until(rig, is_going_down);
    while (node->ordering || !loop_timer_is_set(node->deadline)) {
        until(rig, is_going_down);
    }
    assert_true(is_going_down(rig)); /* and is asked again */
    node->sleep.began_s -= 20 * 60 + 16;
    loop_timer_set(node->deadline, 0);
    until(rig, is_staying);
    until(rig, shows_not_how_long);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void it_is_told_when_such_an_order_is_done(void **state)
{
    struct rig *rig = *state;
    with(rig, "");
    is_awake(rig);
    goes_down(rig);
    until(rig, shows_how_long);
    stop(rig);
    put_file(rig, "status", "on running", 0644);
    start(rig);
    struct node *node = node_named(rig, "wn01");
    node->sleep.began_s -= 61;
    until(rig, is_going_down);
    while (node->ordering || !loop_timer_is_set(node->deadline)) {
        until(rig, is_going_down);
    }
    put_file(rig, "status", "off shut off", 0644);
    loop_timer_set(node->deadline, 3600000); /* that is when it would be asked again */
    tells(rig, "off shut off (shut down)");
    until(rig, is_off);
    until(rig, shows_not_how_long);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void what_a_method_can_is_in_the_ad_of_the_node(void **state)
{
    struct rig *rig = *state;
    with(rig, "node \"wn02\" {\n method = wol\n hardware_address = \"52:54:00:00:00:02\"\n"
              " next_methods = {\"command\"}\n wake_command = \"/bin/true\"\n"
              " sleep_command = \"/bin/true\"\n}\n");
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_expr_print(ad_lookup(ad, "PowerMethodCan"), AD_OLD, &text);
    ad_destroy(ad);
    ad = node_to_ad(node_named(rig, "wn02"));
    ad_expr_print(ad_lookup(ad, "PowerMethodCan"), AD_OLD, &text);
    assert_string_equal(strbuf_text(&text),
                        "{ \"Wake\",\"Sleep\",\"Status\",\"Watch\" }{ \"Wake\",\"Sleep\" }");
    strbuf_fini(&text);
    ad_destroy(ad);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_that_somebody_else_starts_is_unknown_until_it_joins),
        CASE(it_is_asleep_again_when_it_is_off_again),
        CASE(no_job_wakes_one_that_is_unknown_and_an_order_by_name_does),
        CASE(one_whose_hypervisor_is_gone_is_unknown_and_says_why),
        CASE(one_that_somebody_else_stops_is_unknown_while_its_ads_are_there),
        CASE(live_ads_are_believed_when_nobody_else_can_be_asked),
        CASE(what_was_told_before_the_ads_changed_counts_after_a_while),
        CASE(the_configuration_may_come_to_name_another_helper),
        CASE(one_that_goes_off_while_it_is_woken_is_not_waited_for),
        CASE(news_that_the_order_has_overtaken_ends_no_wake),
        CASE(an_order_says_how_long_it_may_take),
        CASE(an_order_is_taken_back_when_live_ads_come),
        CASE(an_order_of_an_earlier_life_may_be_under_way),
        CASE(it_is_told_when_such_an_order_is_done),
        CASE(what_a_method_can_is_in_the_ad_of_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
