/* kbdd/main.c - the program roost-kbdd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon.h"
#include "kbdd/kbdd.h"

int main(int argc, char **argv)
{
    return daemon_main(&kbdd_daemon, argc, argv);
}
