/* factory/site.h - a place that starts glideins: what the factory knows of it, asks of it, and does
 * about its answers.
 *
 * One request is under way at a time.  What comes next is chosen by site_act(): first the site's
 * own list, then removals, then a submission.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_H
#define FACTORY_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "factory/breaker_plan.h"
#include "factory/compare_plan.h"
#include "factory/glidein.h"
#include "factory/site_logs.h"
#include "factory/site_section.h"
#include "factory/site_words.h"

struct ad;
struct config_section;
struct err;
struct factory;
struct loop_timer;
struct site_link;

#define SITE_WHY_MAX 300

/* What the site is being asked. */
enum site_busy {
    SITE_FREE,
    SITE_RECORDS,
    SITE_ANSWERS_SUBMIT,
    SITE_ANSWERS_LOOK,
    SITE_ANSWERS_REMOVE,
    SITE_ANSWERS_LOG
};

/* When the site was asked for the looks that were answered last, monotonic ms, so that who needs to
 * know what is there now can tell an older answer. */
struct site_looks {
    uint64_t asked_ms;  /* of the look that is under way */
    uint64_t done_ms;   /* of the last one that was answered */
    uint64_t failed_ms; /* of the last one that failed */
    bool is_complete;   /* the last answer had all glideins */
};

/* What the last look showed, by verdict (listed.h). */
struct site_compared {
    int64_t counts[COMPARE_VERDICTS];
    int64_t claimed; /* of those that agree, how many have a job */
};

/* A glidein by which the site is tested: one at a time. */
struct site_trial {
    bool is_open;                   /* somebody waits for the test */
    bool is_wanted;                 /* the glidein is to be submitted */
    char glidein[GLIDEIN_NAME_MAX]; /* "": not yet */
    char end[SITE_WHY_MAX];         /* what went wrong, or how it ended; "": nothing, not yet */
};

struct site {
    struct factory *factory;
    char *name;
    struct site_settings settings;
    struct site_request begin;
    struct site_link *link;
    struct breaker breaker;
    struct glidein_list glideins;
    size_t states[GLIDEIN_STATES]; /* glideins in each */
    enum site_busy busy;
    char batch[GLIDEIN_BATCH_MAX]; /* of the submission under way */
    int64_t batch_count;
    uint64_t looked_ms, look_ms; /* monotonic: the last look; when the next one is due */
    struct site_looks looks;
    struct site_compared compared;
    struct site_logs logs;
    struct site_trial trial;
    int64_t ordered;    /* glideins that an administrator ordered, and that are not asked for yet */
    uint64_t remove_ms; /* monotonic: before that nothing more is removed */
    struct loop_timer *timer; /* the next thing that time brings about */
    uint64_t unwanted_ms;     /* since when no jobs wait for it; 0: some do */
    int64_t wanted;           /* machines that waiting jobs need */
    char *paused;             /* why it paused itself: its program said `wrong`; NULL: it has not */
    char why[SITE_WHY_MAX];   /* why it is not asked for more; "": it is */
    char trouble[SITE_WHY_MAX]; /* what went wrong last; "": nothing */
    int64_t trouble_s;
    int64_t submitted, ended_unused; /* since the factory started */
    struct vec samples;              /* of struct sample (samples.c) */
    bool is_gone;                    /* its section is gone: it goes when its glideins have */
    bool shares_names; /* another pool has glideins here whose names begin alike: it was said */
};

struct site *site_create(struct factory *factory, const struct config_section *section);
void site_destroy(void *site);
/* Takes the options of the section, which may have changed; the next request starts another child.
 */
void site_configure(struct site *site, const struct config_section *section);

/* Ends the pause that the site's program has brought about by `wrong`: it is asked again. */
void site_resume(struct site *site);
/* The site is looked at as soon as it is free. */
void site_look_now(struct site *site);
/* Returns how long the site's program may take for one answer. */
uint64_t site_answer_ms(const struct site *site);
/* Takes up what an earlier factory recorded. */
void site_adopt(struct site *site, const struct glidein *recorded);
/* A glidein's slots in the collector have changed. */
void site_slots_changed(struct glidein *glidein);
/* Does what is to be done now, by `wanted` and what is known of the site. */
void site_act(struct site *site);
struct ad *site_to_ad(const struct site *site);

#endif
