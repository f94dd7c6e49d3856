/* cli/completion_plan.h - what a shell may complete, read from the table of commands: a command's
 * options are the words with a dash in its usage and its help, and so are always all of them and
 * never others.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMPLETION_PLAN_H
#define CLI_COMPLETION_PLAN_H

struct cli_command;
struct strbuf;
struct vec;

/* Adds (char *, copies) the words that may follow the command: its verbs ("status" of "power"), and
 * its options, in order of their first mention, each once. */
void completion_words(const struct cli_command *command, struct vec *words);

/* The script for bash; zsh reads the same behind its own first lines. */
void completion_bash(const struct cli_command *const *commands, struct strbuf *out);
void completion_zsh(const struct cli_command *const *commands, struct strbuf *out);

#endif
