/* master/main.c - the program roost-master.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "master/master.h"

int main(int argc, char **argv)
{
    return daemon_main(&master_daemon, argc, argv);
}
