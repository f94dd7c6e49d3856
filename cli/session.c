/* cli/session.c - configuration, connections, and calls that wait for their answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/config/config_os.h"
#include "base/daemon/daemon.h"
#include "base/knob.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/stream/stream_run.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "cli/cli.h"
#include "cli/terminal_plan.h"
#include "power/power.h"
#include "power/power_section.h"
#include "user_maps/user_world.h"
#include "wire/pool.h"
#include "wire/wire.h"

#define DIAL_MS 20000

static int print_message(const struct cli *cli, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static int print_message(const struct cli *cli, const char *format, va_list args)
{
    struct err err;
    char text[ERR_TEXT_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    (void)err_set(&err, -1, "%s", text);        /* one line, whatever was in it */
    terminal_clean(err.text, strlen(err.text)); /* others' words are quoted in it */
    (void)fprintf(stderr, "roost%s%s: %s\n", cli->argc > 0 ? " " : "",
                  cli->argc > 0 ? cli->argv[0] : "", err.text);
    return CLI_FAILED;
}

int cli_fail(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = print_message(cli, format, args);
    va_end(args);
    return status;
}

int cli_usage(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)print_message(cli, format, args);
    va_end(args);
    return CLI_USAGE;
}

/* ---- configuration */

int cli_config_load(struct cli *cli, const struct config_options *how, struct config **ret,
                    struct err *err)
{
    struct os_machine machine;
    struct config_macro macros[] = {{.name = "FULL_HOSTNAME", .value = "localhost"},
                                    {.name = "PROGRAM_DIR", .value = cli->program_dir}};
    if (os_machine(cli->os, &machine, NULL) == 0) {
        macros[0].value = machine.hostname;
    }
    struct config_source source = config_source_os(cli->os);
    struct config_options options = *how;
    options.others = knob_tables;
    options.other_count = 0;
    while (knob_tables[options.other_count] != NULL) {
        options.other_count++;
    }
    options.macros = macros;
    options.macro_count = ARRAY_COUNT(macros);
    options.check_expr = ad_expr_check;
    if (how->tables == knob_tables && how->only_title == NULL) { /* everything is to be checked */
        options.check_section = power_section_check;
    }
    int rc = config_load(&source, &options, ret, err);
    return rc == -ENOENT && how->path == NULL ? err_prefix(err, rc, "ROOST_CONFIG") : rc;
}

static int load_once(struct cli *cli, const struct knob_table *const *tables, size_t count,
                     struct err *err)
{
    const struct config_options how = {.tables = tables, .table_count = count};
    return cli->config != NULL ? 0 : cli_config_load(cli, &how, &cli->config, err);
}

int cli_config(struct cli *cli, struct err *err)
{
    static const struct knob_table *const TABLES[] = {&cli_knobs, &knobs_common};
    return load_once(cli, TABLES, ARRAY_COUNT(TABLES), err);
}

int cli_config_nodes(struct cli *cli, struct err *err)
{
    static const struct knob_table *const TABLES[] = {&cli_knobs, &power_knobs, &knobs_common};
    return load_once(cli, TABLES, ARRAY_COUNT(TABLES), err);
}

int cli_owner_name(struct cli *cli, char *ret, size_t size, struct err *err)
{
    if (os_uid(cli->os) != 0) {
        return os_user_name(cli->os, os_uid(cli->os), ret, size, err);
    }
    const char *account = cli->config != NULL ? config_string(cli->config, "SUBMIT_ROOT_AS") : NULL;
    if (account == NULL || account[0] == '\0') {
        return err_set(err, -ENOENT, "root cannot own jobs, and SUBMIT_ROOT_AS is not set");
    }
    return snprintf(ret, size, "%s", account) < (int)size
               ? 0
               : err_set(err, -ENAMETOOLONG, "SUBMIT_ROOT_AS is too long");
}

/* ---- dialling */

struct dialled {
    bool done;
    int status;
    char why[ERR_TEXT_MAX];
};

struct link { /* a connection; the record lives as long as the session */
    struct cli *cli;
    struct dialled *dialled; /* the call that waits for the connection; NULL once it is ready */
    struct wire **place;     /* the caller's pointer to the connection, set to NULL when it ends */
};

static void on_ready(void *arg, struct wire *wire)
{
    struct link *link = arg;
    (void)wire;
    link->dialled->done = true;
    link->dialled = NULL;
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct link *link = arg;
    if (link->dialled != NULL) {
        link->dialled->done = true;
        link->dialled->status = status != 0 ? status : -ECONNRESET;
        (void)snprintf(link->dialled->why, sizeof link->dialled->why, "%s", why);
        link->dialled = NULL;
        return; /* cli_dial() closes it */
    }
    if (*link->place == wire) {
        *link->place = NULL;
    }
    wire_close(wire);
}

