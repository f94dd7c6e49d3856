/* startd/draining_facts.h - what draining says of this machine and its slots, and what is durable
 * of it.
 *
 * It is looked up by all who have to do with slots, and calls nobody; the steps are draining.c's.
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

struct draining {
    enum drain_phase phase;
    struct drain_request request; /* phase NONE: none */
    char id[DRAIN_ID_MAX];
    char requester[256];
    int64_t began_s;
    bool last;    /* StartExpr counts no more */
    bool no_more; /* OnCompletion was exit: the ads are taken back */
    struct drain_totals totals;
    struct vec held; /* struct held: calls that wait for the end of an offer */
    struct wire_request *offer, *commit, *cancel; /* to be answered */
    bool committing;                              /* the commit is on its way to the disk */
    struct loop_timer *offer_timer, *look_timer;
    uint64_t retry_ms; /* COMPLETE: what comes then is tried (again) then, loop_now_ms() */
};

struct held { /* a call that waits for the end of an offer */
    struct wire_request *request;
    bool of_claim;
};

bool draining_stands(const struct startd *startd); /* an offer: nothing may change */
/* While an offer stands the call is kept, and served later: true. */
bool draining_keeps(struct startd *startd, struct wire_request *request, bool of_claim);
bool draining_is_on(const struct startd *startd);
bool draining_orders_sleep(const struct draining *draining); /* in the end: sleep, or off */
bool draining_slot(const struct slot *slot);   /* it is one of those that are drained */
bool draining_is_due(const struct slot *slot); /* its claim takes no further job */
void draining_moved(struct startd *startd);    /* a slot has, or is gone */
void draining_run_over(struct claim *claim);   /* the claim's run, its slot still there */
void draining_put(const struct slot *slot, struct ad *ad);          /* overrides Start */
void draining_save(struct startd *startd, void (*done)(void *arg)); /* done may be NULL */

#endif
