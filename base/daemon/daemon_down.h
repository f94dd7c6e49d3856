/* base/daemon/daemon_down.h - a note that a daemon of this host must stay down:
 * $(LOCK)/<name>.down.
 *
 * A daemon whose last order is to end (draining with OnCompletion = "exit") must not be started
 * again by its master.  An exit status would not be enough: a master that was restarted adopts
 * daemons and does not see their status.  So the daemon writes this note beside its lock file
 * before it ends.  The note is valid only in the boot in which it was written: after a reboot the
 * machine works again.
 *
 * The daemon itself removes the note when it is started none the less (an operator told the master,
 * DAEMON_ON), after it has durably forgotten why it had to stay down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_DOWN_H
#define BASE_DAEMON_DAEMON_DOWN_H

#include <stdbool.h>
#include <stddef.h>

#define DAEMON_DOWN_WHY_MAX 256 /* bytes of a reason, with the zero */

struct config;
struct err;
struct os;

/* Writes, durably, the note that the daemon `name` must stay down. why: one line for people.
 * Returns 0 or an error of os_write_file(). */
int daemon_down_write(struct os *os, const struct config *config, const char *name, const char *why,
                      struct err *err);
/* Returns whether there is a note for the daemon `name`, from any boot.  If so, *same_boot tells
 * whether the note is of this boot and therefore valid (true also for a note that cannot be read),
 * and `why` is its reason. */
bool daemon_down_read(struct os *os, const struct config *config, const char *name, bool *same_boot,
                      char why[DAEMON_DOWN_WHY_MAX]);
/* Removes the note for the daemon `name`.  Returns 0, also if there is no note; or -errno. */
int daemon_down_remove(struct os *os, const struct config *config, const char *name,
                       struct err *err);

#endif
