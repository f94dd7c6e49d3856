/* cli/classad/cmd_classad_match.c - `roost classad match A B`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/classad/classad_match_plan.h"
#include "cli/classad/classad_input.h"
#include "cli/classad/classad_tool.h"
#include "cli/cli.h"
#include "cli/listing.h"

int classad_tool_match(struct cli *cli)
{
    if (cli->argc != 4 || strncmp(cli->argv[2], "--", 2) == 0) {
        return cli_usage(cli, "match needs two files, each with one ad");
    }
    struct ad_context context = listing_context(cli);
    struct ad *a = NULL;
    struct ad *b = NULL;
    struct err err;
    int status;
    if (classad_input_first(cli->argv[2], &context, &a, &err) != 0 ||
        classad_input_first(cli->argv[3], &context, &b, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        struct strbuf out;
        strbuf_init(&out, 0);
        bool matches = classad_match_print(a, b, &context, &out);
        status = listing_write(cli, &out);
        status = status == CLI_OK && !matches ? CLI_FAILED : status;
    }
    ad_destroy(a);
    ad_destroy(b);
    return status;
}
