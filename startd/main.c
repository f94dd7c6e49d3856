/* startd/main.c - roost-startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "startd/startd.h"

int main(int argc, char **argv)
{
    return daemon_main(&startd_daemon, argc, argv);
}
