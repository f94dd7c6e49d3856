/* cli/cmd_init.c - `roost init DIR`: makes a complete personal pool below DIR.
 *
 * It writes roost.conf, security/ (the pool's CA, certificates of collector and schedd, the signing
 * key, one token for each daemon and one for the user), and nodes/<name>/roost.conf for each node.
 * A node is a group of processes of this machine.  The ports are free ones of the loopback
 * interface.  Nothing is started.
 *
 * Root cannot own jobs, so a pool that root makes names the account for root's jobs: the account of
 * --submit-as, else the one that called sudo, else `nobody`, which every system has.  No other
 * ordinary account is chosen just because it exists, because jobs could change its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pki.h"
#include "base/random.h"
#include "base/secret_file.h"
#include "base/server_role.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/closed_dir.h"
#include "cli/token/token_ledger.h"
#include "wire/token.h"
#include "wire/token_key.h"

#define INIT_NODES_MAX 10000
/* of DIR, without the terminating zero: Unix sockets below it must fit into 107 bytes */
#define INIT_PATH_MAX   72
#define INIT_POOL       "personal"
#define INIT_HOST_MAX   200 /* bytes of a host name */
#define LOOPBACK        "127.0.0.1"
#define INIT_FACTORY    "factory"               /* FACTORY_NAME, unless it is set */
#define FACTORY_TOKEN_S ((int64_t)31 * 86400)   /* longest life of a glidein's token */
#define FACTORY_KEY_S   ((int64_t)3650 * 86400) /* life of the key that signs them */
#define INIT_POOL_MAX   63
#define INIT_POOL_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
#define INIT_ACCOUNT    "nobody"
/* of a node: with thousands of nodes, more than this computer has */
#define MEMORY_MIB_MIN 128

struct init {
    struct cli *cli;
    char dir[INIT_PATH_MAX + 1];
    const char *pool; /* its name, which is also its domain */
    const char *host; /* where other machines reach the pool; NULL: only this one does */
    int64_t nodes, cpus, idle_s;
    bool asleep;
    const char *submit_as; /* value of SUBMIT_ROOT_AS; NULL: the pool does not belong to root */
    int collector_port, schedd_port;
    struct vec tokens; /* struct made_token: for the ledger, which is written at the end */
};

struct made_token {
    struct token token;
    char file[512];
};

static const char *path_below(const struct init *init, const char *rest, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s/%s", init->dir, rest);
    return ret;
}

static int make_dir(const struct init *init, const char *rest, mode_t mode, struct err *err)
{
    char text[512];
    return os_mkdirs(init->cli->os, path_below(init, rest, text, sizeof text), mode, err);
}

static int write_text(const struct init *init, const char *rest, struct strbuf *text, mode_t mode,
                      struct err *err)
{
    char file[512];
    int rc = os_write_file(init->cli->os, path_below(init, rest, file, sizeof file),
                           strbuf_text(text), text->length, mode, false, err);
    strbuf_fini(text);
    return rc;
}

/* ---- arguments */

static int parse_number(struct cli *cli, const char *option, const char *text, int64_t min,
                        int64_t max, int64_t *ret)
{
    struct err err;
    if (text == NULL || text_parse_int64(text, ret, &err) != 0 || *ret < min || *ret > max) {
        return cli_usage(cli, "%s needs a number from %lld to %lld", option, (long long)min,
                         (long long)max);
    }
    return 0;
}

/* The pool's name stands in tokens, certificates, configurations and names of accounts. */
static int check_pool(struct cli *cli, const char *name)
{
    if (name == NULL || name[0] == '\0' || strlen(name) > INIT_POOL_MAX ||
        name[strspn(name, INIT_POOL_BYTES)] != '\0') {
        return cli_usage(cli,
                         "--pool needs a name of at most %d letters, digits, '-' and '.', such as "
                         "campus.example.org",
                         INIT_POOL_MAX);
    }
    return 0;
}

static int check_host(struct cli *cli, const char *name)
{
    if (name == NULL || name[0] == '\0' || strlen(name) > INIT_HOST_MAX ||
        name[strspn(name, INIT_POOL_BYTES)] != '\0') {
        return cli_usage(cli,
                         "--host needs the name or IPv4 address at which other machines reach this "
                         "host, such as head.example.org");
    }
    return 0;
}

