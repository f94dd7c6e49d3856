/* rooster/guards.c - see guards.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/guards.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "rooster/clock.h"
#include "rooster/energy.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/queue_ask.h"
#include "rooster/reserve_plan.h"
#include "rooster/rooster.h"
#include "rooster/sleep_record.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define AGE_OF_AD_MAX_S 900 /* of the collector's own ad; more: its clock is another one */
#define MINUTE_MS       60000
#define MINUTE_S        60
#define RESERVE_JOIN_S  600 /* how long one counts that is up for the reserve and not idle */
#define ASK_AGE_MS      15000

struct permission {
    struct node *node;
    uint64_t until_ms;
};

struct guards {
    struct rooster *rooster;
    struct reserve reserve;
    struct ad_expr *exprs[RESERVE_RULES_MAX]; /* of the reserve's rules; NULL: a number */
    char reserve_with[300]; /* the figures of the queue by which the reserve was last found */
    struct vec granted;     /* struct permission, oldest first; one may be over already */
    size_t first;           /* index of the oldest permission that has not ended */
    struct loop_timer *timer;
    struct wake_minute minute; /* permissions of the last minute */
    int64_t idle, down, going, coming;
    double watts;
    int64_t waiting; /* told to ask again, in this minute */
    uint64_t waiting_since_ms;
    uint64_t collector_since_ms; /* loop_now_ms(); may be before our own time, then 0 */
    int64_t collector_age_s;     /* then */
    int64_t since_young;         /* machines that went down since, and are */
    uint64_t connections;        /* counted from 1 */
};

static const struct config *config_of(const struct rooster *rooster)
{
    return rooster->env.config;
}

static int64_t going_down_s(const struct rooster *rooster)
{
    return config_duration_s(config_of(rooster), "ROOSTER_GOING_DOWN_TIME");
}

/* ---- sums */

static const struct energy_watts *watts_of(struct node *node)
{
    struct node_guard *guard = &node->guard;
    if (guard->configuration != node->rooster->configuration) {
        guard->configuration = node->rooster->configuration;
        energy_find_watts(node, &guard->watts);
    }
    return &guard->watts;
}

static double most_w(const struct energy_watts *watts)
{
    return watts->busy_w > watts->idle_w ? watts->busy_w : watts->idle_w;
}

/* Returns whether a machine woken for the reserve still counts as idle: until it is used, or
 * reports that it is idle. */
static bool is_joining(struct node *node)
{
    struct node_guard *guard = &node->guard;
    if (node->awake.was_used ||
        loop_now_ms(node->rooster->env.loop) >= guard->reserve.joined_by_ms) {
        guard->reserve.reserving = false;
    }
    return guard->reserve.reserving;
}

/* Adds what a machine counts for to the sums; sign -1: subtracts it. */
static void put_into_sums(struct guards *guards, const struct guard_counted *counted, int sign)
{
    bool going = counted->side == GUARD_GOING;
    guards->idle += counted->side == GUARD_IDLE ? sign : 0;
    guards->down += counted->side == GUARD_DOWN || going ? sign : 0;
    guards->going += going ? sign : 0;
    guards->coming += counted->is_coming ? sign : 0;
}

void guards_count(struct node *node)
{
    struct guards *guards = node->rooster->guards;
    struct node_guard *guard = &node->guard;
    const struct energy_watts *watts = watts_of(node);
    bool waking = node->state == WAKE_WAKING || node->state == WAKE_BACKOFF;
    bool up = node->awake.has_ads && !node->asleep.has_ads;
    bool going = guard->granted_until_ms != 0 || node->state == WAKE_GOING_DOWN;
    if (node->state == WAKE_QUARANTINED ||
        (node->state == WAKE_OFF && !node->wake.is_dry && !node->still_up.asking)) {
        guard->reserve.reserving = false;
    }
    guard->would_sleep = guard->would_sleep && up && guard->slots_idle == guard->slots;
    bool idle = up && !going && !guard->would_sleep && node->awake.can_relay && guard->slots > 0 &&
                guard->slots_idle == guard->slots;
    bool down =
        going || guard->would_sleep || (node->asleep.has_ads && !node->awake.has_ads && !waking);
    bool coming =
        !idle && guard->reserve.reserving &&
        (waking || node->still_up.asking || node->wake.is_dry || (up && is_joining(node)));
    bool draws = up || waking || going || node->state == WAKE_STAYING;
    double now_w = draws ? most_w(watts) : down ? watts->asleep_w : 0;
    guards->watts += now_w - guard->counted.most_w;
    put_into_sums(guards, &guard->counted, -1);
    guard->counted = (struct guard_counted){.side = going  ? GUARD_GOING
                                                    : down ? GUARD_DOWN
                                                    : idle ? GUARD_IDLE
                                                           : GUARD_NEITHER,
                                            .is_coming = coming,
                                            .most_w = now_w};
    put_into_sums(guards, &guard->counted, 1);
}

