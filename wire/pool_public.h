/* wire/pool_public.h - what a machine needs to know of the pool before it can join: none of it is
 * secret.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_POOL_PUBLIC_H
#define WIRE_POOL_PUBLIC_H

struct config;
struct err;
struct os;
struct strbuf;

/* Calls `each` with the name (kid) and the text (pem) of every public key <kid>.pub in the
 * directory POOL_KEYS, until a call does not return 0.  Returns what that call returned, 0 or
 * -errno. */
int pool_public_each_key(struct os *os, const struct config *config,
                         int (*each)(void *arg, const char *kid, const char *pem, struct err *err),
                         void *arg, struct err *err);

/* Appends the pool's CA and its public keys, as the end of a bundle (pilot/pilot_plan.h). */
int pool_public_append(struct os *os, const struct config *config, struct strbuf *out,
                       struct err *err);

#endif
