/* master/master_ad.h - publishes the master's ad in the collector.
 *
 * A master must keep its daemons running whatever happens to the network.  A missing token, a
 * missing collector or an unreadable key are not errors of the master: it connects once it has a
 * token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MASTER_MASTER_AD_H
#define MASTER_MASTER_AD_H

#include <stdbool.h>

struct ad;
struct config;
struct daemon_env;
struct master_ad;
struct vec;

/* Callbacks. */
struct master_ad_events {
    /* Called each time the master's ad is sent: must add to it what the master knows about its
     * daemons. */
    void (*fill)(void *arg, struct ad *ad);
    /* Called for a DAEMON_ON request: must start the daemons that were told to stay down: the
     * daemon with that name, or all if daemon is NULL.  Must append the names of the daemons that
     * it starts to names; they are not copied, and must be valid as long as the master runs.
     * Returns 0; -ENOENT if the master has no such daemon. */
    int (*turn_on)(void *arg, const char *daemon, struct vec *names);
};

struct master_ad *master_ad_create(const struct daemon_env *env,
                                   const struct master_ad_events *events, void *arg);
void master_ad_destroy(struct master_ad *self); /* NULL is allowed */
void master_ad_reload(struct master_ad *self, const struct config *config);
/* To be called when the master ends: removes the master's ad from the collector.  Returns true if
 * gone(arg) will be called: when the ad was removed or that has failed, at the latest after 2
 * seconds.  Returns false if there is nothing to wait for; gone is not called then. */
bool master_ad_stop(struct master_ad *self, void (*gone)(void *arg));
/* To be called when something that the event `fill` adds to the ad has changed. */
void master_ad_changed(struct master_ad *self);

#endif
