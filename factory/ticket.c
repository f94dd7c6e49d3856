/* factory/ticket.c - see ticket.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/uuid.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/glidein.h"
#include "factory/journal.h"
#include "factory/site.h"
#include "store/store.h"
#include "wire/pool_public.h"
#include "wire/proof.h"
#include "wire/token.h"
#include "wire/token_key.h"
#include "wire/token_request.h"
#include "wire/verbs.h"
#include "wire/wire.h"

/* So much longer than its lifetime a glidein's token is valid: for jobs that retire. */
#define RETIRE_S ((int64_t)3600)
/* Slot ads of a glidein: one for each CPU, and some that are just going. */
#define SLOTS_OF_CPU 2

/* Sets kid to the name of the key in FACTORY_KEY.  Returns its path. */
static const char *signing_key(const struct factory *factory, char kid[TOKEN_KID_MAX])
{
    const char *path = config_path(factory->env.config, "FACTORY_KEY");
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    length -= length > 4 && strcmp(name + length - 4, ".key") == 0 ? 4 : 0;
    (void)snprintf(kid, TOKEN_KID_MAX, "%.*s", (int)length, name);
    return path;
}

/* Sets the pool's name in a token: that of the factory's own, unless POOL_NAME says it. */
static int put_pool_name(const struct factory *factory, struct token *token, struct err *err)
{
    const char *pool = config_string(factory->env.config, "POOL_NAME");
    if (pool[0] == '\0') {
        char *text = NULL;
        size_t length = 0;
        struct token own;
        int rc = os_read_file(factory->env.os, config_path(factory->env.config, "TOKEN_FILE"),
                              TOKEN_FILE_MAX, &text, &length, err);
        if (rc != 0) {
            return rc;
        }
        text[strcspn(text, "\r\n")] = '\0';
        rc = token_peek(text, &own, err);
        secret_wipe(text, length);
        mem_free(text);
        if (rc == 0) {
            (void)snprintf(token->pool, sizeof(token->pool), "%s", own.pool);
        }
        return rc;
    }
    (void)snprintf(token->pool, sizeof(token->pool), "%s", pool);
    return 0;
}

/* Fills a token for a glidein, but for scopes and holder. */
static int put_token(const struct factory *factory, const char *name, int64_t life_s,
                     struct token *ret, struct err *err)
{
    struct loop *loop = factory->env.loop;
    char id[UUID_TEXT_MAX];
    *ret = (struct token){.issued_s = loop_wall_s(loop), .expires_s = loop_wall_s(loop) + life_s};
    int rc = put_pool_name(factory, ret, err);
    uuid_v7((uint64_t)loop_wall_ms(loop), loop_rng(loop), id);
    (void)snprintf(ret->id, sizeof(ret->id), "%s", id);
    (void)snprintf(ret->pattern, sizeof(ret->pattern), "%s", name);
    (void)snprintf(ret->identity, sizeof(ret->identity), "%s@%.100s", name, ret->pool);
    return rc;
}

static int64_t ticket_life_s(const struct site *site)
{
    return site->settings.queue_timeout_s + site->settings.start_timeout_s;
}

static int64_t token_life_s(const struct site *site)
{
    return site->settings.lifetime_s + RETIRE_S;
}

static int add_ticket(const struct site *site, const char *name, struct ticket_secrets *ret,
                      struct err *err)
{
    const struct factory *factory = site->factory;
    struct token token;
    char kid[TOKEN_KID_MAX], *text = NULL;
    const char *path = signing_key(factory, kid);
    int rc = put_token(factory, name, ticket_life_s(site), &token, err);
    token.scopes = SCOPE_TICKET;
    rc = rc != 0
             ? rc
             : token_issue_file(factory->env.os, factory->env.loop, path, kid, &token, &text, err);
    if (rc == 0) {
        vec_push(&ret->tickets, text);
    }
    return rc;
}

