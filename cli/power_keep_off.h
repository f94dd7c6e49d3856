/* cli/power_keep_off.h - what `roost power off` and `roost drain --then off` do with a sleeper.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_KEEP_OFF_H
#define CLI_POWER_KEEP_OFF_H

struct cli;
struct err;

/* Writes into the offline ads of a sleeping machine that no job may wake it until somebody switches
 * it on by name.  reason: NULL: none.  cli is connected to the collector.  Returns 0, also if the
 * machine has no offline ads, or -errno. */
int power_keep_off(struct cli *cli, const char *node, const char *reason, struct err *err);

#endif