void guards_see_live(struct node *node, const struct ad *slot)
{
    node->guard.slots++;
    node->guard.slots_idle += strcmp(ad_string_or(slot, "State", ""), "Unclaimed") == 0 ? 1 : 0;
}

/* Decides whether the machine would be woken if a job were matched to it. */
void guards_see_offline(struct node *node, const struct ad *slot)
{
    struct rooster *rooster = node->rooster;
    int64_t now_s = rooster_now_s(rooster);
    if (rooster->guards->reserve.count == 0 || node_is_kept_off(slot)) {
        return;
    }
    const struct ad_context context = rooster_context(rooster);
    uint64_t over = rooster->work.over;
    struct ad *matched = ad_create();
    ad_chain(matched, slot);
    ad_set_int(matched, "MachineLastMatchTime", now_s);
    queue_put(node, matched);
    if (ad_eval_bool(rooster->unhibernate, matched, NULL, &context) == AD_TRUE) {
        double rank = rooster->rank != NULL ? ad_eval_rank(rooster->rank, slot, NULL, &context) : 0;
        node->jobs.rank = !node->guard.reserve.spare && !node->jobs.demand_it ? rank
                          : rank > node->jobs.rank                            ? rank
                                                                              : node->jobs.rank;
        node->guard.reserve.spare = true;
    }
    look_tell_costly(node, slot, "UNHIBERNATE", over);
    ad_destroy(matched);
}

/* ---- permissions */

/* Counts a machine that goes down while the collector may be young; down false: it came back. */
static void count_young(struct node *node, bool down)
{
    struct guards *guards = node->rooster->guards;
    bool counted = node->guard.down_in == guards->connections;
    guards->since_young += down - counted;
    node->guard.down_in = down ? guards->connections : 0;
}

static void follow_timer(struct guards *guards)
{
    if (guards->first == guards->granted.count) {
        guards->first = 0;
        vec_clear(&guards->granted, NULL);
        loop_timer_stop(guards->timer);
        return;
    }
    const struct permission *next = guards->granted.items[guards->first];
    uint64_t now_ms = loop_now_ms(guards->rooster->env.loop);
    loop_timer_set(guards->timer, next->until_ms > now_ms ? next->until_ms - now_ms : 0);
}

/* Ends the permission to sleep.  A sleep without an outcome in the ledger has failed. */
static void end_grant(struct node *node)
{
    if (node->guard.granted_until_ms == 0) {
        return;
    }
    node->guard.granted_until_ms = 0;
    if (node->awake.has_ads && !node->asleep.has_ads && node->guard.request == NULL) {
        sleep_record_over(node);
        count_young(node, false);
    }
    guards_count(node);
}

static void run_out(void *arg)
{
    struct guards *guards = arg;
    uint64_t now_ms = loop_now_ms(guards->rooster->env.loop);
    for (; guards->first < guards->granted.count; guards->first++) {
        struct permission *permission = guards->granted.items[guards->first];
        if (permission->until_ms > now_ms) {
            break;
        }
        if (permission->node->guard.granted_until_ms == permission->until_ms) {
            end_grant(permission->node);
        }
        mem_free(permission);
    }
    follow_timer(guards);
    look_soon(guards->rooster); /* ROOSTER_MAX_WATTS may leave room now */
}

