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
#include "base/random.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/samples.h"
#include "factory/site_link.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define MS_PER_S      1000
#define LOOK_MS       30000  /* between two looks while nothing happens */
#define LOOK_EMPTY_MS 300000 /* the same, of a site without glideins */
#define LOOK_SOON_MS  2000   /* while a glidein is on its way, or may be gone */
#define LOOK_AT_ONCE  200    /* ms: a glidein has left the pool */
#define MISSES        2      /* looks that must not show a glidein before it is gone */
#define YOUNG_MS      15000  /* so long a glidein that has joined and has room counts as coming */
#define REMOVE_SHARE  4      /* at most a fourth is removed at a time */
#define REMOVE_MS     10000  /* between two such times */

static uint64_t now_ms(const struct site *site)
{
    return loop_now_ms(site->factory->env.loop);
}

static struct breaker_times times_of(const struct site *site)
{
    const struct config *config = site->factory->env.config;
    return (struct breaker_times){.first_ms =
                                      (uint64_t)config_duration_ms(config, "FACTORY_BACKOFF"),
                                  .most_ms =
                                      (uint64_t)config_duration_ms(config, "FACTORY_BACKOFF_MAX")};
}

static void note_failure(struct site *site)
{
    const struct breaker_times times = times_of(site);
    breaker_plan_failure(&site->breaker, &times, now_ms(site));
}

static void note_refusal(struct site *site)
{
    const struct breaker_times times = times_of(site);
    breaker_plan_refusal(&site->breaker, &times, now_ms(site));
}

