/* shadow/disk_room.h - how much of a disk is left to us.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_DISK_ROOM_H
#define SHADOW_DISK_ROOM_H

#include <stdint.h>

struct err;
struct shadow;

/* 0, or -ENOSPC and err where so many bytes more would not leave SPOOL_RESERVE of the disk on which
 * that directory is; on a lane. */
int disk_room_check(const struct shadow *shadow, const char *directory, int64_t more,
                    struct err *err);

#endif
