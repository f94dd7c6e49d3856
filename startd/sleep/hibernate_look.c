/* startd/sleep/hibernate_look.c - finds out how this machine could sleep and what prevents it, for
 * hibernate_plan.c and the ads.
 *
 * The levels for POWER_METHOD host come from a plug-in program (HIBERNATION_PLUGIN, run once with
 * the argument `ad`, as HTCondor does); or for S3 to S5 from logind, where logind would do it (it
 * knows what sleep.conf forbids); or from the kernel.  Power methods that take the machine down by
 * other means get all levels: what they make of a level is their business.  The kernel is looked at
 * now and then, because swap is added and modules are loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/hibernate_look.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_power.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/sleep/adapter.h"
#include "startd/advertise_due.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_plan.h"
#include "startd/sleep/pool_look.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd_state.h"

#define LOOK_MS          60000
#define ASK_LOGIND_MS    600000
#define RETRY_LOGIND_MS  5000 /* then twice as long each time: it may just be starting */
#define ANSWER_BYTES_MAX 65536

static bool is_method(const struct startd *startd, const char *name)
{
    return strcmp(config_string(startd->env.config, "POWER_METHOD"), name) == 0;
}

static const char *root_of(const struct startd *startd)
{
    return config_string(startd->env.config, "POWER_ROOT");
}

static const char *plugin_of(const struct startd *startd)
{
    const char *plugin = config_path(startd->env.config, "HIBERNATION_PLUGIN");
    return is_method(startd, "host") && plugin != NULL ? plugin : "";
}

bool hibernate_look_by_logind(const struct startd *startd)
{
    const char *method = config_string(startd->env.config, "LINUX_HIBERNATION_METHOD");
    return strcmp(method, "auto") == 0 ? startd->look.has_systemd : strcmp(method, "logind") == 0;
}

/* ---- the plug-in program, or logind's: what either writes is an ad */

static void answer_path(const struct startd *startd, char ret[4200])
{
    (void)snprintf(ret, 4200, "%s/hibernation.answer", config_path(startd->env.config, "SPOOL"));
}

static void take_answer(struct startd *startd, const struct ad *ad)
{
    struct hibernate_look *look = &startd->look;
    unsigned levels =
        hibernate_plan_parse_levels(ad_string_or(ad, "HibernationSupportedStates", ""));
    if (look->is_logind) {
        look->logind_known = true;
        look->logind_levels = levels;
        look->logind_failures = 0;
        return;
    }
    look->plugin_levels = levels;
    (void)snprintf(look->plugin_method, sizeof look->plugin_method, "%s",
                   ad_string_or(ad, "HibernationMethod", "plug-in"));
}

static void logind_failed(struct startd *startd, int status)
{
    struct hibernate_look *look = &startd->look;
    uint64_t wait_ms = RETRY_LOGIND_MS;
    for (unsigned i = 0; i < look->logind_failures && wait_ms < ASK_LOGIND_MS; i++) {
        wait_ms *= 2;
    }
    look->ask_logind_ms =
        loop_now_ms(startd->env.loop) + (wait_ms < ASK_LOGIND_MS ? wait_ms : ASK_LOGIND_MS);
    if (look->logind_failures++ == 0) {
        log_info(startd->env.log, "hibernate.logind",
                 "logind did not report the machine's sleep levels", LOG_INT("status", status));
    }
}

static void program_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct startd *startd = arg;
    char path[4200], *text = NULL;
    size_t length = 0;
    struct ad *ad = NULL;
    (void)pid;
    startd->look.plugin_pid = 0;
    answer_path(startd, path);
    if (how->signal == 0 && how->status == 0 &&
        os_read_file(startd->env.os, path, ANSWER_BYTES_MAX, &text, &length, NULL) == 0 &&
        ad_parse_long(text, length, &ad, NULL) == 0) {
        take_answer(startd, ad);
    } else if (startd->look.is_logind) {
        logind_failed(startd, how->status);
    } else {
        log_error(startd->env.log, "hibernate.plugin",
                  "the plug-in did not report the machine's sleep levels",
                  LOG_TEXT("path", plugin_of(startd)), LOG_INT("status", how->status));
    }
    (void)os_remove(startd->env.os, path, NULL); /* left: small, and written over */
    mem_free(text);
    ad_destroy(ad);
    startd->look.seen_ms = 0;
    advertise_anew(startd);
}

static void ask_program(struct startd *startd, struct vec *words, bool is_logind)
{
    struct err err;
    char path[4200];
    answer_path(startd, path);
    vec_push(words, NULL);
    const struct os_spawn spec = {.argv = (const char *const *)words->items,
                                  .cwd = "/",
                                  .stdout_path = path,
                                  .truncate_output = true,
                                  .new_session = true};
    startd->look.is_logind = is_logind;
    if (os_spawn(startd->env.os, &spec, program_ended, startd, &startd->look.plugin_pid, &err) !=
        0) {
        startd->look.plugin_pid = 0;
        log_error(startd->env.log, "hibernate.plugin", err.text);
    }
}

