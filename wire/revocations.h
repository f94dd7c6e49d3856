/* wire/revocations.h - tokens that are refused before they expire, in a process that judges tokens.
 *
 * The collector keeps the pool's revocations and shows them as ads of type Revocation.  Every
 * daemon that is asked through the collector (schedd, startd, rooster, negotiator, master) watches
 * these ads over its uplink: a revoked token is refused there as soon as it is refused by the
 * collector, and connections that use it are closed.
 *
 * A connection to the collector carries relayed requests from its first moment, and the revocations
 * only a moment later.  Until they are there, relayed requests are refused with -EAGAIN; the caller
 * asks again by itself (relay.c).
 *
 * Each revocation is signed by an administrator, so a collector that was broken into can hide or
 * delay one, and cannot make one.
 *
 * The list is kept in a file, so that a daemon that is started while the collector is away still
 * refuses what it refused before.  What is known is not given up because the collector shows it no
 * more: only the time in a revocation itself, when its token has expired anyway, ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REVOCATIONS_H
#define WIRE_REVOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REVOCATIONS_MAX 50000 /* kept at most; an error is logged for each beyond */
#define REVOKED_ID_MAX  63    /* bytes of a token id */

struct ad;
struct err;
struct revocations;
struct wire;
struct wire_context;

/* ---- one revocation: signed by an administrator ----------------------------------------------
 *
 * As an ad: TokenId, Expires, and the administrator's Token and Proof (proof_put_revocation()).
 * Whoever reads it verifies both, so that no collector can make one up. */

/* Makes the arguments of REVOKE, signed with our own token and key.  -ENOKEY: there is none. */
int revocation_sign(struct wire_context *context, const char *token_id, int64_t expires_s,
                    struct ad *ret, struct err *err);

struct revocation_signer {
    char identity[256], token_id[64]; /* of who revoked */
};
/* Is it signed by an administrator of the pool?  That his token has expired, or was revoked itself,
 * does not matter: it was looked at by the collector when he revoked (revocation_judge_new()), and
 * what an administrator ended while he was one does not begin again.  -EINVAL: something is missing
 * or out of range; -EACCES: his token has no ADMINISTRATOR; -EKEYREJECTED: his token is not of this
 * pool's keys, or the signature is wrong. */
int revocation_judge(struct wire_context *context, const struct ad *ad,
                     struct revocation_signer *ret, struct err *err);
/* The same of one that is made now: also -EKEYEXPIRED, -EKEYREVOKED. */
int revocation_judge_new(struct wire_context *context, const struct ad *ad,
                         struct revocation_signer *ret, struct err *err);
/* Of two Expires, where 0 is never: is a the later one? */
bool revocation_lasts_longer(int64_t a_s, int64_t b_s);

/* ---- the list -------------------------------------------------------------------------------- */

/* Reads what the context's file of revocations (wire_context_options.revocations_path) holds; an
 * entry that cannot be read is logged and left out.  path NULL: they are in memory only. */
struct revocations *revocations_create(struct wire_context *context, const char *path);
void revocations_destroy(struct revocations *revocations); /* NULL is allowed */

/* From the `up` event of an uplink to the collector: learns of the pool's revocations over wire, as
 * long as it lives.  From the first call on, relayed requests are refused until all that the
 * collector has are known. */
void revocations_watch(struct wire_context *context, struct wire *wire);

/* May relayed requests be taken?  True where nobody watches.  When not, that is logged once for
 * each connection. */
bool revocations_are_known(struct revocations *revocations);

/* How many are refused now. */
size_t revocations_count(const struct wire_context *context);

#endif
