/* cli/cmd_config.c - `roost config dump`: every knob and macro, its value, and which layer won.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/knob.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"

struct dump {
    struct cli *cli;
    struct listing listing;
    struct vec words; /* borrowed patterns */
    bool why;
    const char *subsystem;
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static int parse(struct dump *dump)
{
    struct cli *cli = dump->cli;
    struct err err;
    if (cli->argc < 2 || strcmp(cli->argv[1], "dump") != 0) {
        return cli_usage(cli, "it is `roost config dump`");
    }
    for (int i = 2; i < cli->argc; i++) {
        char *arg = cli->argv[i];
        int rc = listing_plan_option(&dump->listing, cli->argc, cli->argv, &i, &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 1) {
            continue;
        }
        if (listing_is(arg, "why", 1)) {
            dump->why = true;
        } else if (listing_is(arg, "subsystem", 3) && i + 1 < cli->argc) {
            dump->subsystem = cli->argv[++i];
        } else if (arg[0] == '-') {
            return cli_usage(cli, "'%s' is not understood", arg);
        } else {
            vec_push(&dump->words, arg);
        }
    }
    return CLI_OK;
}

static bool is_wanted(const struct dump *dump, const char *name)
{
    for (size_t i = 0; i < dump->words.count; i++) {
        if (text_glob(dump->words.items[i], name, true)) {
            return true;
        }
    }
    return dump->words.count == 0;
}

static struct ad *describe(const struct config *config, const char *name, const struct knob *knob)
{
    struct config_origin origin;
    struct ad *ad = ad_create();
    const char *value = config_text(config, name);
    ad_set_string(ad, "Name", name);
    ad_set_bool(ad, "IsKnob", knob != NULL);
    if (value != NULL) {
        ad_set_string(ad, "Value", value);
    }
    if (config_why(config, name, &origin)) {
        ad_set_string(ad, "Layer", config_layer_name(origin.layer));
        if (origin.file != NULL) {
            ad_set_string(ad, "File", origin.file);
        }
        if (origin.line > 0) {
            ad_set_int(ad, "Line", origin.line);
        }
        if (origin.raw != NULL) {
            ad_set_string(ad, "Written", origin.raw);
        }
    }
    if (knob != NULL && knob->help != NULL) {
        ad_set_string(ad, "Help", knob->help);
    }
    return ad;
}

static int by_name(const void *a, const void *b)
{
    const struct ad *const *left = a, *const *right = b;
    return strcmp(ad_string_or(*left, "Name", ""), ad_string_or(*right, "Name", ""));
}

static void print_line(const struct dump *dump, const struct ad *ad, struct strbuf *out)
{
    const char *value = ad_string_or(ad, "Value", NULL);
    const char *written = ad_string_or(ad, "Written", "");
    const char *file = ad_string_or(ad, "File", "");
    int64_t line = ad_int_or(ad, "Line", 0);
    strbuf_printf(out, "%s%s%s\n", ad_string_or(ad, "Name", ""),
                  value != NULL ? " = " : " is not set", value != NULL ? value : "");
    if (!dump->why) {
        return;
    }
    strbuf_printf(out, "    # %s%s%s", ad_string_or(ad, "Layer", "nowhere"),
                  file[0] != '\0' ? ", " : "", file);
    if (line > 0) {
        strbuf_printf(out, ":%lld", (long long)line);
    }
    if (written[0] != '\0' && (value == NULL || strcmp(written, value) != 0)) {
        strbuf_printf(out, ": %s", written);
    }
    strbuf_putc(out, '\n');
}

static int show(struct dump *dump, const struct config *config)
{
    struct vec ads = {0};
    struct err err;
    const char *name;
    const struct knob *knob;
    size_t at = 0;
    int status = CLI_OK;
    while (config_next(config, &at, &name, &knob)) {
        if (is_wanted(dump, name)) {
            vec_push(&ads, describe(config, name, knob));
        }
    }
    size_t count = ads.count;
    if (count > 1) {
        qsort(ads.items, count, sizeof *ads.items, by_name);
    }
    if (count == 0 && dump->words.count > 0) {
        status = cli_fail(dump->cli, "nothing is called %s", (const char *)dump->words.items[0]);
    } else if (listing_select(dump->cli, &dump->listing, (const struct ad **)ads.items, &count,
                              &err) != 0) {
        status = cli_fail(dump->cli, "%s", err.text);
    } else if (dump->listing.style != LISTING_TABLE) {
        status =
            listing_show(dump->cli, &dump->listing, (const struct ad *const *)ads.items, count);
    } else {
        struct strbuf out;
        strbuf_init(&out, 0);
        for (size_t i = 0; i < count; i++) {
            print_line(dump, ads.items[i], &out);
        }
        status = listing_write(dump->cli, &out);
    }
    vec_fini(&ads, destroy_ad);
    return status;
}

int cmd_config(struct cli *cli)
{
    struct dump dump = {.cli = cli};
    struct config *config;
    struct err err;
    size_t tables = 0;
    while (knob_tables[tables] != NULL) {
        tables++;
    }
    int status = parse(&dump);
    if (status == CLI_OK &&
        cli_config_load(cli, knob_tables, tables, dump.subsystem, &config, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK) {
        status = show(&dump, config);
        for (size_t i = 0; i < config_unknown_count(config); i++) {
            (void)cli_fail(cli, "%s", config_unknown(config, i)); /* a warning only */
        }
        config_destroy(config);
    }
    vec_fini(&dump.words, NULL);
    listing_fini(&dump.listing);
    return status;
}