static int open_wires(struct cli *cli, struct err *err)
{
    int rc = cli_config(cli, err);
    if (rc != 0 || cli->wires != NULL) {
        return rc;
    }
    const struct daemon_env env = {.loop = cli->loop,
                                   .os = cli->os,
                                   .config = cli->config,
                                   .name = "tool"};
    stream_run_small(os_getenv(cli->os, "OPENSSL_CONF") != NULL);
    return pool_client_context_create(&env, &cli->wires, err);
}

/* Connects to an address of this pool; fails at once when nobody listens there, which `roost start`
 * needs. */
static int cli_dial(struct cli *cli, const char *address, const char *route, struct wire **ret,
                    struct err *err)
{
    const struct wire_dial how = {.address = address, .route = route, .name = ""};
    return cli_dial_as(cli, &how, ret, err);
}

int cli_dial_as(struct cli *cli, const struct wire_dial *how, struct wire **ret, struct err *err)
{
    static const struct wire_events EVENTS = {.ready = on_ready, .closed = on_closed};
    int rc = open_wires(cli, err);
    if (rc != 0) {
        return rc;
    }
    struct dialled dialled = {0};
    struct link *link = mem_alloc(sizeof *link);
    *link = (struct link){.cli = cli, .dialled = &dialled, .place = ret};
    vec_push(&cli->links, link);
    struct wire *wire;
    rc = wire_dial(cli->wires, how, &EVENTS, link, &wire, err);
    if (rc != 0) {
        return rc;
    }
    loop_run_until(cli->loop, &dialled.done);
    if (dialled.status != 0) {
        wire_close(wire);
        return err_set(err, dialled.status, "%s", dialled.why);
    }
    cli->pool = cli->pool != NULL ? cli->pool : ad_pool_create();
    wire_set_pool(wire, cli->pool);
    *ret = wire;
    return 0;
}

/* Connects to the first of these addresses (separated by commas) that answers. */
static int dial_collector(struct cli *cli, char *addresses, struct err *err)
{
    char *save = NULL;
    int rc = -ENOENT;
    for (char *one = strtok_r(addresses, ",", &save); one != NULL && rc != 0;
         one = strtok_r(NULL, ",", &save)) {
        rc = cli_dial(cli, one, "collector", &cli->collector, err);
    }
    if (rc == -ECONNREFUSED && err != NULL) {
        struct err why = *err;
        return err_set(err, rc, "cannot reach the collector: %s; is the pool running?", why.text);
    }
    if (rc != 0 && err != NULL && strstr(err->text, "no token") != NULL) {
        struct err why = *err;
        return err_set(
            err, rc,
            "cannot reach the collector: %s; `roost token create` on the pool's host makes a "
            "token, `roost token request` on this host asks for one, TOKEN_FILE names the file",
            why.text);
    }
    return rc != 0 ? err_prefix(err, rc, "cannot reach the collector") : 0;
}

/* Connects by the collector's Unix socket for a user who may not read the pool's secrets: on its
 * own host, the collector knows the user by uid.  True when connected. */
static bool dial_local_collector(struct cli *cli)
{
    char address[4200];
    struct os_stat stat;
    const char *run = config_path(cli->config, "RUN"), *ca = config_path(cli->config, "POOL_CA");
    (void)snprintf(address, sizeof address, "%s/collector.sock", run);
    if (os_stat(cli->os, ca, &stat) != -EACCES || os_stat(cli->os, address, &stat) != 0) {
        return false;
    }
    (void)snprintf(address, sizeof address, "unix:%s/collector.sock", run);
    return cli_dial(cli, address, "collector", &cli->collector, NULL) == 0;
}

int cli_collector(struct cli *cli, struct err *err)
{
    char addresses[POOL_ADDRESS_MAX];
    if (cli->collector != NULL) {
        return 0;
    }
    int rc = cli_config(cli, err);
    rc = rc != 0 ? rc : pool_collector_addresses(cli->config, addresses, sizeof addresses, err);
    rc = rc != 0 ? rc : dial_collector(cli, addresses, err);
    return rc == -EACCES && dial_local_collector(cli) ? 0 : rc;
}

int cli_collector_at(struct cli *cli, const char *host, struct err *err)
{
    char address[POOL_ADDRESS_MAX];
    int rc = cli_config(cli, err);
    rc = rc != 0 ? rc
                 : pool_address("-pool", host, config_int(cli->config, "COLLECTOR_PORT"), address,
                                sizeof address, err);
    return rc != 0 ? rc : dial_collector(cli, address, err);
}

/* ---- calling */

