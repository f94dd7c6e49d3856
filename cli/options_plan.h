/* cli/options_plan.h - what is said of an option that a command does not have.
 *
 * People bring their habits from HTCondor, and their fingers slip.  So an option that condor_q and
 * its like have and we have not is refused with the reason and the way that leads there, and any
 * other with the nearest one that there is.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_OPTIONS_PLAN_H
#define CLI_OPTIONS_PLAN_H

#include <stdbool.h>

struct cli_command;
struct strbuf;

/* One sentence, without the program's name: "there is no option '-nobtach'; did you mean
 * -nobatch?". */
void options_unknown(const struct cli_command *command, const char *arg, struct strbuf *out);

/* Of HTCondor, changes nothing here (-debug, -expert, -stream-results): is taken silently. */
bool options_ignored(const char *command, const char *arg);

/* The command that name is most likely meant to be, also for condor_NAME; NULL: none is near. */
const char *options_nearest_command(const struct cli_command *const *commands, const char *name);

#endif
