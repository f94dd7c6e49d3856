/* shadow/disk_room.c - see disk_room.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/disk_room.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/os/os.h"
#include "shadow/shadow_state.h"

int disk_room_check(const struct shadow *shadow, const char *directory, int64_t more,
                    struct err *err)
{
    int64_t free_kib = shadow->spool_reserve > 0 ? os_disk_free_kib(shadow->os, directory) : -1;
    if (free_kib < 0 || more <= free_kib * 1024 - shadow->spool_reserve) {
        return 0;
    }
    return err_set(err, -ENOSPC,
                   "the disk of %s is full: less than SPOOL_RESERVE (%" PRId64
                   " bytes) would be left",
                   directory, shadow->spool_reserve);
}
