/* startd/draining_facts.h - the state of draining of this machine, what it means for each slot, and
 * its record on disk.
 *
 * All files that deal with slots use these functions.  The functions call nothing in those files.
 * draining.c takes the steps of draining.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_FACTS_H
#define STARTD_DRAINING_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "drain/drain_plan.h"

struct ad;
struct claim;
struct loop_timer;
struct slot;
struct startd;
struct wire_request;

/* The last CANCEL_DRAINING that was for this machine, also where there was nothing to cancel: who
 * drains machines one after the other leaves such a machine out. */
struct drain_cancel {
    int64_t at_s;          /* when it came, seconds since 1970; 0: none since the startd's start */
    char by[256];          /* identity of the caller */
    char id[DRAIN_ID_MAX]; /* the request that it ended; "": there was none */
};

/* A request to drain the machine, or none. */
struct draining {
    enum drain_phase phase;
    struct drain_request request; /* the request; empty in phase DRAIN_NONE */
    char id[DRAIN_ID_MAX];        /* id of the request, hexadecimal */
    char requester[256];          /* identity that made the request */
    int64_t began_s;              /* when the request was committed, seconds since 1970 */
    /* true: no new jobs begin, because the request has no StartExpr, or all jobs from before the
     * draining have ended, or the deadline of the request has passed */
    bool last;
    bool no_more; /* the startd exits and stays down (OnCompletion "exit"): its ads are withdrawn */
    struct drain_totals totals;
    struct drain_cancel cancelled;
    struct vec held; /* struct held: requests that wait while a drain request is offered */
    /* START_DRAINING, COMMIT_DRAINING and CANCEL_DRAINING that are not answered yet; NULL: none */
    struct wire_request *offer, *commit, *cancel;
    bool committing; /* the commit of the drain request is being written to disk */
    /* offer_timer ends an offer that is not committed in time; look_timer takes the next steps of
     * draining. */
    struct loop_timer *offer_timer, *look_timer;
    /* In phase DRAIN_COMPLETE: when to do, or try again, what the request orders for the end of
     * draining (exit, sleep ...), ms of the loop's clock; 0: nothing to try. */
    uint64_t retry_ms;
};

/* A request that came while draining is offered, and is served after the offer's end. */
struct held {
    struct wire_request *request;
    bool of_claim; /* true: the request came on a claim's connection; false: from the collector */
};

/* Returns whether a drain request is offered and neither committed nor cancelled yet.  As long as
 * that is so, no slot may change. */
bool draining_stands(const struct startd *startd);
/* If a drain request is being offered (draining_stands()), keeps `request`, another request, to be
 * served after the offer's end (or refuses it with -EBUSY if too many are kept), and returns true.
 * Otherwise returns false, and the caller must serve it. of_claim: it came on a claim's
 * connection. */
bool draining_keeps(struct startd *startd, struct wire_request *request, bool of_claim);
/* Returns whether the machine is draining, or is drained and the request is still in force. */
bool draining_is_on(const struct startd *startd);
/* Returns whether the request puts the machine to sleep or switches it off at the end. */
bool draining_orders_sleep(const struct draining *draining);
/* whether the drain request in force includes the slot */
bool draining_slot(const struct slot *slot);
/* Returns whether draining makes the slot's claim end, so that it takes no further job. */
bool draining_is_due(const struct slot *slot);
/* Returns whether draining waits for the slot's job to end by itself, without a bound. */
bool draining_is_peaceful(const struct slot *slot);
/* Called when a slot has changed its state or was removed: makes draining look for its next
 * steps. */
void draining_moved(struct startd *startd);
/* Called when a run of the claim is over: if draining has ended the run, its run time is added to
 * the badput. */
void draining_run_over(struct claim *claim);
/* Writes the last cancel into the slot's ad.  If the slot is being drained, also writes the
 * attributes of draining, and sets Start in the ad to the request's StartExpr, or to false if
 * draining.last is true; but not while the machine goes to sleep because of the request. */
void draining_put(const struct slot *slot, struct ad *ad);
/* Writes the request and the totals of draining to the store.  When they are on disk, calls
 * done(startd), unless done is NULL. */
void draining_save(struct startd *startd, void (*done)(void *arg));

#endif