static void ask_plugin(struct startd *startd)
{
    struct vec words = {0};
    struct err err;
    const char *args = config_string(startd->env.config, "HIBERNATION_PLUGIN_ARGS");
    vec_push(&words, mem_strdup(plugin_of(startd)));
    int rc = args_parse_v2(args != NULL ? args : "", &words, &err);
    vec_push(&words, mem_strdup("ad"));
    if (rc == 0) {
        ask_program(startd, &words, false);
    } else {
        log_error(startd->env.log, "hibernate.plugin", err.text);
    }
    vec_fini(&words, mem_free);
}

/* A shell script; $0 is the root. logind is asked through its own program. */
static const char LOGIND_CAN[] =
    "can() {\n"
    "    case $(\"$0/usr/bin/busctl\" call org.freedesktop.login1 /org/freedesktop/login1 \\\n"
    "        org.freedesktop.login1.Manager \"Can$1\" 2>/dev/null) in\n"
    "    *yes* | *challenge*) levels=$levels,$2 ;;\n"
    "    *na* | *no*) ;;\n"
    "    *) exit 1 ;;\n"
    "    esac\n"
    "}\n"
    "levels=; can Suspend S3; can Hibernate S4; can PowerOff S5\n"
    "echo \"HibernationSupportedStates = \\\"$levels\\\"\"";

static void ask_logind(struct startd *startd)
{
    const char *const text[] = {"/bin/sh", "-c", LOGIND_CAN, root_of(startd)};
    struct vec words = {0};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        vec_push(&words, mem_strdup(text[i]));
    }
    ask_program(startd, &words, true);
    vec_fini(&words, mem_free);
}

void hibernate_look_open(struct startd *startd)
{
    startd->look.seen_ms = 0;
    startd->look.plugin_levels = 0;
    startd->look.ask_logind_ms = 0;
    startd->look.logind_known = false;
    startd->look.logind_failures = 0;
    startd->look.suspended_ms = os_suspended_ms(startd->env.os);
    if (plugin_of(startd)[0] != '\0' && startd->look.plugin_pid == 0) {
        ask_plugin(startd);
    }
}

void hibernate_look_close(struct startd *startd)
{
    if (startd->look.plugin_pid > 0) {
        os_forget(startd->env.os, startd->look.plugin_pid);
        (void)os_kill_group(startd->env.os, startd->look.plugin_pid, SIGKILL); /* gone: fine */
    }
}

/* ---- levels */

static void look_at_host(struct startd *startd)
{
    struct hibernate_look *look = &startd->look;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    struct os_sleep_words words;
    os_sleep_words(startd->env.os, root_of(startd), &words);
    look->has_systemd = words.has_systemd;
    look->levels = hibernate_plan_kernel_levels(&words);
    if (plugin_of(startd)[0] != '\0') {
        look->levels = look->plugin_levels;
    } else if (hibernate_look_by_logind(startd)) {
        if (look->logind_known) { /* it has no word for S1: that is the kernel's */
            look->levels = (look->levels & HIBERNATE_LEVEL_S1) | look->logind_levels;
        }
        if (look->plugin_pid == 0 && now_ms >= look->ask_logind_ms) {
            look->ask_logind_ms = now_ms + ASK_LOGIND_MS;
            ask_logind(startd);
        }
    }
}

static void look_at_levels(struct startd *startd)
{
    struct hibernate_look *look = &startd->look;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    bool retries =
        look->logind_failures > 0 && look->plugin_pid == 0 && now_ms >= look->ask_logind_ms;
    if (look->seen_ms != 0 && now_ms - look->seen_ms < LOOK_MS && !retries) {
        return;
    }
    look->seen_ms = now_ms;
    look->has_systemd = false;
    look->levels = 0;
    if (is_method(startd, "host")) {
        look_at_host(startd);
    } else if (!is_method(startd, "none")) {
        look->levels = HIBERNATE_LEVELS_ALL;
    }
}

bool hibernate_look_needs_wake(const struct startd *startd)
{
    return is_method(startd, "host") &&
           !config_bool(startd->env.config, "HIBERNATION_OVERRIDE_WOL");
}

static const char *method_name(const struct startd *startd)
{
    if (!is_method(startd, "host")) {
        return is_method(startd, "none") ? "NONE"
                                         : config_string(startd->env.config, "POWER_METHOD");
    }
    return plugin_of(startd)[0] != '\0'       ? startd->look.plugin_method
           : hibernate_look_by_logind(startd) ? "logind"
                                              : "/sys";
}

void hibernate_look_put_keep(const struct startd *startd, struct ad *ad)
{
    static const char *const NAMES[] = {"PowerKeepUntil", "PowerKeepBy", "PowerKeepReason"};
    const struct keep *keep = &startd->keep;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        ad_remove(ad, NAMES[i]);
    }
    if (keep->until_s > loop_wall_s(startd->env.loop)) {
        ad_set_int(ad, "PowerKeepUntil", keep->until_s);
        ad_set_string(ad, "PowerKeepBy", keep->by);
        if (keep->reason[0] != '\0') {
            ad_set_string(ad, "PowerKeepReason", keep->reason);
        }
    }
}

