/* factory/glidein.h - one glidein, from before it is submitted until it is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_GLIDEIN_H
#define FACTORY_GLIDEIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "factory/glidein_state.h"

struct ad;
struct site;

#define GLIDEIN_NAME_MAX  120 /* bytes of a glidein's name, with the terminating zero */
#define GLIDEIN_BATCH_MAX 108 /* of the name of a submission */
#define GLIDEIN_TEXT_MAX  200
#define GLIDEIN_KEY_MAX   65 /* hex digits of a digest, with the terminating zero */

#define GLIDEIN_KEY "KeyDigest" /* an attribute that is in the journal only */

struct glidein {
    TAILQ_ENTRY(glidein) entry; /* among those of its site, the oldest first */
    struct site *site;
    char name[GLIDEIN_NAME_MAX];
    char site_id[GLIDEIN_TEXT_MAX]; /* what the site calls it; "": not known */
    char reason[GLIDEIN_TEXT_MAX];  /* what the site says of its state; "": nothing */
    enum glidein_state state;
    enum glidein_cause cause;
    enum glidein_listing listing;
    int64_t submitted_s; /* wall clock */
    uint64_t since_ms;   /* monotonic: in this state */
    uint64_t asked_ms;   /* monotonic: when the site was asked; of an earlier life: 0 */
    unsigned missed;     /* complete looks in a row that did not show it */
    bool hidden;         /* the last look should have shown it, and did not */
    /* its slots in the collector; those that are claimed; those that have room for a job */
    size_t ads, claims, roomy;
    char key[GLIDEIN_KEY_MAX]; /* SHA-256 of the key that it has used its ticket with; "": none */
    bool served;               /* it had a claim */
    bool removing;             /* the site is to remove it */
    bool removal_asked;        /* since it was listed last */
    bool spare_claimed; /* it stays if it gets a claim before the site is asked to remove it */
};

TAILQ_HEAD(glidein_list, glidein);

const char *glidein_state_name(enum glidein_state state);
/* Its row in the journal, and its ad in the collector: the caller owns the result. */
struct ad *glidein_to_ad(const struct glidein *glidein, const char *factory);
/* Reads what glidein_to_ad() wrote, but for the site, whose name is in *site, borrowed from the ad.
 * Returns false if the ad is none of a glidein. */
bool glidein_from_ad(const struct ad *ad, struct glidein *ret, const char **site);

#endif
