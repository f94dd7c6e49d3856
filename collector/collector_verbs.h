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
    uint64_t number; /* number of the connection; connections are numbered as they are accepted */
    struct plan_stamp last; /* epoch and sequence of the last UPDATE or INVALIDATE */
    /* These three predict which ad is updated next.  first_place, last_place: places
     * (collector_ads.h) of the first and the last ad of the last UPDATE; begins_again: the UPDATE
     * before it had the same first ad. */
    uint32_t first_place, last_place;
    bool begins_again;
    /* counts of the ads of the peer's identity; NULL before the first UPDATE */
    struct ads_account *account;
    /* attribute MyAddress for machine ads of the peer; NULL: not made yet */
    struct ad_given *address;
    /* Machine of the live ads that came over this uplink; NULL: none yet, or not an uplink */
    char *machine;
    /* Since when it did not answer, the last time; seconds since 1970, 0: it always did.  And
     * when it was heard again, loop_now_ms(). */
    int64_t silent_s;
    uint64_t heard_ms;
};

/* These two are in collector_update.c: they answer UPDATE and MERGE. */
void collector_update(struct session *session, struct wire_request *request);
void collector_merge(struct session *session, struct wire_request *request);

/* in collector_invalidate.c: answers INVALIDATE */
void collector_invalidate(struct session *session, struct wire_request *request);
/* Continues the removal of ads for the INVALIDATE requests under way, by one slice of work. */
void collector_invalidate_some(void *collector);
void collector_invalidations_drop(struct collector *collector);

/* collector_expire.c: removes the entry's ad; but a live or offline machine ad that meets the knob
 * ABSENT_REQUIREMENTS becomes absent. */
void collector_end_ad(struct collector *collector, struct batch *batch, struct ads_entry *entry);
/* Removes the ads that were not renewed in time, or makes them absent. */
void collector_expire(struct collector *collector);

/* collector_silence.c: returns whether the ad is one that gets NotRespondingSince when the peer
 * that brought it is silent: that of a slot, schedd, negotiator or rooster. */
bool collector_is_watched(const struct ads_entry *entry);
/* Notes that the session's uplink brings the live ads of this Machine, those of its slots or that
 * of a daemon, and attends to it from now on.  Does nothing for a connection that is not an
 * uplink. */
void collector_attend(struct session *session, const char *machine);
/* Callback `silent` of struct wire_events: marks the ads of a session (arg) whose peer is silent as
 * not responding, or takes the mark away. */
void collector_on_silent(void *session, struct wire *wire, uint64_t silent_ms);
/* Notes that the session's connection is over. */
void collector_session_lost(struct session *session);
/* Marks the ads of uplinks that were lost and did not come back in time. */
void collector_mark_lost(struct collector *collector);
/* Shows the machines that were awake before the collector's start and have not come back since, as
 * not responding, once the time for that is over. */
void collector_mark_missing(struct collector *collector);
/* Returns when (loop_now_ms()) collector_mark_lost() or collector_mark_missing() has something to
 * mark; UINT64_MAX: never. */
uint64_t collector_lost_due_ms(const struct collector *collector);
void collector_lost_drop(struct collector *collector);

/* collector_inspect.c: examines some machine ads, and sets its timer again until a walk over all of
 * them has found none that changed. */
void collector_inspect_some(void *collector);

/* collector_figures.c: renews the collector's own ad and sets its timer again. */
void collector_show_figures(void *collector);
/* Renews the collector's own ad if it was made in an earlier second; called when a query asks for
 * ads of type Collector. */
void collector_renew_figures(struct collector *collector);

/* in collector_query.c: answers QUERY */
void collector_query(struct collector *collector, struct wire_request *request);
void collector_queries_drop(struct collector *collector);
/* Returns whether the evaluation of a request's constraint has taken more steps than the knob
 * MAX_CONSTRAINT_STEPS allows.  If true, the caller must refuse the request with
 * collector_refuse_costly(), which logs the peer and the constraint. */
bool collector_is_too_costly(const struct collector *collector, const struct ad_work *work);
void collector_refuse_costly(const struct collector *collector, struct wire_request *request,
                             const struct ad_work *work);

/* in collector_revoke.c: answers REVOKE */
void collector_revoke(struct session *session, struct wire_request *request);
void collector_revoked(struct collector *collector, const char *token_id, struct ad *ad);
void collector_revocations_expire(struct collector *collector);
void collector_revocations_drop(struct collector *collector);

/* collector_answer.c: a request that is answered after a commit.  Pass it to batch_end(), with
 * collector_answer_ok and collector_answer_drop. */
struct answer;
/* Returns the data for answering the request after a commit; collector_answer_ok() or
 * collector_answer_drop() frees it.  count: value of the attribute Count in the answer; -1: the
 * answer has no such attribute. */
struct answer *collector_answer_create(struct wire_request *request, int64_t count);
void collector_answer_ok(void *arg);
void collector_answer_drop(void *arg);
/* Ends a request whose commit will not happen because the collector ends.  The peer gets no answer:
 * its connection is closed next. */
void collector_drop_request(struct wire_request *request);
/* Returns the stamp of a message: Epoch and Sequence of its arguments, and the number of the
 * connection. */
struct plan_stamp collector_stamp(const struct session *session, const struct ad *args);

/* collector_rights.c: returns whether the pattern of the peer's token allows ads of that type and
 * name. */
bool collector_is_holder(const struct wire_peer *peer, const char *type, const char *name);
/* Returns the roles that the scopes of the peer's token give it, bits of enum plan_role. */
unsigned collector_roles(const struct wire_peer *peer);

#endif
