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
    /* Adds what the master knows of its daemons, each time the ad is sent. */
    void (*fill)(void *arg, struct ad *ad);
    /* DAEMON_ON: starts the daemons that were told to stay down, all or the one named; appends the
     * names of those that it starts, which are valid as long as the master runs.  Returns 0, or
     * -ENOENT when it has no such daemon. */
    int (*turn_on)(void *arg, const char *daemon /* NULL: all */, struct vec *names);
};

struct master_ad *master_ad_create(const struct daemon_env *env,
                                   const struct master_ad_events *events, void *arg);
void master_ad_destroy(struct master_ad *self); /* NULL is allowed */
void master_ad_reload(struct master_ad *self, const struct config *config);
/* Removes the ad from the collector, because the master ends.  Returns true when gone will be
 * called: after that, or when it failed, at the latest after TAKE_BACK_MS.  Returns false when
 * there is nothing to wait for; gone is then not called. */
bool master_ad_stop(struct master_ad *self, void (*gone)(void *arg));
/* Call it when something that `fill` adds has changed. */
void master_ad_changed(struct master_ad *self);

#endif
