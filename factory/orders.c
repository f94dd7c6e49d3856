/* factory/orders.c - see orders.h.
 *
 * Design note: an order that waits is looked at each time when something has changed, and is done
 * when what is known of its site says so.  So the files below do not know of orders.  While an
 * order waits its caller is told every few seconds that the factory is there; a caller that goes
 * gives up its order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/orders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/grow_plan.h"
#include "factory/listed.h"
#include "factory/log_plan.h"
#include "factory/pause.h"
#include "factory/removal.h"
#include "factory/site.h"
#include "factory/site_logs.h"
#include "factory/site_state.h"
#include "factory/trial_plan.h"
#include "wire/wire.h"

#define TELL_MS    5000 /* a caller that waits is told so often that the factory is there */
#define ORDERS_MAX 256  /* that wait */
#define COUNT_MAX  1000000
#define MS_PER_S   1000
#define TEST_MAX_S (7 * 24 * 3600) /* of one step of a test */
/* An order waits at most for so many answers of its site: others may be waited for before. */
#define ANSWERS_MAX 3

struct order;

struct order_kind {
    const char *name;
    void (*begin)(struct order *order, struct site *site);
    /* Something has changed: answers if it can.  NULL: only the disk is waited for. */
    void (*advance)(struct order *order, struct site *site);
    void (*abandon)(struct order *order, struct site *site); /* the caller is gone; may be NULL */
};

struct order {
    struct factory *factory;
    const struct order_kind *kind;
    struct wire_request *request; /* NULL: the caller is gone, and only the disk is waited for */
    char site[SITE_NAME_LENGTH + 1];
    char glidein[GLIDEIN_NAME_MAX];
    uint64_t since_ms, until_ms; /* monotonic: given; given up */
    int64_t log;                 /* id of the log that is wanted (site_logs.h) */
    /* of a test: the last step that is done, when it was, when it had joined the pool, monotonic
     * ms; how long a step may take; why the test failed, "": it has not */
    enum trial_step step;
    uint64_t step_ms, joined_ms, limit_ms;
    char failed[SITE_WHY_MAX + 100];
};

/* ---- answers ----------------------------------------------------------------------------------
 */

static void forget_order(struct order *order)
{
    struct vec *orders = &order->factory->orders;
    for (size_t i = 0; i < orders->count; i++) {
        if (orders->items[i] == order) {
            vec_remove_at(orders, i);
            break;
        }
    }
    mem_free(order);
}

/* Answers with a log, or with log NULL, and ends the order.  args: its own attributes, freed here.
 */
static void answer_with_log(struct order *order, struct ad *args, const char *text, const char *log)
{
    if (order->request != NULL) {
        const struct wire_body body = {.args = args,
                                       .blob = log,
                                       .blob_length = log != NULL ? strlen(log) : 0};
        ad_set_string(args, "Order", order->kind->name);
        ad_set_string(args, "Site", order->site);
        ad_set_string(args, "Factory", order->factory->name);
        ad_set_string(args, "Text", text);
        wire_reply_ok(order->request, &body);
    }
    ad_destroy(args);
    forget_order(order);
}

static void answer_order(struct order *order, struct ad *args, const char *text)
{
    answer_with_log(order, args, text, NULL);
}

static void refuse_order(struct order *order, int status, const char *why)
{
    if (order->request != NULL) {
        wire_reply_error(order->request, status, "%s", why);
    }
    forget_order(order);
}

/* ---- pause, resume ----------------------------------------------------------------------------
 */

static const char *order_reason(const struct order *order)
{
    return ad_string_or(wire_request_args(order->request), "Reason", "");
}

static void is_paused(void *arg)
{
    struct order *order = arg;
    struct ad *args = ad_create();
    pause_put(order->factory, order->site, args);
    answer_order(order, args, "paused; no more glideins are asked for, and those that run go on");
}

static void begin_pause(struct order *order, struct site *site)
{
    const char *by = wire_request_peer(order->request)->identity, *reason = order_reason(order);
    log_info(order->factory->env.log, "site.paused", reason, LOG_TEXT("site", site->name),
             LOG_TEXT("by", by));
    site->ordered = 0;
    pause_set(order->factory, site->name, by, reason, is_paused, order);
}

