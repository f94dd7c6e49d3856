/* cli/cli.h - what the subcommands of `roost` share: configuration, connections, calls that wait.
 *
 * One file per subcommand, cli/cmd_<name>.c, with one function; its row is in commands.c's table. A
 * subcommand asks for what it needs, as late as it can, so that `roost --help` opens nothing.  Exit
 * status: 0 done, 1 the request failed, 2 usage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "wire/verbs.h"

struct ad;
struct ad_pool;
struct config;
struct knob_table;
struct loop;
struct os;
struct user_world;
struct wire;
struct wire_body;
struct wire_context;
struct wire_dial;

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli {
    struct loop *loop;
    struct os *os;
    struct config *config;      /* NULL before cli_config() */
    struct wire_context *wires; /* NULL before the first dial */
    struct wire *schedd, *collector;
    const char *remote_schedd, *remote_pool; /* -name, -pool (cli/remote.h); NULL: not said */
    struct ad_pool *pool;                    /* of the ads that replies bring */
    struct vec links;                        /* what session.c keeps for its connections */
    uint64_t random_state;    /* of random() in expressions; seeded when first asked for */
    struct user_world *users; /* of userMap() and userHome(); NULL before they are asked */
    char program_dir[4096];   /* where our own executable lies: the daemons are beside it */
    int argc;                 /* of the subcommand, argv[0] its name */
    char **argv;
};

extern const struct knob_table cli_knobs;

/* Prints "roost NAME: ..." to stderr and returns CLI_FAILED. */
int cli_fail(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of how the command was called; returns CLI_USAGE. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a word that the command does not know: names the nearest one, or what is to be done
 * instead (options_plan.h). */
int cli_unknown(const struct cli *cli, const char *arg);

/* Loads the configuration that ROOST_CONFIG names.  0 or -errno with the reason. */
int cli_config(struct cli *cli, struct err *err);

/* The same of another file (path NULL: that one) with other tables, as a daemon named subsystem
 * (NULL: a tool) would read it; ret is the caller's (config_destroy). */
int cli_config_load(struct cli *cli, const char *path, const struct knob_table *const *tables,
                    size_t table_count, const char *subsystem, struct config **ret,
                    struct err *err);

/* The account that owns the jobs which the caller submits on this host: its own, or for root the
 * one that SUBMIT_ROOT_AS names.  -ENOENT (the caller has no account, or is root without that
 * knob), -ENAMETOOLONG. */
int cli_owner_name(struct cli *cli, char *ret, size_t size, struct err *err);

/* ---- connections (session.c); each waits until it is ready */
int cli_schedd(struct cli *cli, struct err *err);
/* Is it the one of this host, which knows us by our uid?  With the configuration loaded. */
bool cli_schedd_is_local(struct cli *cli);
int cli_collector(struct cli *cli, struct err *err);
/* The same of another pool, HOST or HOST:PORT (-pool); its certificate must be known to us. */
int cli_collector_at(struct cli *cli, const char *host, struct err *err);

/* The same, with whatever may be said at a dial.  *ret stays where it is as long as the session:
 * it becomes NULL when the connection ends. */
int cli_dial_as(struct cli *cli, const struct wire_dial *how, struct wire **ret, struct err *err);

struct cli_reply {
    int status; /* 0 or negative errno */
    char text[ERR_TEXT_MAX];
    struct ad *args; /* of the last part; NULL when none */
    struct vec ads;  /* struct ad, of all parts */
    char *blob;      /* of the last part; NULL when none */
    size_t blob_length;
    struct secret_list *secrets; /* of the last part's arguments; NULL when none */
};
/* Calls and waits for the last reply; relay_to: through the hub to that uplink, or NULL.  Returns
 * the reply's status with err filled. Release the reply in any case. */
int cli_call(struct cli *cli, struct wire *wire, const char *relay_to, enum wire_verb verb,
             const struct wire_body *body, uint64_t deadline_ms, struct cli_reply *reply,
             struct err *err);
void cli_reply_fini(struct cli_reply *reply);
/* The same, giving the ads to each as they come, part by part: borrowed, but each may change them;
 * the reply has none.  What comes before an error was given, too. */
typedef void (*cli_ads_f)(void *arg, struct ad *const *ads, size_t count);
int cli_call_each(struct cli *cli, struct wire *wire, enum wire_verb verb,
                  const struct wire_body *body, cli_ads_f each, void *arg, struct cli_reply *reply,
                  struct err *err);

/* Runs the loop until the time is over. */
void cli_pause(struct cli *cli, uint64_t ms);

/* ---- the personal pool (pool_files.c) */
/* One node of the configuration, powered by the method process. */
struct cli_node {
    const char *name, *config, *lock_dir;
};
size_t cli_node_count(const struct cli *cli);
bool cli_node_at(const struct cli *cli, size_t index,
                 struct cli_node *ret); /* false: not of method process */
pid_t cli_lock_holder(struct cli *cli, const char *lock_dir, const char *name);

int cmd_init(struct cli *cli);
int cmd_start(struct cli *cli);
int cmd_stop(struct cli *cli);
int cmd_master(struct cli *cli);
int cmd_submit(struct cli *cli);
int cmd_q(struct cli *cli);
int cmd_history(struct cli *cli);
int cmd_status(struct cli *cli);
int cmd_advertise(struct cli *cli);
int cmd_act(struct cli *cli); /* rm, hold, release, vacate */
int cmd_edit(struct cli *cli);
int cmd_wait(struct cli *cli);
int cmd_power(struct cli *cli);
int cmd_drain(struct cli *cli);
int cmd_token(struct cli *cli);
int cmd_cert(struct cli *cli);
int cmd_config(struct cli *cli);
int cmd_reconfig(struct cli *cli);
int cmd_userprio(struct cli *cli);
int cmd_why(struct cli *cli);
int cmd_tail(struct cli *cli);
int cmd_ssh(struct cli *cli);
/* A shell beside a job, when that runs; the status is the shell's, or 255. */
int ssh_when_it_runs(struct cli *cli, const char *job_id);
int cmd_transfer(struct cli *cli); /* transfer-data */
int cmd_classad(struct cli *cli);
int cmd_completion(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_top(struct cli *cli);
int cmd_who(struct cli *cli);

#endif
