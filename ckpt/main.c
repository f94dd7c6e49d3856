/* ckpt/main.c - roost-ckpt: images of jobs, from the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/command/command_linux.h"

int main(int argc, char **argv)
{
    return ckpt_command(argc, argv);
}