static void grant_sleep(struct node *node, uint64_t for_ms)
{
    struct guards *guards = node->rooster->guards;
    uint64_t now_ms = loop_now_ms(node->rooster->env.loop);
    node->guard.granted_until_ms = now_ms + (for_ms > 0 ? for_ms : 1);
    node->guard.reserve.reserving = false;
    struct permission *permission = mem_alloc(sizeof *permission);
    *permission = (struct permission){.node = node, .until_ms = node->guard.granted_until_ms};
    vec_push(&guards->granted, permission);
    follow_timer(guards);
    guards_count(node);
}

bool guards_granted(const struct node *node)
{
    return node->guard.granted_until_ms != 0;
}

void guards_slept(struct node *node)
{
    int64_t now_s = rooster_now_s(node->rooster);
    node->guard.slept_s = now_s;
    node->guard.reserve.reserving = false;
    wake_day_add(&node->guard.sleeps, now_s);
    if (node->state == WAKE_GOING_DOWN) {
        node->guard.granted_until_ms = 0; /* its method says that it is off */
    }
}

void guards_woken(struct node *node)
{
    struct node_guard *guard = &node->guard;
    if (guard->slept_s > 0 && strcmp(node->asked.by, ASKED_BY_NEGOTIATOR) == 0) {
        guard_rests_add(&guard->rests, rooster_since_s(node->rooster, &guard->slept_s));
    }
    guard->slept_s = 0;
    guard->granted_until_ms = 0;
}

void guards_up(struct node *node)
{
    struct node_guard *guard = &node->guard;
    guard->slept_s = 0;
    guard->reserve.joined_by_ms = loop_now_ms(node->rooster->env.loop) + RESERVE_JOIN_S * 1000;
    if (node->sleep.id[0] == '\0' || node->state == WAKE_GOING_DOWN ||
        node->state == WAKE_STAYING) {
        guard->granted_until_ms = 0; /* it was down, or was to be taken down from here */
        count_young(node, false);
    }
}

void guards_recall(struct node *node, const struct ad *record)
{
    struct rooster *rooster = node->rooster;
    struct node_guard *guard = &node->guard;
    int64_t now_s = rooster_now_s(rooster);
    int64_t start_s = ad_int_or(record, "StartTime", 0);
    const char *outcome = ad_string_or(record, "Outcome", "");
    bool recent = start_s > now_s - MINUTE_S && start_s <= now_s;
    if (strcmp(ad_string_or(record, "Kind", "Wake"), "Sleep") != 0) {
        if (guard->slept_s > 0 &&
            strcmp(ad_string_or(record, "AskedBy", ""), ASKED_BY_NEGOTIATOR) == 0) {
            guard_rests_add(&guard->rests, start_s - guard->slept_s);
        }
        guard->slept_s = 0;
        return;
    }
    if (recent) {
        wake_minute_add(&rooster->guards->minute, loop_now_ms(rooster->env.loop));
    }
    if (strcmp(outcome, "Asleep") == 0) {
        guard->slept_s = ad_int_or(record, "EndTime", start_s);
        wake_day_add(&guard->sleeps, guard->slept_s);
    } else if (strcmp(outcome, "Started") == 0) {
        int64_t left_s = start_s + going_down_s(rooster) - now_s;
        if (left_s > 0 && start_s <= now_s) {
            grant_sleep(node, (uint64_t)left_s * 1000);
        }
    }
}

/* ---- being asked */

static int64_t collector_age_s(const struct guards *guards)
{
    uint64_t now_ms = loop_now_ms(guards->rooster->env.loop);
    return guards->collector_age_s + (int64_t)((now_ms - guards->collector_since_ms) / 1000);
}