static int parse_options(struct init *init)
{
    struct cli *cli = init->cli;
    const char *dir = NULL;
    int rc = 0;
    init->pool = INIT_POOL;
    init->nodes = 4;
    init->cpus = 1;
    init->idle_s = 5;
    for (int i = 1; i < cli->argc && rc == 0; i++) {
        const char *arg = cli->argv[i], *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
        if (strcmp(arg, "--nodes") == 0) {
            rc = parse_number(cli, arg, next, 0, INIT_NODES_MAX, &init->nodes);
            i++;
        } else if (strcmp(arg, "--cpus-per-node") == 0) {
            rc = parse_number(cli, arg, next, 1, 1024, &init->cpus);
            i++;
        } else if (strcmp(arg, "--idle") == 0) {
            rc = parse_number(cli, arg, next, 0, 86400, &init->idle_s);
            i++;
        } else if (strcmp(arg, "--asleep") == 0) {
            init->asleep = true;
        } else if (strcmp(arg, "--pool") == 0) {
            rc = check_pool(cli, next);
            init->pool = next;
            i++;
        } else if (strcmp(arg, "--host") == 0) {
            rc = check_host(cli, next);
            init->host = next;
            i++;
        } else if (strcmp(arg, "--submit-as") == 0) {
            rc = next == NULL ? cli_usage(cli, "--submit-as needs the name of an account") : 0;
            init->submit_as = next;
            i++;
        } else if (arg[0] == '-' || dir != NULL) {
            rc = cli_unknown(cli, arg);
        } else {
            dir = arg;
        }
    }
    if (rc != 0) {
        return rc;
    }
    if (dir == NULL) {
        return cli_usage(cli, "the directory is missing");
    }
    char cwd[4096];
    if (dir[0] == '/') {
        cwd[0] = '\0';
    } else if (getcwd(cwd, sizeof cwd - 1) == NULL) {
        return cli_fail(cli, "cannot find out the working directory");
    }
    int length =
        snprintf(init->dir, sizeof init->dir, "%s%s%s", cwd, dir[0] == '/' ? "" : "/", dir);
    if (length > INIT_PATH_MAX) {
        return cli_fail(cli,
                        "the path %s is longer than %d bytes, too long for Unix sockets below it",
                        dir, INIT_PATH_MAX);
    }
    if (strpbrk(init->dir, "\"\\$'\n") != NULL) {
        return cli_fail(cli, "%s: the path of a pool cannot contain quotes, '$' or backslashes",
                        dir);
    }
    return 0;
}

/* ---- the account as which root submits */

static int check_account(struct init *init, const char *name, struct err *err)
{
    uid_t uid = 0;
    gid_t gid = 0;
    int rc = os_user_find(init->cli->os, name, &uid, &gid, err);
    return rc == 0 && uid == 0
               ? err_set(err, -EPERM, "'%s' is not an ordinary account; jobs never run as root",
                         name)
               : rc;
}

static int choose_account(struct init *init, struct err *err)
{
    struct os *os = init->cli->os;
    const char *sudo = os_getenv(os, "SUDO_USER");
    if (os_uid(os) != 0) {
        return init->submit_as == NULL ? 0
                                       : err_set(err, -EPERM,
                                                 "--submit-as is for a pool of root; in this pool "
                                                 "jobs run under your account");
    }
    if (init->submit_as != NULL) {
        int rc = check_account(init, init->submit_as, err);
        return rc == 0 ? 0 : err_prefix(err, rc, "--submit-as");
    }
    init->submit_as = sudo != NULL && check_account(init, sudo, NULL) == 0 ? sudo : INIT_ACCOUNT;
    return check_account(init, init->submit_as, err);
}

/* ---- secrets */

static int write_token(struct init *init, const char *file, const char *identity, uint32_t scopes,
                       const char *pattern, struct err *err)
{
    struct cli *cli = init->cli;
    char key[512], id[UUID_TEXT_MAX];
    struct token token = {.scopes = scopes, .issued_s = loop_wall_s(cli->loop)};
    if ((scopes & SCOPE_ADVERTISE) != 0 && init->cpus >= TOKEN_SLOTS) {
        token.slots = (uint32_t)init->cpus + 1; /* or a partitionable slot and its pieces */
    }
    uuid_v7((uint64_t)loop_wall_ms(cli->loop), loop_rng(cli->loop), id);
    (void)snprintf(token.id, sizeof token.id, "%s", id);
    (void)snprintf(token.identity, sizeof token.identity, "%s@%s", identity, init->pool);
    (void)snprintf(token.pool, sizeof token.pool, "%s", init->pool);
    (void)snprintf(token.pattern, sizeof token.pattern, "%s", pattern);
    if ((scopes & SCOPE_SCHEDD) != 0) {
        (void)snprintf(token.uid_domain, sizeof token.uid_domain, "%s", init->pool);
    }
    char *text;
    int rc = token_issue_file(cli->os, cli->loop,
                              path_below(init, "security/keys/POOL.key", key, sizeof key), "POOL",
                              &token, &text, err);
    if (rc != 0) {
        return rc;
    }
    struct made_token *made = mem_zalloc(sizeof *made);
    made->token = token;
    (void)path_below(init, file, made->file, sizeof made->file);
    vec_push(&init->tokens, made);
    struct strbuf line;
    strbuf_init(&line, 0);
    strbuf_puts(&line, text);
    secret_free(text);
    return write_text(init, file, &line, 0600, err);
}

