/* factory/site.c - see site.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/listed.h"
#include "factory/pause.h"
#include "factory/removal.h"
#include "factory/samples.h"
#include "factory/site_link.h"
#include "factory/site_state.h"
#include "factory/ticket.h"
#include "wire/wire.h"

#define MS_PER_S       1000
#define ANSWER_GRACE_S 5
#define LOOK_MS        30000  /* between two looks while nothing happens */
#define LOOK_EMPTY_MS  300000 /* the same, of a site without glideins */
#define LOOK_SOON_MS   2000   /* while a glidein is on its way, or may be gone */
#define LOOK_AT_ONCE   200    /* ms: a glidein has left the pool */

/* The program that an earlier factory asked may still be at work, until its deadline. */
void site_adopt(struct site *site, const struct glidein *recorded)
{
    struct glidein *glidein = site_state_add(site, recorded);
    bool asked = recorded->state == GLIDEIN_INTENDED;
    glidein->asked_ms =
        site_state_now_ms(site) + (asked ? (uint64_t)site->settings.timeout_s * MS_PER_S : 0);
    glidein->removing = recorded->cause == GLIDEIN_TRIAL; /* who tested does not wait any more */
    site->look_ms = 0;
}

void site_slots_changed(struct glidein *glidein)
{
    struct site *site = glidein->site;
    if (glidein->claims > 0 && !glidein->served) {
        glidein->served = true;
        journal_put(site->factory->journal, &glidein, 1, NULL, NULL);
    }
    if (glidein->ads > 0 && glidein->state != GLIDEIN_JOINED) {
        site_state_move(glidein, GLIDEIN_JOINED);
        breaker_plan_success(&site->breaker);
        journal_put(site->factory->journal, &glidein, 1, NULL, NULL);
    } else if (glidein->ads == 0 && glidein->state == GLIDEIN_JOINED) {
        site_state_move(glidein, GLIDEIN_LEFT);
        site_state_look_within(site, LOOK_AT_ONCE);
    }
    site->factory->changed(site->factory);
}

/* Returns how long the next look may wait. */
static uint64_t look_wait_ms(const struct site *site)
{
    const struct glidein *glidein;
    uint64_t wait_ms = TAILQ_EMPTY(&site->glideins) ? LOOK_EMPTY_MS : LOOK_MS;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->state != GLIDEIN_JOINED || glidein->missed > 0) {
            /* What waits for long in a queue is looked at less often. */
            uint64_t age_ms = (site_state_now_ms(site) - glidein->since_ms) / 4;
            uint64_t own_ms = age_ms > LOOK_SOON_MS ? age_ms : LOOK_SOON_MS;
            wait_ms = own_ms < wait_ms ? own_ms : wait_ms;
        }
    }
    return wait_ms;
}

/* The same, of a site that did not do what it was asked: it is not asked again and again. */
static uint64_t failed_wait_ms(const struct site *site)
{
    uint64_t left_ms = breaker_plan_left_ms(&site->breaker, site_state_now_ms(site));
    return site->paused != NULL ? LOOK_EMPTY_MS : left_ms > LOOK_SOON_MS ? left_ms : LOOK_SOON_MS;
}

/* ---- requests ---------------------------------------------------------------------------------
 */

static void ask(struct site *site, enum site_busy busy, const struct site_request *request)
{
    site->busy = busy;
    site_link_ask(site->link, request);
}

static void ask_for_look(struct site *site)
{
    const struct site_request request = {.operation = SITE_LOOK};
    site->looks.asked_ms = site_state_now_ms(site);
    ask(site, SITE_ANSWERS_LOOK, &request);
}

/* Returns whether something is removed now. */
static bool ask_for_removals(struct site *site)
{
    struct vec names = {0};
    removal_take(site, &names);
    bool some = names.count > 0;
    if (some) {
        const struct site_request request = {.operation = SITE_REMOVE,
                                             .names = (const char *const *)names.items,
                                             .name_count = names.count};
        ask(site, SITE_ANSWERS_REMOVE, &request);
    }
    vec_fini(&names, NULL);
    return some;
}

