/* pilot/ticket.c - see ticket.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pilot/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/p256.h"
#include "wire/pool.h"
#include "wire/token.h"
#include "wire/token_request.h"
#include "wire/wire.h"

#define AGAIN_MS    1000  /* until the factory is asked again */
#define AT_LEAST_MS 60000 /* so long it is tried, whatever this host's clock says */
#define MS_PER_S    1000

struct exchange {
    struct daemon_env env;
    struct wire_context *wires;
    struct uplink *uplink;
    struct loop_timer *again, *end;
    struct token ticket;
    struct evp_pkey_st *key; /* the glidein's own */
    struct strbuf request;   /* for the token of this key */
    char factory[WIRE_NAME_MAX + 1];
    char why[ERR_TEXT_MAX]; /* why there is no token yet */
};

bool ticket_is(const char *text)
{
    struct token token;
    return token_peek(text, &token, NULL) == 0 && (token.scopes & SCOPE_TICKET) != 0;
}

static void give_up(struct exchange *exchange, const char *what)
{
    (void)fprintf(stderr, "roost-pilot: %s: %s\n", what, exchange->why);
    loop_stop(exchange->env.loop, 1);
}

/* Writes the token and its key in the place of the ticket. */
static int take_token(struct exchange *exchange, const char *text, struct err *err)
{
    uint8_t point[P256_POINT_BYTES];
    struct token token;
    int rc = token_peek(text, &token, err);
    p256_point(exchange->key, point);
    if (rc == 0 && memcmp(point, token.holder, sizeof(point)) != 0) {
        rc = err_set(err, -EKEYREJECTED, "the token that the factory sent is for another key");
    }
    if (rc != 0) {
        return rc;
    }
    struct strbuf file;
    strbuf_init(&file, TOKEN_FILE_MAX);
    strbuf_printf(&file, "%s\n", text);
    rc = p256_put_private(exchange->key, &file);
    rc = rc != 0 ? rc
                 : os_write_file(exchange->env.os, config_path(exchange->env.config, "TOKEN_FILE"),
                                 file.data, file.length, 0600, false, err);
    secret_wipe(file.data, file.length);
    strbuf_fini(&file);
    return rc;
}

/* Returns whether the refusal is for good. */
static bool is_final(int status)
{
    return status == -ENOENT || status == -EKEYREVOKED || status == -EINVAL || status == -EACCES ||
           status == -ENOSYS;
}

static void factory_answers(void *arg, struct wire_reply *reply)
{
    struct exchange *exchange = arg;
    struct err err = {""};
    int rc = reply->status != 0
                 ? err_set(&err, reply->status, "%s", reply->text)
                 : take_token(exchange, ad_string_or(reply->args, "Token", ""), &err);
    if (rc == 0) {
        loop_stop(exchange->env.loop, 0);
        return;
    }
    (void)snprintf(exchange->why, sizeof(exchange->why), "%s", err.text);
    if (reply->status == 0 || is_final(reply->status)) {
        give_up(exchange, "no token for this glidein");
    } else {
        loop_timer_set(exchange->again, AGAIN_MS);
    }
}

