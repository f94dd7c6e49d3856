/* cli/cmd_start.c - `roost start`: starts the pool's daemons in the background, and returns when
 * they are ready.
 *
 * The nodes of a personal pool are then brought into the state that PERSONAL_NODES names: they are
 * started, or the node's own startd leaves its offline ads in the collector (-asleep), so that a
 * job can match them.  A startd that refuses -asleep because it died with claims is started
 * normally: it ends the claims, and goes to sleep when it has nothing to do.
 *
 * Ready are the daemons of DAEMON_LIST: on the host of the collector, those that put an ad into it
 * when the ad is there; elsewhere, those that hold their lock.
 *
 * A master that holds its lock may be about to end: it was killed a moment ago, or `roost stop` is
 * running.  So another master is started whenever the pool is not ready and nobody holds the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon_complaint.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/arrivals.h"
#include "cli/cli.h"
#include "cli/closed_dir.h"
#include "cli/config_try.h"
#include "power/power.h"
#include "wire/wire.h"

#define READY_MS 30000
#define RETRY_MS 50
#define SPAWN_MS 1000 /* within this time, a new master has taken its lock or has ended */

static const char *config_file_path(struct cli *cli)
{
    const char *path = os_getenv(cli->os, "ROOST_CONFIG");
    return path != NULL ? path : CONFIG_DEFAULT_PATH;
}

static int spawn_master(struct cli *cli, struct err *err)
{
    char program[4200];
    (void)snprintf(program, sizeof program, "%s/roost-master", config_path(cli->config, "SBIN"));
    /* -all: what was told to stay down runs again, too */
    const char *argv[] = {program, "-config", config_file_path(cli), "-all", NULL};
    char complaint[4200];
    const char *lock_dir = config_path(cli->config, "LOCK");
    daemon_complaint_path(lock_dir, "master", complaint, sizeof complaint);
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = "/",
                                  .stderr_path = complaint,
                                  .truncate_output = true,
                                  .new_session = true,
                                  .kin = OS_DETACHED};
    pid_t pid;
    int rc = os_mkdirs(cli->os, lock_dir, 0755, err);
    return rc != 0 ? rc : os_spawn(cli->os, &spec, NULL, NULL, &pid, err);
}

struct starting {
    struct cli *cli;
    struct arrivals *arrivals;
    uint64_t spawned_ms; /* when the last master was started, in loop time; 0: none was */
};

static int see_to_master(struct starting *starting, struct err *err)
{
    struct cli *cli = starting->cli;
    uint64_t now_ms = loop_now_ms(cli->loop);
    if ((starting->spawned_ms > 0 && now_ms < starting->spawned_ms + SPAWN_MS) ||
        cli_lock_holder(cli, config_path(cli->config, "LOCK"), "master") != 0) {
        return 0;
    }
    starting->spawned_ms = now_ms;
    return spawn_master(cli, err);
}

/* Repeats a step until it succeeds, starting a master where none holds the lock.  If a daemon does
 * not start, returns why; after READY_MS, returns the last error. */
static int until_ready(struct starting *starting,
                       int (*step)(const struct starting *starting, struct err *err),
                       struct err *err)
{
    struct cli *cli = starting->cli;
    uint64_t end_ms = loop_now_ms(cli->loop) + READY_MS;
    for (;;) {
        struct err why;
        int rc = step(starting, err);
        if (rc == 0 || rc == -EACCES || rc == -EINVAL || loop_now_ms(cli->loop) >= end_ms) {
            return rc;
        }
        if (arrivals_look(starting->arrivals, &why) != 0 || see_to_master(starting, &why) != 0) {
            *err = why;
            return -EIO;
        }
        cli_pause(cli, RETRY_MS);
    }
}

static int collector_answers(const struct starting *starting, struct err *err)
{
    return cli_collector(starting->cli, err);
}

static int schedd_answers(const struct starting *starting, struct err *err)
{
    return cli_schedd(starting->cli, err);
}

static int ad_is_there(struct cli *cli, const char *type, struct err *err)
{
    struct ad *args = ad_create();
    struct cli_reply reply;
    ad_set_string(args, "Type", type);
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, cli->collector, NULL, VERB_QUERY, &body, 0, &reply, err);
    if (rc == 0 && reply.ads.count == 0) {
        rc = err_set(err, -EAGAIN, "the collector has no %s ad yet", type);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return rc;
}

static int runs_here(struct cli *cli, const char *daemon, struct err *err)
{
    return cli_lock_holder(cli, config_path(cli->config, "LOCK"), daemon) != 0
               ? 0
               : err_set(err, -EAGAIN, "the %s of DAEMON_LIST does not run yet", daemon);
}

