/* tests/support/collector_bed.h - a collector on the loopback device and clients that talk to it,
 * on one event loop.
 *
 * A bed is a directory with a certificate authority, keys and a store.  A collector can be started
 * and stopped on it any number of times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_COLLECTOR_BED_H
#define TESTS_SUPPORT_COLLECTOR_BED_H

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "collector/collector.h"
#include "tests/support/call_rig.h"
#include "tests/support/daemon_rig.h"
#include "tests/support/pool_rig.h"

/* slots that a token may advertise; large, because few tests are about this limit */
#define BED_TOKEN_SLOTS 10000

struct bed {
    char dir[FAST_DIR_SIZE];
    char config_text[2048];
    char tcp[300]; /* address on which the collector listens */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct daemon_rig daemon;
    void *collector; /* state of the collector; NULL: the collector does not run */
    struct vec clients;
    int tokens; /* number of tokens issued so far */
    /* how many slots tokens that are made from now on may advertise; 0: no limit in the token */
    uint32_t token_slots;
};

struct client {
    struct bed *bed;
    struct wire_context *context;
    struct wire *wire;
    char token_id[64];
    bool over; /* the dialling has ended: the connection is ready, or was closed */
    int status;
    char why[512];
};

/* ---- the bed ---- */

/* Makes the path of the file `name` in the bed's directory. */
static inline void bed_path(const struct bed *bed, const char *name, char ret[LOOP_RIG_PATH_SIZE])
{
    loop_rig_path(bed->dir, name, ret);
}

static inline void bed_write(struct bed *bed, const char *name, const char *text, mode_t mode)
{
    loop_rig_write(bed->os, bed->dir, name, text, mode);
}

static inline struct bed *bed_create(const char *more_config)
{
    struct bed *bed = mem_zalloc(sizeof(*bed));
    bed->token_slots = BED_TOKEN_SLOTS;
    loop_rig_open(&bed->loop, &bed->os, bed->dir);
    (void)snprintf(
        bed->config_text, sizeof(bed->config_text),
        "LOCAL_DIR = \"%s\"\nSPOOL = \"%s/new/spool\"\nRUN = \"%s\"\nLOG = \"%s\"\n"
        "SEC_DIRECTORY = \"%s\"\nPOOL_NAME = \"pool\"\nCOLLECTOR_LISTEN = \"127.0.0.1:0\"\n%s\n",
        bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, more_config);
    MUST(pki_make_ca(bed->os, bed->dir, "pool", err));
    pool_rig_make_cert(bed->os, bed->dir, "collector", "test");
    pool_rig_make_key(bed->loop, bed->os, bed->dir);
    daemon_rig_load(&bed->daemon, &collector_daemon, bed->config_text);
    return bed;
}

/* Gives the bed a new event loop; for a child process after fork(). */
static inline void bed_renew_loop(struct bed *bed)
{
    MUST(loop_create(&bed->loop, err));
    MUST(os_create(bed->loop, &bed->os, err));
}

static inline void bed_start(struct bed *bed)
{
    bed->collector = daemon_rig_start(&bed->daemon, bed->loop, bed->os, bed->log);
}

static inline void bed_stop(struct bed *bed)
{
    daemon_rig_stop(&bed->daemon);
    bed->collector = NULL;
}

/* ---- clients ---- */

static inline void client_ready(void *arg, struct wire *wire)
{
    struct client *client = arg;
    (void)wire;
    client->over = true;
}

static inline void client_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct client *client = arg;
    client->over = true;
    client->status = status ? status : -ECONNRESET;
    (void)snprintf(client->why, sizeof(client->why), "%s", why);
    wire_close(wire);
    client->wire = NULL;
}

/* Connects a client with a new token of these scopes that may advertise names which match pattern,
 * and waits.  scopes 0: over the Unix socket, where the client is the administrator.  name: uplink
 * name of the client, or NULL; handler: receives requests.  The outcome is in the status of the
 * returned client. */