static void ask(void *arg)
{
    struct exchange *exchange = arg;
    struct wire *wire = uplink_wire(exchange->uplink);
    if (wire == NULL) {
        return; /* it connects again */
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Request", strbuf_text(&exchange->request));
    const struct wire_body body = {.args = args};
    if (wire_relay(wire, exchange->factory, VERB_TICKET, &body, 0, factory_answers, exchange) < 0) {
        loop_timer_set(exchange->again, AGAIN_MS);
    }
    ad_destroy(args);
}

static void uplink_up(void *arg, struct wire *wire)
{
    (void)wire;
    ask(arg);
}

static void uplink_down(void *arg, const char *why)
{
    struct exchange *exchange = arg;
    (void)snprintf(exchange->why, sizeof(exchange->why), "%s", why);
    loop_timer_stop(exchange->again);
}

static void serve_nothing(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_error(request, -ENOSYS, "a glidein that has no token yet answers nothing");
}

static void ticket_ends(void *arg)
{
    give_up(arg, "the ticket of this glidein has ended before it got a token");
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void exchange_destroy(void *state)
{
    struct exchange *exchange = state;
    uplink_destroy(exchange->uplink);
    wire_context_destroy(exchange->wires);
    loop_timer_destroy(exchange->again);
    loop_timer_destroy(exchange->end);
    p256_free(exchange->key);
    strbuf_fini(&exchange->request);
    mem_free(exchange);
}

static int read_ticket(struct exchange *exchange, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    const char *path = config_path(exchange->env.config, "TOKEN_FILE");
    int rc = os_read_file(exchange->env.os, path, TOKEN_FILE_MAX, &text, &length, err);
    if (rc == 0) {
        text[strcspn(text, "\r\n")] = '\0';
        rc = token_peek(text, &exchange->ticket, err);
        secret_wipe(text, length);
        mem_free(text);
    }
    /* The names of a factory's glideins begin with the factory's, and that has no '-'. */
    length = strcspn(exchange->ticket.identity, "-");
    (void)snprintf(exchange->factory, sizeof(exchange->factory), "factory/%.*s", (int)length,
                   exchange->ticket.identity);
    return rc;
}

/* Makes the key, and the request for its token. */
static int make_request(struct exchange *exchange, struct err *err)
{
    struct token_request request = {.scopes = SCOPE_READ | SCOPE_ADVERTISE};
    int rc = p256_make(exchange->env.loop, &exchange->key);
    if (rc != 0) {
        return err_set(err, rc, "cannot make a key for this glidein");
    }
    (void)snprintf(request.identity, sizeof(request.identity), "%s", exchange->ticket.identity);
    (void)snprintf(request.pool, sizeof(request.pool), "%s", exchange->ticket.pool);
    (void)snprintf(request.pattern, sizeof(request.pattern), "%s", exchange->ticket.pattern);
    return token_request_print(&request, exchange->key, &exchange->request, err);
}

static int open_uplink(struct exchange *exchange, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = serve_nothing};
    char address[POOL_ADDRESS_MAX];
    int rc = pool_collector_addresses(exchange->env.config, address, sizeof(address), err);
    const struct wire_dial how = {.address = address, .route = "collector", .name = ""};
    return rc != 0
               ? rc
               : uplink_create(exchange->wires, &how, &EVENTS, exchange, &exchange->uplink, err);
}

static int exchange_start(const struct daemon_env *env, void **state, struct err *err)
{
    struct exchange *exchange = mem_zalloc(sizeof(*exchange));
    exchange->env = *env;
    (void)snprintf(exchange->why, sizeof(exchange->why), "the collector has not answered");
    exchange->again = loop_timer_create(env->loop, ask, exchange);
    exchange->end = loop_timer_create(env->loop, ticket_ends, exchange);
    strbuf_init(&exchange->request, TOKEN_REQUEST_TEXT_MAX);
    int rc = read_ticket(exchange, err);
    rc = rc != 0 ? rc : make_request(exchange, err);
    rc = rc != 0 ? rc : pool_context_create(env, &exchange->wires, err);
    rc = rc != 0 ? rc : open_uplink(exchange, err);
    if (rc != 0) {
        exchange_destroy(exchange);
        return rc;
    }
    int64_t left_s = exchange->ticket.expires_s - loop_wall_s(env->loop);
    loop_timer_set(exchange->end,
                   left_s > AT_LEAST_MS / MS_PER_S ? (uint64_t)left_s * MS_PER_S : AT_LEAST_MS);
    *state = exchange;
    return 0;
}

static const struct knob_table *const TABLES[] = {&knobs_common};

const struct daemon ticket_daemon = {
    .name = "ticket",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = exchange_start,
    .destroy = exchange_destroy,
};