static int daemons_are_there(const struct starting *starting, struct err *err)
{
    static const char *const TYPES[][2] = {{"schedd", "Scheduler"},
                                           {"negotiator", "Negotiator"},
                                           {"rooster", "Rooster"},
                                           {"factory", "Factory"}};
    struct cli *cli = starting->cli;
    bool is_central = arrivals_has(starting->arrivals, "COLLECTOR");
    /* The collector that answered before may have ended. */
    int rc = is_central ? cli_collector(cli, err) : 0;
    const char *name;
    for (size_t i = 0; rc == 0 && (name = arrivals_name(starting->arrivals, i)) != NULL; i++) {
        const char *type = NULL;
        for (size_t j = 0; j < sizeof TYPES / sizeof TYPES[0] && is_central; j++) {
            type = strcmp(name, TYPES[j][0]) == 0 ? TYPES[j][1] : type;
        }
        rc = type != NULL ? ad_is_there(cli, type, err) : runs_here(cli, name, err);
    }
    return rc;
}

/* ---- nodes */

struct nodes {
    struct cli *cli;
    struct power *power;
    char program[4200]; /* path of roost-master */
    struct vec left;    /* struct leaving: nodes whose startd leaves offline ads in the collector */
    size_t waiting;
    bool done;
    char failure[ERR_TEXT_MAX];
};

static void one_done(struct nodes *nodes, const char *failure)
{
    if (failure != NULL && nodes->failure[0] == '\0') {
        (void)snprintf(nodes->failure, sizeof nodes->failure, "%s", failure);
    }
    nodes->waiting--;
    nodes->done = nodes->waiting == 0;
}

static void node_woken(void *arg, int status, const char *text)
{
    one_done(arg, status != 0 ? text : NULL);
}

static int wake_node(struct nodes *nodes, const struct cli_node *node, struct err *err)
{
    const struct power_node how = {.name = node->name,
                                   .method = "process",
                                   .config = node->config,
                                   .lock_dir = node->lock_dir,
                                   .program = nodes->program};
    return power_wake(nodes->power, &how, node_woken, nodes, err);
}

struct leaving {
    struct nodes *nodes;
    struct cli_node node;
};

static void node_left(void *arg, pid_t pid, const struct os_exit *how)
{
    const struct leaving *leaving = arg;
    struct err err;
    (void)pid;
    if (how->status == 0 && how->signal == 0) {
        one_done(leaving->nodes, NULL);
    } else if (wake_node(leaving->nodes, &leaving->node, &err) != 0) {
        one_done(leaving->nodes, err.text);
    }
}

static int leave_offline(struct nodes *nodes, const struct cli_node *node, struct err *err)
{
    struct cli *cli = nodes->cli;
    char program[4200], config[4200], boot[80], boot_time[64], id[UUID_TEXT_MAX];
    uuid_v7((uint64_t)loop_wall_ms(cli->loop), loop_rng(cli->loop), id);
    (void)snprintf(program, sizeof program, "%s/roost-startd", config_path(cli->config, "SBIN"));
    (void)snprintf(config, sizeof config, "ROOST_CONFIG=%s", node->config);
    (void)snprintf(boot, sizeof boot, "ROOST_BOOT_ID=%s", id);
    (void)snprintf(boot_time, sizeof boot_time, "ROOST_BOOT_TIME=%lld",
                   (long long)loop_wall_s(cli->loop));
    const char *argv[] = {program, "-config", node->config, "-noresurrect", "-asleep", NULL};
    const char *env_add[] = {config, boot, boot_time, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .new_session = true};
    struct leaving *leaving = mem_alloc(sizeof *leaving);
    *leaving = (struct leaving){.nodes = nodes, .node = *node};
    vec_push(&nodes->left, leaving);
    pid_t pid;
    return os_spawn(cli->os, &spec, node_left, leaving, &pid, err);
}

static bool has_ads(struct cli *cli, const char *machine, struct err *err)
{
    struct ad *args = ad_create();
    struct cli_reply reply;
    char constraint[400];
    (void)snprintf(constraint, sizeof constraint, "Machine =?= \"%s\"", machine);
    ad_set_string(args, "Type", "Machine");
    ad_set_string(args, "Constraint", constraint);
    ad_set_int(args, "Limit", 1);
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, cli->collector, NULL, VERB_QUERY, &body, 0, &reply, err);
    bool found = rc == 0 && reply.ads.count > 0;
    cli_reply_fini(&reply);
    ad_destroy(args);
    return found;
}

