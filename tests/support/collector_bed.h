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

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/pki.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "collector/collector.h"
#include "tests/support/fast_dir.h"
#include "tests/support/told_secrets.h"
#include "tests/support/unit.h"
#include "wire/token.h"
#include "wire/wire.h"

/* machines that a token may advertise; large, because few tests are about this limit */
#define BED_TOKEN_SLOTS 10000

struct bed {
    char dir[FAST_DIR_SIZE];
    char config_text[2048];
    char tcp[300]; /* address on which it listens */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct config *config;
    struct daemon_env env;
    void *collector;
    struct vec clients;
    int tokens; /* number of tokens issued so far */
    /* slots limit for tokens made from now on; 0: no such limit in the token */
    uint32_t token_slots;
};

struct client {
    struct bed *bed;
    struct wire_context *context;
    struct wire *wire;
    char token_id[64];
    bool over; /* the connection became ready or was closed */
    int status;
    char why[512];
};

/* Collects all parts of a reply. */
struct answer {
    bool over;
    int status;
    char text[512];
    struct ad *args;
    struct vec ads;
    int parts;
};

#define BED_MUST(call)                                \
    do {                                              \
        struct err bed_err_ = {""};                   \
        struct err *err = &bed_err_;                  \
        if ((call) != 0) {                            \
            fail_msg("%s: %s", #call, bed_err_.text); \
        }                                             \
    } while (0)

/* ---- configuration from memory ---- */

static inline int bed_read(void *context, const char *path, size_t max, char **text, size_t *length,
                           struct err *err)
{
    const struct bed *bed = context;
    (void)path;
    (void)max;
    (void)err;
    *text = mem_strdup(bed->config_text);
    *length = strlen(bed->config_text);
    return 0;
}

static inline int bed_list(void *context, const char *path, struct vec *names, struct err *err)
{
    (void)context;
    (void)path;
    (void)names;
    (void)err;
    return 0;
}

static inline const char *bed_env(void *context, const char *name)
{
    (void)context;
    (void)name;
    return NULL;
}

static inline void bed_load_config(struct bed *bed)
{
    const struct config_source source = {.read_file = bed_read,
                                         .list_directory = bed_list,
                                         .get_env = bed_env,
                                         .context = bed};
    const struct config_options options = {.subsystem = "COLLECTOR",
                                           .path = "/roost.conf",
                                           .tables = collector_daemon.tables,
                                           .table_count = collector_daemon.table_count};
    BED_MUST(config_load(&source, &options, &bed->config, err));
}

/* ---- the bed ---- */

static inline void bed_path(const struct bed *bed, const char *name, char ret[300])
{
    (void)snprintf(ret, 300, "%s/%s", bed->dir, name);
}

static inline struct bed *bed_create(const char *more_config)
{
    struct bed *bed = mem_zalloc(sizeof(*bed));
    bed->token_slots = BED_TOKEN_SLOTS;
    assert_true(fast_dir_make(bed->dir));
    (void)snprintf(
        bed->config_text, sizeof(bed->config_text),
        "LOCAL_DIR = \"%s\"\nSPOOL = \"%s/new/spool\"\nRUN = \"%s\"\nLOG = \"%s\"\n"
        "SEC_DIRECTORY = \"%s\"\nPOOL_NAME = \"pool\"\nCOLLECTOR_LISTEN = \"127.0.0.1:0\"\n%s\n",
        bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, more_config);
    BED_MUST(loop_create(&bed->loop, err));
    BED_MUST(os_create(bed->loop, &bed->os, err));
    char keys[300];
    char cert[300];
    char key[300];
    bed_path(bed, "keys", keys);
    bed_path(bed, "collector.pem", cert);
    bed_path(bed, "collector-key.pem", key);
    static const struct pki_server SERVER = {.role = "collector", .name = "test"};
    BED_MUST(pki_make_ca(bed->os, bed->dir, "test", err));
    BED_MUST(pki_make_server_cert(bed->os, bed->dir, cert, key, &SERVER, err));
    BED_MUST(os_mkdirs(bed->os, keys, 0700, err));
    BED_MUST(token_key_make(bed->os, bed->loop, keys, "k1", err));
    bed_load_config(bed);
    return bed;
}

/* Gives the bed a new event loop; for a child process after fork(). */
static inline void bed_renew_loop(struct bed *bed)
{
    BED_MUST(loop_create(&bed->loop, err));
    BED_MUST(os_create(bed->loop, &bed->os, err));
}

static inline void bed_start(struct bed *bed)
{
    bed->env = (struct daemon_env){.loop = bed->loop,
                                   .os = bed->os,
                                   .log = bed->log,
                                   .config = bed->config,
                                   .name = "collector"};
    BED_MUST(collector_daemon.start(&bed->env, &bed->collector, err));
}

static inline void bed_stop(struct bed *bed)
{
    collector_daemon.destroy(bed->collector);
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

/* Connects with a token of these scopes; scopes 0: over the Unix socket, where we are the
 * administrator.  The outcome is in status. */
static inline struct client *client_dial(struct bed *bed, uint32_t scopes, const char *pattern,
                                         const char *name, wire_handler_f handler)
{
    static const struct wire_events PLAIN = {.ready = client_ready, .closed = client_closed};
    struct wire_events events = PLAIN;
    events.request = handler;
    struct client *client = mem_zalloc(sizeof(*client));
    client->bed = bed;
    vec_push(&bed->clients, client);
    char ca[300];
    char key[300];
    char keys[300];
    char token_path[300];
    char address[400];
    bed_path(bed, "ca.pem", ca);
    bed_path(bed, "keys", keys);
    bed_path(bed, "keys/k1.key", key);
    if (scopes) {
        struct token token = {.scopes = scopes, .issued_s = loop_wall_s(bed->loop)};
        (void)snprintf(token.identity, sizeof(token.identity), "someone@pool");
        (void)snprintf(token.pool, sizeof(token.pool), "pool");
        (void)snprintf(token.id, sizeof(token.id), "token-%d", ++bed->tokens);
        (void)snprintf(token.pattern, sizeof(token.pattern), "%s", pattern);
        (void)snprintf(token.uid_domain, sizeof(token.uid_domain), "pool");
        token.slots = bed->token_slots;
        (void)snprintf(client->token_id, sizeof(client->token_id), "%s", token.id);
        char *text = NULL;
        BED_MUST(token_issue_file(bed->os, bed->loop, key, "k1", &token, &text, err));
        bed_path(bed, token.id, token_path);
        BED_MUST(os_write_file(bed->os, token_path, text, strlen(text), 0600, false, err));
        mem_free(text);
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
    BED_MUST(wire_context_create(&options, &client->context, err));
    const struct wire_dial dial = {.address = address,
                                   .route = "collector",
                                   .name = name ? name : ""};
    struct err why = {""};
    client->status = wire_dial(client->context, &dial, &events, client, &client->wire, &why);
    if (client->status == 0) {
        loop_run_until(bed->loop, &client->over);
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

static inline void answer_part(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->parts++;
    for (size_t i = 0; i < reply->ad_count; i++) {
        struct ad *ad = wire_reply_take_ad(reply, i);
        told_show(reply, ad, (uint32_t)i);
        vec_push(&answer->ads, ad);
    }
    if (!reply->more) {
        answer->status = reply->status;
        (void)snprintf(answer->text, sizeof(answer->text), "%s", reply->text);
        answer->args = reply->args ? ad_copy(reply->args) : ad_create();
        answer->over = true;
    }
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

static inline struct ad *bed_ad(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

/* Sends a request without waiting; the answer is filled in while the loop runs.  Attributes in the
 * texts that stand for secrets are converted as told_secrets.h says. */
static inline void client_send(struct client *client, enum wire_verb verb, const char *args_text,
                               const char *const *ad_texts, struct answer *answer)
{
    static struct ad *ads[1100]; /* enough for a message of many slots */
    size_t count = 0;
    struct told_secrets told = {.count = 0};
    struct ad *args = bed_ad(args_text);
    for (; ad_texts && ad_texts[count]; count++) {
        ads[count] = bed_ad(ad_texts[count]);
        told_take(&told, ads[count], (uint32_t)count);
    }
    told_take(&told, args, SECRET_OF_ARGS);
    struct wire_body body = {.args = args, .ads = (const struct ad *const *)ads, .ad_count = count};
    told_put(&told, &body);
    *answer = (struct answer){0};
    int64_t call = wire_call(client->wire, verb, &body, 0, answer_part, answer);
    if (call < 0) {
        answer->status = (int)call;
        answer->args = ad_create();
        answer->over = true;
    }
    ad_destroy(args);
    for (size_t i = 0; i < count; i++) {
        ad_destroy(ads[i]);
    }
    told_fini(&told);
}

static inline int client_call(struct client *client, enum wire_verb verb, const char *args_text,
                              const char *const *ad_texts, struct answer *answer)
{
    client_send(client, verb, args_text, ad_texts, answer);
    loop_run_until(client->bed->loop, &answer->over);
    return answer->status;
}

/* Finds the collector's address in its own ad. */
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
    config_destroy(bed->config);
    log_destroy(bed->log);
    BED_MUST(os_remove_tree(bed->os, bed->dir, err));
    os_destroy(bed->os);
    loop_destroy(bed->loop);
    mem_free(bed);
}

#endif