/* Returns whether a log is fetched now. */
static bool ask_for_log(struct site *site)
{
    const char *name = site_logs_next(site);
    if (name != NULL) {
        const struct site_request request = {.operation = SITE_LOG,
                                             .names = &name,
                                             .name_count = 1};
        ask(site, SITE_ANSWERS_LOG, &request);
    }
    return name != NULL;
}

static void add_argument(struct vec *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_argument(struct vec *arguments, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text, 0);
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    vec_push(arguments, mem_strdup(strbuf_text(&text)));
    strbuf_fini(&text);
}

/* Returns a glidein of the submission by its number; NULL: there is none any more. */
static struct glidein *of_batch(const struct site *site, int64_t number)
{
    char name[GLIDEIN_NAME_MAX];
    (void)snprintf(name, sizeof(name), "%s.%d", site->batch, (int)number);
    return strmap_get(site->factory->glideins, name);
}

static void put_arguments(const struct site *site, struct vec *ret)
{
    const struct site_settings *settings = &site->settings;
    struct strbuf hosts;
    size_t count = 0;
    const char *const *list = config_list(site->factory->env.config, "COLLECTOR_HOST", &count);
    strbuf_init(&hosts, 0);
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&hosts, "%s%s", i > 0 ? ", " : "", list[i]);
    }
    add_argument(ret, "--collector");
    add_argument(ret, "%s", strbuf_text(&hosts));
    strbuf_fini(&hosts);
    add_argument(ret, "--cpus");
    add_argument(ret, "%lld", (long long)settings->cpus);
    add_argument(ret, "--memory");
    add_argument(ret, "%lld", (long long)settings->memory_mib);
    add_argument(ret, "--lifetime");
    add_argument(ret, "%lld", (long long)settings->lifetime_s);
    add_argument(ret, "--idle-timeout");
    add_argument(ret, "%lld", (long long)settings->idle_timeout_s);
    add_argument(ret, "GLIDEIN_Factory=\"%s\"", site->factory->name);
    add_argument(ret, "GLIDEIN_Site=\"%s\"", site->name);
    const struct glidein *first = of_batch(site, 1);
    if (first != NULL && first->cause == GLIDEIN_TRIAL) {
        add_argument(ret, "START=false");
    }
}

/* Tells who tests the site what went wrong. */
static void end_trial(struct site *site)
{
    const struct glidein *first = of_batch(site, 1);
    if (first != NULL && first->cause == GLIDEIN_TRIAL) {
        (void)snprintf(site->trial.end, sizeof(site->trial.end), "%s", site->trouble);
    }
}

/* Forgets the glideins of the submission: the site has none of them. */
static void forget_batch(struct site *site)
{
    end_trial(site);
    for (int64_t i = 1; i <= site->batch_count; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL) {
            journal_delete(site->factory->journal, glidein);
            site_state_free(glidein);
        }
    }
}

/* So late the site may take glideins of the submission. */
static void batch_is_asked(struct site *site, uint64_t until_ms)
{
    for (int64_t i = 1; i <= site->batch_count; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL) {
            glidein->asked_ms = until_ms;
        }
    }
    site_state_look_within(site, LOOK_SOON_MS);
}

/* The glideins are in the journal: now the site is asked for them. */
static void batch_is_recorded(void *arg)
{
    struct site *site = arg;
    struct ticket_secrets secrets;
    struct err err;
    if (ticket_gather(site, site->batch, site->batch_count, &secrets, &err) != 0) {
        site_state_trouble(site, "%s", err.text);
        forget_batch(site);
        site->ordered = 0;
        site->busy = SITE_FREE;
        site_state_refusal(site);
        site->factory->changed(site->factory);
        return;
    }
    struct vec arguments = {0};
    put_arguments(site, &arguments);
    const struct site_request request = {.operation = SITE_SUBMIT,
                                         .batch = site->batch,
                                         .count = site->batch_count,
                                         .pilot = site->settings.pilot,
                                         .secret = secrets.common,
                                         .tickets = (const char *const *)secrets.tickets.items,
                                         .arguments = (const char *const *)arguments.items,
                                         .argument_count = arguments.count,
                                         .cpus = site->settings.cpus,
                                         .memory_mib = site->settings.memory_mib,
                                         .lifetime_s = site->settings.lifetime_s};
    /* Without an answer, what was begun may go on until the deadline, whoever dies before. */
    batch_is_asked(site, site_state_now_ms(site) + (uint64_t)site->settings.timeout_s * MS_PER_S);
    ask(site, SITE_ANSWERS_SUBMIT, &request);
    ticket_wipe(&secrets);
    vec_fini(&arguments, mem_free);
}

