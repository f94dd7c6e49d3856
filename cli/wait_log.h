/* cli/wait_log.h - `roost wait` on a job event log: waits until jobs of the log are done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_LOG_H
#define CLI_WAIT_LOG_H

#include <stdint.h>

struct cli;
struct wait_log;

/* Follows the log file `path` until the jobs that `wait` asks for are done, or timeout_s seconds
 * are over.  Returns the exit status of `roost wait`; timeout_s 0: no limit. */
int wait_log_follow(struct cli *cli, const char *path, struct wait_log *wait, int64_t timeout_s);

#endif
