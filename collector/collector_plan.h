/* collector/collector_plan.h - the collector's decisions: who may send an ad, which of two updates
 * is newer, how long an ad lives.
 *
 * Pure: no clock, no table, no wire.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_PLAN_H
#define COLLECTOR_COLLECTOR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_TYPE_MAX 64  /* most bytes of MyType, without the terminating zero */
#define PLAN_NAME_MAX 512 /* most bytes of Name, without the terminating zero */

struct ad;
struct ad_pool;
struct err;

/* What a sender's token allows; a set of bits. */
enum plan_role {
    PLAN_WORKER = 1 << 0, /* may send ads of machines (scope ADVERTISE) */
    PLAN_SCHEDD = 1 << 1,
    PLAN_ROOSTER = 1 << 2,
    PLAN_MASTER = 1 << 3,
    PLAN_NEGOTIATOR = 1 << 4,
    PLAN_ADMINISTRATOR = 1 << 5,
    PLAN_FACTORY = 1 << 6, /* may send samples, too (plan_may_be()) */
};

/* Sets *type and *name to MyType and Name of an incoming ad; the texts belong to the ad.  Returns
 * 0; or -EINVAL when MyType or Name is missing, empty, too long or has control characters. */
int plan_identify(const struct ad *ad, const char **type, const char **name, struct err *err);

/* Returns whether ad, of that type, is the ad of a sleeping machine (Offline = true). */
bool plan_is_offline(const char *type, const struct ad *ad);

/* Returns whether ad must be in the store: it is the ad of a sleeping machine (Offline = true) or
 * of a machine that vanished (Absent = true). */
bool plan_is_durable(const char *type, const struct ad *ad);

/* Returns a new ad (free it with ad_destroy()) for a machine that vanished.  It is a copy of the
 * machine's last ad with these changes.  Set are Absent = true, AbsentSince = now_s,
 * ClassAdLifetime = lifetime_s (0: not set), and PowerState = "Unknown" with its reason and time.
 * Removed are Offline, the attributes that go with it (OfflineMatches, MachineLastMatchTime and
 * others), private attributes, and StartdUplink, because nobody answers there any more. */
struct ad *plan_make_absent(const struct ad *last, int64_t now_s, int64_t lifetime_s);

/* Returns a new ad (free it with ad_destroy()): the offline ad of a machine that went without a
 * word.  last: its last ad, marked as not responding; is_off: it is known to be off, and the mark
 * goes.  Any later live ad of the Machine ends it. */
struct ad *plan_assume_asleep(const struct ad *last, bool is_off, int64_t now_s);

/* Returns for how many seconds an absent ad is kept; INT64_MAX: for ever.  It is kept for
 * ClassAdLifetime, but no longer than expire_after_s (the knob ABSENT_EXPIRE_ADS_AFTER; 0: no such
 * limit). */
int64_t plan_absent_lifetime_s(const struct ad *absent, int64_t expire_after_s);
/* Returns the moment of loop_now_ms(), perhaps below 0, since which an ad from the store is offline
 * or absent.  Only a wall time is known (AbsentSince or LastHeardFrom), and the wall clock may have
 * been set since: it is believed if it is not in the future and not more than a year ago; otherwise
 * the time counts from now_ms.  wall_s, now_ms: the present time of both clocks. */
int64_t plan_heard_ms(const struct ad *ad, int64_t wall_s, uint64_t now_ms);

/* Returns whether ads of that type expire when they are not renewed.  Ads that the collector makes
 * itself (Collector, Revocation, PowerLock) do not expire; all others do. */
bool plan_expires(const char *type);

/* Returns whether a sender with these roles (bits of enum plan_role) may send ads of that type.
 * The scope that its token needs is: for Machine and unknown types ADVERTISE (for Machine also
 * FACTORY, see plan_may_be()); for DaemonMaster ADVERTISE or MASTER; for Negotiator, Accounting and
 * SubmittingMachine NEGOTIATOR; for Request, Submitter and Scheduler SCHEDD; for Rooster ROOSTER;
 * for Factory, Site and Glidein FACTORY.  Instead of each of these, ADMINISTRATOR is
 * enough.  Nobody may send ads of the types that the collector makes itself (Collector,
 * Revocation, PowerLock). */
bool plan_may_advertise(unsigned roles, const char *type);
/* Returns whether a sender with these roles may send this ad, of a type that it may send: a factory
 * is no machine, so its Machine ads are samples. */
bool plan_may_be(unsigned roles, const char *type, const struct ad *ad);
/* Returns whether the attribute Machine in ads of that type must name the sender's own machine, a
 * name that the pattern of its token allows. */
bool plan_is_of_machine(const char *type);
/* Returns the part of an ad's Name that the pattern of the sender's token must allow: the schedd's
 * name in requests ("schedd#3") and submitters ("alice@domain#schedd"), else the whole name.  The
 * result is in name or in ret.  NULL: patterns do not apply, because Accounting and
 * SubmittingMachine ads have names of accounts and submitting machines. */
const char *plan_holder(const char *type, const char *name, char ret[PLAN_NAME_MAX + 1]);

/* Returns whether a sender with these roles (bits of enum plan_role) may set this attribute in
 * another sender's machine ad. */
bool plan_may_merge(unsigned roles, const char *attribute);

/* The place of a sender's message in the order of its messages. */
struct plan_stamp {
    int64_t epoch;    /* time at which the sending process started; 0: messages are not numbered */
    int64_t sequence; /* number of the message in this epoch */
    uint64_t session; /* number of the connection; the collector numbers those that it accepts */
};

/* Returns whether `got` was sent before `have`.  Within an epoch the sequence decides.  If the
 * epochs differ, the number of the connection decides: a restarted daemon connects again, and its
 * clock may have been set back.  False also if one of the two has epoch 0. */
bool plan_is_old(const struct plan_stamp *have, const struct plan_stamp *got);

/* Returns whether `got`, a message that contains only the changes of an ad, may be applied: no
 * message is missing between it and `last`, the last message of the same connection. */
bool plan_is_successor(const struct plan_stamp *last, const struct plan_stamp *got);

/* The properties of an ad that the tables of collector_ads.h keep beside it. */
struct plan_traits {
    /* offline: Offline is true, and Absent is not true; absent: Absent is true */
    bool offline, absent;
    int64_t lifetime_s; /* ClassAdLifetime; 0: none */
};
struct plan_traits plan_traits_of(bool is_machine, const struct ad *ad);

/* Returns whether a message between `last` and `got`, on the same connection, was lost: the epoch
 * is the same, but the sequence is not the next number. */
bool plan_is_gap(const struct plan_stamp *last, const struct plan_stamp *got);

/* Returns a new ad in pool (NULL: in no pool).  It is a copy of old without the attributes that
 * the list Delete of args names (MyType and Name always stay), and with the attributes of changes.
 * The Name in changes, if any, must be that of old. */
struct ad *plan_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes,
                       const struct ad *args);

/* Returns for how many milliseconds a live ad is kept without a renewal: for own_s, its own
 * ClassAdLifetime in seconds, if that is above 0; else for classad_lifetime_s, the configured time
 * in seconds. */
uint64_t plan_lifetime_ms(int64_t own_s, int64_t classad_lifetime_s);

#endif
