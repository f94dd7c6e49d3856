/* cli/drain_status.h - what the collector knows about machines that drain; `roost drain status`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_STATUS_H
#define CLI_DRAIN_STATUS_H

struct cli;
struct cli_reply;
struct drain_words;
struct err;

/* Connects to the collector of words->pool, or of the caller's pool.  Returns 0 or -errno. */
int drain_status_connect(struct cli *cli, const struct drain_words *words, struct err *err);
/* Asks the collector, to which cli is connected, for the ads of the slots for which the constraint
 * is true.  Returns 0 or -errno; release reply in any case. */
int drain_status_slots(struct cli *cli, const char *constraint, struct cli_reply *reply,
                       struct err *err);
/* Prints the machines that drain, or those of words->nodes that do.  Returns the exit status. */
int drain_status(struct cli *cli, const struct drain_words *words);

#endif
