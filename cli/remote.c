/* cli/remote.c - -name SCHEDD and -pool HOST, for every command that asks a schedd.
 *
 * The schedd of this host is reached by its Unix socket if this host has one, because the socket
 * tells the schedd who we are; otherwise by its port, with a token.
 *
 * The options are removed from the arguments before the command sees them, so every such command
 * has them without code of its own.  A named schedd is looked up in the collector and dialled at
 * its port, with a token, even when it is on this host: there is one way for all callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/os/os.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/arrivals.h"
#include "cli/cli.h"
#include "cli/schedds.h"
#include "wire/wire.h"

/* Commands that ask a schedd and do not use -name and -pool for something else. */
static const char *const COMMANDS[] = {
    "q",          "history", "rm",   "hold", "release", "vacate", "suspend",       "continue",
    "checkpoint", "edit",    "wait", "why",  "tail",    "submit", "transfer-data", "ssh",
    "top",
};

const char remote_help[] =
    "  -name SCHEDD         ask this schedd of the pool instead of this host's\n"
    "  -pool HOST[:PORT]    ask another pool; HOST is its collector\n";

bool remote_is_for(const char *command)
{
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        if (strcmp(COMMANDS[i], command) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_option(const char *word, const char *name)
{
    word += word[0] == '-' && word[1] == '-' ? 1 : 0;
    return word[0] == '-' && strcmp(word + 1, name) == 0;
}

int remote_take(struct cli *cli)
{
    if (!remote_is_for(cli->argv[0])) {
        return CLI_OK;
    }
    /* What follows the job is the command that runs there. */
    bool until_word = strcmp(cli->argv[0], "ssh") == 0;
    int kept = 1;
    for (int i = 1; i < cli->argc; i++) {
        char *word = cli->argv[i];
        bool names = is_option(word, "name"), pools = is_option(word, "pool");
        bool over = until_word && kept > 1 && cli->argv[kept - 1][0] != '-';
        if (over || (!names && !pools)) {
            cli->argv[kept++] = word;
            continue;
        }
        if (i + 1 == cli->argc) {
            return cli_usage(cli, "%s needs %s", word, names ? "the name of a schedd" : "a host");
        }
        *(names ? &cli->remote_schedd : &cli->remote_pool) = cli->argv[++i];
    }
    cli->argc = kept;
    cli->argv[kept] = NULL;
    return CLI_OK;
}

/* True when wanted is the ad's Name, the part of the Name before '@', or the Machine. */
static bool is_meant(const struct ad *ad, const char *wanted)
{
    const char *name = ad_string_or(ad, "Name", "");
    size_t length = strcspn(name, "@");
    return ad_name_compare(name, wanted) == 0 ||
           ad_name_compare(ad_string_or(ad, "Machine", ""), wanted) == 0 ||
           (strlen(wanted) == length && strncasecmp(name, wanted, length) == 0);
}

/* Sets *ret to the schedd with exactly this name, else to the only one that is_meant().  Without a
 * name, to the first. */
static int choose_schedd(const struct vec *ads, const char *wanted, struct ad **ret,
                         struct err *err)
{
    size_t fit = 0;
    for (size_t i = 0; i < ads->count; i++) {
        if (wanted == NULL ||
            ad_name_compare(ad_string_or(ads->items[i], "Name", ""), wanted) == 0) {
            *ret = ads->items[i];
            return 0;
        }
        if (is_meant(ads->items[i], wanted)) {
            *ret = ads->items[i];
            fit++;
        }
    }
    if (wanted == NULL) {
        return err_set(err, -ENOENT, "the pool has no schedd");
    }
    return fit == 1  ? 0
           : fit > 1 ? err_set(err, -EINVAL, "several schedds match '%.100s'; give the whole name",
                               wanted)
                     : err_set(err, -ENOENT,
                               "no such schedd in the pool: '%.100s'; `roost status -schedd` lists "
                               "all schedds",
                               wanted);
}

/* The collector's ad of the schedd that -name names, or of the pool's first schedd; owned by the
 * caller. */
static int find_schedd(struct cli *cli, struct ad **ret, struct err *err)
{
    struct cli_reply reply;
    int rc = cli->remote_pool != NULL ? cli_collector_at(cli, cli->remote_pool, err)
                                      : cli_collector(cli, err);
    if (rc != 0) {
        return rc;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Scheduler");
    const struct wire_body body = {.args = args};
    rc = cli_call(cli, cli->collector, NULL, VERB_QUERY, &body, 0, &reply, err);
    struct ad *found = NULL;
    rc = rc == 0 ? choose_schedd(&reply.ads, cli->remote_schedd, &found, err) : rc;
    if (rc == 0) {
        *ret = ad_copy(found);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return rc;
}

/* ---- why there is no schedd to talk to */

/* Finds what the master of a schedd that does not run says of it.  machine: the schedd's; NULL: the
 * only machine whose schedd does not run.  Returns whether that is known. */
static bool ask_master(struct cli *cli, const char *machine, struct err *why)
{
    static const char *const WANTED[] = {"Machine", "SCHEDD_Problem"};
    struct cli_reply reply = {0};
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "DaemonMaster");
    ad_set_string(args, "Constraint", "SCHEDD_Problem =!= undefined");
    ad_set_strings(args, "Projection", WANTED, ARRAY_COUNT(WANTED));
    const struct wire_body body = {.args = args};
    size_t found = 0;
    if (cli->collector != NULL &&
        cli_call(cli, cli->collector, NULL, VERB_QUERY, &body, 0, &reply, NULL) == 0) {
        for (size_t i = 0; i < reply.ads.count; i++) {
            const char *other = ad_string_or(reply.ads.items[i], "Machine", "");
            if (machine == NULL || ad_name_compare(machine, other) == 0) {
                found++;
                (void)err_set(why, -EIO, "it does not run on %s: %s", other,
                              ad_string_or(reply.ads.items[i], "SCHEDD_Problem", ""));
            }
        }
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return found == 1;
}

/* Puts the reason why the schedd does not run into err, if it is known; else leaves err as it is.
 * schedd: the ad of the schedd; NULL: the collector has no such ad.  Returns rc. */
static int explain(struct cli *cli, const struct ad *schedd, int rc, struct err *err)
{
    char local[DAEMON_COMPLAINT_MAX];
    struct err why = {""};
    bool is_ours = cli->remote_schedd == NULL && cli->remote_pool == NULL;
    const char *machine =
        schedd != NULL ? ad_string_or(schedd, "Machine", NULL) : cli->remote_schedd;
    if (is_ours && arrivals_failed(cli, "schedd", local)) {
        return err_set(err, rc, "cannot reach the schedd: it does not run: %s", local);
    }
    return ask_master(cli, machine, &why)
               ? err_set(err, rc, "cannot reach the schedd: %s", why.text)
               : rc;
}

/* ---- the schedd */

bool cli_schedd_is_local(struct cli *cli)
{
    char path[4200];
    struct os_stat stat;
    if (cli->config == NULL || cli->remote_schedd != NULL || cli->remote_pool != NULL) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/schedd.sock", config_path(cli->config, "SPOOL"));
    return os_stat(cli->os, path, &stat) == 0;
}

int cli_schedd(struct cli *cli, struct err *err)
{
    char address[4200];
    if (cli->schedd != NULL) {
        return 0;
    }
    int rc = cli_config(cli, err);
    if (rc != 0) {
        return rc;
    }
    if (cli_schedd_is_local(cli)) {
        (void)snprintf(address, sizeof address, "unix:%s/schedd.sock",
                       config_path(cli->config, "SPOOL"));
        const struct wire_dial how = {.address = address, .route = "schedd", .name = ""};
        rc = cli_dial_as(cli, &how, &cli->schedd, err);
        return rc != 0
                   ? explain(cli, NULL,
                             err_prefix(err, rc, "cannot reach the schedd; is the pool running?"),
                             err)
                   : 0;
    }
    /* No schedd on this host: the pool's, by its ad. */
    struct ad *ad = NULL;
    rc = find_schedd(cli, &ad, err);
    bool is_named = rc == 0;
    rc = rc != 0 ? rc : schedds_dial(cli, ad, err);
    if (rc == -ENOENT || (is_named && rc != 0)) { /* else it is the collector that is not there */
        rc = explain(cli, ad, rc, err);
    }
    ad_destroy(ad);
    return rc;
}