static void is_resumed(void *arg)
{
    struct order *order = arg;
    answer_order(order, ad_create(), "resumed");
}

static void begin_resume(struct order *order, struct site *site)
{
    if (pause_of(order->factory, site->name) == NULL && site->paused == NULL) {
        answer_order(order, ad_create(), "was not paused");
        return;
    }
    log_info(order->factory->env.log, "site.resumed", "glideins are asked for again",
             LOG_TEXT("site", site->name),
             LOG_TEXT("by", wire_request_peer(order->request)->identity));
    site_resume(site);
    pause_lift(order->factory, site->name, is_resumed, order);
}

/* ---- grow, shrink -----------------------------------------------------------------------------
 */

static int64_t count_of(const struct order *order)
{
    return ad_int_or(wire_request_args(order->request), "Count", 0);
}

static void begin_grow(struct order *order, struct site *site)
{
    const struct grow_facts facts = site_state_facts(site);
    char why[SITE_WHY_MAX], text[SITE_WHY_MAX + 100];
    int64_t count =
        grow_plan_order(&facts, &site->settings.limits, count_of(order), why, sizeof(why));
    if (count == 0) {
        (void)snprintf(text, sizeof(text), "no glideins are asked for: %s", why);
        refuse_order(order, -EBUSY, text);
        return;
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Asked", count);
    ad_set_string(args, "Why", why);
    (void)snprintf(text, sizeof(text), "%lld glidein%s asked for%s%s", (long long)count,
                   count == 1 ? " is" : "s are", why[0] != '\0' ? ": " : "", why);
    log_info(order->factory->env.log, "site.grows", text, LOG_TEXT("site", site->name),
             LOG_TEXT("by", wire_request_peer(order->request)->identity));
    site->ordered += count;
    order->factory->changed(order->factory);
    answer_order(order, args, text);
}

static void say_removals(const struct removal_order *removal, int64_t asked, bool wanted,
                         struct strbuf *out)
{
    strbuf_printf(out, "%zu glidein%s removed", removal->chosen,
                  removal->chosen == 1 ? " is" : "s are");
    if (removal->now < removal->chosen) {
        strbuf_printf(out,
                      ": %zu now, the others within %lld s, at most a fourth of them all at a "
                      "time",
                      removal->now, (long long)removal->rest_s);
    }
    if ((int64_t)removal->chosen < asked) {
        strbuf_printf(out, "; there are no more that could be (%zu with jobs)", removal->claimed);
    }
    strbuf_puts(out, removal->chosen > 0 && wanted
                         ? "; jobs wait for the site, so others may be asked for, unless it is "
                           "paused"
                         : "");
}

static void begin_shrink(struct order *order, struct site *site)
{
    bool force = ad_bool_or(wire_request_args(order->request), "Force", false);
    int64_t count = count_of(order);
    struct removal_order removal;
    struct strbuf text;
    struct ad *args = ad_create();
    removal_order(site, (size_t)count, force, &removal);
    ad_set_int(args, "Removed", (int64_t)removal.chosen);
    ad_set_int(args, "RemovedNow", (int64_t)removal.now);
    ad_set_int(args, "RestSeconds", removal.rest_s);
    strbuf_init(&text, 0);
    say_removals(&removal, count, site->wanted > 0, &text);
    log_info(order->factory->env.log, "site.shrinks", strbuf_text(&text),
             LOG_TEXT("site", site->name),
             LOG_TEXT("by", wire_request_peer(order->request)->identity));
    order->factory->changed(order->factory);
    answer_order(order, args, strbuf_text(&text));
    strbuf_fini(&text);
}

/* ---- log --------------------------------------------------------------------------------------
 */

static void begin_log(struct order *order, struct site *site)
{
    order->log = site_logs_want(site, order->glidein);
    if (order->log < 0) {
        refuse_order(order, (int)order->log, "too many logs of this site are waited for");
        return;
    }
    order->factory->changed(order->factory);
}

/* The site does not tell: perhaps it is the log that the factory keeps. */
static void answer_kept(struct order *order, const struct site *site, int status, const char *why)
{
    const char *kept = site_logs_kept(site, order->glidein);
    if (kept != NULL) {
        struct ad *args = ad_create();
        ad_set_string(args, "Source", "Memory");
        answer_with_log(order, args, "the end of the log, as the factory keeps it", kept);
    } else {
        refuse_order(order, status, why);
    }
}

static void abandon_log(struct order *order, struct site *site)
{
    site_logs_drop(site, order->log);
}

static void advance_log(struct order *order, struct site *site)
{
    bool found;
    char *text;
    if (!site_logs_take(site, order->log, &found, &text)) {
        if (loop_now_ms(order->factory->env.loop) >= order->until_ms) {
            site_logs_drop(site, order->log);
            answer_kept(order, site, -ETIMEDOUT, "the site has not answered in time");
        }
        return;
    }
    if (found) {
        struct ad *args = ad_create();
        ad_set_string(args, "Source", "Site");
        answer_with_log(order, args, "the end of the log, as the site has it", text);
    } else {
        answer_kept(order, site, -ENOENT, text);
    }
    mem_free(text);
}

/* ---- reconcile --------------------------------------------------------------------------------
 */

static void begin_reconcile(struct order *order, struct site *site)
{
    site_look_now(site);
    order->factory->changed(order->factory);
}

static void answer_comparison(struct order *order, const struct site *site)
{
    static const char *const NAMES[COMPARE_VERDICTS] = {[COMPARE_AGREES] = NULL,
                                                        [COMPARE_ORPHAN] = "OrphanNames",
                                                        [COMPARE_ZOMBIE] = "ZombieNames",
                                                        [COMPARE_GHOST] = "GhostNames"};
    struct vec names[COMPARE_VERDICTS] = {{0}}, removed = {0};
    struct site_compared compared;
    const struct glidein *glidein;
    struct ad *args = ad_create();
    char text[300];
    listed_compare(site, &compared, names);
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->removing && removed.count < LISTED_NAMES_MAX) {
            vec_push(&removed, (void *)(uintptr_t)glidein->name);
        }
    }
    for (int i = 0; i < COMPARE_VERDICTS; i++) {
        if (NAMES[i] != NULL) {
            ad_set_strings(args, NAMES[i], (const char *const *)names[i].items, names[i].count);
        }
        vec_fini(&names[i], mem_free);
    }
    ad_set_strings(args, "RemovedNames", (const char *const *)removed.items, removed.count);
    ad_set_int(args, "Agree", compared.counts[COMPARE_AGREES]);
    ad_set_int(args, "Claimed", compared.claimed);
    ad_set_int(args, "Orphans", compared.counts[COMPARE_ORPHAN]);
    ad_set_int(args, "Zombies", compared.counts[COMPARE_ZOMBIE]);
    ad_set_int(args, "Ghosts", compared.counts[COMPARE_GHOST]);
    ad_set_bool(args, "Complete", site->looks.is_complete);
    (void)snprintf(text, sizeof(text),
                   "%lld agree (%lld with jobs); %lld not in the journal (orphans), %lld not heard "
                   "by the pool (zombies), %lld not at the site (ghosts); %zu %s removed%s",
                   (long long)compared.counts[COMPARE_AGREES], (long long)compared.claimed,
                   (long long)compared.counts[COMPARE_ORPHAN],
                   (long long)compared.counts[COMPARE_ZOMBIE],
                   (long long)compared.counts[COMPARE_GHOST], removed.count,
                   removed.count == 1 ? "is" : "are",
                   site->looks.is_complete ? "" : "; the site's list was not complete");
    vec_fini(&removed, NULL);
    answer_order(order, args, text);
}

