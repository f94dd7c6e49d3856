/* base/daemon/daemon_guard.h - a daemon's eye on its master.
 *
 * The daemons of a machine are started, and started again, by the master.  Nobody starts the master
 * again where no supervisor such as systemd does (a personal pool, a laptop, the demo), and a
 * master that is gone is noticed only when the next daemon dies.  So each daemon watches the holder
 * of
 * $(LOCK)/master.lock; when that dies and nobody takes its place, they start a new one: all of them
 * may, the lock lets one in, and it adopts the daemons that run.
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

#define GUARD_WAIT_MIN_MS  200 /* after a master's end, before we do something about it */
#define GUARD_WAIT_MAX_MS  1000
#define GUARD_RETRY_MAX_MS 60000 /* longest wait between two attempts */

/* NULL when there is nothing to guard: not started by a master, or RESURRECT_MASTER is false. */
struct daemon_guard *daemon_guard_create(struct loop *loop, struct os *os, struct log *log,
                                         const struct config *config);
void daemon_guard_destroy(struct daemon_guard *guard); /* NULL is allowed; we are told to stop */

#endif
