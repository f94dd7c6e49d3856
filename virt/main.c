/* virt/main.c - the program roost-libvirt URI.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "virt/virt.h"

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '\0' || argv[1][0] == '-') {
        (void)fprintf(stderr, "usage: roost-libvirt URI\n"
                              "Started by the rooster; reads orders for the domains of that "
                              "libvirt daemon from standard input.\n");
        return 2;
    }
    return virt_run(argv[1]);
}