static void advance_reconcile(struct order *order, struct site *site)
{
    if (site->looks.done_ms >= order->since_ms) {
        answer_comparison(order, site);
    } else if (site->looks.failed_ms >= order->since_ms) {
        refuse_order(order, -EREMOTEIO, site->trouble);
    } else if (loop_now_ms(order->factory->env.loop) >= order->until_ms) {
        refuse_order(order, -ETIMEDOUT, "the site has not answered in time");
    } else if (site->busy == SITE_FREE && site->look_ms > order->since_ms) {
        begin_reconcile(order, site); /* the look that is over had begun before the order */
    }
}

/* ---- test -------------------------------------------------------------------------------------
 */

/* Why a test cannot be begun; NULL: it can. */
static const char *no_trial(const struct site *site)
{
    const struct grow_facts facts = site_state_facts(site);
    return site->trial.is_open                          ? "another test of this site goes on"
           : facts.total >= site->settings.limits.total ? "max_total is reached"
           : facts.pool_room <= 0                       ? "FACTORY_MAX_GLIDEINS is reached"
                                                        : NULL;
}

static void begin_test(struct order *order, struct site *site)
{
    const char *why = no_trial(site);
    int64_t limit_s = ad_int_or(wire_request_args(order->request), "Timeout", 0);
    if (why != NULL) {
        refuse_order(order, -EBUSY, why);
        return;
    }
    log_info(order->factory->env.log, "site.test", "a glidein is submitted to test the site",
             LOG_TEXT("site", site->name),
             LOG_TEXT("by", wire_request_peer(order->request)->identity));
    order->limit_ms =
        (uint64_t)(limit_s > 0 && limit_s <= TEST_MAX_S ? limit_s
                                                        : site->settings.start_timeout_s) *
        MS_PER_S;
    order->step_ms = order->since_ms;
    site->trial = (struct site_trial){.is_open = true, .is_wanted = true};
    order->factory->changed(order->factory);
}

