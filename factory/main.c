/* factory/main.c - roost-factory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "factory/factory.h"

int main(int argc, char **argv)
{
    return daemon_main(&factory_daemon, argc, argv);
}
