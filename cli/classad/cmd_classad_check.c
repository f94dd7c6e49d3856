/* cli/classad/cmd_classad_check.c - `roost classad check`: reports all faults in files of ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "cli/classad/classad_check_plan.h"
#include "cli/classad/classad_input.h"
#include "cli/classad/classad_tool.h"
#include "cli/cli.h"
#include "cli/listing.h"

#define FAULTS_DEFAULT 20

struct checking {
    enum classad_form form;
    unsigned long most;
    int first; /* index in argv of the first file */

    const char *path;
    unsigned long faults; /* faults in all files */
};

static int parse_options(struct cli *cli, struct checking *how)
{
    int i = 2;
    for (; i < cli->argc && strncmp(cli->argv[i], "--", 2) == 0; i++) {
        const char *arg = cli->argv[i];
        if (strcmp(arg, "--") == 0) {
            i++;
            break;
        }
        bool from = strcmp(arg, "--from") == 0;
        if (!from && strcmp(arg, "--limit") != 0) {
            return cli_unknown(cli, arg);
        }
        if (++i == cli->argc) {
            return cli_usage(cli, "%s needs a value", arg);
        }
        char *end = NULL;
        if (from && !classad_form_of(cli->argv[i], &how->form)) {
            return cli_usage(cli, "--from needs one of old, long, new, json, xml");
        }
        if (!from) {
            how->most = strtoul(cli->argv[i], &end, 10);
            if (*end != '\0' || how->most == 0 || cli->argv[i][0] == '-') {
                return cli_usage(cli, "--limit %s: expected a number of faults, at least 1",
                                 cli->argv[i]);
            }
        }
    }
    how->first = i;
    return i < cli->argc ? CLI_OK
                         : cli_usage(cli, "no FILE is named: name files, or - for standard input");
}

static void print_fault(void *arg, struct ad_place place, const char *reason)
{
    struct checking *how = arg;
    how->faults++;
    (void)fprintf(stderr, "%s:%lu:%lu: %s\n", how->path, place.line, place.column, reason);
}

static enum ad_form ad_form_of(enum classad_form form)
{
    return form == CLASSAD_JSON ? AD_FORM_JSON : form == CLASSAD_NEW ? AD_FORM_NEW : AD_FORM_LONG;
}

/* Reports an ad that was refused at `place`: all its faults if its text is at hand, else this
 * one. */
static void tell_all(struct checking *how, const struct classad_input *input,
                     const struct ad_context *context, struct ad_place place, const char *reason)
{
    enum classad_form form = classad_input_form(input);
    size_t length = 0;
    struct ad_place from;
    const char *text = form != CLASSAD_XML ? classad_input_text(input, &length, &from) : NULL;
    if (length == 0) {
        print_fault(how, place, reason);
        return;
    }
    char *copy = mem_strndup(text, length);
    size_t told = classad_check_text(ad_form_of(form), copy, length, from, context,
                                     how->most - how->faults, print_fault, how);
    if (told == 0) {
        print_fault(how, place, reason);
    }
    mem_free(copy);
}

static int check_file(struct cli *cli, struct checking *how)
{
    const struct ad_context context = listing_context(cli);
    struct classad_input *input;
    struct err err;
    unsigned long ads = 0;
    unsigned long before = how->faults;
    int status = CLI_OK;
    if (classad_input_open(how->path, how->form, &context, &input, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    while (how->faults < how->most) {
        struct ad *ad = NULL;
        struct ad_place place;
        bool refused;
        int rc = classad_input_next(input, &ad, &place, &refused, &err);
        ad_destroy(ad);
        if (rc == 0) {
            break;
        }
        ads++;
        if (rc < 0) {
            const char *reason = strstr(err.text, ": "); /* behind file, line and column */
            tell_all(how, input, &context, place, reason != NULL ? reason + 2 : err.text);
            status = CLI_FAILED;
        }
        if (rc < 0 && !refused) {
            break;
        }
    }
    if (how->faults == before) {
        (void)printf("%s: %lu ad%s, no faults\n", how->path, ads, ads == 1 ? "" : "s");
    }
    classad_input_close(input);
    return status;
}

int classad_tool_check(struct cli *cli)
{
    struct checking how = {.form = CLASSAD_GUESS, .most = FAULTS_DEFAULT};
    int status = parse_options(cli, &how);
    for (int i = how.first; status != CLI_USAGE && i < cli->argc && how.faults < how.most; i++) {
        how.path = cli->argv[i];
        status = check_file(cli, &how) != CLI_OK ? CLI_FAILED : status;
    }
    if (how.faults == how.most) {
        (void)fprintf(stderr,
                      "roost classad: stopped after %lu faults; there may be more (--limit)\n",
                      how.most);
    }
    return status;
}
