/* master/master_ad.h - the master's ad in the collector.
 *
 * A master must keep its daemons running whatever becomes of the network: no token, no collector, a
 * key that cannot be read are not its errors.  It dials when it has a token.
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

struct master_ad_events {
    /* adds what the master knows of its daemons, each time that the ad is sent */
    void (*fill)(void *arg, struct ad *ad);
    /* DAEMON_ON: starts those of its daemons that stay down, or that one of them; appends the
     * names of those that it starts, valid until it ends.  -ENOENT: it keeps no such daemon. */
    int (*turn_on)(void *arg, const char *daemon /* NULL: all */, struct vec *names);
};

struct master_ad *master_ad_create(const struct daemon_env *env,
                                   const struct master_ad_events *events, void *arg);
void master_ad_destroy(struct master_ad *self); /* NULL is allowed */
void master_ad_reload(struct master_ad *self, const struct config *config);
/* Takes the ad back: the master ends.  gone is called when that is done, or cannot be done, at the
 * latest TAKE_BACK_MS later; false: there is nothing to wait for, and it is not called. */
bool master_ad_stop(struct master_ad *self, void (*gone)(void *arg));
void master_ad_changed(struct master_ad *self); /* something that fill says is new */

#endif