static int write_ledger(struct init *init, struct err *err)
{
    char ledger[512];
    struct token_entry *entries = mem_zalloc(init->tokens.count * sizeof *entries);
    for (size_t i = 0; i < init->tokens.count; i++) {
        const struct made_token *made = init->tokens.items[i];
        entries[i] = (struct token_entry){&made->token, {.file = made->file}};
    }
    int rc = token_ledger_add_all(init->cli->os,
                                  path_below(init, "security/issued.ads", ledger, sizeof ledger),
                                  entries, init->tokens.count, err);
    mem_free(entries);
    return rc;
}

static int make_secrets(struct init *init, struct err *err)
{
    struct cli *cli = init->cli;
    static const char *const SANS[] = {"127.0.0.1", "localhost"};
    static const char *const SERVERS[] = {SERVER_ROLE_COLLECTOR, SERVER_ROLE_SCHEDD};
    char security[512], keys[512], cert[600], key[600], user[64];
    int rc = make_dir(init, "security/tokens", 0700, err);
    rc = rc != 0 ? rc : make_dir(init, "security/keys", 0700, err);
    rc = rc != 0 ? rc
                 : os_chmod(cli->os, path_below(init, "security", security, sizeof security), 0700,
                            err);
    rc = rc != 0 ? rc : pki_make_ca(cli->os, security, init->pool, err);
    for (size_t i = 0; i < ARRAY_COUNT(SERVERS) && rc == 0; i++) {
        (void)snprintf(cert, sizeof cert, "%s/%s.pem", security, SERVERS[i]);
        (void)snprintf(key, sizeof key, "%s/%s-key.pem", security, SERVERS[i]);
        const struct pki_server server = {SERVERS[i], init->pool, SANS, ARRAY_COUNT(SANS)};
        rc = pki_make_server_cert(cli->os, security, cert, key, &server, err);
    }
    rc = rc != 0
             ? rc
             : token_key_make(cli->os, cli->loop,
                              path_below(init, "security/keys", keys, sizeof keys), "POOL", err);
    /* Not used unless the pool gets a factory; then it needs no more than to be there. */
    const struct token_key_limited factory = {
        .kid = "factory",
        .by = "POOL",
        .limits = {.pattern = INIT_FACTORY "-*",
                   .scopes = SCOPE_READ | SCOPE_ADVERTISE | SCOPE_TICKET,
                   .life_s = FACTORY_TOKEN_S,
                   .until_s = loop_wall_s(cli->loop) + FACTORY_KEY_S}};
    rc = rc != 0 ? rc : token_key_make_limited(cli->os, cli->loop, keys, &factory, err);
    if (rc != 0) {
        return rc;
    }
    if (os_user_name(cli->os, os_uid(cli->os), user, sizeof user, NULL) != 0) {
        (void)snprintf(user, sizeof user, "user%u", (unsigned)os_uid(cli->os));
    }
    rc = write_token(init, "security/tokens/USER", user,
                     SCOPE_READ | SCOPE_WRITE | SCOPE_ADMINISTRATOR, "", err);
    static const struct {
        const char *file, *identity;
        uint32_t scopes;
        const char *pattern; /* of the names that it allows; NULL: the pool's */
    } DAEMONS[] = {
        {"security/tokens/SCHEDD", "schedd", SCOPE_READ | SCOPE_SCHEDD, NULL},
        {"security/tokens/NEGOTIATOR", "negotiator", SCOPE_READ | SCOPE_NEGOTIATOR, NULL},
        {"security/tokens/ROOSTER", "rooster", SCOPE_READ | SCOPE_ROOSTER, NULL},
        {"security/tokens/FACTORY", "factory", SCOPE_READ | SCOPE_FACTORY, INIT_FACTORY "*"},
        {"security/tokens/MASTER", "master", SCOPE_READ | SCOPE_MASTER, NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(DAEMONS) && rc == 0; i++) {
        rc = write_token(init, DAEMONS[i].file, DAEMONS[i].identity, DAEMONS[i].scopes,
                         DAEMONS[i].pattern != NULL ? DAEMONS[i].pattern : init->pool, err);
    }
    return rc;
}

/* ---- ports */

static void refuse_connection(void *arg, struct incoming *incoming)
{
    (void)arg;
    incoming_refuse(incoming);
}

/* Finds two free ports.  Both are held until both are known, so that they differ. */
static int find_ports(struct init *init, struct err *err)
{
    struct listener *listeners[2] = {NULL, NULL};
    int *ports[2] = {&init->collector_port, &init->schedd_port};
    int rc = 0;
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        rc = listener_create(init->cli->loop, "tcp:127.0.0.1:0", refuse_connection, NULL,
                             &listeners[i], err);
        if (rc == 0) {
            const char *colon = strrchr(listener_address(listeners[i]), ':');
            *ports[i] = colon != NULL ? (int)strtol(colon + 1, NULL, 10) : 0;
        }
    }
    listener_destroy(listeners[0]);
    listener_destroy(listeners[1]);
    return rc;
}

