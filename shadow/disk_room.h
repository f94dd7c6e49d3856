/* shadow/disk_room.h - checks that a disk keeps the reserve of free space that the site wants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_DISK_ROOM_H
#define SHADOW_DISK_ROOM_H

#include <stdint.h>

struct err;
struct shadow;

/* Returns 0 if `more` bytes can be written to the disk of directory and SPOOL_RESERVE bytes
 * still stay free (or the free space is unknown); else -ENOSPC with err.  Call on a lane (worker
 * thread). */
int disk_room_check(const struct shadow *shadow, const char *directory, int64_t more,
                    struct err *err);

#endif
