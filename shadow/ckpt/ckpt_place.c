/* shadow/ckpt/ckpt_place.c - the directory of a job's checkpoints.
 *
 * They are in SPOOL, or in the directory that the job (checkpoint_destination) or the site
 * (CHECKPOINT_DESTINATION) names, perhaps on a shared file system or a larger disk.  There each job
 * has a directory with the name that HTCondor gives it: its GlobalJobId with '_' for '#'. In SPOOL
 * a link stands in place of the job's directory.  So every later run finds the checkpoint, even if
 * the job or the site now names another place, and the checkpoint is removed with the job when
 * nobody knows its ad any more.
 *
 * The named directory itself is never made: if it does not exist, a disk is not mounted.  While it
 * is away the job waits, and does not start over.
 *
 * All of this is done as the job's owner, on a lane (worker thread).
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

/* Reads the target of the job's link.  Returns false when it has no link. */
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
