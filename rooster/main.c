/* rooster/main.c - roost-rooster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "rooster/rooster.h"

int main(int argc, char **argv)
{
    return daemon_main(&rooster_daemon, argc, argv);
}