/* Evaluates the number of a rule, which is an expression; below 0: it is not a number. */
static int64_t evaluate_reserve(struct rooster *rooster, const struct ad_expr *expr)
{
    const struct guards *guards = rooster->guards;
    const struct ad_context context = rooster_context(rooster);
    struct ad *pool = ad_create();
    struct ad_value value;
    queue_put_pool(rooster, pool);
    ad_set_int(pool, "MachinesTotal", (int64_t)rooster->machines);
    ad_set_int(pool, "MachinesIdle", guards->idle);
    ad_set_int(pool, "MachinesDown", guards->down);
    ad_set_int(pool, "MachinesGoingDown", guards->going);
    ad_eval(expr, pool, NULL, &context, &value);
    int64_t number =
        value.type == AD_TYPE_INT ? value.integer
        : value.type == AD_TYPE_REAL && value.real >= 0 && value.real <= RESERVE_NUMBER_MAX
            ? (int64_t)value.real
            : -1;
    ad_value_fini(&value);
    ad_destroy(pool);
    return number > RESERVE_NUMBER_MAX ? RESERVE_NUMBER_MAX : number;
}

/* Returns the number of machines wanted as reserve; below 0: not known. */
static int64_t reserve_wanted(struct rooster *rooster)
{
    const struct guards *guards = rooster->guards;
    int64_t now_s = loop_wall_s(rooster->env.loop);
    size_t at =
        reserve_plan_rule_at(&guards->reserve, now_s + os_zone_offset_s(rooster->env.os, now_s));
    if (at == guards->reserve.count) {
        return 0;
    }
    const struct reserve_rule *rule = &guards->reserve.rules[at];
    int64_t number = rule->number;
    if (guards->exprs[at] != NULL) {
        queue_need_pool(rooster);
        number = evaluate_reserve(rooster, guards->exprs[at]);
    }
    return number < 0 ? number : reserve_plan_machines(rule, number, (int64_t)rooster->machines);
}

/* Notes by which figures the reserve was found, for the answer to a startd. */
static void note_figures(struct guards *guards)
{
    char figures[256];
    guards->reserve_with[0] = '\0';
    for (size_t i = 0; i < guards->reserve.count; i++) {
        if (guards->exprs[i] != NULL && guards->reserve_with[0] == '\0') {
            queue_print_pool(guards->rooster, figures, sizeof figures);
            (void)snprintf(guards->reserve_with, sizeof guards->reserve_with, ": %s", figures);
        }
    }
}

static struct guard_pool pool_of(struct guards *guards)
{
    struct rooster *rooster = guards->rooster;
    int64_t reserve = guards->reserve.count > 0 ? reserve_wanted(rooster) : 0;
    uint64_t now_ms = loop_now_ms(rooster->env.loop);
    if (now_ms - guards->waiting_since_ms >= MINUTE_MS) {
        guards->waiting_since_ms = now_ms;
        guards->waiting = 0;
    }
    note_figures(guards);
    return (struct guard_pool){.machines = (int64_t)rooster->machines,
                               .down = guards->down,
                               .going_down = guards->going,
                               .last_minute = wake_minute_count(&guards->minute, now_ms),
                               .waiting = guards->waiting,
                               .idle = guards->idle,
                               .reserve = reserve,
                               .reserve_with = guards->reserve_with,
                               .reserve_unknown = reserve < 0,
                               .age_s = collector_age_s(guards),
                               .since_young = guards->since_young};
}

static struct guard_limits limits_of(const struct rooster *rooster)
{
    const struct config *config = config_of(rooster);
    return (
        struct guard_limits){.min_up_s = config_duration_s(config, "ROOSTER_MIN_UP"),
                             .break_even = config_real(config, "ROOSTER_BREAK_EVEN"),
                             .per_day_max = config_int(config, "ROOSTER_MAX_SLEEPS_PER_DAY"),
                             .min_age_s = config_duration_s(config, "ROOSTER_COLLECTOR_MIN_AGE"),
                             .young_max = config_int(config, "ROOSTER_YOUNG_MAX_DOWN"),
                             .down_max_percent = config_int(config, "ROOSTER_MAX_DOWN_PERCENT"),
                             .at_once_max = config_int(config, "ROOSTER_MAX_GOING_DOWN"),
                             .at_once_max_percent =
                                 config_int(config, "ROOSTER_MAX_GOING_DOWN_PERCENT"),
                             .per_minute_max = config_int(config, "ROOSTER_MAX_SLEEPS_PER_MINUTE"),
                             .dry_run = config_bool(config, "ROOSTER_DRY_RUN")};
}