void hibernate_look_put_reclaim(const struct startd *startd, struct ad *ad)
{
    const struct reclaim *reclaim = &startd->reclaim;
    if (reclaim->at_ms != 0) {
        ad_set_int(ad, "LastReclaimTime", loop_wall_of_s(startd->env.loop, reclaim->at_ms));
        ad_set_string(ad, "LastReclaimReason", reclaim->reason);
    }
}

void hibernate_look_put(struct startd *startd, struct ad *ad)
{
    char why[ADAPTER_WHY_MAX];
    look_at_levels(startd);
    hibernate_plan_put_levels(startd->look.levels,
                              startd->look.levels != 0 &&
                                  (!hibernate_look_needs_wake(startd) ||
                                   adapter_can_wake(startd, why, sizeof why)),
                              ad);
    ad_set_string(ad, "HibernationMethod", method_name(startd));
    ad_set_string(ad, "HibernationState",
                  going_down_has_begun(startd) ? startd->down.level : "NONE");
    ad_set_int(ad, "HibernationLevel",
               going_down_has_begun(startd) ? slot_plan_level_of(startd->down.level) : 0);
    ad_set_string(ad, "PowerMethod", config_string(startd->env.config, "POWER_METHOD"));
    if (startd->look.held[0] != '\0' && !going_down_has_begun(startd)) {
        ad_set_string(ad, "HibernationHeldBy", startd->look.held);
    } else {
        ad_remove(ad, "HibernationHeldBy");
    }
    if (startd->last_match_ms != 0) {
        ad_set_int(ad, "MachineLastMatchTime",
                   loop_wall_of_s(startd->env.loop, startd->last_match_ms));
    }
    hibernate_look_put_keep(startd, ad);
    pool_look_put(startd, ad);
}

/* ---- what holds it back */

struct inhibited {
    int level;
    char text[220];
};

static void note_inhibitor(void *arg, const char *what, const char *who, const char *why)
{
    struct inhibited *inhibited = arg;
    if (inhibited->text[0] == '\0' && hibernate_plan_inhibits(what, inhibited->level)) {
        (void)snprintf(inhibited->text, sizeof inhibited->text, "%.80s: %.120s", who, why);
    }
}

static bool is_taken_back_often(const struct startd *startd)
{
    const uint64_t *times_ms = startd->look.reclaimed_ms;
    return times_ms[0] != 0 &&
           loop_now_ms(startd->env.loop) - times_ms[0] < HIBERNATE_PLAN_FLAPS_MS;
}

int hibernate_look_best_level(struct startd *startd)
{
    startd->look.seen_ms = 0;
    look_at_levels(startd);
    return hibernate_plan_best_level(startd->look.levels);
}

int hibernate_look_judge(struct startd *startd, int level, bool ordered, bool forced,
                         struct err *err)
{
    const struct config *config = startd->env.config;
    struct inhibited inhibited = {.level = level};
    char user[80] = "";
    size_t users = 0;
    char cannot_wake[ADAPTER_WHY_MAX];
    startd->look.seen_ms = startd->adapter.seen_ms = 0;
    look_at_levels(startd);
    bool can_wake = adapter_can_wake(startd, cannot_wake, sizeof cannot_wake);
    if (!config_bool(config, "HIBERNATE_WITH_USERS")) {
        users = os_sessions(startd->env.os, root_of(startd), user, sizeof user);
    }
    os_inhibitors(startd->env.os, root_of(startd), note_inhibitor, &inhibited);
    const struct hibernate_facts facts = {
        .method = config_string(config, "POWER_METHOD"),
        .levels = startd->look.levels,
        .now_s = loop_wall_s(startd->env.loop),
        .up_s = ((int64_t)loop_now_ms(startd->env.loop) - startd->look.awake_since_ms) / 1000,
        .flaps = is_taken_back_often(startd),
        .min_up_s = config_duration_s(config, "HIBERNATE_MIN_UPTIME"),
        .kept_until_s = startd->keep.until_s,
        .kept_by = startd->keep.by,
        .kept_reason = startd->keep.reason,
        .users = users,
        .user = user,
        .inhibitor = inhibited.text,
        .ordered = ordered,
        .forced = forced,
        .needs_wake = hibernate_look_needs_wake(startd),
        .can_wake = can_wake,
        .cannot_wake = cannot_wake,
    };
    return hibernate_plan_judge(&facts, level, err);
}

bool hibernate_look_has_slept(struct startd *startd)
{
    static const uint64_t LEAST_MS = 500; /* the clocks are read one after the other */
    uint64_t suspended_ms = os_suspended_ms(startd->env.os);
    bool slept = suspended_ms > startd->look.suspended_ms + LEAST_MS;
    startd->look.suspended_ms = slept ? suspended_ms : startd->look.suspended_ms;
    return slept;
}
