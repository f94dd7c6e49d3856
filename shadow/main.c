/* shadow/main.c - the shadow's process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "shadow/shadow.h"

int main(int argc, char **argv)
{
    return daemon_main(&shadow_daemon, argc, argv);
}