static struct glidein *trial_glidein(const struct site *site)
{
    return site->trial.glidein[0] != '\0' ? strmap_get(site->factory->glideins, site->trial.glidein)
                                          : NULL;
}

/* The glidein is not needed any more. */
static void remove_trial(struct order *order, struct site *site)
{
    struct glidein *glidein = trial_glidein(site);
    site->trial.is_wanted = false;
    if (glidein != NULL && !glidein->removing) {
        glidein->removing = true;
        order->factory->changed(order->factory);
    }
}

static void abandon_test(struct order *order, struct site *site)
{
    remove_trial(order, site);
    site->trial.is_open = false;
    if (order->log > 0) {
        site_logs_drop(site, order->log);
    }
}

static struct trial_facts trial_facts_of(const struct order *order, const struct site *site)
{
    const struct glidein *glidein = trial_glidein(site);
    bool looked_at =
        order->joined_ms > 0 && site->looks.is_complete && site->looks.done_ms >= order->joined_ms;
    if (glidein == NULL) {
        return (struct trial_facts){.is_there = false};
    }
    return (struct trial_facts){.is_there = true,
                                .is_recorded = site->busy != SITE_RECORDS,
                                .is_heard = glidein->ads > 0,
                                .is_asked_away = glidein->removing && glidein->removal_asked,
                                .is_looked_at = looked_at,
                                .state = glidein->state,
                                .listing = glidein->listing};
}

static void tell_step(const struct order *order)
{
    struct ad *ad = ad_create();
    const struct ad *const list[] = {ad};
    const struct wire_body body = {.ads = list, .ad_count = 1};
    ad_set_int(ad, "Step", order->step);
    ad_set_string(ad, "Text", trial_plan_words(order->step));
    ad_set_real(ad, "Seconds", (double)(order->step_ms - order->since_ms) / MS_PER_S);
    (void)wire_reply_part(order->request, &body);
    ad_destroy(ad);
}

/* Tells each step that is done now. */
static void take_steps(struct order *order, struct site *site)
{
    struct trial_facts facts = trial_facts_of(order, site);
    uint64_t now_ms = loop_now_ms(order->factory->env.loop);
    enum trial_step to = trial_plan_step(order->step, &facts);
    while (order->step < to) {
        order->step++;
        order->step_ms = now_ms;
        order->joined_ms = order->step == TRIAL_JOINED ? now_ms : order->joined_ms;
        tell_step(order);
    }
    if (order->step == TRIAL_JOINED && site->busy == SITE_FREE &&
        site->looks.asked_ms < order->joined_ms) {
        site_look_now(site);
        order->factory->changed(order->factory);
    }
    if (order->step == TRIAL_SHOWN) {
        remove_trial(order, site);
    }
}

