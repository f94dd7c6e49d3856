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
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/daemon/daemon_run.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/pki.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/schedd.h"
#include "tests/support/ordinary_account.h"
#include "tests/support/told_secrets.h"
#include "wire/token.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define PATIENCE_MS 20000

struct world {
    struct loop *loop;
    struct os *os;
    char dir[64], config[96], local[128], token_path[96];
    struct daemon_run *run;
    struct wire_context *context;
    struct strbuf log_text;
    struct loop_timer *patience;
    char me[64];
    char pin[STREAM_PIN_SIZE]; /* fingerprint of the schedd's certificate */
};

/* One call and its whole answer. */
struct answer {
    struct world *world;
    bool done;
    int status;
    char text[512];
    struct ad *args;
    struct vec ads;
};

struct connection {
    struct world *world;
    struct wire *wire;
    bool ready, closed;
};

static inline void out_of_patience(void *arg)
{
    loop_stop(((struct world *)arg)->loop, 1);
}

static inline void wait_for(struct world *world, const bool *flag)
{
    loop_timer_set(world->patience, PATIENCE_MS);
    loop_run_until(world->loop, flag);
    loop_timer_stop(world->patience);
    if (!*flag) {
        fail_msg("waited in vain; the log says:\n%s", strbuf_text(&world->log_text));
    }
}

/* ---- the daemon --------------------------------------------------------------------------------
 */

static inline void sink_write(void *context, const char *line, size_t length)
{
    strbuf_append(context, line, length);
}

static inline void start(struct world *world)
{
    char *const argv[] = {(char *)"roost-schedd", (char *)"-config", world->config,
                          (char *)"-noresurrect", NULL};
    struct log_sink sink = {.write = sink_write, .context = &world->log_text};
    struct err err = {{0}};
    if (daemon_run_start(&schedd_daemon, world->loop, world->os, &sink, 4, argv, &world->run,
                         &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static inline void restart(struct world *world)
{
    daemon_run_destroy(world->run);
    world->run = NULL;
    start(world);
}

static inline void put(struct world *world, const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    assert_int_equal(os_write_file(world->os, path, text, strlen(text), 0600, false, NULL), 0);
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

static inline void make_secrets(struct world *world)
{
    char cert[96], key[96], keys[96];
    static const struct pki_server SERVER = {.role = "schedd", .name = "s1"};
    (void)snprintf(cert, sizeof(cert), "%s/schedd.pem", world->dir);
    (void)snprintf(key, sizeof(key), "%s/schedd-key.pem", world->dir);
    (void)snprintf(keys, sizeof(keys), "%s/keys", world->dir);
    assert_int_equal(pki_make_ca(world->os, world->dir, "pool", NULL), 0);
    assert_int_equal(pki_make_server_cert(world->os, world->dir, cert, key, &SERVER, NULL), 0);
    struct tls_identity *identity = NULL;
    assert_int_equal(tls_identity_load(world->os, cert, key, &identity, NULL), 0);
    (void)snprintf(world->pin, sizeof(world->pin), "%s", tls_identity_pin(identity));
    tls_identity_destroy(identity);
    assert_int_equal(os_mkdirs(world->os, keys, 0700, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, keys, "k1", NULL), 0);
}

static inline int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    (void)snprintf(world->dir, sizeof(world->dir), "/tmp/roost_schedd_XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    /* so that shadows of other accounts can read it */
    assert_int_equal(chmod(world->dir, 0755), 0);
    assert_int_equal(loop_create(&world->loop, NULL), 0);
    assert_int_equal(os_create(world->loop, &world->os, NULL), 0);
    strbuf_init(&world->log_text, 0);
    world->patience = loop_timer_create(world->loop, out_of_patience, world);
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
    loop_timer_destroy(world->patience);
    (void)os_remove_tree(world->os, world->dir, NULL); /* a directory left in /tmp does no harm */
    os_destroy(world->os);
    loop_destroy(world->loop);
    strbuf_fini(&world->log_text);
    free(world);
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
    struct token token = {.scopes = scopes, .issued_s = loop_wall_s(world->loop)};
    char key[96];
    char *text = NULL;
    (void)snprintf(token.identity, sizeof(token.identity), "%s", identity);
    (void)snprintf(token.id, sizeof(token.id), "id");
    (void)snprintf(token.pool, sizeof(token.pool), "pool");
    (void)snprintf(key, sizeof(key), "%s/keys/k1.key", world->dir);
    assert_int_equal(token_issue_file(world->os, world->loop, key, "k1", &token, &text, NULL), 0);
    put(world, "token", text);
    mem_free(text);
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

static inline void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    for (size_t i = 0; i < reply->ad_count; i++) {
        vec_push(&answer->ads, wire_reply_take_ad(reply, i));
    }
    if (reply->more) {
        return;
    }
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof(answer->text), "%s", reply->text);
    answer->args = reply->args != NULL ? ad_copy(reply->args) : ad_create();
    answer->done = true;
}

static inline void free_ad(void *ad)
{
    ad_destroy(ad);
}

static inline void answer_fini(struct answer *answer)
{
    ad_destroy(answer->args);
    vec_fini(&answer->ads, free_ad);
    *answer = (struct answer){0};
}

static inline struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return ad;
}

/* Makes a call; args and ads are ClassAd text.  Returns its status. */
static inline int call_on(struct connection *connection, enum wire_verb verb, const char *args_text,
                          const char *const *ads_text, struct answer *answer)
{
    struct ad *args = parse(args_text);
    struct ad *ads[16] = {0};
    struct wire_body body = {.args = args, .ads = (const struct ad *const *)ads};
    struct told_secrets told = {.count = 0};
    while (ads_text != NULL && ads_text[body.ad_count] != NULL) {
        ads[body.ad_count] = parse(ads_text[body.ad_count]);
        body.ad_count++;
    }
    told_take(&told, args, SECRET_OF_ARGS);
    told_put(&told, &body);
    *answer = (struct answer){.world = connection->world};
    assert_true(wire_call(connection->wire, verb, &body, 0, on_answer, answer) > 0);
    wait_for(connection->world, &answer->done);
    for (size_t i = 0; i < body.ad_count; i++) {
        ad_destroy(ads[i]);
    }
    ad_destroy(args);
    told_fini(&told);
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
