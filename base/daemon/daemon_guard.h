/* base/daemon/daemon_guard.h - a daemon watches its master, and starts a new one when the master
 * dies.
 *
 * The master starts the daemons of a machine, and starts them again when they die.  Where no
 * supervisor such as systemd runs (a personal pool, a laptop, the demo), nobody starts the master
 * again, and its absence would be noticed only when the next daemon dies.  So each daemon watches
 * the holder of $(LOCK)/master.lock.  When the holder dies and nobody takes the lock, the daemons
 * start a new master.  All of them may do so: only one gets the lock, and it adopts the running
 * daemons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_GUARD_H
#define BASE_DAEMON_DAEMON_GUARD_H

struct config;
struct daemon_guard;
struct log;
struct loop;
struct os;

/* Bounds, in milliseconds, of the random wait between the master's end and the start of a new
 * master. */
#define GUARD_WAIT_MIN_MS  200
#define GUARD_WAIT_MAX_MS  1000
#define GUARD_RETRY_MAX_MS 60000 /* longest wait between two attempts to start a master, ms */

/* Starts to watch the master of this daemon.  Returns NULL when nothing is to be watched: no master
 * started this process, or RESURRECT_MASTER is false. */
struct daemon_guard *daemon_guard_create(struct loop *loop, struct os *os, struct log *log,
                                         const struct config *config);
/* Stops watching, because this daemon was told to stop.  NULL is allowed. */
void daemon_guard_destroy(struct daemon_guard *guard);

#endif