static struct guard_ask ask_of(struct node *node, const struct ad *args)
{
    struct rooster *rooster = node->rooster;
    int64_t boot_s = (boots_p95_ms(&node->history.boots) + 999) / 1000;
    double cycle_j = config_real(config_of(rooster), "ROOSTER_CYCLE_ENERGY") * 3600;
    (void)node_shown(node); /* judges whether there is a way to wake it */
    return (struct guard_ask){.order = {.by_name = ad_bool_or(args, "Ordered", false),
                                        .forced = ad_bool_or(args, "Force", false),
                                        .override = ad_bool_or(args, "Override", false)},
                              .granted = guards_granted(node),
                              .unknown = !node->awake.has_ads ? "the machine has no live ad"
                                         : node->asleep.has_ads
                                             ? "the machine has both live and offline ads"
                                             : NULL,
                              .can_wake = !node->way.is_none,
                              .in_reserve = node->guard.counted.side == GUARD_IDLE,
                              .up_s = ad_int_or(args, "UpSeconds", 0),
                              .idle_s = ad_int_or(args, "IdleSeconds", 0),
                              .sleeps_today =
                                  wake_day_count(&node->guard.sleeps, rooster_now_s(rooster)),
                              .expected_s = guard_rests_expected_s(&node->guard.rests),
                              .break_even_s = guard_break_even_s(watts_of(node), boot_s, cycle_j)};
}