/* ---- configurations */

/* Numbers are as wide as the largest, at least two digits, so that wn[001-200] names all. */
static void node_name(const struct init *init, int64_t index, char *ret, size_t size)
{
    int digits = snprintf(NULL, 0, "%lld", (long long)init->nodes);
    (void)snprintf(ret, size, "wn%0*lld", digits > 2 ? digits : 2, (long long)index + 1);
}

static int write_pool(struct init *init, struct err *err)
{
    const char *host = init->host != NULL ? init->host : LOOPBACK;
    struct strbuf text;
    char name[32];
    strbuf_init(&text, 0);
    strbuf_printf(
        &text,
        "# A personal pool, written by `roost init`.  ROOST_CONFIG=%s/roost.conf selects it.\n"
        "# docs/CONFIG.md lists what can be set.\n\n"
        "POOL_DIR = \"%s\"\n"
        "LOCAL_DIR = \"$(POOL_DIR)\"\n"
        "LOG = \"$(LOCAL_DIR)/log\"\n"
        "RUN = \"$(LOCAL_DIR)/run\"\n"
        "SEC_DIRECTORY = \"$(POOL_DIR)/security\"\n"
        "SBIN = \"%s\"\n\n"
        "UID_DOMAIN = \"%s\"\n"
        "COLLECTOR_NAME = \"%s\"\n"
        "COLLECTOR_HOST = {\"%s:%d\"}\n"
        "COLLECTOR_PORT = %d\n"
        "COLLECTOR_LISTEN = \"%s\"\n"
        "NEGOTIATOR_NAME = \"%s\"\n"
        "ROOSTER_NAME = \"%s\"\n"
        "SCHEDD_NAME = \"%s\"\n"
        "MASTER_NAME = \"%s\"\n"
        "SCHEDD_HOST = \"%s\"\n"
        "SCHEDD_PORT = %d\n"
        "DAEMON_LIST = {COLLECTOR, SCHEDD, NEGOTIATOR, ROOSTER}\n\n"
        "# `roost config set` may change policies of daemons while they run.\n"
        "ENABLE_PERSISTENT_CONFIG = true\n\n"
        "# One account owns everything here: hide the files of the daemons from jobs.\n"
        "HIDDEN_FROM_JOBS = {\"$(POOL_DIR)/nodes\", \"$(POOL_DIR)/spool\", \"$(POOL_DIR)/run\",\n"
        "                    \"$(POOL_DIR)/log\", \"$(POOL_DIR)/lock\", \"$(POOL_DIR)/config\"}\n\n"
        "# Everything is on one machine, so short times are enough.\n"
        "CLAIM_LEASE_DURATION = 60\n"
        "LEASE_MARGIN = 5\n"
        "ROOSTER_WAKE_DEADLINE = 30\n"
        "ROOSTER_WAKE_BACKOFF = 1\n"
        "SHUTDOWN_GRACEFUL_TIMEOUT = 30\n\n"
        "# What `roost start` does with the nodes.\n"
        "PERSONAL_NODES = %s\n"
        "\n",
        init->dir, init->dir, init->cli->program_dir, init->pool, init->pool, host,
        init->collector_port, init->collector_port, init->host != NULL ? "0.0.0.0" : LOOPBACK,
        init->pool, init->pool, init->pool, init->pool, host, init->schedd_port,
        init->asleep ? "asleep" : "awake");
    if (init->submit_as != NULL) {
        strbuf_printf(&text,
                      "# Jobs never run as root: what root submits are jobs of this account.\n"
                      "SUBMIT_ROOT_AS = \"%s\"\n\n",
                      init->submit_as);
    }
    for (int64_t i = 0; i < init->nodes; i++) {
        node_name(init, i, name, sizeof name);
        strbuf_printf(&text,
                      "node \"%s\" {\n    method = process\n    config = "
                      "\"$(POOL_DIR)/nodes/%s/roost.conf\"\n"
                      "    lock_dir = \"$(POOL_DIR)/nodes/%s/lock\"\n}\n",
                      name, name, name);
    }
    return write_text(init, "roost.conf", &text, 0644, err);
}

