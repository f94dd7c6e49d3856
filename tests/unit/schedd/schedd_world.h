/* tests/unit/schedd/schedd_world.h - a real schedd on the test's own event loop, and a client of
 * it.
 *
 * The schedd has its real store, sockets and TLS; there is no collector and no startd.  To restart
 * it, a test destroys it and starts it again on the same directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_SCHEDD_SCHEDD_WORLD_H
#define TESTS_UNIT_SCHEDD_SCHEDD_WORLD_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/daemon/daemon_run.h"
#include "base/stream/stream.h"
#include "schedd/schedd.h"
#include "tests/support/call_rig.h"
#include "tests/support/ordinary_account.h"
#include "tests/support/pool_rig.h"
#include "wire/watch.h"

struct world {
    struct loop *loop;
    struct os *os;
    char dir[FAST_DIR_SIZE], config[96], local[128], token_path[96];
    struct daemon_run *run;
    struct wire_context *context;
    struct strbuf log_text;
    char me[64];
    char pin[STREAM_PIN_SIZE]; /* fingerprint of the schedd's certificate */
};

struct connection {
    struct world *world;
    struct wire *wire;
    bool ready, closed;
};

static inline void wait_for(struct world *world, const bool *flag)
{
    loop_rig_await(world->loop, flag, &world->log_text);
}

/* ---- the daemon --------------------------------------------------------------------------------
 */

static inline int start_with(struct world *world, struct err *err)
{
    char *const argv[] = {(char *)"roost-schedd", (char *)"-config", world->config,
                          (char *)"-noresurrect", NULL};
    const struct log_sink sink = loop_rig_sink(&world->log_text);
    return daemon_run_start(&schedd_daemon, world->loop, world->os, &sink, 4, argv, &world->run,
                            err);
}

static inline void start(struct world *world)
{
    MUST(start_with(world, err));
}

static inline void restart(struct world *world)
{
    daemon_run_destroy(world->run);
    world->run = NULL;
    start(world);
}

static inline void put(struct world *world, const char *name, const char *text)
{
    loop_rig_write(world->os, world->dir, name, text, 0600);
}

/* Adds lines to the configuration; they are used at the next start. */
static inline void configure(struct world *world, const char *lines)
{
    char *text = NULL;
    size_t length = 0;
    struct strbuf all;
    assert_int_equal(os_read_file(world->os, world->config, 100000, &text, &length, NULL), 0);
    strbuf_init(&all, 0);
    strbuf_printf(&all, "%s%s", text, lines);
    put(world, "roost.conf", strbuf_text(&all));
    strbuf_fini(&all);
    mem_free(text);
}

/* Starts the schedd with more lines in its configuration; this must fail with those words. */
static inline void start_is_refused(struct world *world, const char *lines, const char *words)
{
    struct err err = {""};
    daemon_run_destroy(world->run);
    world->run = NULL;
    configure(world, lines);
    assert_int_not_equal(start_with(world, &err), 0);
    if (strstr(err.text, words) == NULL) {
        fail_msg("'%s' has not '%s'", err.text, words);
    }
}

static inline void make_secrets(struct world *world)
{
    char cert[LOOP_RIG_PATH_SIZE], key[LOOP_RIG_PATH_SIZE];
    struct tls_identity *identity = NULL;
    MUST(pki_make_ca(world->os, world->dir, "pool", err));
    pool_rig_make_cert(world->os, world->dir, "schedd", "s1");
    pool_rig_make_key(world->loop, world->os, world->dir);
    loop_rig_path(world->dir, "schedd.pem", cert);
    loop_rig_path(world->dir, "schedd-key.pem", key);
    MUST(tls_identity_load(world->os, cert, key, &identity, err));
    (void)snprintf(world->pin, sizeof(world->pin), "%s", tls_identity_pin(identity));
    tls_identity_destroy(identity);
}

static inline int set_up(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    loop_rig_open(&world->loop, &world->os, world->dir);
    /* so that shadows of other accounts can read it */
    assert_int_equal(chmod(world->dir, 0755), 0);
    strbuf_init(&world->log_text, 0);
    (void)snprintf(world->config, sizeof(world->config), "%s/roost.conf", world->dir);
    (void)snprintf(world->local, sizeof(world->local), "unix:%s/spool/schedd.sock", world->dir);
    (void)snprintf(world->token_path, sizeof(world->token_path), "%s/token", world->dir);
    assert_int_equal(ordinary_name(world->os, world->me, sizeof(world->me)), 0);
    make_secrets(world);
    char config[1024];
    (void)
        snprintf(config, sizeof(config),
                 "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nRUN = \"%s/run\"\nSEC_DIRECTORY = \"%s\"\n"
                 "COLLECTOR_HOST = \"127.0.0.1:1\"\nSCHEDD_HOST = \"127.0.0.1\"\n"
                 "SCHEDD_NAME = \"s1\"\nUID_DOMAIN = \"pool\"\nMAX_JOBS_PER_OWNER = 20\n"
                 "MAX_JOBS_PER_SUBMISSION = 15\nMAX_HISTORY_JOBS = 5\n"
                 "PERIODIC_EXPR_INTERVAL = 1\nMAX_CONSTRAINT_STEPS = 2000000\n%s",
                 world->dir, world->dir, world->dir, world->dir, ordinary_knob());
    put(world, "roost.conf", config);
    start(world);
    char ca[96];
    (void)snprintf(ca, sizeof(ca), "%s/ca.pem", world->dir);
    const struct wire_context_options options = {
        .loop = world->loop,
        .os = world->os,
        .token_path = world->token_path,
        .ca_file = ca,
        .uid_domain = "pool",
    };
    assert_int_equal(wire_context_create(&options, &world->context, NULL), 0);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;
    daemon_run_destroy(world->run);
    wire_context_destroy(world->context);
    loop_rig_close(world->loop, world->os, world->dir);
    strbuf_fini(&world->log_text);
    mem_free(world);
    return 0;
}

