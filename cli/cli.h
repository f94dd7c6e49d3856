/* cli/cli.h - code that the subcommands of `roost` share: configuration, connections, blocking
 * calls.
 *
 * Each subcommand is one function in a file cli/cmd_<name>.c and a row of the table in commands.c.
 * A subcommand opens what it needs as late as possible, so `roost --help` opens nothing.  Exit
 * status: 0 done, 1 the request failed, 2 wrong usage.
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
struct config_options;
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
    struct config *config; /* NULL before cli_config() */
    /* what all connections share (event loop, log, token, keys, name of the pool); NULL before the
     * first connection */
    struct wire_context *wires;
    struct wire *schedd, *collector;
    /* values of -name and -pool (cli/remote.h); NULL: not given */
    const char *remote_schedd, *remote_pool;
    struct ad_pool *pool;     /* allocates the ads that come in replies */
    struct vec links;         /* records of the connections; only for session.c */
    uint64_t random_state;    /* state of random() in expressions; seeded at first use */
    struct user_world *users; /* data of userMap() and userHome(); NULL until first use */
    char program_dir[4096];   /* directory of this executable; the daemons are there too */
    /* number of arguments in argv of the subcommand; argv[0] is its name */
    int argc;
    char **argv;
    const struct cli_command *command;         /* the subcommand */
    const struct cli_command *const *commands; /* all subcommands; NULL-terminated */
};

extern const struct knob_table cli_knobs;

