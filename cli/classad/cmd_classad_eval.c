/* cli/classad/cmd_classad_eval.c - `roost classad eval` and `unparse`: expressions as arguments, or
 * a batch of cases on standard input.  Each case is answered by one line, which is written before
 * the next case is read.
 *
 * In a batch, a case with a syntax error gets an answer like any other and nothing on standard
 * error, because the program that sends the cases reads the answers.  As an argument, it is a
 * failure with the reason on standard error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/classad/classad_batch_plan.h"
#include "cli/classad/classad_input.h"
#include "cli/classad/classad_tool.h"
#include "cli/cli.h"
#include "cli/listing.h"

#define BLOCK_BYTES 65536
/* a line of a batch: two ads, an expression and two separators */
#define LINE_MAX_BYTES (3 * AD_TEXT_MAX + 2)

struct options {
    const char *ad;
    const char *target;
    bool batch;
    bool explain;
    int first; /* index in argv of the first expression */
};

static int parse_options(struct cli *cli, struct classad_batch *how, struct options *options)
{
    int i = 2;
    how->unparse = strcmp(cli->argv[1], "unparse") == 0;
    for (; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        const char **file = strcmp(arg, "--ad") == 0       ? &options->ad
                            : strcmp(arg, "--target") == 0 ? &options->target
                                                           : NULL;
        if (file != NULL && !how->unparse) {
            if (++i == cli->argc) {
                return cli_usage(cli, "%s needs a file name", arg);
            }
            *file = cli->argv[i];
        } else if (strcmp(arg, "--batch") == 0) {
            options->batch = true;
        } else if (strcmp(arg, "--explain") == 0) {
            options->explain = true;
        } else if (strcmp(arg, "--old") == 0) {
            how->old = true;
        } else if (strcmp(arg, "--tsv") == 0 && !how->unparse) {
            how->tsv = true;
        } else if (strcmp(arg, "--") == 0) {
            i++;
            break;
        } else if (strncmp(arg, "--", 2) == 0) {
            return cli_usage(cli, "unknown option '%s' (-- ends the options)", arg);
        } else {
            break;
        }
    }
    options->first = i;
    if (options->batch && i < cli->argc) {
        return cli_usage(cli, "--batch reads standard input and takes no argument '%s'",
                         cli->argv[i]);
    }
    if (!options->batch && i == cli->argc) {
        return cli_usage(cli, "the expression is missing");
    }
    if (how->tsv && (!options->batch || options->ad != NULL || options->target != NULL)) {
        return cli_usage(
            cli, "--tsv needs --batch, and no --ad or --target: its input lines contain the "
                 "ads");
    }
    return CLI_OK;
}

/* Prints the answer to one case as a line.  False: standard output cannot be written. */
static bool put_answer(const struct cli *cli, const struct classad_batch *how, const char *text,
                       size_t length, const char *label, int *status)
{
    struct strbuf out;
    struct err err;
    strbuf_init(&out, 0);
    if (classad_batch_answer(how, text, length, &out, &err) != 0 && label != NULL) {
        *status = cli_fail(cli, "%s: %s", label, err.text);
    }
    if (out.failed) {
        strbuf_clear(&out);
        strbuf_puts(&out, "error"); /* a value that nobody can print */
    }
    strbuf_putc(&out, '\n');
    bool good =
        fwrite(strbuf_text(&out), 1, out.length, stdout) == out.length && fflush(stdout) == 0;
    strbuf_fini(&out);
    if (!good) {
        *status = cli_fail(cli, "cannot write to standard output");
    }
    return good;
}

struct reader {
    struct strbuf line;
    unsigned long number;
    bool too_long;
};

static bool end_line(const struct cli *cli, const struct classad_batch *how, bool explain,
                     struct reader *reader, int *status)
{
    char label[32];
    int ignored = CLI_OK;
    reader->number++;
    (void)snprintf(label, sizeof label, "line %lu", reader->number);
    /* What is longer than any ad is cut, and so refused. */
    bool good =
        put_answer(cli, how, reader->too_long ? "" : strbuf_text(&reader->line),
                   reader->too_long ? 0 : reader->line.length, explain ? label : NULL, &ignored);
    *status = good ? *status : ignored;
    strbuf_clear(&reader->line);
    reader->too_long = false;
    return good;
}

static void take_bytes(struct reader *reader, const char *bytes, size_t length)
{
    strbuf_append(&reader->line, bytes, length);
    if (reader->line.failed) {
        reader->too_long = true;
        strbuf_clear(&reader->line);
    }
}

static int run_batch(const struct cli *cli, const struct classad_batch *how, bool explain)
{
    struct reader reader = {.number = 0};
    char block[BLOCK_BYTES];
    int status = CLI_OK;
    bool open = true; /* something stands on the line that has no end yet */
    strbuf_init(&reader.line, LINE_MAX_BYTES);
    ssize_t got;
    while ((got = read(STDIN_FILENO, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
        const char *at = block;
        const char *end = block + (got > 0 ? got : 0);
        while (at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            take_bytes(&reader, at, (size_t)((newline != NULL ? newline : end) - at));
            open = newline == NULL;
            if (newline != NULL && !end_line(cli, how, explain, &reader, &status)) {
                goto out;
            }
            at = newline != NULL ? newline + 1 : end;
        }
    }
    if (got < 0) {
        status = cli_fail(cli, "cannot read standard input: %s", err_code_text(-errno));
    } else if (open && (reader.line.length > 0 || reader.too_long)) {
        (void)end_line(cli, how, explain, &reader, &status);
    }
out:
    strbuf_fini(&reader.line);
    return status;
}

int classad_tool_eval(struct cli *cli)
{
    struct ad_context context = listing_context(cli);
    struct classad_batch how = {.context = &context};
    struct options options = {.ad = NULL};
    struct ad *my = NULL;
    struct ad *target = NULL;
    struct err err;
    int status = parse_options(cli, &how, &options);
    if (status != CLI_OK) {
        return status;
    }
    if ((options.ad != NULL && classad_input_first(options.ad, &context, &my, &err) != 0) ||
        (options.target != NULL &&
         classad_input_first(options.target, &context, &target, &err) != 0)) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        my = my != NULL ? my : ad_create();
        how.my = my;
        how.target = target;
        if (options.batch) {
            status = run_batch(cli, &how, options.explain);
        }
        for (int i = options.first; i < cli->argc; i++) {
            const char *text = cli->argv[i];
            if (!put_answer(cli, &how, text, strlen(text), text, &status)) {
                break;
            }
        }
    }
    ad_destroy(my);
    ad_destroy(target);
    return status;
}