int ticket_gather(const struct site *site, const char *batch, int64_t count,
                  struct ticket_secrets *ret, struct err *err)
{
    const struct factory *factory = site->factory;
    char name[GLIDEIN_NAME_MAX];
    int rc = 0;
    *ret = (struct ticket_secrets){.common = NULL};
    if (site->settings.token[0] != '\0') { /* read anew each time, so that it can be renewed */
        char text[SECRET_FILE_MAX];
        rc = secret_file_read(factory->env.os, site->settings.token, text, sizeof(text), err);
        ret->common = rc == 0 ? mem_strdup(text) : NULL;
        secret_wipe(text, sizeof(text));
        return rc;
    }
    for (int64_t i = 1; i <= count && rc == 0; i++) {
        (void)snprintf(name, sizeof(name), "%s.%lld", batch, (long long)i);
        rc = add_ticket(site, name, ret, err);
    }
    struct strbuf pool;
    strbuf_init(&pool, 0);
    rc = rc != 0 ? rc : pool_public_append(factory->env.os, factory->env.config, &pool, err);
    ret->common = rc == 0 ? mem_strdup(strbuf_text(&pool)) : NULL;
    strbuf_fini(&pool);
    if (rc != 0) {
        ticket_wipe(ret);
    }
    return rc;
}

static void wipe_ticket(void *text)
{
    secret_free(text);
}

void ticket_wipe(struct ticket_secrets *secrets)
{
    secret_free(secrets->common);
    vec_fini(&secrets->tickets, wipe_ticket);
    secrets->common = NULL;
}

/* ---- what lasts long enough -------------------------------------------------------------------
 */

static int check_bundle(const struct site *site, struct err *err)
{
    const struct factory *factory = site->factory;
    char text[SECRET_FILE_MAX], when[TEXT_UTC_MAX];
    struct token token;
    int rc = secret_file_read(factory->env.os, site->settings.token, text, sizeof(text), err);
    if (rc != 0) {
        return rc;
    }
    text[strcspn(text, "\r\n")] = '\0';
    rc = token_peek(text, &token, err);
    secret_wipe(text, sizeof(text));
    if (rc != 0) {
        return err_prefix(err, rc, "%s", site->settings.token);
    }
    if (token.expires_s != 0 &&
        token.expires_s < loop_wall_s(factory->env.loop) + site->settings.lifetime_s) {
        text_utc_s(token.expires_s, when);
        return err_set(err, -EKEYEXPIRED,
                       "%s ends at %s, before a glidein that starts now would (lifetime %lld s): "
                       "make a new one with `roost token create --bundle`",
                       site->settings.token, when, (long long)site->settings.lifetime_s);
    }
    return 0;
}

/* Checks that the key may sign for this factory's names, and for as long as the site's settings
 * say; else glideins would be started, and never get a token. */
static int check_limits(const struct site *site, const char *kid, const struct token_limits *limits,
                        struct err *err)
{
    const struct factory *factory = site->factory;
    int64_t ticket_s = ticket_life_s(site), token_s = token_life_s(site);
    char name[GLIDEIN_NAME_MAX];
    struct token token;
    (void)snprintf(name, sizeof(name), "%s-%s-", factory->name, site->name);
    int rc = put_token(factory, name, ticket_s > token_s ? ticket_s : token_s, &token, err);
    return rc != 0 ? rc
                   : token_limits_check(limits, kid, &token, loop_wall_s(factory->env.loop), err);
}

int ticket_check(const struct site *site, struct err *err)
{
    struct token_key_endorsement endorsement;
    struct token_limits limits;
    char kid[TOKEN_KID_MAX], when[TEXT_UTC_MAX];
    if (site->settings.token[0] != '\0') {
        return check_bundle(site, err);
    }
    const char *path = signing_key(site->factory, kid);
    int rc = token_key_endorsement_read(site->factory->env.os, path, &endorsement, err);
    if (rc != 0) {
        return rc;
    }
    if (token_limits_parse(endorsement.limits, &limits) != 0) {
        return err_set(
            err, -ENOKEY,
            "FACTORY_KEY: %s is not a signing key with limits: make one with `roost token key "
            "create %s --names '%s-*'`, or name a bundle (token) in the site's section",
            path, kid, site->factory->name);
    }
    rc = check_limits(site, kid, &limits, err);
    if (rc != 0) {
        return err_prefix(err, rc, "FACTORY_KEY: %s", path);
    }
    int64_t life_s = ticket_life_s(site) + token_life_s(site);
    if (limits.until_s < loop_wall_s(site->factory->env.loop) + life_s) {
        text_utc_s(limits.until_s, when);
        return err_set(err, -EKEYEXPIRED,
                       "FACTORY_KEY: %s ends at %s, before a glidein that is asked for now might: "
                       "make another key with `roost token key create NAME --names '%s-*'`",
                       path, when, site->factory->name);
    }
    return 0;
}

