/* schedd/shadows/shadows.h - one shadow process per owner who has jobs that run: starting it,
 * asking it, handing it connections.
 *
 * While its owner has runs (shadow_runs.h) the shadow is kept alive (started again with a
 * back-off).  Without runs it is ended after SHADOW_LINGER.
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

#define SHADOW_WAITING_MAX 256 /* connections that wait for one shadow to come up */

void shadows_fini(struct schedd *schedd);

/* A connection with route shadow/<owner>. */
void shadows_incoming(struct schedd *schedd, struct incoming *incoming, const char *owner);
/* The owner's shadow is on that connection and shows that certificate; false: another one is
 * connected. */
bool shadows_connect(struct schedd *schedd, struct owner *owner, struct wire *wire,
                     const char *pin);
/* It was told all else: what has waited for it is handed to it. */
void shadows_connected(struct owner *owner);
void shadows_gone(struct schedd *schedd, const struct wire *wire); /* that connection is over */
/* Whose shadow speaks there; NULL: nobody's. */
struct owner *shadows_owner(const struct schedd *schedd, const struct wire *wire);
struct wire *shadows_wire(const struct owner *owner); /* NULL: it is not connected */
const char *shadows_pin(const struct owner *owner);   /* as it said last; the owner has a shadow */
/* The owner's shadow has something to do: it is started where there is none. */
void shadows_want(struct schedd *schedd, struct owner *owner);
/* There may be less for it to do, or more: it is ended, or started again, in its time. */
void shadows_look_at(struct owner *owner);
/* Events wait for the owner's shadow: its connection, or NULL; then it is on its way, and
 * event_rows_shadow_up() comes. */
struct wire *shadows_wire_for_events(struct schedd *schedd, struct owner *owner);
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
