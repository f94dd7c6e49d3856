/* cli/wait_log.h - waits for the jobs of a job event log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_LOG_H
#define CLI_WAIT_LOG_H

#include <stdint.h>

struct cli;
struct wait_log;

/* Returns the exit status of `roost wait`; timeout_s 0: no end. */
int wait_log_follow(struct cli *cli, const char *path, struct wait_log *wait, int64_t timeout_s);

#endif
