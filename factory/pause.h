/* factory/pause.h - sites that somebody paused by an order: nothing is submitted there, and their
 * samples cannot be matched, until somebody resumes them.
 *
 * A pause belongs to the name of a site.  It is in the journal, and stays through a restart of the
 * factory, another configuration, and a time in which the site has no section.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_PAUSE_H
#define FACTORY_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;
struct factory;

#define PAUSE_WORDS_MAX 200 /* bytes of who paused it, and of the reason, with the zero */

struct pause {
    char by[PAUSE_WORDS_MAX], reason[PAUSE_WORDS_MAX];
    int64_t since_s; /* wall clock */
    char text[500];  /* "paused by BY since TIME: REASON" */
};

/* Reads the pauses from the journal; before the first change.  Returns 0, or -errno with err. */
int pause_load(struct factory *factory, struct err *err);
void pause_free(struct factory *factory);
/* Returns the pause of the site of that name, valid until it changes; NULL: nobody paused it. */
const struct pause *pause_of(const struct factory *factory, const char *site);
/* Pauses the site; a later pause replaces an earlier one.  done(arg) is called when that is
 * durable.
 */
void pause_set(struct factory *factory, const char *site, const char *by, const char *reason,
               void (*done)(void *arg), void *arg);
/* Ends the pause, if there is one.  done(arg) is called when that is durable. */
void pause_lift(struct factory *factory, const char *site, void (*done)(void *arg), void *arg);
/* Adds PausedBy, PausedReason and PausedSince, if somebody paused the site. */
void pause_put(const struct factory *factory, const char *site, struct ad *ad);

#endif
