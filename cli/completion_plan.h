/* cli/completion_plan.h - completion of `roost` commands by a shell.  The words and options that
 * it can complete come from the table of commands: an option of a command is each word with a dash
 * in its usage or help text, so the completion is never out of date.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMPLETION_PLAN_H
#define CLI_COMPLETION_PLAN_H

struct cli_command;
struct strbuf;
struct vec;

/* Adds (char *, copies) the words that may follow the command: its verbs (such as "status" of
 * "power") and its options, each once, in order of first mention. */
void completion_words(const struct cli_command *command, struct vec *words);

/* Appends the completion script for bash. */
void completion_bash(const struct cli_command *const *commands, struct strbuf *out);
/* Appends the completion script for zsh: lines that make zsh accept bash completions, then bash's
 * script. */
void completion_zsh(const struct cli_command *const *commands, struct strbuf *out);

#endif