static void answer_ask(struct wire_request *request, const struct guard_verdict *verdict)
{
    struct ad *args = ad_create();
    ad_set_bool(args, "Granted", verdict->kind == GUARD_NONE);
    if (verdict->kind != GUARD_NONE) {
        ad_set_string(args, "Text", verdict->why.text);
        ad_set_string(args, "Guard", guard_kind_name(verdict->kind));
        ad_set_int(args, "AskAgain", verdict->again_s);
    }
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void grant_recorded(void *arg)
{
    static const struct guard_verdict YES = {.kind = GUARD_NONE};
    struct node *node = arg;
    struct wire_request *request = node->guard.request;
    node->guard.request = NULL;
    answer_ask(request, &YES);
}

static void refuse_sleep(struct node *node, struct wire_request *request, bool dry,
                         const struct guard_verdict *verdict)
{
    struct rooster *rooster = node->rooster;
    struct guards *guards = rooster->guards;
    if (!dry && (verdict->kind == GUARD_AT_ONCE || verdict->kind == GUARD_PER_MINUTE)) {
        guards->waiting++;
    }
    if (!dry && verdict->kind == GUARD_DRY_RUN && !node->guard.would_sleep) {
        log_info(rooster->env.log, "sleep.dry_run", verdict->why.text,
                 LOG_TEXT("machine", node->name));
        node->guard.would_sleep = true; /* the others are told as if it slept */
        wake_minute_add(&guards->minute, loop_now_ms(rooster->env.loop));
        guards_count(node);
    }
    log_debug(rooster->env.log, "sleep.held", verdict->why.text, LOG_TEXT("machine", node->name),
              LOG_TEXT("guard", guard_kind_name(verdict->kind)));
    answer_ask(request, verdict);
}

static void allow_sleep(struct node *node, struct wire_request *request)
{
    struct rooster *rooster = node->rooster;
    const struct ad *args = wire_request_args(request);
    bool again = guards_granted(node);
    if (node->guard.request != NULL) {
        wire_reply_error(request, -EBUSY, "an earlier request of %s is not answered yet",
                         node->name);
        return;
    }
    node->guard.request = request;
    if (again) { /* in the ledger since the first time */
        grant_recorded(node);
        return;
    }
    wake_minute_add(&rooster->guards->minute, loop_now_ms(rooster->env.loop));
    count_young(node, true);
    grant_sleep(node, (uint64_t)going_down_s(rooster) * 1000);
    log_info(rooster->env.log, "sleep.granted", ad_string_or(args, "Reason", ""),
             LOG_TEXT("machine", node->name), LOG_TEXT("level", ad_string_or(args, "Level", "")));
    sleep_record_granted(node, ad_string_or(args, "Level", "S5"), ad_string_or(args, "Reason", ""),
                         grant_recorded);
}

void guards_judge(struct node *node, const struct ad *args, struct guard_verdict *ret)
{
    if (node->look.marked) { /* what its ads say now; what follows from that is the next look's */
        look_see(node);
        guards_count(node);
    }
    const struct guard_ask ask = ask_of(node, args);
    const struct guard_pool pool = pool_of(node->rooster->guards);
    const struct guard_limits limits = limits_of(node->rooster);
    guard_plan_judge(&ask, &pool, &limits, ret);
}

void guards_ask(struct rooster *rooster, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *machine = ad_string_or(args, "Machine", "");
    struct guard_verdict verdict;
    if (!wire_peer_may_advertise(wire_request_peer(request), machine)) {
        wire_reply_error(request, -EACCES, "the token of %s is not for the machine '%s'",
                         wire_request_peer(request)->identity, machine);
        return;
    }
    if (!watch_is_synced(rooster->watch)) {
        wire_reply_error(request, -EAGAIN, "the rooster has not received the pool's ads yet");
        return;
    }
    struct node *node = strmap_get(rooster->nodes, machine);
    if (node == NULL) {
        const struct guard_ask unknown = {.unknown = "the machine has no ad"};
        guard_plan_judge(&unknown, &(struct guard_pool){0}, &(struct guard_limits){0}, &verdict);
        answer_ask(request, &verdict);
        return;
    }
    if (ad_bool_or(args, "Withdraw", false)) {
        end_grant(node);
        wire_reply_ok(request, NULL);
        return;
    }
    bool dry = ad_bool_or(args, "DryRun", false);
    guards_judge(node, args, &verdict);
    if (verdict.kind != GUARD_NONE) {
        refuse_sleep(node, request, dry, &verdict);
    } else if (dry) {
        answer_ask(request, &verdict);
    } else {
        allow_sleep(node, request);
    }
}

/* ---- for choose.c */

int64_t guards_missing(struct rooster *rooster)
{
    const struct guards *guards = rooster->guards;
    if (guards->reserve.count == 0) {
        return 0;
    }
    int64_t wanted = reserve_wanted(rooster);
    int64_t missing = wanted < 0 ? 0 : wanted - guards->idle - guards->coming;
    /* Machines that are awake and idle are perhaps only on their way back to it. */
    bool young = collector_age_s(guards) <
                 config_duration_s(config_of(rooster), "ROOSTER_COLLECTOR_MIN_AGE");
    return young && missing > 0 ? 0 : missing;
}

double guards_watts_left(const struct rooster *rooster)
{
    double most = config_real(config_of(rooster), "ROOSTER_MAX_WATTS");
    return most > 0 ? most - rooster->guards->watts : INFINITY;
}

double guards_extra_w(struct node *node)
{
    return most_w(watts_of(node)) - node->guard.counted.most_w;
}

/* ---- what others see */

void guards_write(struct rooster *rooster, struct ad *ad)
{
    const struct guards *guards = rooster->guards;
    ad_set_int(ad, "MachinesIdle", guards->idle);
    ad_set_int(ad, "MachinesDown", guards->down);
    ad_set_int(ad, "MachinesGoingDown", guards->going);
    if (guards->reserve.count > 0) {
        int64_t wanted = reserve_wanted(rooster);
        if (wanted >= 0) {
            ad_set_int(ad, "ReserveWanted", wanted);
        }
        ad_set_int(ad, "ReserveComing", guards->coming);
    }
    if (guards->watts > 0) {
        ad_set_real(ad, "MostWatts", guards->watts);
    }
}

void guards_write_node(const struct node *node, struct ad *ad)
{
    const struct node_guard *guard = &node->guard;
    int64_t now_s = rooster_now_s(node->rooster);
    ad_set_int(ad, "SleepsToday", wake_day_count(&guard->sleeps, now_s));
    if (guard->counted.side == GUARD_GOING) {
        ad_set_bool(ad, "SleepGranted", true);
    }
    if (guard->would_sleep) {
        ad_set_bool(ad, "WouldSleep", true);
    }
    if (guard->reserve.reserving) {
        ad_set_bool(ad, "InReserve", true);
    }
    if (guard->reserve.over_watts) {
        ad_set_string(ad, "WakeHeldBy",
                      "no more power is available (ROOSTER_MAX_WATTS) until machines go down");
    }
}

/* ---- life */

static void told_age(void *arg, struct wire_reply *reply)
{
    struct guards *guards = arg;
    if (reply->status != 0 || reply->more || reply->ad_count == 0) {
        return; /* as if it had begun when we were connected */
    }
    int64_t now_s = ad_int_or(reply->ads[0], "MyCurrentTime", 0);
    int64_t began_s = ad_int_or(reply->ads[0], "DaemonStartTime", 0);
    int64_t here_s = rooster_now_s(guards->rooster);
    bool same_clock = here_s > now_s && here_s - now_s <= AGE_OF_AD_MAX_S;
    now_s = now_s > 0 && same_clock ? here_s : now_s; /* its ad is some minutes old */
    if (began_s > 0 && now_s > began_s) {
        guards->collector_age_s = now_s - began_s;
        guards->collector_since_ms = loop_now_ms(guards->rooster->env.loop);
    }
}

void guards_connected(struct guards *guards, struct wire *wire)
{
    static const char *const WANTED[] = {"MyCurrentTime", "DaemonStartTime"};
    guards->collector_since_ms = loop_now_ms(guards->rooster->env.loop);
    guards->collector_age_s = 0;
    guards->since_young = 0;
    guards->connections++; /* nobody is counted */
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Collector");
    ad_set_strings(args, "Projection", WANTED, 2);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_QUERY, &body, ASK_AGE_MS, told_age, guards); /* else: young */
    ad_destroy(args);
}