static inline struct client *client_dial(struct bed *bed, uint32_t scopes, const char *pattern,
                                         const char *name, wire_handler_f handler)
{
    static const struct wire_events PLAIN = {.ready = client_ready, .closed = client_closed};
    struct wire_events events = PLAIN;
    events.request = handler;
    struct client *client = mem_zalloc(sizeof(*client));
    client->bed = bed;
    vec_push(&bed->clients, client);
    char ca[LOOP_RIG_PATH_SIZE], keys[LOOP_RIG_PATH_SIZE], token_path[LOOP_RIG_PATH_SIZE];
    char address[400];
    bed_path(bed, "ca.pem", ca);
    bed_path(bed, "keys", keys);
    if (scopes) {
        (void)snprintf(client->token_id, sizeof client->token_id, "token-%d", ++bed->tokens);
        struct token token = pool_rig_token(bed->loop, "someone@pool", client->token_id, scopes);
        (void)snprintf(token.pattern, sizeof(token.pattern), "%s", pattern);
        (void)snprintf(token.uid_domain, sizeof(token.uid_domain), "pool");
        token.slots = bed->token_slots;
        pool_rig_issue(bed->loop, bed->os, bed->dir, &token, token.id);
        bed_path(bed, token.id, token_path);
        (void)snprintf(address, sizeof(address), "%s", bed->tcp);
    } else {
        (void)snprintf(address, sizeof(address), "unix:%s/collector.sock", bed->dir);
    }
    const struct wire_context_options options = {.loop = bed->loop,
                                                 .os = bed->os,
                                                 .token_path = scopes ? token_path : NULL,
                                                 .pool_keys = keys,
                                                 .pool = "pool",
                                                 .ca_file = ca,
                                                 .uid_domain = "test",
                                                 .admin_uid = getuid()};
    MUST(wire_context_create(&options, &client->context, err));
    const struct wire_dial dial = {.address = address,
                                   .route = "collector",
                                   .name = name ? name : ""};
    struct err why = {""};
    client->status = wire_dial(client->context, &dial, &events, client, &client->wire, &why);
    if (client->status == 0) {
        loop_rig_await(bed->loop, &client->over, NULL);
    } else {
        (void)snprintf(client->why, sizeof(client->why), "%s", why.text);
    }
    return client;
}

static inline void client_close(struct client *client)
{
    if (!client->context) {
        return;
    }
    wire_close(client->wire);
    client->wire = NULL;
    wire_context_destroy(client->context);
    client->context = NULL;
}

/* Renames the file of the client's token to dir/name, so that a daemon can use the token. */
static inline void client_give_token(struct client *client, const char *name)
{
    char from[LOOP_RIG_PATH_SIZE], to[LOOP_RIG_PATH_SIZE];
    bed_path(client->bed, client->token_id, from);
    bed_path(client->bed, name, to);
    MUST(os_rename(client->bed->os, from, to, false, err));
}

/* Sends a request without waiting; the answer is filled in while the loop runs. */
static inline void client_send(struct client *client, enum wire_verb verb, const char *args_text,
                               const char *const *ad_texts, struct answer *answer)
{
    (void)answer_ask_text(answer, client->wire, NULL, verb, args_text, ad_texts, NULL);
}

/* Sends a request and waits for the answer; returns its status. */
static inline int client_call(struct client *client, enum wire_verb verb, const char *args_text,
                              const char *const *ad_texts, struct answer *answer)
{
    client_send(client, verb, args_text, ad_texts, answer);
    loop_rig_await(client->bed->loop, &answer->over, NULL);
    return answer->status;
}

/* Like client_call(), but the collector relays the request to the daemon of that route, such as
 * "startd/wn01". */
static inline int client_relay(struct client *client, const char *route, enum wire_verb verb,
                               const char *args_text, const char *const *ad_texts,
                               struct answer *answer)
{
    assert_true(answer_ask_text(answer, client->wire, route, verb, args_text, ad_texts, NULL) > 0);
    loop_rig_await(client->bed->loop, &answer->over, NULL);
    return answer->status;
}

/* Asks the collector over its Unix socket for its own ad, and sets bed->tcp to the address there.
 */
static inline void bed_find_address(struct bed *bed)
{
    struct client *client = client_dial(bed, 0, "", NULL, NULL);
    assert_int_equal(client->status, 0);
    struct answer answer;
    assert_int_equal(client_call(client, VERB_QUERY, "[ Type = \"Collector\" ]", NULL, &answer), 0);
    assert_int_equal(answer.ads.count, 1);
    (void)snprintf(bed->tcp, sizeof(bed->tcp), "%s",
                   ad_string_or(answer.ads.items[0], "MyAddress", ""));
    answer_fini(&answer);
    client_close(client);
}

static inline void bed_destroy(struct bed *bed)
{
    for (size_t i = 0; i < bed->clients.count; i++) {
        client_close(bed->clients.items[i]);
    }
    vec_fini(&bed->clients, mem_free);
    bed_stop(bed);
    daemon_rig_fini(&bed->daemon);
    log_destroy(bed->log);
    loop_rig_close(bed->loop, bed->os, bed->dir);
    mem_free(bed);
}

#endif
