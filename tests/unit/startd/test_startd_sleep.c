/* A machine that puts itself to sleep, below a root of its own: its levels, what holds it back, and
 * coming back.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "startd/machine/figures.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/owner/idle_hint.h"
#include "startd/slot/slots.h"
#include "tests/support/clock_shift.h"
#include "tests/unit/startd/sleep_rig.h"

static void the_ad_says_which_levels_there_are(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S1,S3,S5");
    assert_string_equal(ad_string_or(shown(rig), "HibernationMethod", "?"), "/sys");
    assert_string_equal(ad_string_or(shown(rig), "HibernationState", "?"), "NONE");
    assert_int_equal(ad_int_or(shown(rig), "HibernationLevel", -1), 0);
    assert_true(ad_bool_or(shown(rig), "CanHibernate", false));
}

static void each_slots_ad_says_when_any_was_matched(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_false(ad_has(shown(rig), "MachineLastMatchTime"));
    claim_it(rig);
    slots_refresh(rig->startd);
    assert_true(ad_int_or(rig->startd->slots[1]->ad, "MachineLastMatchTime", 0) > 1);
}

static void all_slots_agree_and_it_is_switched_off_after_its_offline_ads(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    begin(rig, ANYTIME);
    hibernate_check(rig->startd);
    assert_true(going_down_has_begun(rig->startd));
    assert_false(is_switched_off(rig)); /* not before they are durable */
    until(rig, is_switched_off);
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 &answer),
                     0);
    assert_int_equal(answer.ads.count, 2);
    assert_string_equal(ad_string_or(answer.ads.items[0], "HibernationState", "?"), "S5");
    assert_int_equal(ad_int_or(answer.ads.items[0], "HibernationLevel", -1), 5);
    answer_fini(&answer);
}

static void one_slot_that_says_none_keeps_it_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"ifThenElse(SlotID == 1, \\\"S5\\\", \\\"NONE\\\")\"\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(held_by(rig), ""); /* its own will is no hindrance */
}

static void one_that_is_never_to_sleep_is_not_woken_for_the_question(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"\\\"NONE\\\"\"\n");
    hibernate_check(rig->startd);
    assert_false(loop_timer_is_set(rig->startd->down.check_timer));
    reload(rig, CHECKED "HIBERNATE = \"ifThenElse(ClockMin >= 0, \\\"NONE\\\", \\\"S5\\\")\"\n");
    assert_true(loop_timer_is_set(rig->startd->down.check_timer));
}

static bool typing_is_seen(const struct rig *rig)
{
    return ad_int_or(shown(rig), "ConsoleIdle", 1000) < 100;
}

/* The machine is looked at every POLLING_INTERVAL, and again before it sleeps. */
static void whoever_types_after_the_last_look_keeps_it_up(void **state)
{
    struct rig *rig = *state;
    int pty = posix_openpt(O_RDWR | O_NOCTTY);
    if (pty < 0 || grantpt(pty) != 0 || unlockpt(pty) != 0) {
        skip();
    }
    char more[400];
    int terminal = open(ptsname(pty), O_RDWR | O_NOCTTY);
    struct timespec used[2] = {{.tv_sec = time(NULL) - 5000}, {.tv_nsec = UTIME_OMIT}};
    assert_true(terminal >= 0 && futimens(terminal, used) == 0);
    (void)snprintf(more, sizeof more,
                   "CONSOLE_DEVICES = {\"%s\"}\nPOLLING_INTERVAL = 3600\n"
                   "HIBERNATE_CHECK_INTERVAL = 4\n"
                   "HIBERNATE = \"ifThenElse(ConsoleIdle > 1000, \\\"S5\\\", \\\"NONE\\\")\"\n",
                   ptsname(pty) + strlen("/dev/"));
    begin(rig, more);
    if (ad_int_or(shown(rig), "ConsoleIdle", 0) < 4000) {
        skip(); /* somebody uses this computer's console */
    }
    used[0] = (struct timespec){.tv_nsec = UTIME_NOW};
    assert_int_equal(futimens(terminal, used), 0);
    until(rig, typing_is_seen); /* seen by the look before it would have slept */
    assert_false(holds_text(rig, "/run/off", "off\n"));
    close(terminal);
    close(pty);
}

