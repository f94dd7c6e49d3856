/* startd/draining_facts.h - what draining means for this machine and its slots, and what of it is
 * durable.
 *
 * Looked up by all files that deal with slots; calls none of them. draining.c takes the steps.
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

/* A request to drain the machine, or none. */
struct draining {
    enum drain_phase phase;
    struct drain_request request; /* in phase DRAIN_NONE: empty */
    char id[DRAIN_ID_MAX];        /* of the request, hexadecimal */
    char requester[256];          /* who asked for it */
    int64_t began_s;              /* when it was committed */
    bool last;                    /* the request's StartExpr does not count any more: no new jobs */
    bool no_more; /* the startd ends for good (OnCompletion "exit"): its ads are withdrawn */
    struct drain_totals totals;
    struct vec held; /* struct held: calls that wait for the end of the offer */
    struct wire_request *offer, *commit, *cancel; /* calls to be answered later; NULL: none */
    bool committing;                              /* the commit is being written to disk */
    struct loop_timer *offer_timer, *look_timer;  /* ends the offer; takes the next steps */
    /* Phase DRAIN_COMPLETE: when to try (again) what comes then, loop time; 0: not. */
    uint64_t retry_ms;
};

struct held { /* a call that waits for the end of an offer */
    struct wire_request *request;
    bool of_claim; /* it came on a claim's connection, not from the collector */
};

/* Returns whether an offer is made that is neither committed nor cancelled: nothing may change. */
bool draining_stands(const struct startd *startd);
/* While such an offer is made, keeps the request, to be served later, and returns true. */
bool draining_keeps(struct startd *startd, struct wire_request *request, bool of_claim);
/* Returns whether the machine is being drained, or has been. */
bool draining_is_on(const struct startd *startd);
/* Whether the machine is to sleep, or be switched off, in the end. */
bool draining_orders_sleep(const struct draining *draining);
bool draining_slot(const struct slot *slot); /* whether the slot is one of those that are drained */
/* Whether the slot's claim must end: it takes no further job. */
bool draining_is_due(const struct slot *slot);
/* A slot has moved or was removed: makes draining look again. */
void draining_moved(struct startd *startd);
/* A run of the claim is over: counts it as badput if draining has ended it. */
void draining_run_over(struct claim *claim);
/* Writes the attributes of draining into a slot's ad; replaces Start. */
void draining_put(const struct slot *slot, struct ad *ad);
/* Makes the request and its totals durable, then calls done(startd), unless done is NULL. */
void draining_save(struct startd *startd, void (*done)(void *arg));

#endif
