/* schedd/shadows/shadow_start.h - starts the process of an owner's shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOW_START_H
#define SCHEDD_SHADOWS_SHADOW_START_H

#include "base/os/os.h"

struct err;
struct schedd;

/* The Unix account of an owner. */
struct shadow_account {
    const char *name;
    uid_t uid;
    gid_t gid;
};

/* Starts the shadow of this Unix account in the directory SPOOL/owner/<name>, which is made if
 * absent.  If the schedd runs as root, the shadow runs as the account.  Its environment is only
 * what a daemon needs (base/plain_env.h), because the account can read it.  on_exit is called when
 * the process ends.  Returns 0 and sets *ret to its process id, or a negative errno with err. */
int shadow_start(struct schedd *schedd, const struct shadow_account *account, os_exit_f on_exit,
                 void *arg, pid_t *ret, struct err *err);

#endif
