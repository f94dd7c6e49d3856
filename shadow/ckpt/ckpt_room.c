/* shadow/ckpt/ckpt_room.c - see ckpt_room.h.
 *
 * SPOOL_RESERVE is kept free on the disk of the job's checkpoints, which need not be SPOOL's disk.
 * CHECKPOINT_QUOTA_PER_OWNER limits what an owner's checkpoints take.  It is checked with the first
 * bytes of a file for the whole file, again after each QUOTA_LOOK bytes, because the announced size
 * need not be true, and when a whole checkpoint was made of changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_room.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_figures.h"
#include "shadow/ckpt/ckpt_call.h"
#include "shadow/disk_room.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/checkpoint_attrs.h"

#define QUOTA_LOOK ((int64_t)16 << 20)

/* Checks the quota for this many bytes more. */
static int check_quota(struct work *work, int64_t more)
{
    struct shadow *shadow = work->run->shadow;
    struct os_tree_figures tree;
    if (shadow->ckpt.quota <= 0) {
        return 0;
    }
    os_tree_figures(shadow->os, shadow->ckpt.directory, CKPT_NAMES_MAX, &tree);
    if (more <= shadow->ckpt.quota - tree.disk_kib * 1024) {
        return 0;
    }
    return err_set(&work->err, -EDQUOT,
                   "checkpoints of %s would take more than CHECKPOINT_QUOTA_PER_OWNER (%" PRId64
                   " bytes)",
                   shadow->owner, shadow->ckpt.quota);
}

/* Returns how many bytes are still to come; for changes, also what is made of them: as much as the
 * checkpoint before. */
static int64_t bytes_to_come(struct work *work, const struct ckpt_call *call)
{
    int64_t size = call->size - call->offset;
    bool is_delta = strcmp(call->name, CKPT_NAME_DELTA) == 0;
    if (call->base > 0 && (is_delta || strcmp(call->name, CKPT_NAME_CHANGES) == 0)) {
        char *base = ckpt_call_place(work->run, call->base);
        int64_t before =
            ckpt_call_size_in(work->run, base, is_delta ? CKPT_NAME_IMAGE : CKPT_NAME_FILES);
        size = size < INT64_MAX - before ? size + before : INT64_MAX;
        mem_free(base);
    }
    return size;
}

int ckpt_room_for_piece(struct work *work, const struct ckpt_call *call, const char *part,
                        size_t length)
{
    int result = disk_room_check(work->run->shadow, part, (int64_t)length, &work->err);
    bool looks = call->offset == 0 ||
                 call->offset / QUOTA_LOOK != (call->offset + (int64_t)length) / QUOTA_LOOK;
    return result == 0 && looks ? check_quota(work, bytes_to_come(work, call)) : result;
}

int ckpt_room_of_whole(struct work *work)
{
    return check_quota(work, 0);
}
