/* cli/cmd_who.c - `roost who`: the jobs that run on this machine, and their owners.
 *
 * The command reads the starters' own records, because a machine's owner has a right to know what
 * runs on it even without a network.  For a user who may not read the records (they belong to
 * root), the collector answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/options_plan.h"
#include "cli/processes.h"
#include "cli/who_plan.h"

#define RECORD_BYTES_MAX ((size_t)1 << 20)

struct who {
    struct cli *cli;
    struct listing listing;
    struct vec jobs; /* struct ad */
    bool wide, daemons;
    bool unreadable;     /* some record may not be read by this user */
    const char *execute; /* the EXECUTE directory that is being read */
    const char *lock_dir;
};

/* Adds JobPid: the first child of the starter, whose pid is in the slot's lock file. */
static void add_pid(struct who *who, struct ad *line)
{
    char name[300];
    struct process process;
    const char *slot = ad_string_or(line, "Slot", "");
    (void)snprintf(name, sizeof name, "starter.%.*s", (int)strcspn(slot, "@"), slot);
    pid_t starter = cli_lock_holder(who->cli, who->lock_dir, name);
    if (starter > 0 && process_look(who->cli, starter, &process) && process.first_child > 0) {
        ad_set_int(line, "JobPid", process.first_child);
    }
}

static void add_run(void *arg, const char *name)
{
    struct who *who = arg;
    char path[4400];
    char *text = NULL;
    size_t length;
    struct ad *record = NULL;
    if (strncmp(name, "dir_", 4) != 0) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%s/job.record", who->execute, name);
    int rc = os_read_file(who->cli->os, path, RECORD_BYTES_MAX, &text, &length, NULL);
    who->unreadable = who->unreadable || rc == -EACCES || rc == -EPERM;
    if (rc == 0 && ad_parse(text, length, &record, NULL) == 0) {
        struct ad *line = who_plan_record(record);
        add_pid(who, line);
        vec_push(&who->jobs, line);
    }
    ad_destroy(record);
    mem_free(text);
}

static void look_below(struct who *who, const char *execute, const char *lock_dir)
{
    who->execute = execute;
    who->lock_dir = lock_dir;
    int rc = os_list(who->cli->os, execute, add_run, who, NULL);
    who->unreadable = who->unreadable || rc == -EACCES || rc == -EPERM;
}

/* Reads the records of a personal pool's nodes: a node's EXECUTE directory is beside its lock
 * directory. */
static void look_at_nodes(struct who *who)
{
    struct cli_node node;
    char execute[4300];
    for (size_t i = 0; i < cli_node_count(who->cli); i++) {
        if (cli_node_at(who->cli, i, &node)) {
            const char *slash = strrchr(node.lock_dir, '/');
            int parent = slash != NULL ? (int)(slash - node.lock_dir) : 0;
            (void)snprintf(execute, sizeof execute, "%.*s/execute", parent, node.lock_dir);
            look_below(who, execute, node.lock_dir);
        }
    }
}

static int ask_collector(struct who *who, struct err *err)
{
    struct cli *cli = who->cli;
    struct os_machine machine;
    struct cli_reply reply = {0};
    struct listing claimed = {0};
    struct strbuf only;
    struct cli_node node;
    int rc = os_machine(cli->os, &machine, err);
    strbuf_init(&only, 0);
    if (rc == 0) {
        strbuf_printf(&only, "State == \"Claimed\" && (Machine == \"%s\"", machine.hostname);
    }
    for (size_t i = 0; i < cli_node_count(cli); i++) {
        if (cli_node_at(cli, i, &node)) {
            strbuf_printf(&only, " || Machine == \"%s\"", node.name);
        }
    }
    strbuf_putc(&only, ')');
    listing_also(&claimed, strbuf_text(&only));
    rc = rc != 0 ? rc : cli_collector(cli, err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->collector, NULL, "Machine", &claimed, NULL, NULL, &reply,
                                 err);
    vec_fini(&who->jobs, ad_destroy_item);
    who->jobs = (struct vec){0};
    for (size_t i = 0; rc == 0 && i < reply.ads.count; i++) {
        vec_push(&who->jobs, who_plan_slot(reply.ads.items[i]));
    }
    cli_reply_fini(&reply);
    listing_fini(&claimed);
    strbuf_fini(&only);
    return rc;
}

static void print_daemon(void *arg, const char *node, const char *daemon, pid_t pid)
{
    (void)arg;
    (void)printf("%-14s %-20s %7ld\n", node[0] != '\0' ? node : "-", daemon, (long)pid);
}

static int show_jobs(struct who *who)
{
    struct cli *cli = who->cli;
    struct err err;
    size_t count = who->jobs.count;
    const struct ad **jobs = (const struct ad **)who->jobs.items;
    if (listing_select(cli, &who->listing, jobs, &count, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (who->listing.style != LISTING_TABLE) {
        return listing_show(cli, &who->listing, jobs, count);
    }
    struct strbuf out;
    const struct ad_context context = listing_context(cli);
    const struct terminal terminal = listing_terminal(cli, who->wide);
    strbuf_init(&out, LISTING_TEXT_MAX);
    if (count > 0) {
        who_plan_print(jobs, count, &context, &terminal, &out);
    }
    return listing_write(cli, &out);
}

static int parse_options(struct who *who)
{
    struct cli *cli = who->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        int rc = listing_print_format(cli, &who->listing, &i, &err);
        rc = rc != 0 ? rc
                     : listing_plan_option(&who->listing, cli->argc, cli->argv, &i, &listing_zone,
                                           &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 1) {
            continue;
        }
        if (listing_is(arg, "wide", 1)) {
            who->wide = true;
        } else if (listing_is(arg, "daemons", 2)) {
            who->daemons = true;
        } else if (!listing_is(arg, "allpids", 3) && !options_ignored("who", arg)) {
            return cli_unknown(cli, arg);
        }
    }
    return CLI_OK;
}

int cmd_who(struct cli *cli)
{
    struct who who = {.cli = cli};
    struct err err;
    int status = parse_options(&who);
    if (status == CLI_OK && cli_config_nodes(cli, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK && who.daemons) {
        (void)printf("%-14s %-20s %7s\n", "Node", "Daemon", "PID");
        process_daemons(cli, print_daemon, NULL);
    } else if (status == CLI_OK) {
        look_below(&who, config_path(cli->config, "EXECUTE"), config_path(cli->config, "LOCK"));
        look_at_nodes(&who);
        bool ask = who.unreadable;
        status =
            ask && ask_collector(&who, &err) != 0 ? cli_fail(cli, "%s", err.text) : show_jobs(&who);
    }
    vec_fini(&who.jobs, ad_destroy_item);
    listing_fini(&who.listing);
    return status;
}
