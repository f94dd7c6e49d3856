/* collector/main.c - the program roost-collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "collector/collector.h"

int main(int argc, char **argv)
{
    return daemon_main(&collector_daemon, argc, argv);
}
