/* collector/collector_plan.h - the collector's decisions: who may send an ad, which is newer, how
 * long it lives.
 *
 * Pure: no clock, no table, no wire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PLAN_H
#define COLLECTOR_COLLECTOR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_TYPE_MAX 64  /* longest MyType, bytes */
#define PLAN_NAME_MAX 512 /* longest Name, bytes */

struct ad;
struct ad_pool;
struct err;

/* What a sender's token allows; a set of bits. */
enum plan_role {
    PLAN_WORKER = 1 << 0, /* advertise machines */
    PLAN_SCHEDD = 1 << 1,
    PLAN_ROOSTER = 1 << 2,
    PLAN_MASTER = 1 << 3,
    PLAN_NEGOTIATOR = 1 << 4,
    PLAN_ADMINISTRATOR = 1 << 5,
};

/* Gets MyType and Name of an incoming ad, borrowed from it.  Returns 0, or -EINVAL when one is
 * missing, empty, too long or has control characters. */
int plan_identify(const struct ad *ad, const char **type, const char **name, struct err *err);

/* Returns whether it is the ad of a sleeping machine (Offline = true), which must be durable. */
bool plan_is_offline(const char *type, const struct ad *ad);

/* Returns whether the ad must be in the store: that of a sleeping machine, or of one that vanished
 * (Absent = true).  It is stored exactly while it is the latest ad of its name. */
bool plan_is_durable(const char *type, const struct ad *ad);

/* Returns a new ad (free it with ad_destroy()) for a machine that vanished: a copy of the last one
 * with
 *    set      Absent = true, AbsentSince = now_s, ClassAdLifetime = lifetime_s (0: none),
 * PowerState "Unknown" with its reason and time removed  Offline and its attributes
 * (OfflineMatches, MachineLastMatchTime), private attributes, and StartdUplink, because nobody
 * answers there */
struct ad *plan_make_absent(const struct ad *last, int64_t now_s, int64_t lifetime_s);

/* Returns when an absent ad is to be removed: AbsentSince (else LastHeardFrom) + ClassAdLifetime,
 * but at the latest + expire_after_s (ABSENT_EXPIRE_ADS_AFTER; 0: no such limit).  INT64_MAX:
 * never. */
int64_t plan_absent_expires_s(const struct ad *absent, int64_t expire_after_s);

/* Returns whether ads of that type expire when they are not renewed.  Those that the collector
 * makes do not. */
bool plan_expires(const char *type);

/* Returns whether a sender with these roles may send ads of that type.  Machine and unknown types:
 * ADVERTISE; DaemonMaster: ADVERTISE or MASTER; Negotiator, Accounting: NEGOTIATOR; Request,
 * Submitter, Scheduler: SCHEDD; Rooster: ROOSTER; what the collector makes itself (Collector,
 * Revocation): nobody. */
bool plan_may_advertise(unsigned roles, const char *type);
/* Returns whether Machine in ads of that type must be the sender's own: allowed by the pattern of
 * its token. */
bool plan_is_of_machine(const char *type);
/* Returns the part of an ad's Name that the pattern of the sender's token must allow: the schedd's
 * name in requests ("schedd#3") and submitters ("alice@domain#schedd"), else the whole name.  NULL:
 * patterns do not apply, because the negotiator's ads have names of accounts and submitting
 * machines. */
const char *plan_holder(const char *type, const char *name, char ret[PLAN_NAME_MAX + 1]);

/* Returns whether such a sender may set this attribute in another sender's machine ad. */
bool plan_may_merge(unsigned roles, const char *attribute);

/* Where an update stands in time.  epoch 0: the sender does not number its messages. */
struct plan_stamp {
    int64_t epoch;    /* time at which the sending process started; 0: messages are not numbered */
    int64_t sequence; /* number of the message in this epoch */
    uint64_t session; /* number of the connection; rises with each that the collector accepts */
};

/* Returns whether `got` was sent before `have`.  Within an epoch the sequence decides.  Between
 * epochs the connection does: a restarted daemon connects again, and its clock may have been set
 * back. */
bool plan_is_old(const struct plan_stamp *have, const struct plan_stamp *got);

/* Returns whether a message with only changes may be applied after `last`, the last message of the
 * same connection. */
bool plan_is_successor(const struct plan_stamp *last, const struct plan_stamp *got);

/* Properties of an ad that the tables need. */
struct plan_traits {
    bool offline, absent; /* results of plan_is_offline() and plan_is_absent() */
    int64_t lifetime_s;   /* ClassAdLifetime; 0: none */
};
struct plan_traits plan_traits_of(bool is_machine, const struct ad *ad);

/* Returns whether a message between `last` and `got`, on the same connection, was lost: the epoch
 * is the same, but the sequence is not the next number. */
bool plan_is_gap(const struct plan_stamp *last, const struct plan_stamp *got);

/* Returns a new ad, in pool (may be NULL): a copy of old without the attributes in args' list
 * Delete (MyType and Name always stay), and with the attributes of changes, which must not have
 * another name than old. */
struct ad *plan_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes,
                       const struct ad *args);

/* Returns for how many milliseconds a live ad is kept without a renewal: its own ClassAdLifetime
 * (own_s; not above 0: none), or the configured time. */
uint64_t plan_lifetime_ms(int64_t own_s, int64_t classad_lifetime_s);

#endif
