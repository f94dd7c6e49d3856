/* base/daemon/daemon_down.h - a daemon of this host that is to stay down: $(LOCK)/<name>.down.
 *
 * A daemon that has done what it was told to do last (draining with OnCompletion = "exit") must end
 * and not be started again by its master.  An exit status would not do: a master that was killed
 * meanwhile adopts daemons, and sees no status of those; nor would its memory.  So the daemon
 * leaves a note beside its lock, before it ends.  The note counts in the boot in which it was
 * written: a machine that boots is to work.
 *
 * Who takes it back: the daemon itself when it was started none the less (its master was asked to,
 * DAEMON_ON), once it has forgotten durably why it was to stay down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_DOWN_H
#define BASE_DAEMON_DAEMON_DOWN_H

#include <stdbool.h>
#include <stddef.h>

#define DAEMON_DOWN_WHY_MAX 256 /* bytes of a reason, with its terminating zero */

struct config;
struct err;
struct os;

/* Durable.  why: one line for people.  Errors of os_write_file(). */
int daemon_down_write(struct os *os, const struct config *config, const char *name, const char *why,
                      struct err *err);
/* Is there a note, of any boot?  Then *same_boot says whether it counts for a master, and why its
 * reason.  A note that cannot be read counts. */
bool daemon_down_read(struct os *os, const struct config *config, const char *name, bool *same_boot,
                      char why[DAEMON_DOWN_WHY_MAX]);
/* Absent is fine. */
int daemon_down_remove(struct os *os, const struct config *config, const char *name,
                       struct err *err);

#endif
