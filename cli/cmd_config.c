/* cli/cmd_config.c - `roost config`: shows the configuration and where each value comes from,
 * checks it, and tells daemons to load it again or to change a setting.
 *
 * This file handles this host's configuration; config_ask.c asks the daemons of other machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "base/knob.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/config_ask.h"
#include "cli/config_try.h"
#include "cli/listing.h"
#include "wire/settings.h"

struct dump {
    struct cli *cli;
    struct listing listing;
    struct vec words; /* the arguments: patterns, settings or a file; borrowed */
    struct vec nodes; /* machine names of --node; borrowed */
    bool why;
    const char *subsystem;
};

static int parse_options(struct dump *dump)
{
    struct cli *cli = dump->cli;
    struct err err;
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
        } else if (listing_is(arg, "node", 1) && i + 1 < cli->argc) {
            vec_push(&dump->nodes, cli->argv[++i]);
        } else if (arg[0] == '-') {
            return cli_unknown(cli, arg);
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

/* Prints all knobs of one configuration, sorted by name.  No knobs although patterns were given is
 * an error.  Returns the exit status. */
static int show_knobs(struct dump *dump, struct vec *ads)
{
    struct err err;
    size_t count = ads->count;
    if (count > 1) {
        qsort(ads->items, count, sizeof *ads->items, by_name);
    }
    if (count == 0 && dump->words.count > 0) {
        return cli_fail(dump->cli, "unknown knob or macro: %s", (const char *)dump->words.items[0]);
    }
    if (listing_select(dump->cli, &dump->listing, (const struct ad **)ads->items, &count, &err) !=
        0) {
        return cli_fail(dump->cli, "%s", err.text);
    }
    if (dump->listing.style != LISTING_TABLE) {
        return listing_show(dump->cli, &dump->listing, (const struct ad *const *)ads->items, count);
    }
    struct strbuf out;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < count; i++) {
        print_line(dump, ads->items[i], &out);
    }
    return listing_write(dump->cli, &out);
}

/* ---- this host */

static int collect_here(struct dump *dump, struct vec *ads, struct err *err)
{
    struct config *config;
    const char *name;
    const struct knob *knob;
    size_t at = 0;
    const struct config_options how = {.tables = knob_tables,
                                       .table_count = config_try_tables(),
                                       .subsystem = dump->subsystem,
                                       .only_title = ""}; /* sections are not shown */
    int rc = cli_config_load(dump->cli, &how, &config, err);
    if (rc != 0) {
        return rc;
    }
    while (config_next(config, &at, &name, &knob)) {
        if (is_wanted(dump, name)) {
            vec_push(ads, settings_describe(config, name, knob));
        }
    }
    config_try_warn(dump->cli, config);
    config_destroy(config);
    return 0;
}

