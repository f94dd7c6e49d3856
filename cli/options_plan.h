/* cli/options_plan.h - messages about options that a command does not have.
 *
 * The message about an option that HTCondor's tool has and `roost` does not have gives the reason
 * and an alternative; the message about any other unknown option names the most similar option of
 * the command.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_OPTIONS_PLAN_H
#define CLI_OPTIONS_PLAN_H

#include <stdbool.h>

struct cli_command;
struct strbuf;

/* Appends one sentence, without the program's name, such as "unknown option '-nobtach'; did you
 * mean -nobatch?". */
void options_unknown(const struct cli_command *command, const char *arg, struct strbuf *out);

/* True for options of HTCondor that change nothing here (-debug, -expert, -stream-results) and are
 * silently accepted. */
bool options_ignored(const char *command, const char *arg);

/* The command that `name` (also condor_NAME) most likely means; NULL: none is similar. */
const char *options_nearest_command(const struct cli_command *const *commands, const char *name);

#endif
