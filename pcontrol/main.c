/* pcontrol/main.c - the program pcontrol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "pcontrol/pcontrol.h"

static const char USAGE[] =
    "usage: pcontrol                         commands from standard input: a terminal or a script\n"
    "       pcontrol -server PATH            commands from clients of the Unix socket PATH\n"
    "       pcontrol -client PATH [COMMAND]  one command, or those of standard input, for a "
    "server\n"
    "       pcontrol -help | -version\n"
    "Runs jobs on hosts that it reaches over ssh, or over PCONTROL_COMMAND; each host needs the "
    "program\n"
    "pclient.  \"help\" lists the commands; `man pcontrol` tells more.\n";

static bool is_word(const char *word, const char *name)
{
    return strcmp(word, name) == 0 || (word[0] == '-' && strcmp(word + 1, name) == 0);
}

static int run_mode(struct loop *loop, struct os *os, int argc, char **argv, struct err *err)
{
    if (argc == 1) {
        return pcontrol_run(loop, os, NULL, err);
    }
    if (is_word(argv[1], "-server") && argc == 3) {
        return pcontrol_run(loop, os, argv[2], err);
    }
    if (is_word(argv[1], "-client") && argc >= 3) {
        return pcontrol_ask(loop, os, argv[2], argv + 3, (size_t)argc - 3, err);
    }
    (void)fputs(USAGE, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct loop *loop = NULL;
    struct os *os = NULL;
    if (argc == 2 && (is_word(argv[1], "-help") || is_word(argv[1], "-h"))) {
        (void)fputs(USAGE, stdout);
        return 0;
    }
    if (argc == 2 && is_word(argv[1], "-version")) {
        (void)puts("pcontrol " ROOST_VERSION);
        return 0;
    }
    int status = 1;
    if (loop_create(&loop, &err) == 0 && os_create(loop, &os, &err) == 0) {
        os_raise_file_limit(); /* each host needs four */
        status = run_mode(loop, os, argc, argv, &err);
    }
    if (err.text[0] != '\0') {
        (void)fprintf(stderr, "pcontrol: %s\n", err.text);
    }
    os_destroy(os);
    loop_destroy(loop);
    return status;
}