/* Prints "roost NAME: ..." to stderr and returns CLI_FAILED. */
int cli_fail(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints "roost NAME: ..." about wrong usage to stderr and returns CLI_USAGE. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints to stderr that the command does not know the word arg, and the nearest known word or what
 * to use instead; returns CLI_USAGE (unknown_word.c, options_plan.h). */
int cli_unknown(const struct cli *cli, const char *arg);

/* Loads the configuration file that ROOST_CONFIG names.  Returns 0, or -errno with the reason in
 * err. */
int cli_config(struct cli *cli, struct err *err);
/* The same with the `node` sections, of which a pool can have thousands: for commands that call
 * cli_node_count().  Must be the first to load the configuration. */
int cli_config_nodes(struct cli *cli, struct err *err);

/* Loads a configuration file as `how` says (base/config/config.h): its path (NULL: that of
 * ROOST_CONFIG), subsystem (NULL: as a tool), tables and only_title; the rest is added here.  The
 * caller releases *ret with config_destroy(). */
int cli_config_load(struct cli *cli, const struct config_options *how, struct config **ret,
                    struct err *err);

/* Copies to ret the name of the account that owns jobs which the caller submits on this host: the
 * caller's own account or, for root, the value of SUBMIT_ROOT_AS.  -ENOENT: the caller has no
 * account, or is root and SUBMIT_ROOT_AS is not set; -ENAMETOOLONG: the name does not fit into size
 * bytes. */
int cli_owner_name(struct cli *cli, char *ret, size_t size, struct err *err);

/* ---- connections (session.c) */

/* Connects to the collector of the caller's pool and waits until the connection is ready; does
 * nothing if it is connected already.  Returns 0 or -errno. */
int cli_collector(struct cli *cli, struct err *err);
/* Connects to the collector of another pool, HOST or HOST:PORT (-pool), whose certificate must be
 * known here.  Returns 0 or -errno. */
int cli_collector_at(struct cli *cli, const char *host, struct err *err);

/* Connects to the server that `how` describes, in the way that it describes.  ret must stay valid
 * until session_close(): *ret becomes NULL when the connection ends.  Returns 0 or -errno. */
int cli_dial_as(struct cli *cli, const struct wire_dial *how, struct wire **ret, struct err *err);

/* Connects to a schedd: to the one of this host, unless this host has none, or -name or -pool was
 * given.  Then asks the collector (remote.c), and takes the schedd that -name names, or without
 * -name the first one.  Returns 0 or -errno. */
int cli_schedd(struct cli *cli, struct err *err);
/* Returns whether cli_schedd() connects to the schedd of this host, which knows the caller by uid.
 * The configuration must be loaded. */
bool cli_schedd_is_local(struct cli *cli);

struct cli_reply {
    int status; /* 0 or negative errno */
    char text[ERR_TEXT_MAX];
    struct ad *args; /* arguments of the last part; NULL when it has none */
    struct vec ads;  /* struct ad *, of all parts */
    char *blob;      /* raw bytes of the last part; NULL when it has none */
    size_t blob_length;
    struct secret_list *secrets; /* secrets of the last part; NULL when it has none */
};
/* Sends a request and waits for the last part of the reply.  relay_to: the uplink to which the
 * collector relays the request, or NULL.  deadline_ms: as for wire_call(); 0: the verb's own.
 * Returns the reply's status: 0, or -errno with err filled.  Release the reply in any case. */
int cli_call(struct cli *cli, struct wire *wire, const char *relay_to, enum wire_verb verb,
             const struct wire_body *body, uint64_t deadline_ms, struct cli_reply *reply,
             struct err *err);
void cli_reply_fini(struct cli_reply *reply);
/* Receives the ads of one part of a reply; the ads are borrowed, but the callback may change them.
 */
typedef void (*cli_ads_f)(void *arg, struct ad *const *ads, size_t count);
/* Does what cli_call() does, without relay and with the verb's own deadline, but does not keep the
 * ads: calls each(arg, ...) with the ads of each part of the reply when the part arrives, also when
 * an error follows. */
int cli_call_each(struct cli *cli, struct wire *wire, enum wire_verb verb,
                  const struct wire_body *body, cli_ads_f each, void *arg, struct cli_reply *reply,
                  struct err *err);
/* The same for a request that the collector relays to this uplink. */
int cli_relay_each(struct cli *cli, const char *relay_to, enum wire_verb verb,
                   const struct wire_body *body, cli_ads_f each, void *arg, struct cli_reply *reply,
                   struct err *err);
/* A request whose reply is waited for later: more than one may be under way, and the peer works
 * while the next one is made. */
struct cli_sent {
    struct cli_reply reply; /* filled when is_over; to be released by the caller */
    cli_ads_f each;         /* cli_call_each(): receiver of the ads; NULL: the reply keeps them */
    void *arg;
    bool is_over;
};
/* Sends a request as cli_call() does, without relay and with the verb's own deadline, and does not
 * wait.  `sent` must stay where it is until cli_wait_reply() has returned.  Returns 0, or -errno
 * with err filled: then there is nothing to wait for. */
int cli_send(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
             struct cli_sent *sent, struct err *err);
/* Waits for the reply.  Returns as cli_call() does. */
int cli_wait_reply(struct cli *cli, struct cli_sent *sent, struct err *err);

/* Runs the event loop for ms milliseconds. */
void cli_pause(struct cli *cli, uint64_t ms);

/* ---- machines of the configuration (pool_files.c) */
/* A node (machine) of the configuration that the method "process" powers on and off. */
struct cli_node {
    const char *name, *config, *lock_dir;
};
size_t cli_node_count(const struct cli *cli);
/* Fills ret with the index-th node of the configuration.  False: the node has another method than
 * "process". */
bool cli_node_at(const struct cli *cli, size_t index, struct cli_node *ret);
/* Returns the groups of machines that the configuration names (NODE_GROUP_<name>); they are good as
 * long as cli->config. */
struct hostlist_groups cli_groups(struct cli *cli);
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
int cmd_store(struct cli *cli);
int cmd_act(struct cli *cli); /* runs rm, hold, release, vacate and checkpoint */
int cmd_edit(struct cli *cli);
int cmd_wait(struct cli *cli);
int cmd_power(struct cli *cli);
int cmd_drain(struct cli *cli);
int cmd_factory(struct cli *cli);
int cmd_token(struct cli *cli);
int cmd_cert(struct cli *cli);
int cmd_config(struct cli *cli);
int cmd_reconfig(struct cli *cli);
int cmd_userprio(struct cli *cli);
int cmd_why(struct cli *cli);
int cmd_tail(struct cli *cli);
int cmd_ssh(struct cli *cli);
/* Opens a shell beside a job as soon as the job runs; returns the shell's exit status, or 255. */
int ssh_when_it_runs(struct cli *cli, const char *job_id);
int cmd_transfer(struct cli *cli); /* runs `roost transfer-data` */
int cmd_classad(struct cli *cli);
int cmd_completion(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_top(struct cli *cli);
int cmd_who(struct cli *cli);

#endif
