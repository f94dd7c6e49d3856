/* schedd/shadows/shadow_start.h - starting the process of an owner's shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOW_START_H
#define SCHEDD_SHADOWS_SHADOW_START_H

#include "base/os/os.h"

struct err;
struct schedd;

struct shadow_account {
    const char *name;
    uid_t uid;
    gid_t gid;
};

/* Starts the shadow of that account, as that account where we are root, in SPOOL/owner/<name>,
 * which is made for it.  Of our environment it gets only what a daemon needs (base/plain_env.h):
 * the account can read it. */
int shadow_start(struct schedd *schedd, const struct shadow_account *account, os_exit_f on_exit,
                 void *arg, pid_t *ret, struct err *err);

#endif
