/* cli/why/why_places_plan.h - what the slots that match a job are doing.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_PLACES_PLAN_H
#define CLI_WHY_WHY_PLACES_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct strbuf;
struct why_answer;
struct why_other;

/* Counts of the matching slots by what they are doing. */
struct why_places {
    /* live slots: free, with the user's own jobs, with others' jobs, in state Owner, draining, and
     * going to sleep */
    int64_t free, mine, others, owner, draining, leaving;
    int64_t silent;                 /* slots of machines that do not respond */
    int64_t avoided;                /* free slots to which the schedd gives no jobs for a while */
    int64_t full;                   /* live partitionable slots whose free rest is too small */
    int64_t waking, asleep, failed; /* offline slots; failed: PowerState is WakeFailed or Unknown */
    int64_t glideins;               /* those in `asleep` that are samples of sites */
    /* offline slots that are held for this request (OfflineMatches) */
    int64_t held;
    int64_t locked; /* slots of machines that are locked, or that stay off until switched on */
    /* sample_waking: one of the slots that are held for this request or waking; sample_failed: one
     * of the slots that are counted in `failed`; NULL: none */
    const struct ad *sample_waking;
    const struct ad *sample_failed;
    const struct ad *sample_silent;  /* one of the slots that are counted in `silent`; NULL: none */
    const struct ad *sample_avoided; /* one of the slots in `avoided`; NULL: none */
    const struct ad *sample_locked;  /* the first slot that is counted in `locked` */
};

struct why_pool {
    const struct ad *job;
    /* which slots match the job; NULL: the job neither waits for a slot nor is held */
    const struct why_answer *answer;
    const struct why_other *slots; /* the slots that were compared with the job */
    size_t slot_count;
    const struct ad *negotiator;      /* the negotiator's ad; NULL: the collector has none */
    const struct ad *request;         /* the collector's request ad for the job; NULL: none */
    const struct ad *const *requests; /* all Request ads */
    size_t request_count;
    const struct ad *const *accounts; /* all Accounting ads */
    size_t account_count;
    const struct ad *const *machines; /* all Machine ads, dynamic slots too */
    size_t machine_count;
    const struct ad *const *sites; /* all Site ads, of all factories */
    size_t site_count;
    const struct ad_context *context;
};

/* Counts the slots that match pool->job; pool->answer must not be NULL. */
void why_places_count(const struct why_pool *pool, struct why_places *places);

/* Appends the part of GlobalJobId before the first '#', the schedd's name; nothing if there is no
 * '#'. */
void why_places_schedd(const struct ad *job, struct strbuf *out);
/* Returns whether the slot is held (OfflineMatches) for the request of that schedd. */
bool why_places_is_held(const struct ad *slot, const char *schedd, int64_t auto_cluster,
                        int64_t now_s);

#endif
