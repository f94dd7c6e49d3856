/* wire/pool.h - what a daemon or tool needs to connect to its pool, read from its configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_POOL_H
#define WIRE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct config;
struct daemon_env;
struct err;
struct log;
struct uplink;
struct wire_context;

/* most bytes of the pool's addresses as text, with the terminating zero */
#define POOL_ADDRESS_MAX 1024

/* Makes the context of a daemon's connections from TOKEN_FILE, POOL_KEYS, POOL_CA and UID_DOMAIN.
 * Over the daemon's Unix sockets, the account that it runs as is ADMINISTRATOR.  Revocations are
 * kept in SPOOL/revoked.<name of the daemon>. Returns 0 and sets *ret, owned by the caller, or the
 * error of wire_context_create(). */
int pool_context_create(const struct daemon_env *env, struct wire_context **ret, struct err *err);

/* Like pool_context_create(), for a process that only sends requests and never receives any.  It
 * reads the pool's public keys only when a reply comes through the hub, because reading them takes
 * a quarter of a short command's time. */
int pool_client_context_create(const struct daemon_env *env, struct wire_context **ret,
                               struct err *err);

/* Applies a reloaded configuration: connections made from now on use the new values.  Bad values
 * are logged in one line, and the old values stay. */
void pool_context_reload(struct wire_context *context, const struct config *config,
                         struct log *log);

/* Converts COLLECTOR_HOST ("cm.example, backup:9620, [::1]:9618") to stream addresses for
 * uplink_create(): "tcp:cm.example:9618,tcp:backup:9620,tcp:[::1]:9618".  Returns 0; -EINVAL (an
 * entry is neither HOST nor HOST:PORT) or -ENAMETOOLONG (does not fit in size bytes). */
int pool_collector_addresses(const struct config *config, char *ret, size_t size, struct err *err);

/* Applies a reloaded COLLECTOR_HOST to uplink.  A bad value is logged, and the old addresses
 * stay. */
void pool_uplink_reload(struct uplink *uplink, const struct config *config, struct log *log);

/* Converts one HOST or HOST:PORT to a stream address; port is used where the entry has none.  knob:
 * name of the knob, for error messages.  Returns as pool_collector_addresses(). */
int pool_address(const char *knob, const char *entry, int64_t port, char *ret, size_t size,
                 struct err *err);

#endif