static void set_trouble(struct site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_trouble(struct site *site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(site->trouble, sizeof(site->trouble), format, args);
    va_end(args);
    site->trouble_s = loop_wall_s(site->factory->env.loop);
    log_warn(site->factory->env.log, "site.trouble", site->trouble, LOG_TEXT("site", site->name));
}

static void look_within(struct site *site, uint64_t ms)
{
    uint64_t at_ms = now_ms(site) + ms;
    site->look_ms = at_ms < site->look_ms ? at_ms : site->look_ms;
}

/* ---- glideins ---------------------------------------------------------------------------------
 */

static void move_glidein(struct glidein *glidein, enum glidein_state to)
{
    struct site *site = glidein->site;
    if (glidein->state != to) {
        site->states[glidein->state]--;
        site->states[to]++;
        log_info(site->factory->env.log, "glidein.state", glidein_state_name(to),
                 LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", site->name));
        glidein->state = to;
        glidein->since_ms = now_ms(site);
        site->factory->changed(site->factory);
    }
}

static struct glidein *add_glidein(struct site *site, const struct glidein *as)
{
    struct glidein *glidein = mem_dup(as, sizeof(*as));
    glidein->site = site;
    glidein->since_ms = now_ms(site);
    TAILQ_INSERT_TAIL(&site->glideins, glidein, entry);
    site->states[glidein->state]++;
    (void)strmap_set(site->factory->glideins, glidein->name, glidein);
    return glidein;
}

static void free_glidein(struct glidein *glidein)
{
    struct site *site = glidein->site;
    TAILQ_REMOVE(&site->glideins, glidein, entry);
    site->states[glidein->state]--;
    (void)strmap_remove(site->factory->glideins, glidein->name);
    mem_free(glidein);
}

/* The site does not have it any more, or never had it. */
static void glidein_is_gone(struct glidein *glidein, const char *how)
{
    struct site *site = glidein->site;
    bool taken = glidein->state != GLIDEIN_INTENDED; /* else the site never had it */
    bool unused =
        taken && !glidein->served && glidein->state < GLIDEIN_JOINED && !glidein->removing;
    if (unused) {
        site->ended_unused++;
        set_trouble(site, "glidein %s ended before it had joined the pool: %s", glidein->name, how);
        note_failure(site);
    } else {
        log_info(site->factory->env.log, "glidein.gone", how, LOG_TEXT("glidein", glidein->name),
                 LOG_TEXT("site", site->name));
    }
    journal_delete(site->factory->journal, glidein);
    free_glidein(glidein);
    site->factory->changed(site->factory);
}

/* The program that an earlier factory asked may still be at work, until its deadline. */
void site_adopt(struct site *site, const struct glidein *recorded)
{
    struct glidein *glidein = add_glidein(site, recorded);
    bool asked = recorded->state == GLIDEIN_INTENDED;
    glidein->asked_ms = now_ms(site) + (asked ? (uint64_t)site->settings.timeout_s * MS_PER_S : 0);
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
        move_glidein(glidein, GLIDEIN_JOINED);
        breaker_plan_success(&site->breaker);
        journal_put(site->factory->journal, &glidein, 1, NULL, NULL);
    } else if (glidein->ads == 0 && glidein->state == GLIDEIN_JOINED) {
        move_glidein(glidein, GLIDEIN_LEFT);
        look_within(site, LOOK_AT_ONCE);
    }
    site->factory->changed(site->factory);
}

/* ---- what a look shows ------------------------------------------------------------------------
 */

/* Returns whether the name is one of this factory's at this site, and not of a site whose name only
 * begins with this one's. */
static bool is_ours(const struct site *site, const char *name)
{
    size_t factory = strlen(site->factory->name), length = strlen(site->name);
    return strlen(name) < GLIDEIN_NAME_MAX && strncmp(name, site->factory->name, factory) == 0 &&
           name[factory] == '-' && strncmp(name + factory + 1, site->name, length) == 0 &&
           name[factory + 1 + length] == '-' && strchr(name + factory + 2 + length, '-') == NULL;
}

/* A glidein that the site has and the journal does not: nobody waits for it. */
static void adopt_orphan(struct site *site, const struct site_glidein *listed)
{
    struct glidein orphan = {.state = GLIDEIN_QUEUED,
                             .submitted_s = loop_wall_s(site->factory->env.loop),
                             .removing = true};
    if (listed->state == SITE_LISTS_ENDED || !is_ours(site, listed->name)) {
        return;
    }
    (void)snprintf(orphan.name, sizeof(orphan.name), "%s", listed->name);
    struct glidein *glidein = add_glidein(site, &orphan);
    log_warn(site->factory->env.log, "glidein.orphan",
             "the site has a glidein that is not in the journal: it is removed",
             LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", site->name));
    journal_put(site->factory->journal, &glidein, 1, NULL, NULL);
}

static void take_listed(struct glidein *glidein, const struct site_glidein *listed)
{
    static const enum glidein_state STATES[] = {[SITE_LISTS_QUEUED] = GLIDEIN_QUEUED,
                                                [SITE_LISTS_HELD] = GLIDEIN_HELD,
                                                [SITE_LISTS_RUNNING] = GLIDEIN_STARTED};
    (void)snprintf(glidein->site_id, sizeof(glidein->site_id), "%s", listed->id);
    (void)snprintf(glidein->reason, sizeof(glidein->reason), "%s", listed->reason);
    glidein->missed = 0;
    glidein->hidden = false;
    glidein->removal_asked = false; /* it is still there */
    if (listed->state == SITE_LISTS_ENDED) {
        glidein_is_gone(glidein, listed->reason[0] != '\0' ? listed->reason : "it has ended");
    } else if (glidein->state < GLIDEIN_JOINED) {
        move_glidein(glidein, STATES[listed->state]); /* the pool knows better of the others */
    }
}

/* The look did not show it.  What the pool hears is there, whatever the site says; and while the
 * pool itself is not heard, nothing is gone. */
static void miss_glidein(struct glidein *glidein, uint64_t settle_ms, bool is_complete)
{
    struct site *site = glidein->site;
    if (now_ms(site) < glidein->asked_ms + settle_ms || glidein->ads > 0) {
        return;
    }
    glidein->hidden = true;
    if (!is_complete || !watch_is_synced(site->factory->machines)) {
        return;
    }
    if (++glidein->missed >= MISSES) {
        glidein_is_gone(glidein, "the site does not have it");
    }
}

static void take_look(struct site *site, const struct site_answer *answer)
{
    uint64_t settle_ms = site_link_settle_ms(site->link);
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < answer->glideins.count; i++) {
        const struct site_glidein *listed = answer->glideins.items[i];
        struct glidein *glidein = strmap_get(site->factory->glideins, listed->name);
        (void)strmap_set(seen, listed->name, site);
        if (glidein == NULL) {
            adopt_orphan(site, listed);
        } else if (glidein->site == site) {
            take_listed(glidein, listed);
        }
    }
    struct glidein *glidein, *next;
    for (glidein = TAILQ_FIRST(&site->glideins); glidein != NULL; glidein = next) {
        next = TAILQ_NEXT(glidein, entry);
        if (strmap_get(seen, glidein->name) == NULL) {
            miss_glidein(glidein, settle_ms, answer->complete);
        }
    }
    strmap_destroy(seen, NULL);
    site->looked_ms = now_ms(site); /* what a part of it did not tell is in the journal */
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
            uint64_t age_ms = (now_ms(site) - glidein->since_ms) / 4;
            uint64_t own_ms = age_ms > LOOK_SOON_MS ? age_ms : LOOK_SOON_MS;
            wait_ms = own_ms < wait_ms ? own_ms : wait_ms;
        }
    }
    return wait_ms;
}