static void on_reply(void *arg, struct wire_reply *reply)
{
    struct cli_sent *sent = arg;
    if (sent->each != NULL) {
        sent->each(sent->arg, reply->ads, reply->ad_count);
    }
    for (size_t i = 0; sent->each == NULL && i < reply->ad_count; i++) {
        vec_push(&sent->reply.ads, wire_reply_take_ad(reply, i));
    }
    if (reply->more) {
        return;
    }
    sent->reply.status = reply->status;
    if (reply->blob_length > 0) {
        sent->reply.blob = mem_alloc(reply->blob_length);
        memcpy(sent->reply.blob, reply->blob, reply->blob_length);
        sent->reply.blob_length = reply->blob_length;
    }
    (void)snprintf(sent->reply.text, sizeof sent->reply.text, "%s", reply->text);
    if (reply->args != NULL) {
        sent->reply.args = ad_copy(reply->args);
    }
    sent->reply.secrets = secret_list_create(reply->secrets, reply->secret_count);
    sent->is_over = true;
}

static int send_request(struct wire *wire, const char *relay_to, enum wire_verb verb,
                        const struct wire_body *body, uint64_t deadline_ms, struct cli_sent *sent,
                        struct err *err)
{
    int64_t rc = wire == NULL ? -ENOTCONN
                 : relay_to != NULL
                     ? wire_relay(wire, relay_to, verb, body, deadline_ms, on_reply, sent)
                     : wire_call(wire, verb, body, deadline_ms, on_reply, sent);
    if (rc < 0) {
        sent->reply.status = (int)rc;
        sent->is_over = true;
        return err_set(err, (int)rc, "%s: %s", wire_verb_name(verb), err_code_text((int)rc));
    }
    return 0;
}

int cli_send(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
             struct cli_sent *sent, struct err *err)
{
    *sent = (struct cli_sent){0};
    return send_request(wire, NULL, verb, body, 0, sent, err);
}

int cli_wait_reply(struct cli *cli, struct cli_sent *sent, struct err *err)
{
    const struct cli_reply *reply = &sent->reply;
    loop_run_until(cli->loop, &sent->is_over);
    if (reply->status != 0) {
        return err_set(err, reply->status, "%s",
                       reply->text[0] != '\0' ? reply->text : err_code_text(reply->status));
    }
    return 0;
}

static int call_and_wait(struct cli *cli, struct wire *wire, const char *relay_to,
                         enum wire_verb verb, const struct wire_body *body, uint64_t deadline_ms,
                         struct cli_sent sent, struct cli_reply *reply, struct err *err)
{
    int rc = send_request(wire, relay_to, verb, body, deadline_ms, &sent, err);
    rc = rc != 0 ? rc : cli_wait_reply(cli, &sent, err);
    *reply = sent.reply;
    return rc;
}

int cli_call(struct cli *cli, struct wire *wire, const char *relay_to, enum wire_verb verb,
             const struct wire_body *body, uint64_t deadline_ms, struct cli_reply *reply,
             struct err *err)
{
    return call_and_wait(cli, wire, relay_to, verb, body, deadline_ms, (struct cli_sent){0}, reply,
                         err);
}

int cli_call_each(struct cli *cli, struct wire *wire, enum wire_verb verb,
                  const struct wire_body *body, cli_ads_f each, void *arg, struct cli_reply *reply,
                  struct err *err)
{
    return call_and_wait(cli, wire, NULL, verb, body, 0,
                         (struct cli_sent){.each = each, .arg = arg}, reply, err);
}

int cli_relay_each(struct cli *cli, const char *relay_to, enum wire_verb verb,
                   const struct wire_body *body, cli_ads_f each, void *arg, struct cli_reply *reply,
                   struct err *err)
{
    return call_and_wait(cli, cli->collector, relay_to, verb, body, 0,
                         (struct cli_sent){.each = each, .arg = arg}, reply, err);
}

void cli_reply_fini(struct cli_reply *reply)
{
    ad_destroy(reply->args);
    reply->args = NULL;
    vec_fini(&reply->ads, ad_destroy_item);
    mem_free(reply->blob);
    reply->blob = NULL;
    secret_list_unref(reply->secrets);
    reply->secrets = NULL;
}

static void pause_over(void *arg)
{
    *(bool *)arg = true;
}

void cli_pause(struct cli *cli, uint64_t ms)
{
    bool over = false;
    struct loop_timer *timer = loop_timer_create(cli->loop, pause_over, &over);
    loop_timer_set(timer, ms);
    loop_run_until(cli->loop, &over);
    loop_timer_destroy(timer);
}

void session_hang_up(struct cli *cli)
{
    wire_close(cli->schedd);
    wire_close(cli->collector);
    wire_context_destroy(cli->wires);
    vec_fini(&cli->links, mem_free);
    cli->schedd = NULL;
    cli->collector = NULL;
    cli->wires = NULL;
}

void session_close(struct cli *cli)
{
    session_hang_up(cli);
    ad_pool_destroy(cli->pool);
    user_world_destroy(cli->users);
    config_destroy(cli->config);
}
