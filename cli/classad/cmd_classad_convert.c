/* cli/classad/cmd_classad_convert.c - `roost classad convert`: converts ads from one form into
 * another, one ad at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/classad/classad_input.h"
#include "cli/classad/classad_output_plan.h"
#include "cli/classad/classad_tool.h"
#include "cli/cli.h"
#include "cli/listing.h"

struct conversion {
    enum classad_form from;
    struct classad_output to;
    int first; /* index in argv of the first file */
};

static int parse_options(struct cli *cli, struct conversion *how)
{
    int i = 2;
    bool to = false;
    for (; i < cli->argc && strncmp(cli->argv[i], "--", 2) == 0; i++) {
        const char *arg = cli->argv[i];
        bool is_to = strcmp(arg, "--to") == 0;
        if (strcmp(arg, "--") == 0) {
            i++;
            break;
        }
        if (!is_to && strcmp(arg, "--from") != 0) {
            return cli_unknown(cli, arg);
        }
        if (++i == cli->argc ||
            !classad_form_of(cli->argv[i], is_to ? &how->to.form : &how->from)) {
            return cli_usage(cli, "%s needs one of old, long, new, json, xml", arg);
        }
        to = to || is_to;
    }
    how->first = i;
    return to ? CLI_OK : cli_usage(cli, "--to is missing");
}

static bool write_out(const struct cli *cli, struct strbuf *out, int *status)
{
    bool good = !out->failed && fwrite(strbuf_text(out), 1, out->length, stdout) == out->length &&
                fflush(stdout) == 0; /* whoever feeds a pipe may wait for it */
    if (!good) {
        *status = cli_fail(cli, out->failed ? "the ad is too large to write"
                                            : "cannot write to standard output");
    }
    strbuf_clear(out);
    return good;
}

static void convert_file(struct cli *cli, struct conversion *how, const char *path,
                         struct strbuf *out, int *status)
{
    const struct ad_context context = listing_context(cli);
    struct classad_input *input;
    struct err err;
    int rc = classad_input_open(path, how->from, &context, &input, &err);
    if (rc != 0) {
        *status = cli_fail(cli, "%s", err.text);
        return;
    }
    for (;;) {
        struct ad *ad = NULL;
        struct ad_place place;
        bool refused;
        rc = classad_input_next(input, &ad, &place, &refused, &err);
        if (rc == 0) {
            break;
        }
        if (rc > 0) {
            classad_output_ad(&how->to, ad, out);
        } else {
            *status = cli_fail(cli, "%s", err.text);
            classad_output_refused(&how->to, out);
        }
        ad_destroy(ad);
        if (!write_out(cli, out, status) || (rc < 0 && !refused)) {
            break;
        }
    }
    classad_input_close(input);
}

int classad_tool_convert(struct cli *cli)
{
    struct conversion how = {.from = CLASSAD_GUESS};
    struct strbuf out;
    int status = parse_options(cli, &how);
    if (status != CLI_OK) {
        return status;
    }
    strbuf_init(&out, 0);
    if (how.first == cli->argc) {
        convert_file(cli, &how, "-", &out, &status);
    }
    for (int i = how.first; i < cli->argc; i++) {
        convert_file(cli, &how, cli->argv[i], &out, &status);
    }
    classad_output_end(&how.to, &out);
    (void)write_out(cli, &out, &status); /* it has set the status */
    strbuf_fini(&out);
    return status;
}