static void a_wall_clock_that_was_set_back_does_not_make_it_young(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME "HIBERNATE_MIN_UPTIME = 60\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "HIBERNATE_MIN_UPTIME"));
    rig->startd->look.awake_since_ms -= 60000;
    clock_shift_s = -TEN_YEARS_S;
    hibernate_check(rig->startd);
    bool goes_down = going_down_has_begun(rig->startd);
    clock_shift_s = 0;
    assert_true(goes_down);
    until(rig, is_switched_off);
}

static void the_deepest_level_wins(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"ifThenElse(SlotID == 1, \\\"RAM\\\", \\\"SHUTDOWN\\\")\"\n");
    hibernate_check(rig->startd);
    assert_string_equal(rig->startd->down.level, "S5");
    until(rig, is_switched_off);
}

static void a_level_that_it_has_not_is_refused_with_a_reason(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"\\\"S4\\\"\"\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "does not support level S4"));
}

static void what_it_can_is_looked_at_before_each_sleep(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"\\\"S3\\\"\"\n");
    put(rig, "/sys/power", "state", "freeze\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "does not support level S3"));
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S1,S5");
}

/* By each of their names, from HIBERNATE to what is done. */
static void each_name_of_a_level_is_understood(void **state)
{
    static const struct {
        const char *name;
        int level;
    } NAMES[] = {{"\"S1\"", 1},    {"\"standby\"", 1}, {"\"SLEEP\"", 1},    {"1", 1},
                 {"\"S3\"", 3},    {"\"RAM\"", 3},     {"\"mem\"", 3},      {"\"SUSPEND\"", 3},
                 {"3", 3},         {"\"S5\"", 5},      {"\"shutdown\"", 5}, {"\"OFF\"", 5},
                 {"5", 5},         {"\"S2\"", 0},      {"\"S4\"", 0},       {"\"DISK\"", 0},
                 {"\"NONE\"", 0},  {"0", 0},           {"\"S9\"", 0},       {"6", 0},
                 {"undefined", 0}, {"1 / 0", 0},       {"true", 0}};
    struct rig *rig = *state;
    begin(rig, CHECKED);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        struct ad_expr *expr = NULL;
        assert_int_equal(ad_expr_parse(NAMES[i].name, strlen(NAMES[i].name), AD_OLD, &expr, NULL),
                         0);
        ad_expr_destroy(rig->startd->down.when);
        rig->startd->down.when = expr;
        hibernate_check(rig->startd);
        assert_int_equal(going_down_has_begun(rig->startd)
                             ? slot_plan_level_of(rig->startd->down.level)
                             : 0,
                         NAMES[i].level);
        if (NAMES[i].level > 0) {
            restart(rig);
            until(rig, is_connected);
        }
    }
}