static void begin_submission(struct site *site, int64_t count, bool is_trial)
{
    struct factory *factory = site->factory;
    struct vec batch = {0};
    struct err err;
    if (ticket_check(site, &err) != 0) {
        site_state_trouble(site, "%s", err.text);
        site_state_refusal(site);
        site->ordered = 0;
        if (is_trial) {
            site->trial.is_wanted = false;
            (void)snprintf(site->trial.end, sizeof(site->trial.end), "%s", site->trouble);
        }
        factory->changed(factory);
        return;
    }
    (void)snprintf(site->batch, sizeof(site->batch), "%s-%s-%s%llx%04x", factory->name, site->name,
                   factory->tag, (unsigned long long)loop_wall_s(factory->env.loop),
                   (unsigned)rng_below(loop_rng(factory->env.loop), 0x10000));
    site->batch_count = count;
    for (int64_t i = 1; i <= count; i++) {
        struct glidein glidein = {.state = GLIDEIN_INTENDED,
                                  .submitted_s = loop_wall_s(factory->env.loop),
                                  .asked_ms = site_state_now_ms(site),
                                  .cause = is_trial            ? GLIDEIN_TRIAL
                                           : site->ordered > 0 ? GLIDEIN_ORDERED
                                                               : GLIDEIN_FOR_JOBS};
        site->ordered -= glidein.cause == GLIDEIN_ORDERED ? 1 : 0;
        (void)snprintf(glidein.name, sizeof(glidein.name), "%s.%d", site->batch, (int)i);
        vec_push(&batch, site_state_add(site, &glidein));
    }
    if (is_trial) {
        site->trial.is_wanted = false;
        (void)snprintf(site->trial.glidein, sizeof(site->trial.glidein), "%s.1", site->batch);
    }
    site->busy = SITE_RECORDS;
    journal_put(factory->journal, (struct glidein *const *)batch.items, batch.count,
                PLANTED(submit_before_record) ? NULL : batch_is_recorded, site);
    if (PLANTED(submit_before_record)) {
        batch_is_recorded(site);
    }
    vec_fini(&batch, NULL);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void take_submission(struct site *site, const struct site_answer *answer)
{
    int64_t taken = answer->taken < site->batch_count ? answer->taken : site->batch_count;
    if (taken == 0) {
        site->ordered = 0;
        site_state_trouble(site, "it took none of %lld glideins", (long long)site->batch_count);
        site_state_refusal(site);
        forget_batch(site);
    }
    /* Of a part of them only a look tells which. */
    for (int64_t i = 1; taken == site->batch_count && i <= taken; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL && glidein->state == GLIDEIN_INTENDED) {
            site_state_move(glidein, GLIDEIN_QUEUED);
        }
    }
    batch_is_asked(site, site_state_now_ms(site));
    site->submitted += taken;
    log_info(site->factory->env.log, "site.submitted", site->batch, LOG_TEXT("site", site->name),
             LOG_INT("glideins", taken), LOG_INT("asked", site->batch_count));
    if (taken > 0) {
        breaker_plan_taken(&site->breaker);
    }
}

static char *pause_text(const char *why)
{
    char text[SITE_WHY_MAX];
    (void)snprintf(text, sizeof(text), "paused: %s", why);
    return mem_strdup(text);
}

/* What was asked for was not done, or perhaps it was. */
static void take_failure(struct site *site, const struct site_answer *answer)
{
    bool submission = site->busy == SITE_ANSWERS_SUBMIT;
    site->ordered = submission ? 0 : site->ordered; /* it was for now, and not for later */
    site_state_trouble(site, "%s", answer->text);
    switch (answer->outcome) {
    case SITE_REFUSES:
        site_state_refusal(site);
        break;
    case SITE_WRONG:
        mem_free(site->paused);
        site->paused = pause_text(answer->text);
        break;
    case SITE_FAILS:
    case SITE_DONE:
        site_state_failure(site);
        if (submission) {
            end_trial(site);
        }
        return; /* a look tells whether it was done */
    }
    if (submission) {
        forget_batch(site);
    }
}

