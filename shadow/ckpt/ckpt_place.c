/* shadow/ckpt/ckpt_place.c - where the checkpoints of a job are.
 *
 * In SPOOL, or where the job (checkpoint_destination) or the site (CHECKPOINT_DESTINATION) says: a
 * directory, of a shared file system perhaps, or a larger disk.  There each job has a directory of
 * the name that HTCondor gives it, its GlobalJobId with '_' for '#'; and in the place of the job's
 * directory in SPOOL there is a link to it.  So a checkpoint is found again by whoever comes next,
 * wherever the job or the site would put a new one by then, and is removed with the job though
 * nobody knows its ad any more.
 *
 * The destination itself is never made: one that is not there is a disk that is not mounted.  While
 * it is away the job waits: it does not begin anew for that.
 *
 * All of it is done as the job's owner, on a lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_place.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/ckpt/ckpt_place_plan.h"
#include "shadow/path_join.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"

/* Where the link of the job leads; false: there is none. */
static bool read_link(struct shadow *shadow, const char *job, char ret[PATH_MAX])
{
    return os_below_read_link(shadow->os, shadow->ckpt.directory, job, ret, PATH_MAX) == 0;
}

int checkpoint_place_make(struct run *run, struct err *err)
{
    struct shadow *shadow = run->shadow;
    struct os_stat stat;
    struct strbuf path;
    const char *above = checkpoint_place_plan(run->lane_job, shadow->ckpt.destination);
    if (above == NULL || os_below_stat(shadow->os, shadow->ckpt.directory, run->id, &stat) == 0) {
        return 0; /* it has its place */
    }
    if (above[0] != '/' || os_stat(shadow->os, above, &stat) != 0 ||
        (!stat.is_dir && !stat.is_link)) {
        return err_set(err, -ENOTDIR, "checkpoint_destination %.500s: no such directory", above);
    }
    strbuf_init(&path, 0);
    checkpoint_place_plan_name(run->lane_job, run->id, above, &path);
    int rc = os_mkdirs(shadow->os, strbuf_text(&path), 0700, err);
    rc = rc != 0 ? rc : os_mkdirs(shadow->os, shadow->ckpt.directory, 0700, err);
    rc = rc != 0
             ? rc
             : os_below_link(shadow->os, shadow->ckpt.directory, run->id, strbuf_text(&path), err);
    rc = rc != 0 ? rc : os_below_sync(shadow->os, shadow->ckpt.directory, "", err);
    strbuf_fini(&path);
    return rc;
}

int checkpoint_place_check(struct run *run, struct err *err)
{
    char target[PATH_MAX];
    struct os_stat stat;
    if (!read_link(run->shadow, run->id, target) ||
        (os_stat(run->shadow->os, target, &stat) == 0 && stat.is_dir)) {
        return 0;
    }
    return err_set(err, -EAGAIN, "the job's checkpoints are in %.500s, which is not available now",
                   target);
}

void checkpoint_place_remove(struct shadow *shadow, const char *job)
{
    char target[PATH_MAX];
    char *path = path_join(shadow->ckpt.directory, job);
    if (read_link(shadow, job, target)) {
        (void)os_remove_tree(shadow->os, target, NULL); /* away: it stays there */
    }
    (void)os_remove_tree(shadow->os, path, NULL); /* the next shadow tries again */
    mem_free(path);
}