static int write_node(struct init *init, int64_t index, int64_t memory_mib, struct err *err)
{
    char name[32], file[128];
    struct strbuf text;
    node_name(init, index, name, sizeof name);
    (void)snprintf(file, sizeof file, "nodes/%s", name);
    int rc = make_dir(init, file, 0755, err);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(file, sizeof file, "nodes/%s/token", name);
    rc = write_token(init, file, name, SCOPE_READ | SCOPE_ADVERTISE, name, err);
    if (rc != 0) {
        return rc;
    }
    strbuf_init(&text, 0);
    strbuf_printf(&text,
                  "# A node of a personal pool: a process group of this machine.\n"
                  "include(\"%s/roost.conf\")\n\n"
                  "LOCAL_DIR = \"%s/nodes/%s\"\n"
                  "TOKEN_FILE = \"$(LOCAL_DIR)/token\"\n"
                  "DAEMON_LIST = {STARTD}\n"
                  "STARTD_NAME = \"%s\"\n"
                  "MASTER_NAME = \"$(STARTD_NAME)\"\n"
                  "NUM_CPUS = %lld\n"
                  "NUM_SLOTS = %lld\n"
                  "MEMORY = %lld\n"
                  "POWER_METHOD = process\n"
                  "KILLING_TIMEOUT = 5\n"
                  "HIBERNATE_CHECK_INTERVAL = 1\n"
                  "# It goes to sleep when it had nothing to do for so many seconds.\n"
                  "NODE_IDLE_TIME = %lld\n"
                  "HIBERNATE = \"ifThenElse(State =?= \\\"Unclaimed\\\" && CurrentTime - "
                  "EnteredCurrentState >= "
                  "$(NODE_IDLE_TIME), \\\"S5\\\", \\\"NONE\\\")\"\n",
                  init->dir, init->dir, name, name, (long long)init->cpus, (long long)init->cpus,
                  (long long)memory_mib, (long long)init->idle_s);
    (void)snprintf(file, sizeof file, "nodes/%s/roost.conf", name);
    return write_text(init, file, &text, 0644, err);
}

static int build_pool(struct init *init, struct err *err)
{
    struct os_machine machine;
    int rc = choose_account(init, err);
    rc = rc != 0 ? rc : os_mkdirs(init->cli->os, init->dir, 0755, err);
    rc = rc != 0 ? rc : os_machine(init->cli->os, &machine, err);
    rc = rc != 0 ? rc : find_ports(init, err);
    rc = rc != 0 ? rc : make_secrets(init, err);
    for (int64_t i = 0; i < init->nodes && rc == 0; i++) {
        int64_t memory_mib = machine.memory_mib / init->nodes;
        rc = write_node(init, i, memory_mib > MEMORY_MIB_MIN ? memory_mib : MEMORY_MIB_MIN, err);
    }
    rc = rc != 0 ? rc : write_ledger(init, err);
    return rc != 0 ? rc : write_pool(init, err); /* last: what is there counts as a pool */
}

int cmd_init(struct cli *cli)
{
    struct init init = {.cli = cli};
    struct err err;
    char file[512];
    struct os_stat stat;
    int rc = parse_options(&init);
    if (rc != 0) {
        return rc;
    }
    if (os_stat(cli->os, path_below(&init, "roost.conf", file, sizeof file), &stat) == 0) {
        return cli_fail(cli, "%s exists already: this directory holds a pool", file);
    }
    rc = build_pool(&init, &err);
    vec_fini(&init.tokens, mem_free);
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    (void)printf("Created a pool of %lld node%s with %lld CPU%s each in %s.\n\n    export "
                 "ROOST_CONFIG=%s\n    roost start\n",
                 (long long)init.nodes, init.nodes == 1 ? "" : "s", (long long)init.cpus,
                 init.cpus == 1 ? "" : "s", init.dir, file);
    if (init.submit_as != NULL) {
        (void)printf("\nJobs never run as root: jobs that root submits here run under the account "
                     "%s, which must be\nable to read and write their files (SUBMIT_ROOT_AS in "
                     "roost.conf, or --submit-as ACCOUNT).\n",
                     init.submit_as);
        closed_dir_warn(cli, init.submit_as, init.dir);
    }
    return CLI_OK;
}
