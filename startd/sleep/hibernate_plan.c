/* startd/sleep/hibernate_plan.c - see hibernate_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/hibernate_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/os/os_power.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/slot/slot_plan.h"

#define BIT(level) (1u << (level))

/* Returns whether the word is in the list; the chosen word of a list stands in [brackets]. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, " \t[]");
        size_t end = strcspn(at, " \t[]");
        if (end == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += end;
    }
    return false;
}

unsigned hibernate_plan_kernel_levels(const struct os_sleep_words *words)
{
    unsigned levels = BIT(5);
    bool is_deep = words->mem_sleep[0] == '\0' || has_word(words->mem_sleep, "deep");
    if (has_word(words->state, "standby") || has_word(words->state, "freeze") ||
        (has_word(words->state, "mem") && !is_deep)) {
        levels |= BIT(1);
    }
    if (has_word(words->state, "mem") && is_deep) {
        levels |= BIT(3);
    }
    bool is_found_again = words->resume[0] != '\0' && strcmp(words->resume, "0:0") != 0;
    if (has_word(words->state, "disk") && !has_word(words->disk, "disabled") && is_found_again) {
        levels |= BIT(4);
    }
    return levels;
}

unsigned hibernate_plan_parse_levels(const char *list)
{
    unsigned levels = 0;
    for (const char *at = list; *at != '\0';) {
        char word[32];
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (length < sizeof word) {
            memcpy(word, at, length);
            word[length] = '\0';
            int level = slot_plan_level_of(word);
            levels |= level > 0 ? BIT(level) : 0;
        }
        at += length;
    }
    return levels;
}

int hibernate_plan_best_level(unsigned levels)
{
    for (int level = 3; level <= 5; level++) {
        if ((levels & BIT(level)) != 0) {
            return level;
        }
    }
    return 3;
}

void hibernate_plan_put_levels(unsigned levels, bool can, struct ad *ad)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int level = 1; level <= 5; level++) {
        if ((levels & BIT(level)) != 0) {
            strbuf_printf(&text, "%s%s", text.length > 0 ? "," : "", slot_plan_level_name(level));
        }
    }
    ad_set_string(ad, "HibernationSupportedStates", strbuf_text(&text));
    ad_set_int(ad, "HibernationRawMask", (int64_t)levels >> 1); /* HTCondor's: bit 0 is S1 */
    ad_set_bool(ad, "CanHibernate", can && levels != 0);
    strbuf_fini(&text);
}

bool hibernate_plan_inhibits(const char *what, int level)
{
    const char *wanted = level == 5 ? "shutdown" : "sleep";
    size_t length = strlen(wanted);
    for (const char *at = what; *at != '\0';) {
        size_t end = strcspn(at, ":");
        if (end == length && strncmp(at, wanted, length) == 0) {
            return true;
        }
        at += end + (at[end] == ':' ? 1 : 0);
    }
    return false;
}

/* ---- what holds it back */

static int judge_people(const struct hibernate_facts *facts, struct err *err)
{
    if (facts->kept_until_s > facts->now_s) {
        return err_set(err, -EBUSY, "kept up by %.80s: %.120s", facts->kept_by,
                       facts->kept_reason[0] != '\0' ? facts->kept_reason : "no reason given");
    }
    if (facts->users > 0) {
        return err_set(
            err, -EBUSY,
            "%.60s is logged in (%zu session%s; HIBERNATE_WITH_USERS = true skips this check)",
            facts->user[0] != '\0' ? facts->user : "somebody", facts->users,
            facts->users == 1 ? "" : "s");
    }
    if (facts->inhibitor[0] != '\0') {
        return err_set(err, -EBUSY, "an inhibitor: %.200s", facts->inhibitor);
    }
    return 0;
}

int hibernate_plan_judge(const struct hibernate_facts *facts, int level, struct err *err)
{
    if (level < 1 || level > 5 || (facts->levels & BIT(level)) == 0) {
        return err_set(err, -ENOTSUP,
                       "this machine does not support level S%d (POWER_METHOD %.20s)", level,
                       facts->method);
    }
    if (facts->forced) {
        return 0;
    }
    if (!facts->ordered && facts->up_s < facts->min_up_s) {
        return err_set(err, -EBUSY,
                       "the machine has been up for less than %lld s (HIBERNATE_MIN_UPTIME)",
                       (long long)facts->min_up_s);
    }
    if (!facts->ordered && facts->flaps) {
        return err_set(err, -EBUSY,
                       "jobs took the machine back %d times within %d s; it stays up until that "
                       "time is over",
                       HIBERNATE_PLAN_FLAPS, HIBERNATE_PLAN_FLAPS_MS / 1000);
    }
    int rc = judge_people(facts, err);
    if (rc != 0) {
        return rc;
    }
    if (facts->needs_wake && !facts->can_wake) {
        return err_set(err, -EBUSY,
                       "the machine could not be woken: %.150s (HIBERNATION_OVERRIDE_WOL = true "
                       "skips this check)",
                       facts->cannot_wake);
    }
    return 0;
}

int hibernate_plan_leaves(const struct hibernate_facts *facts, struct err *err)
{
    if (strcmp(facts->method, "none") == 0) {
        return err_set(err, -ENOTSUP,
                       "no offline ads: POWER_METHOD is none, so the machine could not be woken");
    }
    if (facts->needs_wake && !facts->can_wake) {
        return err_set(err, -ENOTSUP, "no offline ads: the machine could not be woken: %.150s",
                       facts->cannot_wake);
    }
    return 0;
}
