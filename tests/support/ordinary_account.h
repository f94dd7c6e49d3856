/* tests/support/ordinary_account.h - the account that owns the jobs of a test.
 *
 * It is the account that runs the test.  Root may own no jobs: when root runs the test, the jobs
 * belong to `nobody`, the test's schedd lets root submit as `nobody`, and connections of a job's
 * shadow are made with that uid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_ORDINARY_ACCOUNT_H
#define TESTS_SUPPORT_ORDINARY_ACCOUNT_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/os/os.h"
#include "wire/wire.h"

#define ORDINARY_ACCOUNT "nobody"

/* Returns the line SUBMIT_ROOT_AS for the schedd's configuration; "" unless root runs the test. */
static inline const char *ordinary_knob(void)
{
    return geteuid() == 0 ? "SUBMIT_ROOT_AS = \"" ORDINARY_ACCOUNT "\"\n" : "";
}

static inline int ordinary_name(struct os *os, char *ret, size_t size)
{
    if (os_uid(os) != 0) {
        return os_user_name(os, os_uid(os), ret, size, NULL);
    }
    (void)snprintf(ret, size, "%s", ORDINARY_ACCOUNT);
    return 0;
}

/* Calls wire_dial() with the uid of ORDINARY_ACCOUNT, as a shadow of this account does.  Only the
 * calling thread changes its uid (setresuid() of the C library would change all threads), and only
 * while it connects. */
static inline int ordinary_dial(struct os *os, struct wire_context *context,
                                const struct wire_dial *how, const struct wire_events *events,
                                void *arg, struct wire **ret, struct err *err)
{
    uid_t uid = 0;
    gid_t gid = 0;
    if (geteuid() != 0) {
        return wire_dial(context, how, events, arg, ret, err);
    }
    int rc = os_user_find(os, ORDINARY_ACCOUNT, &uid, &gid, err);
    if (rc != 0 || syscall(SYS_setresuid, -1, uid, -1) != 0) {
        return rc != 0 ? rc : -EPERM;
    }
    rc = wire_dial(context, how, events, arg, ret, err);
    return syscall(SYS_setresuid, -1, 0, -1) != 0 ? -EPERM : rc;
}

#endif
