/* schedd/spool_room.c - see spool_room.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/spool_room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/os/os.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_state.h"
#include "store/store.h"

#define LOOK_MS          2000
#define STORE_PART_BYTES (INT64_C(16) << 20) /* most bytes of the reserve that the store takes */

void spool_room_init(struct schedd *schedd)
{
    const int64_t reserve = schedd->settings.spool_reserve;
    store_keep_reserve(schedd->store, reserve < STORE_PART_BYTES ? reserve : STORE_PART_BYTES);
}

static void look_at_room(void *arg)
{
    struct schedd *schedd = arg;
    struct err err = {""};
    const bool is_low = spool_room_check(schedd, &err) != 0;
    if (is_low != schedd->room.is_low) {
        schedd->room.is_low = is_low;
        if (is_low) {
            log_error(schedd->log, "spool.low", err.text);
        } else {
            log_info(schedd->log, "spool.room", "the disk of SPOOL has room for new jobs again");
        }
        request_news_changed(schedd);
    }
    loop_timer_set(schedd->room.timer, LOOK_MS);
}

void spool_room_start(struct schedd *schedd)
{
    schedd->room.timer = loop_timer_create(schedd->loop, look_at_room, schedd);
    look_at_room(schedd);
}

void spool_room_stop(struct schedd *schedd)
{
    loop_timer_destroy(schedd->room.timer);
    schedd->room.timer = NULL;
}

int spool_room_check(const struct schedd *schedd, struct err *err)
{
    const int64_t reserve = schedd->settings.spool_reserve;
    int64_t free_kib = os_disk_free_kib(schedd->os, schedd->self.spool);
    bool is_low = free_kib >= 0 && reserve > 0 && free_kib * 1024 < reserve;
    const int full = store_full(schedd->store);
    if (!is_low && full == 0) {
        return 0;
    }
    char disk[512];
    if (os_disk_name(schedd->os, schedd->self.spool, disk, sizeof(disk)) || full == -EROFS) {
        return err_set(err, -EROFS,
                       "no new jobs: %s, the disk of SPOOL (%s), is mounted for reading only; "
                       "running jobs go on",
                       disk, schedd->self.spool);
    }
    return err_set(err, -ENOSPC,
                   "no new jobs: %s, the disk of SPOOL (%s), has %lld MiB left, and SPOOL_RESERVE "
                   "keeps %lld MiB for the jobs in the queue; running jobs go on; make room there",
                   disk, schedd->self.spool, (long long)(free_kib > 0 ? free_kib / 1024 : 0),
                   (long long)(reserve >> 20));
}
