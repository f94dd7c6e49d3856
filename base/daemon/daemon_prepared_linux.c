/* base/daemon/daemon_prepared_linux.c - a daemon's main() in a copy of a prepared process
 * (prepared.h).
 *
 * In a file of its own, so that only programs that use it are linked with TLS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"

#include "base/daemon/daemon_run.h"
#include "base/mem.h"
#include "base/daemon/prepared.h"
#include "base/stream/stream_run.h"

static void *warm_up(void)
{
    return stream_run_warm();
}

static void adopt_warm(struct loop *loop, void *warm)
{
    stream_run_adopt(loop, warm);
}

int daemon_main_prepared(const struct daemon *daemon, int argc, char **argv)
{
    void *warm = prepared_main(&argc, &argv, warm_up);
    int status = daemon_main_begun(daemon, argc, argv, adopt_warm, warm);
    if (warm != NULL) {
        mem_free(argv);
    }
    return status;
}
