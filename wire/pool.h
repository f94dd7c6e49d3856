/* wire/pool.h - what a daemon or tool needs to talk to its pool, taken from its configuration.
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

#define POOL_ADDRESS_MAX 1024

/* The context of a daemon's connections: TOKEN_FILE, POOL_KEYS, POOL_CA, UID_DOMAIN; the account it
 * runs as is ADMINISTRATOR over its Unix sockets.  The revocations that it knows are kept in
 * SPOOL/revoked.<name of the daemon>. */
int pool_context_create(const struct daemon_env *env, struct wire_context **ret, struct err *err);

/* The same of a process that dials and asks, and that nobody asks anything: the keys that others'
 * tokens are checked with, whose reading is a quarter of a short command's time, are read when an
 * answer comes through the hub. */
int pool_client_context_create(const struct daemon_env *env, struct wire_context **ret,
                               struct err *err);

/* The same at a reload: new values for connections that are made from now on.  Bad ones are logged,
 * in one line, and the old ones stay. */
void pool_context_reload(struct wire_context *context, const struct config *config,
                         struct log *log);

/* COLLECTOR_HOST ("cm.example, backup:9620, [::1]:9618") as a list of stream addresses for
 * uplink_create(): "tcp:cm.example:9618,tcp:backup:9620,tcp:[::1]:9618".  -EINVAL: an entry that is
 * not HOST or HOST:PORT; -ENAMETOOLONG. */
int pool_collector_addresses(const struct config *config, char *ret, size_t size, struct err *err);

/* COLLECTOR_HOST at a reload; bad values are logged, and the old ones stay. */
void pool_uplink_reload(struct uplink *uplink, const struct config *config, struct log *log);

/* One HOST or HOST:PORT as a stream address, with that port where it names none.  knob: for err. */
int pool_address(const char *knob, const char *entry, int64_t port, char *ret, size_t size,
                 struct err *err);

#endif