/* Notes why the test cannot go on, if that is so. */
static void judge_test(struct order *order, const struct site *site)
{
    struct trial_facts facts = trial_facts_of(order, site);
    uint64_t now_ms = loop_now_ms(order->factory->env.loop);
    bool is_over = now_ms - order->step_ms >= order->limit_ms;
    bool is_lost = site->trial.glidein[0] != '\0' && trial_plan_is_lost(order->step, &facts);
    bool has_ended = order->step < TRIAL_SHOWN && site->trial.end[0] != '\0';
    if (order->step == TRIAL_GONE || !(is_over || is_lost || has_ended)) {
        return;
    }
    const char *why = site->trial.end[0] != '\0' ? site->trial.end
                      : facts.is_there           ? trial_glidein(site)->reason
                                                 : "";
    (void)snprintf(order->failed, sizeof(order->failed), "not done: %s%s%s%s",
                   trial_plan_words(order->step + 1), is_over ? " (in time)" : "",
                   why[0] != '\0' ? ": " : "", why);
}

/* Answers with the end of the log, if there is one. */
static void answer_test(struct order *order, struct site *site, const char *log)
{
    bool passed = order->failed[0] == '\0';
    struct ad *args = ad_create();
    char text[SITE_WHY_MAX + 150];
    ad_set_bool(args, "Passed", passed);
    ad_set_string(args, "Glidein", site->trial.glidein);
    ad_set_int(args, "Step", order->step);
    if (passed) {
        (void)snprintf(text, sizeof(text), "the test has passed");
    } else {
        (void)snprintf(text, sizeof(text), "the test has failed; %s", order->failed);
    }
    site->trial.is_open = false;
    answer_with_log(order, args, text, log != NULL ? log_plan_end(log, SITE_LOGS_KEPT) : NULL);
}

/* The test has failed, and its log is waited for. */
static void advance_failed(struct order *order, struct site *site)
{
    bool found = false, is_late = loop_now_ms(order->factory->env.loop) >= order->until_ms;
    char *log = NULL;
    if (order->log > 0 && !site_logs_take(site, order->log, &found, &log) && !is_late) {
        return;
    }
    if (log == NULL) {
        site_logs_drop(site, order->log);
    }
    answer_test(order, site, found ? log : NULL);
    mem_free(log);
}

static void advance_test(struct order *order, struct site *site)
{
    if (order->failed[0] != '\0') {
        advance_failed(order, site);
        return;
    }
    take_steps(order, site);
    judge_test(order, site);
    if (order->failed[0] != '\0') {
        remove_trial(order, site);
        order->until_ms =
            loop_now_ms(order->factory->env.loop) + ANSWERS_MAX * site_answer_ms(site);
        order->log = site->trial.glidein[0] != '\0' && order->step >= TRIAL_SUBMITTED
                         ? site_logs_want(site, site->trial.glidein)
                         : 0;
        order->factory->changed(order->factory);
    } else if (order->step == TRIAL_GONE) {
        answer_test(order, site, NULL);
    }
}

/* ---- serving ----------------------------------------------------------------------------------
 */

static const struct order_kind KINDS[] = {
    {.name = "Pause", .begin = begin_pause},
    {.name = "Resume", .begin = begin_resume},
    {.name = "Grow", .begin = begin_grow},
    {.name = "Shrink", .begin = begin_shrink},
    {.name = "Log", .begin = begin_log, .advance = advance_log, .abandon = abandon_log},
    {.name = "Test", .begin = begin_test, .advance = advance_test, .abandon = abandon_test},
    {.name = "Reconcile", .begin = begin_reconcile, .advance = advance_reconcile},
};

static void caller_gone(void *arg)
{
    struct order *order = arg;
    struct site *site = strmap_get(order->factory->sites, order->site);
    order->request = NULL;
    if (order->kind->advance == NULL) {
        return; /* the disk's answer ends the order */
    }
    if (order->kind->abandon != NULL && site != NULL) {
        order->kind->abandon(order, site);
    }
    forget_order(order);
}

static const struct order_kind *kind_of(const struct ad *args)
{
    const char *name = ad_string_or(args, "Order", "");
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

static bool is_short_line(const char *text, size_t size)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        if ((unsigned char)text[length] < ' ' || text[length] == '\x7f') {
            return false;
        }
    }
    return length < size;
}

static bool needs_count(const struct ad *args)
{
    const char *name = ad_string_or(args, "Order", "");
    return strcmp(name, "Grow") == 0 || strcmp(name, "Shrink") == 0;
}

