/* schedd/shadows.h - one shadow process per owner who has jobs that run: starting it, telling it
 * which starters to expect, handing it their connections.
 *
 * A shadow has runs: one for each job of its owner that was given to a claim, or whose output is to
 * be placed.  While there are runs the shadow is kept alive (started again with a back-off), and
 * whenever one says SHADOW_HELLO it is told all runs.  Without runs it is ended after
 * SHADOW_LINGER.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_H
#define SCHEDD_SHADOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/verbs.h"

struct ad;
struct change;
struct err;
struct incoming;
struct job;
struct owner;
struct schedd;
struct wire;
struct wire_request;

#define SHADOW_WAITING_MAX 256 /* connections that wait for one shadow to come up */

void shadows_fini(struct schedd *schedd);

/* The job was given to a claim (committed): expect its starter.  The answer comes as
 * claims_shadow_answered(). */
void shadows_run(struct schedd *schedd, const struct job *job);
/* Its result is committed: move its staged output to its place. */
void shadows_place(struct schedd *schedd, const struct job *job);
/* Its result is about to be committed by change: from then on the shadow, should it come anew, is
 * told to place it and not to expect it. */
void shadows_expect_placing(struct change *change, const struct job *job);
/* The run that the job has now is over; acts after the commit of change.  stop: the shadow is to
 * drop it (removed, held, evicted). */
void shadows_forget(struct change *change, const struct job *job, bool stop, const char *why);
/* A run that was left to its shadow until its starter has ended (claims_keep_run()) has ended: the
 * shadow drops it, at once. */
void shadows_run_ended(struct owner *owner, const char *id, int64_t epoch);

/* A connection with route shadow/<owner>. */
void shadows_incoming(struct schedd *schedd, struct incoming *incoming, const char *owner);
/* SHADOW_HELLO on a connection of the Unix socket. */
void shadows_hello(struct schedd *schedd, struct wire_request *request);
void shadows_gone(struct schedd *schedd, const struct wire *wire); /* that connection is over */
/* Whose shadow speaks there; NULL: nobody's. */
struct owner *shadows_owner(const struct schedd *schedd, const struct wire *wire);
struct wire *shadows_wire(const struct owner *owner); /* NULL: it is not connected */
/* Events wait for the owner's shadow: its connection, or NULL; then it is on its way, and
 * event_rows_shadow_up() comes. */
struct wire *shadows_wire_for_events(struct schedd *schedd, struct owner *owner);
void shadows_done_with_events(struct schedd *schedd, struct owner *owner);
/* Asks the owner's shadow, which is started for it where none is there; args and ticket
 * (NULL: none) are copied.  answered
 * comes in any case: status 0 and the shadow's pin, or negative and why. */
typedef void (*shadows_admitted_f)(void *arg, int status, const char *pin_or_why);
void shadows_call(struct schedd *schedd, struct owner *owner, enum wire_verb verb,
                  const struct ad *args, const char *ticket, shadows_admitted_f answered,
                  void *arg);
/* Tells all shadows to end, adopted ones included: each closes its connection and exits. */
void shadows_stop(struct schedd *schedd);
bool shadows_are_gone(const struct schedd *schedd);

#endif
