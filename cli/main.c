/* cli/main.c - `roost`: finds the subcommand and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "cli/cli.h"
#include "cli/options_plan.h"
#include "cli/remote.h"
#include "cli/session.h"

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    return NULL;
}

/* Does the same as `roost help COMMAND` or, for NULL, `roost help`. */
static int say_help(char *command)
{
    char *argv[] = {(char[]){"help"}, command, NULL};
    struct cli cli = {.argc = command != NULL ? 2 : 1, .argv = argv, .commands = cli_commands};
    return cmd_help(&cli);
}

/* True for the words that ask for help; -help and -h are as condor_* commands have them. */
static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "-version") == 0;
}

/* True when the usage begins with a list such as "status|on|off" and the word is in it. */
static bool is_verb(const char *usage, const char *word)
{
    size_t length = strlen(word), verbs = strcspn(usage, " ");
    for (const char *at = usage; at < usage + verbs;) {
        size_t end = strcspn(at, "| ");
        if (end == length && verbs > end && strncmp(at, word, length) == 0) {
            return true;
        }
        at += end + 1;
    }
    return false;
}

/* True for `roost power --help` and `roost power keep --help`.  A later --help belongs to the
 * program that is run. */
static bool wants_help(const struct cli_command *command, const struct cli *cli)
{
    bool after_verb =
        cli->argc > 2 && command->usage != NULL && is_verb(command->usage, cli->argv[1]);
    return cli->argc > 1 && (is_help(cli->argv[1]) || (after_verb && is_help(cli->argv[2])));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fprintf(stderr, "roost: no command given; `roost --help` lists all commands\n");
        return CLI_USAGE;
    }
    if (is_help(argv[1])) {
        return say_help(NULL);
    }
    if (is_version(argv[1]) || strcmp(argv[1], "version") == 0 ||
        (argc == 3 && is_version(argv[2]))) {
        (void)printf("roost %s\n", ROOST_VERSION);
        return CLI_OK;
    }
    const struct cli_command *command = find_command(argv[1]);
    if (command == NULL) {
        const char *near = options_nearest_command(cli_commands, argv[1]);
        (void)fprintf(stderr, "roost: unknown command '%s'; %s%s%s\n", argv[1],
                      near != NULL ? "did you mean `roost " : "`roost --help` lists all commands",
                      near != NULL ? near : "", near != NULL ? "`?" : "");
        return CLI_USAGE;
    }
    struct cli cli = {.argc = argc - 1,
                      .argv = argv + 1,
                      .command = command,
                      .commands = cli_commands};
    if (wants_help(command, &cli)) {
        return say_help(argv[1]);
    }
    if (command->run == cmd_help) {
        return cmd_help(&cli); /* it opens nothing */
    }
    struct err err;
    if (loop_create(&cli.loop, &err) != 0 || os_create(cli.loop, &cli.os, &err) != 0) {
        return cli_fail(&cli, "%s", err.text);
    }
    os_program_dir(cli.os, cli.program_dir, sizeof cli.program_dir);
    int status = remote_take(&cli);
    status = status != CLI_OK ? status : command->run(&cli);
    session_hang_up(&cli);
    os_destroy(cli.os);
    loop_destroy(cli.loop); /* what is still to be said is sent */
    if (fflush(stdout) != 0 && status == CLI_OK) {
        status = cli_fail(&cli, "cannot write to standard output");
    }
    os_leave(status);
    session_close(&cli);
    return status;
}