/* ---- TICKET -----------------------------------------------------------------------------------
 */

/* A request that waits until it is recorded which key the ticket was used with. */
struct turn {
    struct factory *factory;
    struct wire_request *request;
    char name[GLIDEIN_NAME_MAX];
    uint8_t point[P256_POINT_BYTES];
};

static void answer_token(struct turn *turn)
{
    struct factory *factory = turn->factory;
    const struct glidein *glidein = strmap_get(factory->glideins, turn->name);
    char kid[TOKEN_KID_MAX], *text = NULL;
    const char *path = signing_key(factory, kid);
    struct token token;
    struct err err;
    if (glidein == NULL) {
        wire_reply_error(turn->request, -ENOENT, "the factory does not have glidein %s any more",
                         turn->name);
        return;
    }
    int rc = put_token(factory, turn->name, token_life_s(glidein->site), &token, &err);
    token.scopes = SCOPE_READ | SCOPE_ADVERTISE;
    token.slots = (uint32_t)(TOKEN_SLOTS + SLOTS_OF_CPU * glidein->site->settings.cpus);
    memcpy(token.holder, turn->point, sizeof(token.holder));
    rc = rc != 0 ? rc : token_issue(factory->env.os, path, kid, &token, &text, &err);
    if (rc != 0) {
        log_error(factory->env.log, "ticket.refused", err.text, LOG_TEXT("glidein", turn->name));
        wire_reply_error(turn->request, -EAGAIN, "the factory cannot sign: %s", err.text);
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Token", text);
    const struct wire_body body = {.args = args};
    wire_reply_ok(turn->request, &body);
    ad_destroy(args);
    mem_free(text);
}

static void use_is_recorded(void *arg)
{
    struct turn *turn = arg;
    answer_token(turn);
    mem_free(turn);
}

/* Somebody else has used the ticket, or uses it now: nobody knows who is the glidein. */
static void ticket_was_stolen(struct factory *factory, struct glidein *glidein,
                              struct wire_request *request)
{
    log_error(factory->env.log, "ticket.used_twice",
              "its ticket was used with two keys: somebody else has read it; it is removed",
              LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", glidein->site->name),
              LOG_TEXT("peer", wire_request_peer(request)->address));
    glidein->removing = true;
    factory->changed(factory);
    wire_reply_error(request, -EKEYREVOKED,
                     "the ticket of glidein %s was used with another key already", glidein->name);
}

void ticket_serve(struct factory *factory, struct wire_request *request)
{
    const char *name = wire_request_peer(request)->pattern;
    struct glidein *glidein = strmap_get(factory->glideins, name);
    struct token_request wanted;
    uint8_t digest[P256_DIGEST_BYTES];
    char hex[2 * P256_DIGEST_BYTES + 1];
    struct err err;
    if (glidein == NULL || glidein->removing) {
        wire_reply_error(request, -ENOENT, "the factory does not have glidein %.100s%s", name,
                         glidein != NULL ? " any more" : "");
        return;
    }
    const char *text = ad_string_or(wire_request_args(request), "Request", "");
    if (token_request_parse(text, &wanted, &err) != 0) {
        wire_reply_error(request, -EINVAL, "TICKET: %s", err.text);
        return;
    }
    if (store_full(journal_store(factory->journal)) != 0) {
        wire_reply_error(request, -EAGAIN, "the factory's disk is full: it takes no records");
        return;
    }
    proof_digest(wanted.point, sizeof(wanted.point), digest);
    text_hex(digest, sizeof(digest), hex);
    if (glidein->key[0] != '\0' && strcmp(glidein->key, hex) != 0) {
        ticket_was_stolen(factory, glidein, request);
        return;
    }
    struct turn *turn = mem_zalloc(sizeof(*turn));
    turn->factory = factory;
    turn->request = request;
    memcpy(turn->name, glidein->name, sizeof(turn->name));
    memcpy(turn->point, wanted.point, sizeof(turn->point));
    memcpy(glidein->key, hex, sizeof(hex)); /* the same again: the first answer was lost */
    journal_put(factory->journal, &glidein, 1, use_is_recorded, turn);
}
