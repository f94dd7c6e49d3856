/* pilot/pilot_linux.c - Linux functions that only the keeper needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pilot/pilot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"

int pilot_link_self(const char *path, struct err *err)
{
    char self[64];
    (void)snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
    if (symlink(self, path) != 0) {
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    return 0;
}

int pilot_parent(void)
{
    return (int)getppid();
}

void pilot_end_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0); /* since Linux 2.1 */
}