/* The same, of a site that did not do what it was asked: it is not asked again and again. */
static uint64_t failed_wait_ms(const struct site *site)
{
    uint64_t left_ms = breaker_plan_left_ms(&site->breaker, now_ms(site));
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
    ask(site, SITE_ANSWERS_LOOK, &request);
}

/* Returns how many of these may be removed at a time. */
static size_t share_of(size_t count)
{
    return (count + REMOVE_SHARE - 1) / REMOVE_SHARE;
}

static size_t glidein_count(const struct site *site)
{
    size_t count = 0;
    for (int i = 0; i < GLIDEIN_STATES; i++) {
        count += site->states[i];
    }
    return count;
}

/* Returns whether something is removed now: a part of the site at a time, so that no mistake, such
 * as a lost journal, empties it at once. */
static bool ask_for_removals(struct site *site)
{
    struct vec names = {0};
    struct glidein *glidein;
    size_t share = now_ms(site) >= site->remove_ms ? share_of(glidein_count(site)) : 0;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->removing && !glidein->removal_asked && names.count < share) {
            vec_push(&names, glidein->name);
            glidein->removal_asked = true;
        }
    }
    bool some = names.count > 0;
    if (some) {
        site->remove_ms = now_ms(site) + REMOVE_MS;
        const struct site_request request = {.operation = SITE_REMOVE,
                                             .names = (const char *const *)names.items,
                                             .name_count = names.count};
        ask(site, SITE_ANSWERS_REMOVE, &request);
    }
    vec_fini(&names, NULL);
    return some;
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
}

/* The bundle is read anew each time, so that it can be renewed. */
static int read_secret(const struct site *site, char ret[SECRET_FILE_MAX], struct err *err)
{
    return secret_file_read(site->factory->env.os, site->settings.token, ret, SECRET_FILE_MAX, err);
}

/* Returns a glidein of the submission by its number; NULL: there is none any more. */
static struct glidein *of_batch(const struct site *site, int64_t number)
{
    char name[GLIDEIN_NAME_MAX];
    (void)snprintf(name, sizeof(name), "%s.%d", site->batch, (int)number);
    return strmap_get(site->factory->glideins, name);
}

/* Forgets the glideins of the submission: the site has none of them. */
static void forget_batch(struct site *site)
{
    for (int64_t i = 1; i <= site->batch_count; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL) {
            journal_delete(site->factory->journal, glidein);
            free_glidein(glidein);
        }
    }
}

/* The glideins are in the journal: now the site is asked for them. */
static void batch_is_recorded(void *arg)
{
    struct site *site = arg;
    char secret[SECRET_FILE_MAX];
    struct err err;
    if (read_secret(site, secret, &err) != 0) {
        forget_batch(site);
        site->busy = SITE_FREE;
        set_trouble(site, "%s", err.text);
        note_refusal(site);
        site->factory->changed(site->factory);
        return;
    }
    struct vec arguments = {0};
    put_arguments(site, &arguments);
    const struct site_request request = {.operation = SITE_SUBMIT,
                                         .batch = site->batch,
                                         .count = site->batch_count,
                                         .pilot = site->settings.pilot,
                                         .secret = secret,
                                         .arguments = (const char *const *)arguments.items,
                                         .argument_count = arguments.count,
                                         .cpus = site->settings.cpus,
                                         .memory_mib = site->settings.memory_mib,
                                         .lifetime_s = site->settings.lifetime_s};
    ask(site, SITE_ANSWERS_SUBMIT, &request);
    secret_wipe(secret, sizeof(secret));
    vec_fini(&arguments, mem_free);
}

static void begin_submission(struct site *site, int64_t count)
{
    struct factory *factory = site->factory;
    struct vec batch = {0};
    (void)snprintf(site->batch, sizeof(site->batch), "%s-%s-%llx%04x", factory->name, site->name,
                   (unsigned long long)loop_wall_s(factory->env.loop),
                   (unsigned)rng_below(loop_rng(factory->env.loop), 0x10000));
    site->batch_count = count;
    for (int64_t i = 1; i <= count; i++) {
        struct glidein glidein = {.state = GLIDEIN_INTENDED,
                                  .submitted_s = loop_wall_s(factory->env.loop),
                                  .asked_ms = now_ms(site)};
        (void)snprintf(glidein.name, sizeof(glidein.name), "%s.%d", site->batch, (int)i);
        vec_push(&batch, add_glidein(site, &glidein));
    }
    site->busy = SITE_RECORDS;
    journal_put(factory->journal, (struct glidein *const *)batch.items, batch.count,
                batch_is_recorded, site);
    vec_fini(&batch, NULL);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* So late the site may have taken glideins of the submission. */
static void batch_is_asked(struct site *site)
{
    for (int64_t i = 1; i <= site->batch_count; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL) {
            glidein->asked_ms = now_ms(site);
        }
    }
    look_within(site, LOOK_SOON_MS);
}