/* ---- the client --------------------------------------------------------------------------------
 */

static inline void on_ready(void *arg, struct wire *wire)
{
    (void)wire;
    ((struct connection *)arg)->ready = true;
}

static inline void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct connection *connection = arg;
    (void)status;
    if (!connection->ready) {
        fail_msg("not connected: %s", why);
    }
    connection->closed = true;
    connection->wire = NULL;
    wire_close(wire);
}

static inline void dial_with(struct world *world, const char *address, const char *route,
                             bool as_shadow, struct connection *connection)
{
    static const struct wire_events EVENTS = {.ready = on_ready, .closed = on_closed};
    const struct wire_dial how = {.address = address,
                                  .route = route,
                                  .name = "",
                                  .pin = strcmp(route, "claim") == 0 ? world->pin : NULL};
    *connection = (struct connection){.world = world};
    int result =
        as_shadow ? ordinary_dial(world->os, world->context, &how, &EVENTS, connection,
                                  &connection->wire, NULL)
                  : wire_dial(world->context, &how, &EVENTS, connection, &connection->wire, NULL);
    assert_int_equal(result, 0);
    wait_for(world, &connection->ready);
}

static inline void dial(struct world *world, const char *address, const char *route,
                        struct connection *connection)
{
    dial_with(world, address, route, false, connection);
}

/* Connects as the shadow of world->me. */
static inline void dial_as_shadow(struct world *world, struct connection *connection)
{
    dial_with(world, world->local, "shadow", true, connection);
}

static inline void use_token(struct world *world, const char *identity, uint32_t scopes)
{
    struct token token = pool_rig_token(world->loop, identity, "id", scopes);
    pool_rig_issue(world->loop, world->os, world->dir, &token, "token");
}

/* Connects over TCP, with a token. */
static inline void dial_with_token(struct world *world, const char *identity, uint32_t scopes,
                                   struct connection *connection)
{
    char path[96];
    char *address = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.address", world->dir);
    assert_int_equal(os_read_file(world->os, path, 1000, &address, &length, NULL), 0);
    address[strcspn(address, "\n")] = '\0';
    use_token(world, identity, scopes);
    dial(world, address, "schedd", connection);
    mem_free(address);
}

/* Makes a call; args and ads are ClassAd text.  Returns its status. */
static inline int call_on(struct connection *connection, enum wire_verb verb, const char *args_text,
                          const char *const *ads_text, struct answer *answer)
{
    assert_true(answer_ask_text(answer, connection->wire, NULL, verb, args_text, ads_text, NULL) >
                0);
    wait_for(connection->world, &answer->over);
    return answer->status;
}

static inline int call(struct world *world, enum wire_verb verb, const char *args_text,
                       const char *const *ads_text, struct answer *answer)
{
    struct connection connection;
    dial(world, world->local, "schedd", &connection);
    int status = call_on(&connection, verb, args_text, ads_text, answer);
    wire_close(connection.wire);
    return status;
}

#define GOOD "Cmd = \"/bin/true\"; Iwd = \"/tmp\""

static inline int64_t submit(struct world *world, const char *args)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, args, NULL, &answer), 0);
    int64_t cluster = ad_int_or(answer.args, "ClusterId", 0);
    answer_fini(&answer);
    return cluster;
}

static inline void act(struct world *world, const char *args, const char *word, int64_t count)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_ACT, args, NULL, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, word, -1), count);
    answer_fini(&answer);
}

static inline void query(struct world *world, const char *args, struct answer *answer)
{
    assert_int_equal(call(world, VERB_QUERY, args, NULL, answer), 0);
}

static inline void count_is(struct world *world, const char *args, size_t count)
{
    struct answer answer;
    query(world, args, &answer);
    assert_int_equal(answer.ads.count, count);
    answer_fini(&answer);
}

/* Waits until the queue has that many jobs; each query lets the schedd's loop run. */
static inline void until_jobs(struct world *world, size_t count)
{
    size_t there = SIZE_MAX;
    for (int i = 0; i < 10000 && there != count; i++) {
        struct answer answer;
        query(world, "[Type = \"Job\"]", &answer);
        there = answer.ads.count;
        answer_fini(&answer);
    }
    assert_int_equal(there, count);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