static void who_is_logged_in_keeps_it_up_until_he_leaves(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME);
    put(rig, "/run/systemd/sessions", "3", "USER=bob\nCLASS=user\nSTATE=active\nTTY=pts/0\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "bob is logged in"));
    put(rig, "/run/systemd/sessions", "3", "USER=bob\nCLASS=user\nSTATE=closing\n");
    put(rig, "/run/systemd/sessions", "4", "USER=gdm\nCLASS=greeter\nSTATE=online\n");
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static int64_t console_idle_s(const struct rig *rig)
{
    return ad_int_or(shown(rig), "ConsoleIdle", -1);
}
static bool console_is_in_use(struct rig *rig)
{
    rig->startd->idle_hint.next_ms = 0;
    idle_hint_look(rig->startd);
    figures_measure(rig->startd);
    return console_idle_s(rig) >= 0 && console_idle_s(rig) < 10;
}

static bool nobody_is_asked(struct rig *rig)
{
    return rig->startd->idle_hint.pid == 0;
}

static void a_desktop_that_tells_logind_of_its_user_is_believed(void **state)
{
    struct rig *rig = *state;
    put(rig, "/usr/bin", "loginctl",
        "#!/bin/sh\n[ \"$*\" = 'show-session -p Type -p IdleHint -p IdleSinceHint c2' ] || exit 1\n"
        "echo Type=wayland\necho IdleHint=no\necho IdleSinceHint=1\n");
    begin(rig, CHECKED "CONSOLE_DEVICES = {}\n");
    idle_hint_look(rig->startd);
    assert_int_equal(rig->startd->idle_hint.pid, 0); /* no session, no question */
    put(rig, "/run/systemd/sessions", "c2", "USER=bob\nCLASS=user\nTYPE=wayland\n");
    put(rig, "/run/systemd/sessions", "--x", "USER=bob\nCLASS=user\nTYPE=wayland\n");
    until(rig, console_is_in_use);
    until(rig, nobody_is_asked);
    rig->startd->idle_hint.next_ms = 0;
    idle_hint_look(rig->startd);
    assert_int_not_equal(rig->startd->idle_hint.pid, 0);
    until(rig, nobody_is_asked);
    idle_hint_look(rig->startd);
    assert_int_equal(rig->startd->idle_hint.pid, 0); /* it was asked a moment ago */
    begin(rig, CHECKED "LOGIND_IDLE_HINT = false\n");
    rig->startd->idle_hint.next_ms = 0;
    idle_hint_look(rig->startd);
    assert_int_equal(rig->startd->idle_hint.pid, 0);
}

static void an_inhibitor_keeps_it_up_from_what_it_forbids(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME);
    put(rig, "/run/systemd/inhibit", "1",
        "WHAT=shutdown:idle\nWHO=apt\nWHY=upgrading\nMODE=block\n");
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "apt: upgrading"));
    put(rig, "/run/systemd/inhibit", "1", "WHAT=shutdown\nWHO=apt\nWHY=upgrading\nMODE=delay\n");
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static void what_nothing_could_wake_stays_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME "HIBERNATION_OVERRIDE_WOL = false\nNETWORK_INTERFACE = \"lo\"\n");
    assert_false(ad_bool_or(shown(rig), "CanHibernate", true));
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "the machine could not be woken"));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EBUSY);
    assert_non_null(strstr(last_text, "the machine could not be woken"));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[Force = true]"), 0);
    until(rig, is_switched_off);
}

static void it_is_up_for_its_minimum_after_each_waking(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME "HIBERNATE_MIN_UPTIME = 600\n");
    rig->startd->started_ms -= 10000000;
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "HIBERNATE_MIN_UPTIME"));
    rig->startd->look.awake_since_ms -= 600000;
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static void somebody_keeps_it_up_across_a_restart(void **state)
{
    struct rig *rig = *state;
    char text[200];
    begin(rig, ANYTIME);
    (void)snprintf(text, sizeof text, "[Until = %lld; Reason = \"a demonstration\"]",
                   (long long)loop_wall_s(rig->bed->loop) + 3600);
    assert_int_equal(order(rig, VERB_POWER_KEEP, text), 0);
    assert_string_equal(ad_string_or(shown(rig), "PowerKeepReason", "?"), "a demonstration");
    restart(rig);
    until(rig, is_connected);
    assert_true(ad_int_or(shown(rig), "PowerKeepUntil", 0) > loop_wall_s(rig->bed->loop));
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "a demonstration"));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EBUSY);
    assert_int_equal(order(rig, VERB_POWER_KEEP, "[Until = 0]"), 0); /* lifted */
    assert_false(ad_has(shown(rig), "PowerKeepUntil"));
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static void two_who_keep_it_up_at_once_are_both_answered(void **state)
{
    struct rig *rig = *state;
    char text[200];
    int64_t until_s = loop_wall_s(rig->bed->loop) + 3600;
    begin(rig, "");
    (void)snprintf(text, sizeof text, "[Until = %lld]", (long long)until_s);
    struct answer *first = order_begin(rig, VERB_POWER_KEEP, text);
    struct answer *second = order_begin(rig, VERB_POWER_KEEP, text);
    int one = order_end(rig, first), other = order_end(rig, second);
    assert_true((one == 0 && (other == 0 || other == -EBUSY)) || (one == -EBUSY && other == 0));
    assert_int_equal(order(rig, VERB_POWER_KEEP, text), 0);
    assert_int_equal(last_until, until_s);
    struct wire_request *request = (struct wire_request *)rig; /* one that is being written */
    rig->startd->keep.request = request;
    assert_int_equal(order(rig, VERB_POWER_KEEP, "[Until = 0]"), -EBUSY);
    rig->startd->keep.request = NULL;
    assert_int_equal(rig->startd->keep.until_s, until_s);
}