static void take_submission(struct site *site, const struct site_answer *answer)
{
    int64_t taken = answer->taken < site->batch_count ? answer->taken : site->batch_count;
    if (taken == 0) {
        forget_batch(site);
    }
    /* Of a part of them only a look tells which. */
    for (int64_t i = 1; taken == site->batch_count && i <= taken; i++) {
        struct glidein *glidein = of_batch(site, i);
        if (glidein != NULL && glidein->state == GLIDEIN_INTENDED) {
            move_glidein(glidein, GLIDEIN_QUEUED);
        }
    }
    batch_is_asked(site);
    site->submitted += taken;
    log_info(site->factory->env.log, "site.submitted", site->batch, LOG_TEXT("site", site->name),
             LOG_INT("glideins", taken), LOG_INT("asked", site->batch_count));
    if (taken > 0) {
        breaker_plan_taken(&site->breaker);
    } else {
        set_trouble(site, "it took none of %lld glideins", (long long)site->batch_count);
        note_refusal(site);
    }
}

/* What was asked for was not done, or perhaps it was. */
static void take_failure(struct site *site, const struct site_answer *answer)
{
    bool submission = site->busy == SITE_ANSWERS_SUBMIT;
    set_trouble(site, "%s", answer->text);
    switch (answer->outcome) {
    case SITE_REFUSES:
        note_refusal(site);
        break;
    case SITE_WRONG:
        mem_free(site->paused);
        site->paused = mem_strdup(answer->text);
        break;
    case SITE_FAILS:
    case SITE_DONE:
        note_failure(site);
        if (submission) {
            batch_is_asked(site);
        }
        return; /* a look tells whether it was done */
    }
    if (submission) {
        forget_batch(site);
    }
}

static void site_answers(void *arg)
{
    struct site *site = arg;
    struct site_answer answer;
    if (!site_link_take(site->link, &answer)) {
        return;
    }
    if (site->busy == SITE_ANSWERS_LOOK) {
        site->look_ms = UINT64_MAX;
    }
    if (answer.outcome != SITE_DONE) {
        take_failure(site, &answer);
    } else if (site->busy == SITE_ANSWERS_SUBMIT) {
        take_submission(site, &answer);
    } else if (site->busy == SITE_ANSWERS_LOOK) {
        take_look(site, &answer);
    }
    bool failed = answer.outcome != SITE_DONE && site->busy != SITE_ANSWERS_SUBMIT;
    look_within(site, failed                              ? failed_wait_ms(site)
                      : site->busy == SITE_ANSWERS_REMOVE ? LOOK_SOON_MS
                                                          : look_wait_ms(site));
    site_answer_fini(&answer);
    site->busy = SITE_FREE;
    site->factory->changed(site->factory);
}

/* ---- what comes next --------------------------------------------------------------------------
 */

static struct grow_facts facts_of(const struct site *site)
{
    const struct factory *factory = site->factory;
    const size_t *states = site->states;
    struct grow_facts facts = {
        .wanted = site->wanted,
        .queued = (int64_t)(states[GLIDEIN_INTENDED] + states[GLIDEIN_QUEUED]),
        .held = (int64_t)states[GLIDEIN_HELD],
        .running =
            (int64_t)(states[GLIDEIN_STARTED] + states[GLIDEIN_JOINED] + states[GLIDEIN_LEFT]),
        .pool_room = config_int(factory->env.config, "FACTORY_MAX_GLIDEINS") -
                     (int64_t)strmap_count(factory->glideins),
        .is_known = site->looked_ms > 0,
        .needs_canary = site->breaker.needs_canary,
        .left_alone_ms = breaker_plan_left_ms(&site->breaker, now_ms(site)),
        .paused = site->paused != NULL ? site->paused
                  : site->is_gone      ? "it is not in the configuration any more"
                                       : NULL,
    };
    const struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        bool young = glidein->state == GLIDEIN_JOINED && glidein->roomy > 0 &&
                     now_ms(site) - glidein->since_ms < YOUNG_MS;
        bool coming =
            glidein->state < GLIDEIN_JOINED && glidein->state != GLIDEIN_HELD && !glidein->hidden;
        facts.coming += !glidein->removing && (young || coming) ? 1 : 0;
        facts.idle += glidein->state == GLIDEIN_JOINED && glidein->claims == 0 && !young ? 1 : 0;
        facts.total++;
    }
    return facts;
}

