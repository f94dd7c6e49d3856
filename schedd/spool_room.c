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
#include "base/mem.h"
#include "base/os/os.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_state.h"
#include "store/store.h"

#define LOW_LOOK_MS      2000                /* between two looks while the disk has no room */
#define STORE_PART_BYTES (INT64_C(16) << 20) /* most bytes of the reserve that the store takes */

void spool_room_init(struct schedd *schedd)
{
    const int64_t reserve = schedd->settings.spool_reserve;
    store_keep_reserve(schedd->store, reserve < STORE_PART_BYTES ? reserve : STORE_PART_BYTES);
}

/* Returns as spool_room_check() does. */
static int look_at_disk(const struct schedd *schedd, struct err *err)
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
    if (!is_low) {
        return err_set(
            err, -ENOSPC,
            "no new jobs: %s, the disk of SPOOL (%s), refused a write for want of space, "
            "though %lld MiB are free now; the write is tried again several times a "
            "second; running jobs go on",
            disk, schedd->self.spool, (long long)(free_kib / 1024));
    }
    return err_set(err, -ENOSPC,
                   "no new jobs: %s, the disk of SPOOL (%s), has %lld MiB left, and SPOOL_RESERVE "
                   "keeps %lld MiB for the jobs in the queue; running jobs go on; make room there",
                   disk, schedd->self.spool, (long long)(free_kib > 0 ? free_kib / 1024 : 0),
                   (long long)(reserve >> 20));
}

int spool_room_check(struct schedd *schedd, struct err *err)
{
    struct schedd_room *room = &schedd->room;
    struct err why = {""};
    const int result = look_at_disk(schedd, &why);
    const bool was_low = room->problem != NULL;
    mem_free(room->problem);
    room->problem = result != 0 ? mem_strdup(why.text) : NULL;
    if (result != 0 && !was_low) {
        log_error(schedd->log, "spool.low", why.text);
    } else if (result == 0 && was_low) {
        log_info(schedd->log, "spool.room", "the disk of SPOOL has room for new jobs again");
    }
    if (was_low != (result != 0)) {
        request_news_changed(schedd);
    }
    return result == 0 ? 0 : err_set(err, result, "%s", why.text);
}

const char *spool_room_problem(const struct schedd *schedd)
{
    return schedd->room.problem != NULL ? schedd->room.problem : "";
}

static void look_again(void *arg)
{
    struct schedd *schedd = arg;
    const bool is_low = spool_room_check(schedd, NULL) != 0;
    loop_timer_set(schedd->room.timer,
                   is_low ? LOW_LOOK_MS
                          : loop_grid_delay_ms(loop_now_ms(schedd->loop), LOOP_GRID_MS));
}

void spool_room_start(struct schedd *schedd)
{
    schedd->room.timer = loop_timer_create(schedd->loop, look_again, schedd);
    look_again(schedd);
}

void spool_room_stop(struct schedd *schedd)
{
    loop_timer_destroy(schedd->room.timer);
    schedd->room.timer = NULL;
    mem_free(schedd->room.problem);
    schedd->room.problem = NULL;
}
