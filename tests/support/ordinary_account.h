/* tests/support/ordinary_account.h - the account that owns the jobs of a test.
 *
 * That of whoever runs the test.  Root owns no jobs: where root runs the test, they are those of
 * `nobody`, as which the test's schedd lets root submit, and what calls as their shadow does so
 * with that account's uid.
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

/* A line for the schedd's configuration. */
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

/* wire_dial() with that account's uid, as its shadow dials.  Only the calling thread changes its
 * uid, which setresuid() of the C library would not do, and only to connect. */
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