static int config_check(struct dump *dump)
{
    struct cli *cli = dump->cli;
    const char *path = dump->words.count > 0 ? dump->words.items[0] : NULL;
    size_t files = 0;
    struct err err;
    if (dump->words.count > 1 || dump->nodes.count > 0) {
        return cli_usage(cli, "check takes one file at a time");
    }
    if (config_try_file(cli, path, true, &files, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (config_try_daemons(cli, path, &err) != 0) {
        return err.text[0] != '\0' ? cli_fail(cli, "%s", err.text) : CLI_FAILED;
    }
    (void)printf("The configuration is valid; %zu file%s read\n", files,
                 files == 1 ? " was" : "s were");
    return CLI_OK;
}

/* ---- dump, get */

static int collect_knobs(struct dump *dump, const char *node, struct vec *ads, struct err *err)
{
    if (node == NULL) {
        return collect_here(dump, ads, err);
    }
    const struct config_peer peer = {node, dump->subsystem};
    struct cli_reply reply;
    int rc = config_ask_get(dump->cli, &peer, (const char *const *)dump->words.items,
                            dump->words.count, &reply, err);
    if (rc == 0) {
        *ads = reply.ads;
        reply.ads = (struct vec){0};
    }
    cli_reply_fini(&reply);
    return rc;
}

static int dump_all(struct dump *dump)
{
    int status = CLI_OK;
    for (size_t i = 0; i < dump->nodes.count || i == 0; i++) {
        struct vec ads = {0};
        struct err err;
        int rc =
            collect_knobs(dump, i < dump->nodes.count ? dump->nodes.items[i] : NULL, &ads, &err);
        if (rc == 0 && dump->nodes.count > 1 && dump->listing.style == LISTING_TABLE) {
            (void)printf("%s# %s\n", i > 0 ? "\n" : "", (const char *)dump->nodes.items[i]);
        }
        status |= rc != 0 ? cli_fail(dump->cli, "%s", err.text) : show_knobs(dump, &ads);
        vec_fini(&ads, ad_destroy_item);
    }
    return status;
}

/* Prints the value alone, for `config get`. */
static int print_value(struct dump *dump, const char *word, const struct vec *ads)
{
    int status = CLI_FAILED;
    for (size_t i = 0; i < ads->count; i++) {
        const char *value = ad_string_or(ads->items[i], "Value", NULL);
        if (!text_glob(word, ad_string_or(ads->items[i], "Name", ""), true)) {
            continue;
        }
        if (value == NULL) {
            return cli_fail(dump->cli, "%s has no value",
                            ad_string_or(ads->items[i], "Name", word));
        }
        (void)printf("%s\n", value);
        status = CLI_OK;
    }
    return status == CLI_OK ? status : cli_fail(dump->cli, "unknown knob or macro: %s", word);
}

static int config_get(struct dump *dump)
{
    if (dump->words.count == 0) {
        return cli_usage(dump->cli, "the knob is missing");
    }
    if (dump->why || dump->listing.style != LISTING_TABLE) {
        return dump_all(dump);
    }
    int status = CLI_OK;
    for (size_t i = 0; i < dump->nodes.count || i == 0; i++) {
        struct vec ads = {0};
        struct err err;
        int rc =
            collect_knobs(dump, i < dump->nodes.count ? dump->nodes.items[i] : NULL, &ads, &err);
        status |= rc != 0 ? cli_fail(dump->cli, "%s", err.text) : CLI_OK;
        for (size_t w = 0; w < dump->words.count && rc == 0; w++) {
            status |= print_value(dump, dump->words.items[w], &ads);
        }
        vec_fini(&ads, ad_destroy_item);
    }
    return status;
}

/* ---- set, unset */

static int change_knobs(struct dump *dump, bool unset)
{
    int status = CLI_OK;
    if (dump->words.count == 0) {
        return cli_usage(dump->cli, unset ? "which knob?" : "KNOB=VALUE is missing");
    }
    for (size_t i = 0; (i < dump->nodes.count || i == 0) && status != CLI_USAGE; i++) {
        const struct config_peer peer = {i < dump->nodes.count ? dump->nodes.items[i] : NULL,
                                         dump->subsystem};
        for (size_t w = 0; w < dump->words.count && status != CLI_USAGE; w++) {
            int one = config_ask_set(dump->cli, &peer, dump->words.items[w], unset);
            status = one != CLI_OK ? one : status;
        }
    }
    return status;
}

static int config_set(struct dump *dump)
{
    return change_knobs(dump, false);
}

static int config_unset(struct dump *dump)
{
    return change_knobs(dump, true);
}

/* ---- reload */

/* Sends SIGHUP to the master, which passes the order on; without a master, to each daemon.  Adds
 * the number of signalled processes to *told. */
static int tell_daemons(struct cli *cli, const char *lock_dir, size_t *told, struct err *err)
{
    static const char *const NAMES[] = {"master",     "startd", "rooster",  "factory",
                                        "negotiator", "schedd", "collector"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        pid_t pid = cli_lock_holder(cli, lock_dir, NAMES[i]);
        int rc = pid > 0 ? os_kill(cli->os, pid, SIGHUP) : 0;
        if (rc != 0 && rc != -ESRCH) {
            return err_set(err, rc, "cannot tell the %s, process %d, to read its configuration: %s",
                           NAMES[i], (int)pid, err_code_text(rc));
        }
        *told += pid > 0 && rc == 0 ? 1 : 0;
        if (i == 0 && *told > 0) {
            return 0;
        }
    }
    return 0;
}

static int reload_here(struct cli *cli)
{
    struct err err;
    struct cli_node node;
    size_t told = 0, files;
    int rc = config_try_file(cli, NULL, true, &files, &err);
    rc = rc != 0 ? rc : cli_config_nodes(cli, &err);
    for (size_t i = 0; rc == 0 && i < cli_node_count(cli); i++) {
        rc =
            cli_node_at(cli, i, &node) ? config_try_file(cli, node.config, false, &files, &err) : 0;
    }
    rc = rc != 0 ? rc : config_try_daemons(cli, NULL, &err);
    if (rc != 0) { /* nobody is told: they would say the same in their logs */
        return err.text[0] != '\0' ? cli_fail(cli, "%s", err.text) : CLI_FAILED;
    }
    rc = tell_daemons(cli, config_path(cli->config, "LOCK"), &told, &err);
    for (size_t i = 0; rc == 0 && i < cli_node_count(cli); i++) {
        if (cli_node_at(cli, i, &node)) {
            size_t here = 0;
            rc = tell_daemons(cli, node.lock_dir, &here, &err);
            told += here;
        }
    }
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (told == 0) {
        return cli_fail(cli, "no daemon of this configuration is running on this host");
    }
    (void)printf("The configuration is valid; the daemons were told to read it again.  Their logs "
                 "say what changed.\n");
    return CLI_OK;
}

static int config_reload(struct dump *dump)
{
    int status = CLI_OK;
    if (dump->words.count > 0) {
        return cli_unknown(dump->cli, (const char *)dump->words.items[0]);
    }
    if (dump->nodes.count == 0 && dump->subsystem == NULL) {
        return reload_here(dump->cli);
    }
    for (size_t i = 0; i < dump->nodes.count || i == 0; i++) {
        const struct config_peer peer = {i < dump->nodes.count ? dump->nodes.items[i] : NULL,
                                         dump->subsystem};
        status |= config_ask_reload(dump->cli, &peer);
    }
    return status;
}

static const struct {
    const char *name;
    int (*run)(struct dump *dump);
} VERBS[] = {
    {"dump", dump_all},  {"get", config_get},     {"check", config_check},
    {"set", config_set}, {"unset", config_unset}, {"reload", config_reload},
};

static int run_verb(struct cli *cli, size_t verb)
{
    struct dump dump = {.cli = cli};
    int status = parse_options(&dump);
    if (status == CLI_OK) {
        status = VERBS[verb].run(&dump);
    }
    vec_fini(&dump.words, NULL);
    vec_fini(&dump.nodes, NULL);
    listing_fini(&dump.listing);
    return status;
}

int cmd_config(struct cli *cli)
{
    const char *word = cli->argc > 1 ? cli->argv[1] : "";
    for (size_t i = 0; i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (strcmp(VERBS[i].name, word) == 0) {
            return run_verb(cli, i);
        }
    }
    return word[0] != '\0'
               ? cli_usage(cli,
                           "unknown action '%s'; expected dump, get, check, set, unset or reload",
                           word)
               : cli_usage(cli, "the action is missing: dump, get, check, set, unset or reload");
}

/* `roost reconfig [...]` is `roost config reload [...]`. */
int cmd_reconfig(struct cli *cli)
{
    char *argv[64];
    if (cli->argc >= (int)(sizeof argv / sizeof argv[0])) {
        return cli_usage(cli, "too many machines for one call; use several calls");
    }
    struct cli *as = cli;
    char **old = cli->argv;
    argv[0] = old[0];
    argv[1] = (char *)"reload";
    for (int i = 1; i < cli->argc; i++) {
        argv[i + 1] = old[i];
    }
    as->argv = argv;
    as->argc++;
    int status = cmd_config(as);
    as->argv = old;
    as->argc--;
    return status;
}
