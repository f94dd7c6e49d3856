/* schedd/shadows/shadows.h - the shadow processes, one for each owner with jobs that run: starts
 * them, calls them, and hands them connections.
 *
 * While its owner has runs (shadow_runs.h), a shadow that dies is started again, after a delay that
 * grows.  Without runs it is ended after SHADOW_LINGER.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOWS_H
#define SCHEDD_SHADOWS_SHADOWS_H

#include <stdbool.h>

#include "wire/verbs.h"

struct ad;
struct incoming;
struct owner;
struct schedd;
struct wire;

#define SHADOW_WAITING_MAX 256 /* most connections that wait for one shadow to start */

void shadows_fini(struct schedd *schedd);

/* Handles a new connection with the route shadow/<owner>: passes it to the owner's shadow, lets it
 * wait for the shadow, or refuses it.  Takes over incoming. */
void shadows_incoming(struct schedd *schedd, struct incoming *incoming, const char *owner);
/* Notes that the owner's shadow is connected on this wire, and the fingerprint of its certificate
 * (pin).  Returns false, and changes nothing, if another shadow of the owner is connected. */
bool shadows_connect(struct schedd *schedd, struct owner *owner, struct wire *wire,
                     const char *pin);
/* To be called when the shadow was told its runs: hands over the connections and calls that waited
 * for it. */
void shadows_connected(struct owner *owner);
/* To be called when any connection has closed: if it was a shadow's, notes that this shadow is not
 * connected. */
void shadows_gone(struct schedd *schedd, const struct wire *wire);
/* Returns the owner whose shadow uses this connection; NULL: none. */
struct owner *shadows_owner(const struct schedd *schedd, const struct wire *wire);
/* connection of the owner's shadow; NULL: not connected */
struct wire *shadows_wire(const struct owner *owner);
/* Returns the pin of the shadow's last connection; the owner must have a shadow. */
const char *shadows_pin(const struct owner *owner);
/* To be called when there is work for the owner's shadow: starts the shadow if none runs. */
void shadows_want(struct schedd *schedd, struct owner *owner);
/* To be called when the shadow's work has become less or more: plans when to end it or to start it
 * again. */
void shadows_look_at(struct owner *owner);
/* To be called when events wait for the owner's shadow: returns its connection; or NULL, then it is
 * being started and event_rows_shadow_up() will be called. */
struct wire *shadows_wire_for_events(struct schedd *schedd, struct owner *owner);
/* Callback of shadows_call() with the outcome: status 0 and the pin of the shadow's certificate, or
 * a negative status and the reason. */
typedef void (*shadows_admitted_f)(void *arg, int status, const char *pin_or_why);
/* Calls the owner's shadow, which is started if none runs.  args, and the
 * secret to send beside them in ticket (NULL: none), are copied.  answered is always called: with
 * status 0 and the shadow's pin, or with a negative status and the reason.  answered may be called
 * before shadows_call() returns. */
void shadows_call(struct schedd *schedd, struct owner *owner, enum wire_verb verb,
                  const struct ad *args, const char *ticket, shadows_admitted_f answered,
                  void *arg);
/* Tells all shadows to end, also those that an earlier schedd process has started. */
void shadows_stop(struct schedd *schedd);
/* Returns whether no shadow runs or is connected any more. */
bool shadows_are_gone(const struct schedd *schedd);

#endif
