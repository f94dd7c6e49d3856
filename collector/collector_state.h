/* collector/collector_state.h - structs that the parts of the collector share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_STATE_H
#define COLLECTOR_COLLECTOR_STATE_H

#include <stdint.h>

#include "base/daemon/daemon.h"
#include "collector/collector_ads.h"
#include "collector/collector_awake.h"
#include "collector/collector_lock.h"
#include "collector/collector_plan.h"

struct ad_expr;
struct ad_given;
struct ad_pool;
struct batch;
struct collector_ads;
struct collector_leases;
struct door;
struct hub;
struct invalidation;
struct listener;
struct lost_uplink;
struct loop_timer;
struct prototypes;
struct query;
struct slice_work;
struct slices;
struct revocation;
struct session;
struct store;
struct strmap;
struct user_world;
struct watch_server;
struct wire_context;

/* Counters since the collector started, shown in the collector's own ad. */
struct collector_counts {
    int64_t updates;         /* UPDATE requests answered with success */
    int64_t rejected;        /* ads that were refused, of all UPDATE requests */
    int64_t private_dropped; /* ads received with private attributes, which were dropped */
    int64_t updates_initial; /* ads that UPDATE requests added to the tables */
    int64_t updates_lost;    /* gaps in the message numbers of senders */
    /* ads refused with -EDQUOT: the sender's identity or token would have too many ads or bytes */
    int64_t over_quota;
    /* UPDATE requests refused with -ESTALE: older than the ads in the tables, or changes without
     * the ads before them, or live ads of a machine that has since fallen asleep */
    int64_t stale;
    int64_t merges;
    int64_t queries;
    int64_t queries_active;  /* queries under way now */
    int64_t queries_indexed; /* queries for which an index chose the ads */
    int64_t queries_ms; /* time from request to last part of the answer, sum of all queries, ms */
    int64_t ads_looked_at, ads_sent;
    int64_t expired;     /* ads that were not renewed in time */
    int64_t silent;      /* how often a machine ad was marked as not responding */
    int64_t gone_absent; /* expired ads that are kept as absent */
    int64_t replaced;    /* offline ads removed because their machine came back */
    int64_t connections;
};

/* The counters and the CPU time at a moment, from which attributes Recent... are computed. */
struct collector_sample {
    int64_t at_ms; /* loop_now_ms() */
    double cpu_s;
    struct collector_counts counts;
};

/* Settings, read from the configuration at the start and when the configuration changes. */
struct collector_settings {
    int64_t classad_lifetime_s;
    uint64_t constraint_steps_max; /* evaluation steps that a request's constraint may take; 0: no
                                      limit */
    size_t identity_ads_max, identity_bytes_max;
    size_t ad_attributes_max, ad_bytes_max;
    int64_t offline_expire_s;
    struct ad_expr *absent_requirements;
    int64_t absent_expire_s;
    bool expire_invalidated;
    uint64_t own_ad_interval_ms;
};

#define INSPECTION_REST_MS 1000 /* before a walk of collector_inspect.c, after one without news */

struct collector {
    struct daemon_env env;
    struct wire_context *context;
    struct door *door;
    struct listener *local;
    struct store *store;
    struct prototypes *prototypes; /* prototypes of the ads in the store */
    struct ad_pool *pool;          /* pool of ads (ad_pool.h) for the ads in the tables */
    struct collector_ads *ads;
    struct watch_server *watches;
    struct hub *hub;
    struct user_world *users; /* Unix accounts and map files, for userMap() in expressions */
    struct strmap *accounts;  /* identity -> struct ads_account: its ads in the tables */
    struct shares *shares;    /* number of ads for each token and Machine, see collector_share.h */
    /* The collector's ad shows as Recent... what happened since samples[0].  After ten minutes
     * samples[1], which is newer, takes the place of samples[0]. */
    struct collector_sample samples[2];
    struct collector_leases *leases; /* which process holds which role (collector_lease.h) */
    struct loop_timer *expiry;
    struct loop_timer *own_ad;
    int64_t own_ad_s; /* time at which the collector's own ad was made, seconds since 1970 */
    struct loop_timer *indexing;
    /* the attribute LastHeardFrom with the value heard_s, which all ads received in that second
     * share; NULL: not made yet */
    struct ad_given *heard;
    int64_t heard_s;
    struct slices *slices; /* decides which query or invalidation evaluates ads next */
    struct slice_work *invalidating;
    /* queue of INVALIDATE requests with a constraint; the first is under way */
    struct invalidation *invalidations;
    struct inspection {           /* the walk of collector_inspect.c over the ads */
        struct ads_cursor cursor; /* its position */
        struct loop_timer *timer;
        /* any: this walk has examined an ad; due: a machine ad has changed since the walk began;
         * rests: no walk is under way or planned */
        bool any, due, rests;
    } inspection;
    struct session *sessions;
    /* uplinks with machine ads that ended and have not come back yet, in order of their end */
    struct lost_uplink *lost, **lost_end;
    struct query *queries;
    struct revocation *revocations; /* list of revocations that wait for their commit */
    struct collector_locks locks;
    struct awake_copies awake;
    struct batch *batches; /* list of batches that wait for their commit */
    struct batch *last_batch;
    uint64_t last_session;
    char own_name[300];
    int64_t started_ms; /* when this daemon was started, loop_now_ms() */
    struct collector_counts counts;
    struct collector_settings settings;
};

/* Returns the context for evaluating expressions: the clock, the user maps. */
struct ad_context collector_context(const struct collector *collector);

#endif