/* A log that cannot be had is no fault of the site: if it does not work, the next look tells. */
static void take_log(struct site *site, struct site_answer *answer)
{
    site_logs_answered(site, answer);
    site_answer_fini(answer);
    site->busy = SITE_FREE;
    site->factory->changed(site->factory);
}

static void site_answers(void *arg)
{
    struct site *site = arg;
    struct site_answer answer;
    if (!site_link_take(site->link, &answer)) {
        return;
    }
    if (site->busy == SITE_ANSWERS_LOG) {
        take_log(site, &answer);
        return;
    }
    if (site->busy == SITE_ANSWERS_LOOK) {
        site->look_ms = UINT64_MAX;
        site->looks.failed_ms =
            answer.outcome != SITE_DONE ? site->looks.asked_ms : site->looks.failed_ms;
    }
    if (answer.outcome != SITE_DONE) {
        take_failure(site, &answer);
    } else if (site->busy == SITE_ANSWERS_SUBMIT) {
        take_submission(site, &answer);
    } else if (site->busy == SITE_ANSWERS_LOOK) {
        listed_take(site, &answer);
    }
    bool failed = answer.outcome != SITE_DONE && site->busy != SITE_ANSWERS_SUBMIT;
    site_state_look_within(site, failed                              ? failed_wait_ms(site)
                                 : site->busy == SITE_ANSWERS_REMOVE ? LOOK_SOON_MS
                                                                     : look_wait_ms(site));
    site_answer_fini(&answer);
    site->busy = SITE_FREE;
    site->factory->changed(site->factory);
}

/* ---- what comes next --------------------------------------------------------------------------
 */

static uint64_t earlier(uint64_t a_ms, uint64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Sets the timer for what only time brings about. */
static void wait_for_time(struct site *site)
{
    uint64_t now = site_state_now_ms(site), at_ms = site->look_ms;
    uint64_t alone_ms = breaker_plan_left_ms(&site->breaker, now);
    const struct glidein *glidein;
    at_ms = alone_ms > 0 ? earlier(at_ms, now + alone_ms) : at_ms;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        at_ms = earlier(at_ms, removal_due_ms(glidein));
    }
    loop_timer_set(site->timer, at_ms > now ? at_ms - now : 1);
}

void site_act(struct site *site)
{
    if (site->busy != SITE_FREE) {
        return;
    }
    if (site->wanted > 0) {
        site->unwanted_ms = 0;
    } else if (site->unwanted_ms == 0) {
        site->unwanted_ms = site_state_now_ms(site);
    }
    struct grow_facts facts = site_state_facts(site);
    int64_t count = grow_plan(&facts, &site->settings.limits, site->why, sizeof(site->why));
    samples_show(site, grow_plan_room(&facts, &site->settings.limits));
    if (site_state_now_ms(site) >= site->look_ms) {
        ask_for_look(site);
        return;
    }
    removal_give_up_late(site);
    removal_shrink(site);
    if ((site->paused == NULL || site->trial.is_open) && ask_for_removals(site)) {
        return;
    }
    if (ask_for_log(site)) {
        return;
    }
    if (site->trial.is_wanted || count > 0) {
        begin_submission(site, site->trial.is_wanted ? 1 : count, site->trial.is_wanted);
        return;
    }
    wait_for_time(site);
}

