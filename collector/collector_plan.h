/* collector/collector_plan.h - what the collector decides: whose ad, which is newer, how long.
 *
 * Pure: no clock, no table, no wire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PLAN_H
#define COLLECTOR_COLLECTOR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_TYPE_MAX 64  /* bytes of MyType */
#define PLAN_NAME_MAX 512 /* bytes of Name */

struct ad;
struct ad_pool;
struct err;

/* What a sender's token allows: a set of these. */
enum plan_role {
    PLAN_WORKER = 1 << 0, /* it advertises machines */
    PLAN_SCHEDD = 1 << 1,
    PLAN_ROOSTER = 1 << 2,
    PLAN_MASTER = 1 << 3,
    PLAN_NEGOTIATOR = 1 << 4,
    PLAN_ADMINISTRATOR = 1 << 5,
};

/* MyType and Name of an ad that came in, borrowed from it.  -EINVAL: one is missing, empty, too
 * long or has control characters. */
int plan_identify(const struct ad *ad, const char **type, const char **name, struct err *err);

/* Is it the ad of a machine that is asleep: one that must survive us? */
bool plan_is_offline(const char *type, const struct ad *ad);

/* Is the ad of a machine that is asleep, or of one that vanished (Absent = true), in the store?  It
 * is so exactly while it is the latest ad of its name. */
bool plan_is_durable(const char *type, const struct ad *ad);

/* A new ad (ad_destroy) of a machine that vanished: as it was last heard of, with
 *   set      Absent = true, AbsentSince = now_s, ClassAdLifetime = lifetime_s (0: none), PowerState
 *            "Unknown" with its reason and since when
 *   removed  Offline and what belongs to it (OfflineMatches, MachineLastMatchTime), private
 *            attributes, StartdUplink: nobody answers there */
struct ad *plan_make_absent(const struct ad *last, int64_t now_s, int64_t lifetime_s);

/* When an absent ad is to be forgotten: AbsentSince (else LastHeardFrom) + ClassAdLifetime, but not
 * later than + expire_after_s (ABSENT_EXPIRE_ADS_AFTER; 0: no such limit).  INT64_MAX: never. */
int64_t plan_absent_expires_s(const struct ad *absent, int64_t expire_after_s);

/* Are ads of that type taken away when nobody renews them?  Not those that the collector makes. */
bool plan_expires(const char *type);

/* May this sender have ads of that type?  Machine and types unknown to us: ADVERTISE; DaemonMaster:
 * ADVERTISE or MASTER; Negotiator, Accounting: NEGOTIATOR; Request, Submitter, Scheduler: SCHEDD;
 * Rooster: ROOSTER; what the collector makes itself (Collector, Revocation): nobody. */
bool plan_may_advertise(unsigned roles, const char *type);
/* Ads whose Machine is the sender's own: the pattern of its token must allow it. */
bool plan_is_of_machine(const char *type);
/* The part of an ad's Name that the pattern of the sender's token must allow: the schedd's name in
 * those of its requests ("schedd#3") and submitters ("alice@domain#schedd"), else all of it.
 * NULL: no pattern is for such names, which are those of accounts and submitting machines, of whom
 * the negotiator tells. */
const char *plan_holder(const char *type, const char *name, char ret[PLAN_NAME_MAX + 1]);

/* Is this an attribute of somebody else's machine ad that the sender may set? */
bool plan_may_merge(unsigned roles, const char *attribute);

/* Where an update stands in time.  epoch 0: the sender does not count. */
struct plan_stamp {
    int64_t epoch;    /* of the sender's life */
    int64_t sequence; /* of the message in it */
    uint64_t session; /* rises with each connection that the collector accepts */
};

/* Was `got` sent before what is there?  Within an epoch the sequence tells.  Between epochs the
 * connection does: a daemon that was started again dials again, while its clock may have been set
 * back. */
bool plan_is_old(const struct plan_stamp *have, const struct plan_stamp *got);

/* May a message with only changes be applied after `last`, the last message of the same connection?
 */
bool plan_is_successor(const struct plan_stamp *last, const struct plan_stamp *got);

/* What the tables must know of an ad. */
struct plan_traits {
    bool offline, absent; /* plan_is_offline(), plan_is_absent() */
    int64_t lifetime_s;   /* ClassAdLifetime; 0: none */
};
struct plan_traits plan_traits_of(bool is_machine, const struct ad *ad);

/* Did the sender send something since `last` on the same connection that never came?  Its sequence
 * goes on in the same epoch, but not with the next number. */
bool plan_is_gap(const struct plan_stamp *last, const struct plan_stamp *got);

/* A new ad of the pool (may be NULL): old without the attributes that args' list Delete names, but
 * for MyType and Name, and with those of changes, which must not hold another key than old. */
struct ad *plan_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes,
                       const struct ad *args);

/* Milliseconds for which a live ad is kept without being renewed: its own ClassAdLifetime (own_s,
 * not above 0: none), or the configured one. */
uint64_t plan_lifetime_ms(int64_t own_s, int64_t classad_lifetime_s);

#endif
