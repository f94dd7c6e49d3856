/* collector/collector_verbs.h - the verbs of the hub, one function each.  docs/protocol/wire.md
 * says what they promise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_VERBS_H
#define COLLECTOR_COLLECTOR_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_plan.h"

struct ad;
struct ad_work;
struct ads_entry;
struct batch;
struct collector;
struct wire;
struct wire_peer;
struct wire_request;

/* One accepted connection. */
struct session {
    struct session *next;
    struct session **link; /* what points to it */
    struct collector *collector;
    struct wire *wire;
    uint64_t number;        /* rises with each connection */
    struct plan_stamp last; /* of its last UPDATE or INVALIDATE */
    /* Places of ads (collector_ads.h), to foresee which is updated next: the first of its last
     * UPDATE, the last one, and whether UPDATEs begin with the same first ad again. */
    uint32_t first_place, last_place;
    bool begins_again;
    struct ads_account *account; /* of its identity; NULL before its first UPDATE */
    struct ad_given *address;    /* MyAddress of its machines; NULL before the first */
};

/* collector_update.c */
void collector_update(struct session *session, struct wire_request *request);
void collector_merge(struct session *session, struct wire_request *request);

/* collector_invalidate.c */
void collector_invalidate(struct session *session, struct wire_request *request);
void collector_invalidate_some(void *collector); /* a slice of a walk; sets its timer */
void collector_invalidations_drop(struct collector *collector);

/* collector_expire.c */
/* Removes the ad, or keeps it as absent. */
void collector_end_ad(struct collector *collector, struct batch *batch, struct ads_entry *entry);
void collector_expire(struct collector *collector); /* takes away what nobody renewed */

/* collector_inspect.c: a step of the walk over machine ads; sets the timer for the next. */
void collector_inspect_some(void *collector);

/* collector_figures.c: the collector's own ad; sets the timer for the next. */
void collector_show_figures(void *collector);
/* ... when the one that is there is of an earlier second: somebody asks for it. */
void collector_renew_figures(struct collector *collector);

/* collector_query.c */
void collector_query(struct collector *collector, struct wire_request *request);
void collector_queries_drop(struct collector *collector);
/* Has evaluating a request's constraint taken more than MAX_CONSTRAINT_STEPS?  Then it is refused
 * and logged, with the caller and the constraint. */
bool collector_is_too_costly(const struct collector *collector, const struct ad_work *work);
void collector_refuse_costly(const struct collector *collector, struct wire_request *request,
                             const struct ad_work *work);

/* collector_revoke.c */
void collector_revoke(struct session *session, struct wire_request *request);
void collector_revoked(struct collector *collector, const char *token_id, struct ad *ad);
void collector_revocations_expire(struct collector *collector);
void collector_revocations_drop(struct collector *collector);

/* collector_answer.c: requests that are answered after a commit; for batch_end() */
struct answer;
struct answer *collector_answer_create(struct wire_request *request, int64_t count); /* -1: none */
void collector_answer_ok(void *arg);
void collector_answer_drop(void *arg);
/* The collector ends before the commit: the request is given back. */
void collector_drop_request(struct wire_request *request);
/* Epoch and Sequence of a message that came over this connection. */
struct plan_stamp collector_stamp(const struct session *session, const struct ad *args);

/* collector_rights.c */
/* Are ads of that type and name his to have, by the pattern of his token? */
bool collector_is_holder(const struct wire_peer *peer, const char *type, const char *name);
unsigned collector_roles(const struct wire_peer *peer); /* enum plan_role, added up */

#endif
