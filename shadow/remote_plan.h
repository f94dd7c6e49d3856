/* shadow/remote_plan.h - decides which files of the submit machine a job with remote system calls
 * may see and change.
 *
 * Pure.  The job says what it wants to see (remote_root, remote_readonly), the site says what
 * may be seen at all (REMOTE_SYSCALL_...); both apply.  The job may change only its initial
 * directory (unless that is the home or above it), the directories of remote_write, and the outputs
 * that it declares.  The owner's keys are hidden, unless the site says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_REMOTE_PLAN_H
#define SHADOW_REMOTE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "rsyscall/server.h"

struct ad;
struct err;

/* What the site allows.  All pointers are borrowed.  In the lists of paths, "~" at the beginning of
 * a path stands for the member home. */
struct remote_site {
    const char *home; /* the owner's home directory; NULL: unknown */
    /* directories in which a job's remote_root may lie; a job without remote_root sees these
     * directories */
    const char *const *roots;
    size_t root_count;
    const char *const *readonly;
    size_t readonly_count;
    const char *const *hidden;
    size_t hidden_count;
    /* paths that are hidden whatever the knobs say, such as SPOOL; NULL entries are skipped */
    const char *const *always;
    size_t always_count;
    int64_t bytes_max; /* bytes that a job may write; 0: no limit */
    int64_t files_max; /* files that a job may create; 0: no limit */
    uint32_t lease_ms; /* milliseconds that a session lives without a message from its client */
    int64_t now_ms;    /* present time, used as the job's start if the job's ad has none */
};

struct remote_offer {
    /* what the server of remote system calls offers to the job; its pointers lead to roots,
     * parts, grants and texts, the other members of this struct */
    struct rsys_offer offer;
    struct rsys_offer_root roots[RSYS_WITHIN_MAX];
    struct rsys_offer_part parts[RSYS_PARTS_MAX];
    struct rsys_offer_grant grants[RSYS_GRANTS_MAX];
    struct vec texts; /* strings that the other members use; owned here */
};

/* Returns whether the job asks for remote system calls. */
bool remote_plan_is_wanted(const struct ad *job);
/* Computes which directories and files the job may see and change.  Returns 0 and fills *ret, to be
 * freed with remote_offer_fini(); -EINVAL with err for a path that is not absolute; -E2BIG with err
 * for too many parts or roots.  After an error *ret is empty. */
int remote_plan_offer(const struct ad *job, const struct remote_site *site,
                      struct remote_offer *ret, struct err *err);
void remote_offer_fini(struct remote_offer *offer); /* frees what the offer owns */

/* Changes the job's ad for its starter: no files are transferred, and the program, the initial
 * directory and the standard files have the paths that the job sees.  A path that is not below the
 * job's root stays as it is, because the job may have a file of that name. */
void remote_plan_ad(struct ad *job);

#endif
