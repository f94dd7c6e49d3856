/* cli/power_keep.h - `roost power keep`: a machine stays up until a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_KEEP_H
#define CLI_POWER_KEEP_H

#include <stdbool.h>
#include <stdint.h>

struct cli;

/* Asks the machine's startd, over the collector to which cli is connected, to keep the machine up
 * until until_s (seconds since 1970; 0: no longer).  A machine that is being woken is waited for.
 * reason: why, for people; NULL: none.  Prints the result and returns the exit status. */
int power_keep_up(struct cli *cli, const char *node, int64_t until_s, const char *reason);
/* Returns whether the collector has an offline ad of the machine. */
bool power_keep_is_asleep(struct cli *cli, const char *node);

#endif