/* Takes back what the site has not started, a part of it at a time, when no jobs wait for it. */
static void shrink(struct site *site)
{
    uint64_t shrink_ms = (uint64_t)site->settings.shrink_s * MS_PER_S;
    if (site->unwanted_ms == 0 || now_ms(site) < site->unwanted_ms + shrink_ms) {
        return;
    }
    size_t waiting = site->states[GLIDEIN_QUEUED] + site->states[GLIDEIN_HELD];
    size_t share = share_of(waiting);
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        bool waits = glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD;
        if (waits && !glidein->removing && share > 0) {
            glidein->removing = true;
            share--;
        }
    }
    site->unwanted_ms = now_ms(site) + REMOVE_MS - shrink_ms;
}

/* What has been started and does not join is of no use, and says that the site is not, either. */
static void give_up_late(struct site *site)
{
    uint64_t limit_ms = (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->state == GLIDEIN_STARTED && !glidein->removing &&
            now_ms(site) - glidein->since_ms >= limit_ms) {
            glidein->removing = true;
            site->ended_unused++;
            set_trouble(site,
                        "glidein %s was started and has not joined the pool in %lld s "
                        "(start_timeout): it is removed",
                        glidein->name, (long long)site->settings.start_timeout_s);
            note_failure(site);
        }
    }
}

static uint64_t earlier(uint64_t a_ms, uint64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Returns when something changes for a glidein only because time goes by. */
static uint64_t glidein_due_ms(const struct glidein *glidein)
{
    const struct site *site = glidein->site;
    uint64_t now = now_ms(site), due_ms = UINT64_MAX;
    if (glidein->removing) {
        return glidein->removal_asked || site->paused != NULL ? UINT64_MAX : site->remove_ms;
    }
    if (glidein->state == GLIDEIN_STARTED) {
        due_ms = glidein->since_ms + (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    } else if (glidein->state == GLIDEIN_JOINED && now - glidein->since_ms < YOUNG_MS) {
        due_ms = glidein->since_ms + YOUNG_MS;
    } else if (site->unwanted_ms != 0 &&
               (glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD)) {
        due_ms = site->unwanted_ms + (uint64_t)site->settings.shrink_s * MS_PER_S;
    }
    return due_ms;
}

/* Sets the timer for what only time brings about. */
static void wait_for_time(struct site *site)
{
    uint64_t now = now_ms(site), at_ms = site->look_ms;
    uint64_t alone_ms = breaker_plan_left_ms(&site->breaker, now);
    const struct glidein *glidein;
    at_ms = alone_ms > 0 ? earlier(at_ms, now + alone_ms) : at_ms;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        at_ms = earlier(at_ms, glidein_due_ms(glidein));
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
        site->unwanted_ms = now_ms(site);
    }
    struct grow_facts facts = facts_of(site);
    int64_t count = grow_plan(&facts, &site->settings.limits, site->why, sizeof(site->why));
    samples_show(site, grow_plan_room(&facts, &site->settings.limits));
    if (now_ms(site) >= site->look_ms) {
        ask_for_look(site);
        return;
    }
    give_up_late(site);
    shrink(site);
    if (site->paused == NULL && ask_for_removals(site)) {
        return;
    }
    if (count > 0) {
        begin_submission(site, count);
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

void site_destroy(void *arg)
{
    struct site *site = arg;
    site_link_destroy(site->link);
    while (!TAILQ_EMPTY(&site->glideins)) {
        free_glidein(TAILQ_FIRST(&site->glideins));
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
    struct grow_facts facts = facts_of(site);
    struct ad *ad = ad_create();
    char name[SITE_NAME_LENGTH + sizeof(site->factory->name) + 2];
    (void)snprintf(name, sizeof(name), "%.*s@%s", SITE_NAME_LENGTH, site->name,
                   site->factory->name);
    ad_set_string(ad, "MyType", "Site");
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "Site", site->name);
    ad_set_string(ad, "Factory", site->factory->name);
    ad_set_string(ad, "State",
                  site->paused != NULL                                     ? "Paused"
                  : breaker_plan_left_ms(&site->breaker, now_ms(site)) > 0 ? "LeftAlone"
                  : site->breaker.needs_canary                             ? "Canary"
                  : site->looked_ms == 0                                   ? "Unknown"
                                                                           : "Serving");
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
    ad_set_int(ad, "Samples", (int64_t)site->samples.count);
    ad_set_bool(ad, "Delinquent", (int64_t)site->samples.count < site->settings.samples);
    return ad;
}
