/* startd/sleep/permit.c - asks the rooster, which sees the whole pool, before this machine goes to
 * sleep.
 *
 * A startd knows only its own machine.  How many others are down, go down at this moment, or must
 * be kept awake, the rooster judges (rooster/guard_plan.h).  There is one question at a time
 * (POWER_DOWN_ASK).  Its answer goes to hibernate.c, which looks at its own machine once more,
 * because a job may have come meanwhile.  A refusal says when to ask again; the startd does not ask
 * before.
 *
 * If nobody answers, nobody could wake the machine for a job, and so it stays up
 * (HIBERNATE_ASK_ROOSTER).  What somebody ordered by name is done all the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/permit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/plant.h"
#include "classad/ad.h"
#include "startd/sleep/adapter.h"
#include "startd/sleep/going_down.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define ANYBODY       "rooster/"
#define SILENCE_MS    10000 /* nobody answers: not asked again before */
#define AGAIN_MAX_S   3600
#define AGAIN_LEAST_S 1

static bool is_ask(const struct startd *startd, const char *what)
{
    return strcmp(config_string(startd->env.config, "HIBERNATE_ASK_ROOSTER"), what) == 0;
}

static bool nobody_answers(int status)
{
    return status == -EHOSTUNREACH || status == -ETIMEDOUT || status == -ECONNRESET ||
           status == -ENOTCONN || status == -EBUSY || status == -EAGAIN;
}

static void wait_until(struct startd *startd, uint64_t after_ms, const char *why)
{
    struct permit *permit = &startd->permit;
    permit->early_ms = loop_now_ms(startd->env.loop) + after_ms;
    (void)snprintf(permit->why, sizeof permit->why, "%s", why);
}

/* Decides without an answer. */
static int judge_silence(struct startd *startd, const char *text, struct err *err)
{
    const struct permit *permit = &startd->permit;
    if (permit->what.ordered || is_ask(startd, "if_there")) {
        log_warn(startd->env.log, "hibernate.not_asked", text);
        return 0;
    }
    wait_until(startd, SILENCE_MS, "no rooster answered");
    return err_set(err, -EBUSY,
                   "no rooster answered, so the machine could not be woken for a job "
                   "(HIBERNATE_ASK_ROOSTER): %.200s",
                   text);
}

static void end_question(struct startd *startd, int status, const char *why)
{
    going_down_move(startd, going_down_is_leaving(startd) ? DOWN_LEAVING : DOWN_UP);
    startd->permit.done(startd, status, why);
}

static void ask_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    struct err err = {.text = ""};
    int rc = 0;
    if (!going_down_is_asking(startd)) {
        return;
    }
    if (nobody_answers(reply->status)) {
        rc = judge_silence(startd, reply->text, &err);
    } else if (reply->status == -ENOSYS) {
        rc = 0; /* one of the last version, which forbids nothing */
    } else if (reply->status != 0) {
        wait_until(startd, SILENCE_MS, reply->text);
        rc = err_set(&err, -EACCES, "the rooster: %.250s", reply->text);
    } else if (reply->args == NULL || !ad_bool_or(reply->args, "Granted", false)) {
        int64_t again_s = reply->args != NULL ? ad_int_or(reply->args, "AskAgain", 60) : 60;
        again_s = again_s < AGAIN_LEAST_S ? AGAIN_LEAST_S : again_s;
        again_s = again_s > AGAIN_MAX_S ? AGAIN_MAX_S : again_s;
        rc = err_set(&err, -EBUSY, "the rooster: %.250s",
                     reply->args != NULL ? ad_string_or(reply->args, "Text", "no") : "no");
        wait_until(startd, (uint64_t)again_s * 1000, err.text);
    }
    end_question(startd, rc, err.text);
}

static struct ad *make_args(struct startd *startd, const struct permit_what *what)
{
    int64_t since_ms = 0;
    char cannot[200];
    struct ad *args = ad_create();
    for (size_t i = 0; i < startd->slot_count; i++) {
        int64_t entered_ms = startd->slots[i]->entered_state_ms;
        since_ms = entered_ms > since_ms ? entered_ms : since_ms;
    }
    ad_set_string(args, "Machine", startd->name);
    ad_set_string(args, "Level", slot_plan_level_name(what->level));
    ad_set_string(args, "Reason", what->reason);
    ad_set_bool(args, "Ordered", what->ordered);
    ad_set_bool(args, "Force", what->forced);
    ad_set_bool(args, "DryRun", what->dry_run);
    ad_set_bool(args, "Override",
                config_bool(startd->env.config, "HIBERNATION_OVERRIDE_WOL") ||
                    adapter_can_wake(startd, cannot,
                                     sizeof cannot)); /* it is told to only when it goes down */
    ad_set_int(args, "UpSeconds",
               PLANTED(uptime_by_wall)
                   ? loop_wall_s(startd->env.loop) - (int64_t)(startd->sent.epoch / 1000)
                   : loop_since_s(startd->env.loop, startd->look.awake_since_ms));
    ad_set_int(args, "IdleSeconds", since_ms > 0 ? loop_since_s(startd->env.loop, since_ms) : 0);
    return args;
}

void permit_ask(struct startd *startd, const struct permit_what *what, permit_f done)
{
    struct permit *permit = &startd->permit;
    struct wire *wire = uplink_wire(startd->collector);
    struct err err = {.text = ""};
    permit->what = *what;
    permit->done = done;
    (void)snprintf(permit->reason, sizeof permit->reason, "%s", what->reason);
    permit->what.reason = permit->reason;
    going_down_move(startd, going_down_is_leaving(startd) ? DOWN_LEAVING_ASKING : DOWN_ASKING);
    if (is_ask(startd, "never")) {
        end_question(startd, 0, "");
        return;
    }
    struct ad *args = make_args(startd, what);
    const struct wire_body body = {.args = args};
    int64_t call = wire == NULL ? -ENOTCONN
                                : wire_relay(wire, ANYBODY, VERB_POWER_DOWN_ASK, &body, 0,
                                             ask_answered, startd);
    ad_destroy(args);
    if (call <= 0) {
        int rc = judge_silence(startd, "the collector cannot be reached", &err);
        end_question(startd, rc, err.text);
    }
}

uint64_t permit_early_ms(const struct startd *startd, const char **why)
{
    const struct permit *permit = &startd->permit;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    *why = permit->why;
    return permit->early_ms > now_ms ? permit->early_ms - now_ms : 0;
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* else it forgets it by itself */
}

void permit_withdraw(struct startd *startd)
{
    struct wire *wire = uplink_wire(startd->collector);
    if (wire == NULL || is_ask(startd, "never")) {
        return;
    }
    struct ad *args = make_args(startd, &startd->permit.what);
    ad_set_bool(args, "Withdraw", true);
    const struct wire_body body = {.args = args};
    (void)wire_relay(wire, ANYBODY, VERB_POWER_DOWN_ASK, &body, 0, ignore_answer, startd);
    ad_destroy(args);
}