static void who_is_kept_up_is_so_no_longer_than_that(void **state)
{
    struct rig *rig = *state;
    char text[200];
    begin(rig, ANYTIME);
    (void)snprintf(text, sizeof text, "[Until = %lld]",
                   (long long)loop_wall_s(rig->bed->loop) + 60);
    assert_int_equal(order(rig, VERB_POWER_KEEP, text), 0);
    assert_true(ad_has(shown(rig), "PowerKeepUntil"));
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "no reason given"));
    rig->startd->keep.until_s -= 61; /* it is later */
    slots_refresh(rig->startd);
    assert_false(ad_has(shown(rig), "PowerKeepUntil"));
    hibernate_check(rig->startd);
    assert_true(going_down_has_begun(rig->startd));
    until(rig, is_switched_off);
}

static void who_is_switched_off_is_woken_by_no_job_who_is_sent_to_sleep_is(void **state)
{
    static const char *const ORDERS[] = {"[KeepOff = true]", "[]"};
    struct rig *rig = *state;
    for (int i = 0; i < 2; i++) {
        bool off = i == 0;
        struct answer answer;
        begin(rig, "");
        assert_int_equal(order(rig, VERB_POWER_DOWN, ORDERS[i]), 0);
        assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                     "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]",
                                     NULL, &answer),
                         0);
        assert_int_equal(answer.ads.count, 2);
        struct ad *ad = ad_copy(answer.ads.items[0]);
        ad_set_int(ad, "MachineLastMatchTime", 1); /* a job would take it */
        assert_int_equal(ad_bool_or(ad, "PowerKeptOff", false), off);
        assert_int_equal(ad_bool_or(ad, "Start", !off), !off);
        assert_int_equal(ad_bool_or(ad, "Unhibernate", off), !off);
        ad_destroy(ad);
        answer_fini(&answer);
    }
}

static void a_time_that_is_none_keeps_nothing(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_int_equal(order(rig, VERB_POWER_KEEP, "[]"), -EINVAL);
    assert_int_equal(order(rig, VERB_POWER_KEEP, "[Until = 99999999999]"), -EINVAL);
    assert_int_equal(rig->startd->keep.until_s, 0);
}

/* The write comes back when the machine is awake again: below a root at once. */
static void suspended_by_the_kernel_it_shows_itself_again_when_it_wakes(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"\\\"S3\\\"\"\n");
    rig->startd->look.awake_since_ms = 1;
    hibernate_check(rig->startd);
    assert_true(going_down_has_begun(rig->startd));
    until(rig, was_suspended);
    assert_true(holds_text(rig, "/sys/power/mem_sleep", "deep\n"));
    until(rig, is_connected);
    assert_true(rig->startd->look.awake_since_ms > 1);
    while (collector_has_offline(rig)) { /* ctest's limit ends what never comes */
    }
}

static bool kernel_has_refused(struct rig *rig)
{
    return !going_down_is_silent(rig->startd) && rig->startd->sent.first_done;
}

static void a_kernel_that_refuses_leaves_it_up(void **state)
{
    struct rig *rig = *state;
    char path[900];
    begin(rig, CHECKED "HIBERNATE = \"\\\"S3\\\"\"\n");
    hibernate_check(rig->startd);
    (void)snprintf(path, sizeof path, "%s/root/sys/power", rig->bed->dir);
    MUST(os_remove_tree(rig->bed->os, path, err));
    until(rig, kernel_has_refused);
    assert_false(going_down_has_begun(rig->startd));
    until(rig, is_unclaimed);
}

