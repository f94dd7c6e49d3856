/* negotiator/main.c - the program roost-negotiator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "negotiator/negotiator.h"

int main(int argc, char **argv)
{
    return daemon_main(&negotiator_daemon, argc, argv);
}
