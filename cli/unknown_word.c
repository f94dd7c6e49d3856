/* cli/unknown_word.c - refuses a word that the running command does not know.
 *
 * This is not in session.c, because the nearest known word comes from the help of the command,
 * while session.c is below all commands and their options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/options_plan.h"

int cli_unknown(const struct cli *cli, const char *arg)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    options_unknown(cli->command, arg, &text);
    int status = cli_usage(cli, "%s", strbuf_text(&text));
    strbuf_fini(&text);
    return status;
}
