/* tests/unit/startd/sleep_rig.h - a machine, below a root directory of its own, that puts itself to
 * sleep: S3 through the kernel's file, S5 through a program that writes a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_STARTD_SLEEP_RIG_H
#define TESTS_UNIT_STARTD_SLEEP_RIG_H

#include "tests/support/unit.h"

#include <errno.h>

#include "tests/unit/startd/startd_rig.h"

#include "startd/sleep/going_down.h"

static inline void put(struct rig *rig, const char *directory, const char *name, const char *text)
{
    char path[900];
    (void)snprintf(path, sizeof path, "%s/root%s", rig->bed->dir, directory);
    MUST(os_mkdirs(rig->bed->os, path, 0755, err));
    (void)snprintf(path, sizeof path, "%s/root%s/%s", rig->bed->dir, directory, name);
    MUST(os_write_file(rig->bed->os, path, text, strlen(text), 0755, false, err));
}

static inline bool holds_text(struct rig *rig, const char *name, const char *text)
{
    char path[900], *data = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "%s/root%s", rig->bed->dir, name);
    bool same = os_read_file(rig->bed->os, path, 4096, &data, &length, NULL) == 0 &&
                strcmp(data, text) == 0;
    mem_free(data);
    return same;
}

/* Starts a machine that supports S3 and S5, with no slot that wants to sleep. */
static inline void begin(struct rig *rig, const char *more)
{
    char text[1200];
    put(rig, "/sys/power", "state", "freeze mem\n");
    put(rig, "/sys/power", "mem_sleep", "[s2idle] deep\n");
    put(rig, "/run", "off.sh", "#!/bin/sh\necho off >\"$(dirname \"$0\")/off\"\n");
    (void)snprintf(text, sizeof text,
                   "POWER_METHOD = host\nPOWER_ROOT = \"%s/root\"\n"
                   "POWER_SLEEP_CMD = \"%s/root/run/off.sh\"\nHIBERNATION_OVERRIDE_WOL = true\n"
                   "ENABLE_WAKE_ON_LAN = false\nHIBERNATE_RECLAIM_TIME = 0\n"
                   "NUM_SLOTS = 2\n%s",
                   rig->bed->dir, rig->bed->dir, more);
    stop(rig);
    load(rig, text);
    start(rig);
    until(rig, is_connected);
}

static inline const struct ad *shown(const struct rig *rig)
{
    return rig->startd->slots[0]->ad;
}

static inline const char *held_by(const struct rig *rig)
{
    return ad_string_or(shown(rig), "HibernationHeldBy", "");
}

static inline bool is_switched_off(struct rig *rig)
{
    return holds_text(rig, "/run/off", "off\n");
}
static inline bool was_suspended(struct rig *rig)
{
    return holds_text(rig, "/sys/power/state", "mem\n") && !going_down_has_begun(rig->startd);
}

static int64_t last_until; /* PowerKeepUntil of the last answer */

static inline struct answer *order_begin(struct rig *rig, enum wire_verb verb, const char *text)
{
    struct client *admin = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    struct answer *answer = mem_zalloc(sizeof *answer);
    assert_true(answer_ask_text(answer, admin->wire, "startd/wn01", verb, text, NULL, NULL) > 0);
    return answer;
}

static inline int order_end(struct rig *rig, struct answer *answer)
{
    loop_rig_await(rig->bed->loop, &answer->over, NULL);
    last_until = answer->args != NULL ? ad_int_or(answer->args, "PowerKeepUntil", 0) : 0;
    int status = finish(rig, answer, last_text, sizeof last_text);
    mem_free(answer);
    return status;
}

static inline int order(struct rig *rig, enum wire_verb verb, const char *text)
{
    return order_end(rig, order_begin(rig, verb, text));
}

#define CHECKED "HIBERNATE_CHECK_INTERVAL = 3600\n"
#define ANYTIME CHECKED "HIBERNATE = \"\\\"S5\\\"\"\n"

static inline bool collector_has_offline(struct rig *rig)
{
    struct answer answer;
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 &answer),
                     0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count > 0;
}

static inline void a_dry_run_says_what_would_be_done_and_refuses_what_would_be_refused(void **state)
{
    struct rig *rig = *state;
    char keep[80];
    begin(rig, "");
    (void)snprintf(keep, sizeof keep, "[Until = %lld]",
                   (long long)loop_wall_s(rig->bed->loop) + 3600);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[DryRun = true; KeepOff = true]"), 0);
    assert_false(going_down_has_begun(rig->startd));
    assert_int_equal(order(rig, VERB_POWER_KEEP, keep), 0);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[DryRun = true]"), -EBUSY);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[DryRun = true; Force = true]"), 0);
    assert_false(going_down_has_begun(rig->startd));
    assert_false(collector_has_offline(rig));
}

#endif