static void an_order_that_fails_is_answered_and_nothing_of_it_stays(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    begin(rig, CHECKED);
    put(rig, "/run", "off.sh", "#!/bin/sh\nexit 1\n");
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[KeepOff = true]"), -EIO);
    assert_false(going_down_has_begun(rig->startd));
    assert_true(loop_timer_is_set(rig->startd->down.check_timer));
    assert_false(loop_timer_is_set(rig->startd->down.guard_timer));
    assert_false(loop_timer_is_set(rig->startd->down.ask_timer));
    until(rig, kernel_has_refused);
    until(rig, is_unclaimed);
    while (collector_has_offline(rig)) { /* ctest's limit ends what never comes */
    }
    put(rig, "/run", "off.sh", "#!/bin/sh\necho off >\"$(dirname \"$0\")/off\"\n");
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), 0);
    assert_false(loop_timer_is_set(rig->startd->down.check_timer));
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"PowerKeptOff =?= true\" ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 0);
    answer_fini(&answer);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EALREADY);
}

static bool is_not_leaving(struct rig *rig)
{
    return !going_down_is_leaving(rig->startd);
}

static void a_machine_with_jobs_goes_down_by_force_and_takes_no_job_meanwhile(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED);
    run_it(rig);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EBUSY);
    assert_false(going_down_is_leaving(rig->startd));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[Force = true]"), -EAGAIN);
    assert_true(going_down_is_leaving(rig->startd));
    assert_true(loop_timer_is_set(rig->startd->down.leave_timer));
    loop_timer_set(rig->startd->down.leave_timer, 0); /* nobody asks again: it works on */
    until(rig, is_not_leaving);
    until(rig, is_unclaimed);
    assert_false(going_down_has_begun(rig->startd));
}

static bool plugin_has_answered(struct rig *rig)
{
    return rig->startd->look.plugin_levels != 0;
}
static bool logind_was_asked(struct rig *rig)
{
    return rig->startd->look.ask_logind_ms > 0 && rig->startd->look.plugin_pid == 0;
}
/* A startd that begins may ask logind a second time. */
static bool logind_has_answered(struct rig *rig)
{
    return rig->startd->look.logind_known && logind_was_asked(rig);
}

#define BUSCTL                                                                         \
    "#!/bin/sh\n[ \"$1 $2\" = 'call org.freedesktop.login1' ] || exit 1\ncase $5 in\n" \
    "CanSuspend) echo 's \"na\"' ;;\nCanHibernate) echo 's \"challenge\"' ;;\n"        \
    "CanPowerOff) echo 's \"yes\"' ;;\nesac\n"

static void where_logind_would_do_it_its_word_counts(void **state)
{
    struct rig *rig = *state;
    put(rig, "/run/systemd/system", "there", "");
    put(rig, "/usr/bin", "busctl", BUSCTL);
    begin(rig, CHECKED);
    until(rig, logind_has_answered);
    slots_refresh(rig->startd);
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S1,S4,S5");
    assert_string_equal(ad_string_or(shown(rig), "HibernationMethod", "?"), "logind");
    rig->startd->look.seen_ms = 0;
    slots_refresh(rig->startd);
    assert_int_equal(rig->startd->look.plugin_pid, 0);     /* it is not asked at each look */
    put(rig, "/usr/bin", "busctl", "#!/bin/sh\nexit 1\n"); /* it is not there */
    begin(rig, CHECKED);
    until(rig, logind_was_asked);
    slots_refresh(rig->startd);
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S1,S3,S5");
    put(rig, "/usr/bin", "busctl", BUSCTL); /* it has been started: it is soon asked again */
    assert_true(rig->startd->look.ask_logind_ms < loop_now_ms(rig->startd->env.loop) + 60000);
    assert_true(rig->startd->look.seen_ms > 0);
    rig->startd->look.ask_logind_ms = 1;
    slots_refresh(rig->startd);
    until(rig, logind_has_answered);
    slots_refresh(rig->startd);
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S1,S4,S5");
    begin(rig, CHECKED "LINUX_HIBERNATION_METHOD = \"/sys\"\n");
    assert_int_equal(rig->startd->look.ask_logind_ms, 0);
}

static bool plugin_has_slept(struct rig *rig)
{
    return holds_text(rig, "/run/set", "quiet set S4\n");
}

