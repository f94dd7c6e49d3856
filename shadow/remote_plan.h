/* shadow/remote_plan.h - what a job with remote system calls may reach of its submit machine.
 *
 * Pure.  The job says what it wants to see (remote_root, remote_readonly), the site what may be
 * seen at all (REMOTE_SYSCALL_...); both hold.  What it may change is what it was given to change:
 * its initial directory, unless that is the home or above it, what remote_write names, and the
 * outputs that it declares.  The owner's keys are hidden, unless the site says otherwise.
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

struct remote_site { /* all borrowed; "~/x" is below home */
    const char *home;
    const char *const *roots; /* where what a job sees may be; what it sees if it does not say */
    size_t root_count;
    const char *const *readonly;
    size_t readonly_count;
    const char *const *hidden;
    size_t hidden_count;
    const char *const *always; /* hidden whatever the site says; NULL is none */
    size_t always_count;
    int64_t bytes_max; /* 0: no limit */
    int64_t files_max;
    uint32_t lease_ms;
    int64_t now_ms; /* when the job began, unless its ad says */
};

struct remote_offer {
    struct rsys_offer offer; /* of what is below */
    struct rsys_offer_root roots[RSYS_WITHIN_MAX];
    struct rsys_offer_part parts[RSYS_PARTS_MAX];
    struct rsys_offer_grant grants[RSYS_GRANTS_MAX];
    struct vec texts;
};

bool remote_plan_is_wanted(const struct ad *job);
/* 0 and *ret, for remote_offer_fini().  -EINVAL: a path that is not absolute; -E2BIG: too many
 * parts or roots; *ret is empty then. */
int remote_plan_offer(const struct ad *job, const struct remote_site *site,
                      struct remote_offer *ret, struct err *err);
void remote_offer_fini(struct remote_offer *offer);

/* The job ad, for its starter: nothing is transferred, and program, directory and standard files
 * are those that the job sees.  What is not below its root keeps its name: it may be there by that,
 * too. */
void remote_plan_ad(struct ad *job);

#endif