/* Answers the request if it cannot be what it says; returns whether it can. */
static bool check_order(const struct factory *factory, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    int64_t count = ad_int_or(args, "Count", 0);
    if (kind_of(args) == NULL) {
        wire_reply_error(request, -EINVAL, "FACTORY_ORDER: unknown Order '%.40s'",
                         ad_string_or(args, "Order", ""));
    } else if (!is_short_line(ad_string_or(args, "Reason", ""), PAUSE_WORDS_MAX)) {
        wire_reply_error(request, -EINVAL, "the reason must be one line of at most %d bytes",
                         PAUSE_WORDS_MAX - 1);
    } else if (needs_count(args) && (count < 1 || count > COUNT_MAX)) {
        wire_reply_error(request, -EINVAL, "FACTORY_ORDER: Count is not 1 to %d", COUNT_MAX);
    } else if (factory->orders.count >= ORDERS_MAX) {
        wire_reply_error(request, -EBUSY, "factory %s has %d orders that wait; try again later",
                         factory->name, ORDERS_MAX);
    } else {
        return true;
    }
    return false;
}

/* Returns the site that the order names, by itself or by a glidein; NULL: there is none. */
static struct site *site_of(const struct factory *factory, const struct ad *args)
{
    const char *name = ad_string_or(args, "Site", "");
    const char *glidein = ad_string_or(args, "Glidein", "");
    size_t at = 0;
    void *value;
    struct site *site = strmap_get(factory->sites, name);
    while (name[0] == '\0' && site == NULL && strmap_next(factory->sites, &at, NULL, &value)) {
        site = listed_is_ours(value, glidein) ? value : NULL;
    }
    return site != NULL && !site->is_gone ? site : NULL;
}

void orders_serve(struct factory *factory, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct site *site = site_of(factory, args);
    if (!check_order(factory, request)) {
        return;
    }
    if (site == NULL) {
        wire_reply_error(request, -ENOENT, "factory %s has no site '%.40s'", factory->name,
                         ad_string_or(args, "Site", ""));
        return;
    }
    struct order *order = mem_zalloc(sizeof(*order));
    order->factory = factory;
    order->kind = kind_of(args);
    order->request = request;
    order->since_ms = loop_now_ms(factory->env.loop);
    order->until_ms = order->since_ms + ANSWERS_MAX * site_answer_ms(site);
    (void)snprintf(order->site, sizeof(order->site), "%s", site->name);
    (void)snprintf(order->glidein, sizeof(order->glidein), "%s", ad_string_or(args, "Glidein", ""));
    vec_push(&factory->orders, order);
    wire_request_on_gone(request, caller_gone, order);
    if (!loop_timer_is_set(factory->orders_tick)) {
        loop_timer_set(factory->orders_tick, TELL_MS);
    }
    order->kind->begin(order, site);
}

void orders_advance(struct factory *factory)
{
    for (size_t i = factory->orders.count; i > 0; i--) {
        struct order *order = factory->orders.items[i - 1]; /* only itself may end */
        struct site *site = strmap_get(factory->sites, order->site);
        if (order->kind->advance == NULL) {
            continue;
        }
        if (site == NULL) {
            refuse_order(order, -ENOENT, "the site is not in the configuration any more");
        } else {
            order->kind->advance(order, site);
        }
    }
}

/* The deadline of a request begins anew with each part of its answer. */
static void tell_callers(void *arg)
{
    struct factory *factory = arg;
    const struct wire_body nothing = {.args = NULL};
    orders_advance(factory); /* some may be over */
    for (size_t i = 0; i < factory->orders.count; i++) {
        const struct order *order = factory->orders.items[i];
        if (order->request != NULL) {
            (void)wire_reply_part(order->request, &nothing);
        }
    }
    if (factory->orders.count > 0) {
        loop_timer_set(factory->orders_tick, TELL_MS);
    }
}

void orders_open(struct factory *factory)
{
    factory->orders_tick = loop_timer_create(factory->env.loop, tell_callers, factory);
}

void orders_close(struct factory *factory)
{
    vec_fini(&factory->orders, mem_free);
    loop_timer_destroy(factory->orders_tick);
}
