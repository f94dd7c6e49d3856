/* starter/main.c - roost-starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "starter/starter.h"

int main(int argc, char **argv)
{
    return daemon_main_prepared(&starter_daemon, argc, argv);
}
