/* wire/revocations.h - keeps the list of revoked tokens in a process that verifies tokens.
 *
 * The collector stores the pool's revocations and publishes them as ads of type Revocation.  Every
 * daemon that receives requests through the collector (schedd, startd, rooster, negotiator, master)
 * watches these ads over its uplink.  So a revoked token is refused there as soon as the collector
 * refuses it, and connections that use it are closed.
 *
 * On a new connection to the collector, relayed requests may arrive before the revocations.  Until
 * the revocations are complete, relayed requests are refused with -EAGAIN, and the caller repeats
 * them by itself (relay.c).
 *
 * Each revocation is signed by an administrator, so a collector that was broken into can hide or
 * delay a revocation, but cannot make one.
 *
 * The list is kept in a file.  A daemon that starts while the collector is away still refuses what
 * it refused before.  A revocation stays known although the collector no longer shows it; only the
 * time in the revocation itself, when its token has expired anyway, ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REVOCATIONS_H
#define WIRE_REVOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* most revocations stored; an error is logged for each further one */
#define REVOCATIONS_MAX 50000
#define REVOKED_ID_MAX  63 /* most bytes of a token id, without the terminating zero */

struct ad;
struct err;
struct revocations;
struct wire;
struct wire_context;

/* ---- one revocation: signed by an administrator ----------------------------------------------
 *
 * As an ad: TokenId, Expires, and the administrator's Token and Proof (proof_put_revocation()).
 * Every reader verifies Token and Proof, so that a collector cannot make up a revocation. */

/* Writes the arguments of the verb REVOKE to ret, signed with the context's own token and key.
 * token_id: id of the token to revoke.  expires_s: when that token expires, 0: never.  Returns 0,
 * or -ENOKEY when the context has no token and key. */
int revocation_sign(struct wire_context *context, const char *token_id, int64_t expires_s,
                    struct ad *ret, struct err *err);

/* The administrator who signed a revocation, and the token with which he did. */
struct revocation_signer {
    char identity[256], token_id[64]; /* the administrator's identity, and the id of the token */
};
/* Checks that ad was signed by an administrator of the pool.  His token may have expired or been
 * revoked since: the collector checked that when he revoked (revocation_judge_new()), and what he
 * revoked stays revoked.  Returns 0 and fills *ret; -EINVAL: something is missing or out of range;
 * -EACCES: his token lacks ADMINISTRATOR; -EKEYREJECTED: his token is not signed by a key of this
 * pool, or the signature is wrong. */
int revocation_judge(struct wire_context *context, const struct ad *ad,
                     struct revocation_signer *ret, struct err *err);
/* Like revocation_judge(), for a revocation that is made now: also returns -EKEYEXPIRED or
 * -EKEYREVOKED when the administrator's own token is no longer valid. */
int revocation_judge_new(struct wire_context *context, const struct ad *ad,
                         struct revocation_signer *ret, struct err *err);
/* Compares two values of Expires, where 0 means never.  Returns whether a is later than b. */
bool revocation_lasts_longer(int64_t a_s, int64_t b_s);

/* ---- the list -------------------------------------------------------------------------------- */

/* Makes the list from the file of revocations at path; an entry that cannot be read is logged and
 * skipped.  path NULL: the list is in memory only. */
struct revocations *revocations_create(struct wire_context *context, const char *path);
void revocations_destroy(struct revocations *revocations); /* NULL is allowed */

/* Call it when an uplink to the collector comes up: watches the pool's revocations over wire, as
 * long as wire lives.  From the first call on, relayed requests are refused until the list is
 * complete. */
void revocations_watch(struct wire_context *context, struct wire *wire);

/* Returns whether relayed requests may be accepted.  Always true if revocations_watch() was never
 * called.  When it returns false, this is logged, once for each connection. */
bool revocations_are_known(struct revocations *revocations);

/* Returns how many token ids are refused now. */
size_t revocations_count(const struct wire_context *context);

#endif
