/* cli/drain_sleepers.c - see drain_sleepers.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_sleepers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/drain_status.h"
#include "cli/drain_words_plan.h"
#include "cli/power_keep_off.h"
#include "cli/power_lock.h"

/* in a result: the machine is asleep; and what was done with it, as drain_show_results() has it */
static const char IS_ASLEEP[] = "IsAsleep", DONE_ASLEEP[] = "DoneAsleep";

struct sleepers {
    struct cli *cli;
    const struct drain_words *words;
    struct ad *const *results; /* of all machines */
    size_t count;
};

static const char *machine_of(const struct ad *result)
{
    return ad_string_or(result, "Machine", "");
}

/* Returns why a machine has no uplink; ad: one of its offline or absent ads; NULL: it has none. */
static const char *absence_of(bool cancels, const struct ad *ad)
{
    return ad == NULL ? "the pool has no such machine, or its startd is not running"
           : ad_bool_or(ad, "Absent", false)
               ? "the machine has disappeared from the pool; its state is not known"
           : !cancels ? "the machine is asleep (offline), so no job runs there; `roost power "
                        "on` wakes it"
           : ad_bool_or(ad, "Draining", false)
               ? "the machine is asleep and keeps its drain request; wake it by `roost power on`, "
                 "then cancel the request"
               : "the machine has no drain request; it is asleep";
}

/* Explains in the results why a machine has no uplink: it is asleep, absent or unknown. */
static void explain_absence(const struct sleepers *all)
{
    struct cli_reply reply = {0};
    bool any = false, cancels = all->words->verb == DRAIN_VERB_CANCEL;
    for (size_t i = 0; i < all->count; i++) {
        any |= ad_int_or(all->results[i], "ErrorCode", 0) == DRAIN_NOT_THERE;
    }
    if (!any ||
        drain_status_slots(all->cli, "Offline =?= true || Absent =?= true", &reply, NULL) != 0) {
        cli_reply_fini(&reply);
        return;
    }
    struct strmap *known = strmap_create(STRMAP_CASE_IGNORED);
    for (size_t i = 0; i < reply.ads.count; i++) {
        (void)strmap_set(known, ad_string_or(reply.ads.items[i], "Machine", ""),
                         reply.ads.items[i]);
    }
    for (size_t i = 0; i < all->count; i++) {
        struct ad *result = all->results[i];
        const struct ad *ad = strmap_get(known, machine_of(result));
        if (ad_int_or(result, "ErrorCode", 0) != DRAIN_NOT_THERE) {
            continue;
        }
        ad_set_bool(result, IS_ASLEEP, ad != NULL && !ad_bool_or(ad, "Absent", false));
        ad_set_string(result, "ErrorString", absence_of(cancels, ad));
    }
    strmap_destroy(known, NULL);
    cli_reply_fini(&reply);
}

/* Collects the machines that did not answer because they are asleep, and, for a cancel, those that
 * have no request: they may have been locked while they slept. */
static void find_sleepers(const struct sleepers *all, struct vec *sleepers, struct vec *names)
{
    bool cancels = all->words->verb == DRAIN_VERB_CANCEL;
    for (size_t i = 0; i < all->count; i++) {
        struct ad *result = all->results[i];
        int64_t code = ad_int_or(result, "ErrorCode", 0);
        bool is_asleep = ad_bool_or(result, IS_ASLEEP, false);
        if ((code == DRAIN_NOT_THERE && (cancels || is_asleep)) ||
            (cancels && code == DRAIN_NO_SUCH_ID)) {
            vec_push(sleepers, result);
            vec_push(names, (char *)(uintptr_t)machine_of(result));
        }
    }
}

static void put_done_asleep(struct ad *result, const char *what)
{
    ad_set_int(result, "ErrorCode", DRAIN_OK);
    ad_remove(result, "ErrorString");
    ad_set_string(result, DONE_ASLEEP, what);
}

/* Says of those that are asleep what a drain would have made of them, which they are already. */
static void accept_sleepers(const struct sleepers *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (ad_bool_or(all->results[i], IS_ASLEEP, false)) {
            put_done_asleep(all->results[i], "asleep already");
        }
    }
}

/* Keeps those that are asleep off until somebody switches them on by name. */
static void keep_sleepers_off(const struct sleepers *all)
{
    struct err err;
    for (size_t i = 0; i < all->count; i++) {
        struct ad *result = all->results[i];
        if (!ad_bool_or(result, IS_ASLEEP, false)) {
            continue;
        }
        if (power_keep_off(all->cli, machine_of(result), all->words->request.reason, &err) == 0) {
            put_done_asleep(result, "asleep, and stays off until `roost power on`");
        } else {
            ad_set_string(result, "ErrorString", err.text);
        }
    }
}

/* Does with those that are asleep what the drain asks for. */
static void handle_sleepers(const struct sleepers *all)
{
    const struct drain_words *words = all->words;
    enum drain_then then = words->request.then;
    bool starts = words->verb == DRAIN_VERB_START && words->request.slot_count == 0 &&
                  words->request.check == NULL; /* its slots cannot be judged */
    if (starts && (then == DRAIN_THEN_SLEEP || then == DRAIN_THEN_RESUME)) {
        accept_sleepers(all);
        return;
    }
    if (starts && then == DRAIN_THEN_OFF) {
        keep_sleepers_off(all);
        return;
    }
    bool locks = starts && then == DRAIN_THEN_STAY;
    bool unlocks = words->verb == DRAIN_VERB_CANCEL && words->ids.count == 0;
    struct vec sleepers = {0}, names = {0};
    struct cli_reply reply = {0};
    struct err err;
    const struct power_lock_wish wish = {.locks = locks,
                                         .reason = words->request.reason,
                                         .drains = true};
    if (locks || unlocks) {
        find_sleepers(all, &sleepers, &names);
    }
    int rc = names.count == 0 ? -ENOENT
                              : power_lock_ask(all->cli, (const char *const *)names.items,
                                               names.count, &wish, &reply, &err);
    for (size_t i = 0; i < sleepers.count; i++) {
        struct ad *result = sleepers.items[i];
        if (rc == 0 && (locks || !power_lock_is_in(&reply, "NotLocked", machine_of(result)))) {
            put_done_asleep(result, "asleep, and locked until the drain is cancelled");
        } else if (rc != 0 && rc != -ENOENT) {
            ad_set_string(result, "ErrorString", err.text);
        }
    }
    cli_reply_fini(&reply);
    vec_fini(&sleepers, NULL);
    vec_fini(&names, NULL);
}

void drain_sleepers(struct cli *cli, const struct drain_words *words, struct ad *const *results,
                    size_t count)
{
    const struct sleepers all = {.cli = cli, .words = words, .results = results, .count = count};
    explain_absence(&all);
    handle_sleepers(&all);
}
