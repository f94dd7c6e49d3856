/* schedd/main.c - the schedd's process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "schedd/schedd.h"

int main(int argc, char **argv)
{
    return daemon_main(&schedd_daemon, argc, argv);
}