static void time_has_come(void *arg)
{
    const struct site *site = arg;
    site->factory->changed(site->factory);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void open_link(struct site *site)
{
    const struct site_settings *settings = &site->settings;
    site->begin = (struct site_request){.operation = SITE_BEGIN,
                                        .deadline_s = settings->timeout_s,
                                        .site = site->name,
                                        .factory = site->factory->name,
                                        .options = (const char *const *)settings->options.items,
                                        .option_count = settings->options.count};
    site->link =
        site_link_create(&site->factory->env, site->name, (const char *const *)settings->argv.items,
                         &site->begin, site_answers, site);
}

struct site *site_create(struct factory *factory, const struct config_section *section)
{
    struct site *site = mem_zalloc(sizeof(*site));
    site->factory = factory;
    site->name = mem_strdup(section_title(section));
    site->timer = loop_timer_create(factory->env.loop, time_has_come, site);
    TAILQ_INIT(&site->glideins);
    site_section_read(section, &site->settings);
    open_link(site);
    return site;
}

void site_configure(struct site *site, const struct config_section *section)
{
    /* An answer that is under way would be lost with the child: it counts as a failure without a
     * word, and the next look tells what was done. */
    bool asked = site->busy != SITE_FREE && site->busy != SITE_RECORDS;
    site_link_destroy(site->link);
    site_settings_fini(&site->settings);
    site_section_read(section, &site->settings);
    site->busy = asked ? SITE_FREE : site->busy;
    site->is_gone = false;
    mem_free(site->paused);
    site->paused = NULL;
    site->breaker = (struct breaker){0};
    site->look_ms = 0;
    open_link(site);
}

void site_resume(struct site *site)
{
    if (site->paused != NULL) {
        mem_free(site->paused);
        site->paused = NULL;
        site->look_ms = 0;
    }
}

void site_look_now(struct site *site)
{
    site->look_ms = 0;
}

uint64_t site_answer_ms(const struct site *site)
{
    return ((uint64_t)site->settings.timeout_s + ANSWER_GRACE_S) * MS_PER_S;
}

void site_destroy(void *arg)
{
    struct site *site = arg;
    site_link_destroy(site->link);
    site_logs_fini(site);
    while (!TAILQ_EMPTY(&site->glideins)) {
        site_state_free(TAILQ_FIRST(&site->glideins));
    }
    samples_free_all(site);
    site_settings_fini(&site->settings);
    loop_timer_destroy(site->timer);
    mem_free(site->paused);
    mem_free(site->name);
    mem_free(site);
}

struct ad *site_to_ad(const struct site *site)
{
    struct grow_facts facts = site_state_facts(site);
    struct ad *ad = ad_create();
    char name[SITE_NAME_LENGTH + sizeof(site->factory->name) + 2];
    (void)snprintf(name, sizeof(name), "%.*s@%s", SITE_NAME_LENGTH, site->name,
                   site->factory->name);
    ad_set_string(ad, "MyType", "Site");
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "Site", site->name);
    ad_set_string(ad, "Factory", site->factory->name);
    ad_set_string(ad, "State",
                  facts.paused != NULL                                                ? "Paused"
                  : breaker_plan_left_ms(&site->breaker, site_state_now_ms(site)) > 0 ? "LeftAlone"
                  : site->breaker.needs_canary                                        ? "Canary"
                  : site->looked_ms == 0                                              ? "Unknown"
                                                                                      : "Serving");
    pause_put(site->factory, site->name, ad);
    ad_set_string(ad, "Why", site->why);
    ad_set_int(ad, "Wanted", facts.wanted);
    ad_set_int(ad, "Coming", facts.coming);
    ad_set_int(ad, "Queued", facts.queued);
    ad_set_int(ad, "Held", facts.held);
    ad_set_int(ad, "Running", facts.running);
    ad_set_int(ad, "Idle", facts.idle);
    ad_set_int(ad, "Total", facts.total);
    ad_set_int(ad, "Submitted", site->submitted);
    ad_set_int(ad, "EndedUnused", site->ended_unused);
    ad_set_string(ad, "Trouble", site->trouble);
    ad_set_int(ad, "TroubleTime", site->trouble_s);
    ad_set_int(ad, "Orphans", site->compared.counts[COMPARE_ORPHAN]);
    ad_set_int(ad, "Zombies", site->compared.counts[COMPARE_ZOMBIE]);
    ad_set_int(ad, "Ghosts", site->compared.counts[COMPARE_GHOST]);
    site_logs_put(site, ad);
    ad_set_int(ad, "Samples", (int64_t)site->samples.count);
    ad_set_bool(ad, "Delinquent", (int64_t)site->samples.count < site->settings.samples);
    return ad;
}