static void destroy_exprs(struct ad_expr **exprs)
{
    for (size_t i = 0; i < RESERVE_RULES_MAX; i++) {
        ad_expr_destroy(exprs[i]);
        exprs[i] = NULL;
    }
}

int guards_configure(struct guards *guards, struct err *err)
{
    const char *text = config_string(guards->rooster->env.config, "ROOSTER_RESERVE");
    struct ad_expr *exprs[RESERVE_RULES_MAX] = {NULL};
    struct reserve reserve;
    struct err why;
    text = text != NULL ? text : "";
    int rc = reserve_plan_parse(text, &reserve, &why);
    for (size_t i = 0; rc == 0 && i < reserve.count; i++) {
        const struct reserve_rule *rule = &reserve.rules[i];
        if (rule->expr_length > 0) {
            rc = ad_expr_parse(text + rule->expr_at, rule->expr_length, AD_OLD, &exprs[i], &why);
        }
    }
    if (rc != 0) {
        destroy_exprs(exprs);
        return err_set(err, rc, "ROOSTER_RESERVE: %.200s", why.text);
    }
    destroy_exprs(guards->exprs);
    memcpy(guards->exprs, exprs, sizeof exprs);
    guards->reserve = reserve;
    return 0;
}

struct guards *guards_create(struct rooster *rooster)
{
    struct guards *guards = mem_zalloc(sizeof *guards);
    guards->rooster = rooster;
    guards->timer = loop_timer_create(rooster->env.loop, run_out, guards);
    guards->collector_since_ms = loop_now_ms(rooster->env.loop);
    guards->connections = 1;
    return guards;
}

void guards_destroy(struct guards *guards)
{
    if (guards != NULL) {
        loop_timer_destroy(guards->timer);
        for (size_t i = guards->first; i < guards->granted.count; i++) {
            mem_free(guards->granted.items[i]);
        }
        vec_fini(&guards->granted, NULL);
        destroy_exprs(guards->exprs);
        mem_free(guards);
    }
}
