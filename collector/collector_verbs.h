/* collector/collector_verbs.h - the functions that answer the collector's verbs.
 * docs/protocol/wire.md describes these verbs.
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

/* An accepted connection. */
struct session {
    struct session *next;
    struct session **link; /* the pointer that points to this session */
    struct collector *collector;
    struct wire *wire;
    uint64_t number;        /* number of the connection; rises with each */
    struct plan_stamp last; /* stamp of its last UPDATE or INVALIDATE */
    /* Places of ads (collector_ads.h), to predict which ad is updated next: the first of its last
     * UPDATE, the last one, and whether UPDATEs start again with the same ad. */
    uint32_t first_place, last_place;
    bool begins_again;
    struct ads_account *account; /* account of its identity; NULL before its first UPDATE */
    struct ad_given *address; /* attribute MyAddress for its machines' ads; NULL before the first */
};

/* collector_update.c */
void collector_update(struct session *session, struct wire_request *request);
void collector_merge(struct session *session, struct wire_request *request);

/* collector_invalidate.c */
void collector_invalidate(struct session *session, struct wire_request *request);
/* a timer's callback: does one slice of the walks, and sets the timer again */
void collector_invalidate_some(void *collector);
void collector_invalidations_drop(struct collector *collector);

/* collector_expire.c */
/* Removes the entry's ad, or makes it absent. */
void collector_end_ad(struct collector *collector, struct batch *batch, struct ads_entry *entry);
/* removes the ads that were not renewed in time */
void collector_expire(struct collector *collector);

/* collector_inspect.c: examines some machine ads and sets its timer again. */
void collector_inspect_some(void *collector);

/* collector_figures.c: renews the collector's own ad and sets its timer again. */
void collector_show_figures(void *collector);
/* Renews it if it is of an earlier second, because somebody asks for it. */
void collector_renew_figures(struct collector *collector);

/* collector_query.c */
void collector_query(struct collector *collector, struct wire_request *request);
void collector_queries_drop(struct collector *collector);
/* Returns whether evaluating a request's constraint has taken more than MAX_CONSTRAINT_STEPS.  If
 * so, refuse it with collector_refuse_costly(), which logs the caller and the constraint. */
bool collector_is_too_costly(const struct collector *collector, const struct ad_work *work);
void collector_refuse_costly(const struct collector *collector, struct wire_request *request,
                             const struct ad_work *work);

/* collector_revoke.c */
void collector_revoke(struct session *session, struct wire_request *request);
void collector_revoked(struct collector *collector, const char *token_id, struct ad *ad);
void collector_revocations_expire(struct collector *collector);
void collector_revocations_drop(struct collector *collector);

/* collector_answer.c: requests that are answered after a commit; arguments for batch_end() */
struct answer;
/* count: a number for the answer; -1: none. */
struct answer *collector_answer_create(struct wire_request *request, int64_t count);
void collector_answer_ok(void *arg);
void collector_answer_drop(void *arg);
/* The collector ends before the commit: ends the request; nothing reaches the peer. */
void collector_drop_request(struct wire_request *request);
/* Returns epoch and sequence from the arguments of a message, and the number of its connection. */
struct plan_stamp collector_stamp(const struct session *session, const struct ad *args);

/* collector_rights.c */
/* Returns whether the pattern of the peer's token allows ads of that type and name. */
bool collector_is_holder(const struct wire_peer *peer, const char *type, const char *name);
unsigned collector_roles(const struct wire_peer *peer); /* enum plan_role, as bits */

#endif