static int bring_nodes(struct cli *cli, struct err *err)
{
    const char *wanted = config_string(cli->config, "PERSONAL_NODES");
    struct nodes nodes = {.cli = cli};
    int rc = 0;
    if (strcmp(wanted, "none") == 0) {
        return 0;
    }
    (void)snprintf(nodes.program, sizeof nodes.program, "%s/roost-master",
                   config_path(cli->config, "SBIN"));
    rc = cli_collector(cli, err);
    nodes.power = power_create(cli->loop, cli->os, NULL);
    for (size_t i = 0; i < cli_node_count(cli) && rc == 0; i++) {
        struct cli_node node;
        if (!cli_node_at(cli, i, &node) || cli_lock_holder(cli, node.lock_dir, "master") != 0) {
            continue;
        }
        if (strcmp(wanted, "awake") == 0) {
            rc = wake_node(&nodes, &node, err);
        } else if (!has_ads(cli, node.name, err)) {
            rc = leave_offline(&nodes, &node, err);
        } else {
            continue;
        }
        nodes.waiting += rc == 0 ? 1 : 0;
    }
    if (nodes.waiting > 0) {
        loop_run_until(cli->loop, &nodes.done);
    }
    power_destroy(nodes.power);
    vec_fini(&nodes.left, mem_free);
    uint64_t end_ms = loop_now_ms(cli->loop) + READY_MS; /* then `roost status` shows them */
    for (size_t i = 0; i < cli_node_count(cli) && rc == 0 && nodes.failure[0] == '\0'; i++) {
        struct cli_node node;
        while (cli_node_at(cli, i, &node) && !has_ads(cli, node.name, NULL) &&
               loop_now_ms(cli->loop) < end_ms) {
            cli_pause(cli, RETRY_MS);
        }
    }
    if (rc == 0 && nodes.failure[0] != '\0') {
        rc = err_set(err, -EIO, "%s", nodes.failure);
    }
    return rc;
}

/* ---- machines whose startd was told to stay down */

static int turn_on(struct cli *cli, const char *machine, struct err *err)
{
    char uplink[WIRE_NAME_MAX + 1];
    struct cli_reply reply = {0};
    if ((size_t)snprintf(uplink, sizeof uplink, "master/%s", machine) >= sizeof uplink) {
        return err_set(err, -EINVAL, "the machine name is too long");
    }
    int rc = cli_call(cli, cli->collector, uplink, VERB_DAEMON_ON, NULL, 0, &reply, err);
    if (rc == -EHOSTUNREACH) {
        rc = err_set(err, rc,
                     "the master of %s is not connected to the collector: the machine is asleep, "
                     "or no machine has this name",
                     machine);
    } else if (rc == 0) {
        struct ad_value names;
        (void)ad_eval_attr(reply.args, NULL, "Daemons", NULL, &names); /* none: undefined */
        (void)printf("%s: %s", machine,
                     ad_value_count(&names) == 0
                         ? "a drain request stopped no daemon of this machine"
                         : "starts");
        for (size_t i = 0; i < ad_value_count(&names); i++) {
            struct ad_value name;
            ad_value_item(&names, i, &name);
            (void)printf(" %s", name.type == AD_TYPE_STRING ? name.string.text : "?");
            ad_value_fini(&name);
        }
        (void)printf("\n");
        ad_value_fini(&names);
    }
    cli_reply_fini(&reply);
    return rc;
}

static int start_machines(struct cli *cli)
{
    struct err err;
    int status = CLI_OK;
    if (cli_collector(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    for (int i = 1; i < cli->argc; i++) {
        if (turn_on(cli, cli->argv[i], &err) != 0) {
            status = cli_fail(cli, "%s", err.text);
        }
    }
    return status;
}

int cmd_start(struct cli *cli)
{
    struct err err;
    if (cli->argc > 1 && cli->argv[1][0] == '-') {
        return cli_unknown(cli, cli->argv[1]);
    }
    if (cli_config_nodes(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (cli->argc > 1) {
        return start_machines(cli);
    }
    struct starting starting = {.cli = cli};
    int rc = config_try_daemons(cli, NULL, &err); /* nothing is started that would end at once */
    if (rc != 0) {
        return err.text[0] != '\0' ? cli_fail(cli, "%s", err.text) : CLI_FAILED;
    }
    rc = arrivals_open(cli, &starting.arrivals, &err);
    if (rc == 0) {
        arrivals_retry(starting.arrivals);
        rc = see_to_master(&starting, &err);
    }
    if (rc != 0) {
        arrivals_close(starting.arrivals);
        return cli_fail(cli, "%s", err.text);
    }
    if (arrivals_has(starting.arrivals, "collector")) {
        rc = until_ready(&starting, collector_answers, &err);
    }
    if (rc == 0 && arrivals_has(starting.arrivals, "schedd")) {
        rc = until_ready(&starting, schedd_answers, &err);
    }
    rc = rc != 0 ? rc : until_ready(&starting, daemons_are_there, &err);
    arrivals_close(starting.arrivals);
    rc = rc != 0 ? rc : bring_nodes(cli, &err);
    if (rc != 0) {
        return cli_fail(cli, "%s; the logs are in %s", err.text, config_path(cli->config, "LOG"));
    }
    const char *account = config_string(cli->config, "SUBMIT_ROOT_AS");
    if (account != NULL && account[0] != '\0') {
        closed_dir_warn(cli, account, config_path(cli->config, "LOCAL_DIR"));
    }
    (void)printf("The pool %s.\n", starting.spawned_ms > 0 ? "is started" : "was running");
    return CLI_OK;
}