static void a_plug_in_says_what_it_can_and_does_it(void **state)
{
    struct rig *rig = *state;
    char more[600];
    put(rig, "/run", "plugin.sh",
        "#!/bin/sh\nif [ \"$2\" = ad ]; then echo 'HibernationMethod = \"pm-utils\"'\n"
        "echo 'HibernationSupportedStates = \"S4\"'; else echo \"$*\" >\"$(dirname \"$0\")/set\"; "
        "fi\n");
    (void)snprintf(more, sizeof more,
                   CHECKED "HIBERNATE = 4\nHIBERNATION_PLUGIN = \"%s/root/run/plugin.sh\"\n"
                           "HIBERNATION_PLUGIN_ARGS = \"quiet\"\n",
                   rig->bed->dir);
    begin(rig, more);
    until(rig, plugin_has_answered);
    assert_string_equal(ad_string_or(shown(rig), "HibernationSupportedStates", "?"), "S4");
    assert_string_equal(ad_string_or(shown(rig), "HibernationMethod", "?"), "pm-utils");
    hibernate_check(rig->startd);
    until(rig, plugin_has_slept);
}

static void who_is_drained_to_sleep_goes_to_the_level_that_it_has(void **state)
{
    struct rig *rig = *state;
    char more[600];
    put(rig, "/run", "plugin.sh",
        "#!/bin/sh\nif [ \"$1\" = ad ]; then echo 'HibernationSupportedStates = \"S4,S5\"'\n"
        "else echo \"quiet $*\" >\"$(dirname \"$0\")/set\"; fi\n");
    (void)snprintf(more, sizeof more, CHECKED "HIBERNATION_PLUGIN = \"%s/root/run/plugin.sh\"\n",
                   rig->bed->dir);
    begin(rig, more);
    until(rig, plugin_has_answered);
    rig->startd->draining.phase = DRAIN_COMPLETE;
    hibernate_drained(rig->startd, false, "drained");
    until(rig, plugin_has_slept);
}

UNIT_TESTS(RIG(the_ad_says_which_levels_there_are), RIG(each_slots_ad_says_when_any_was_matched),
           RIG(all_slots_agree_and_it_is_switched_off_after_its_offline_ads),
           RIG(one_slot_that_says_none_keeps_it_up),
           RIG(one_that_is_never_to_sleep_is_not_woken_for_the_question),
           RIG(the_deepest_level_wins), RIG(whoever_types_after_the_last_look_keeps_it_up),
           RIG(a_wall_clock_that_was_set_back_does_not_make_it_young),
           RIG(a_level_that_it_has_not_is_refused_with_a_reason),
           RIG(what_it_can_is_looked_at_before_each_sleep), RIG(each_name_of_a_level_is_understood),
           RIG(who_is_logged_in_keeps_it_up_until_he_leaves),
           RIG(a_desktop_that_tells_logind_of_its_user_is_believed),
           RIG(an_inhibitor_keeps_it_up_from_what_it_forbids),
           RIG(who_is_drained_to_sleep_goes_to_the_level_that_it_has),
           RIG(what_nothing_could_wake_stays_up), RIG(it_is_up_for_its_minimum_after_each_waking),
           RIG(somebody_keeps_it_up_across_a_restart), RIG(a_time_that_is_none_keeps_nothing),
           RIG(two_who_keep_it_up_at_once_are_both_answered),
           RIG(who_is_kept_up_is_so_no_longer_than_that),
           RIG(a_dry_run_says_what_would_be_done_and_refuses_what_would_be_refused),
           RIG(who_is_switched_off_is_woken_by_no_job_who_is_sent_to_sleep_is),
           RIG(suspended_by_the_kernel_it_shows_itself_again_when_it_wakes),
           RIG(a_kernel_that_refuses_leaves_it_up), RIG(a_plug_in_says_what_it_can_and_does_it),
           RIG(where_logind_would_do_it_its_word_counts),
           RIG(an_order_that_fails_is_answered_and_nothing_of_it_stays),
           RIG(a_machine_with_jobs_goes_down_by_force_and_takes_no_job_meanwhile))
