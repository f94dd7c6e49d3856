/* wire/greeting.c - decides who is at the other end, and which name it may use.
 *
 * Every decision about a HELLO is made here; wire.c carries it out.  Each refusal has a sentence of
 * its own, because its reader must know which file to correct.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

#define USER_NAME_MAX 256 /* most bytes of a user's name, with the terminating zero */

/* What a kind of uplink name requires: any one of the scopes, and a matching pattern of the
 * token. */
static const struct {
    const char *prefix;
    uint32_t scopes;
} NAMES[] = {
    {"startd/", SCOPE_ADVERTISE},      {"master/", SCOPE_ADVERTISE | SCOPE_MASTER},
    {"schedd/", SCOPE_SCHEDD},         {"rooster/", SCOPE_ROOSTER},
    {"negotiator/", SCOPE_NEGOTIATOR}, {"factory/", SCOPE_FACTORY},
    {"", SCOPE_ADMINISTRATOR},
};

/* ---- callers --------------------------------------------------------------------------------- */

/* Lets the caller's public part show the texts that the caller has now. */
static void show_texts(struct caller *caller)
{
    struct wire_peer *peer = &caller->peer;
    peer->identity = caller->identity;
    peer->name = caller->name;
    peer->address = caller->address;
    peer->token_id = caller->token.id;
    peer->pattern = caller->token.pattern;
    peer->uid_domain = caller->token.uid_domain;
    peer->owners = caller->token.owners;
}

struct caller *caller_create(const char *address)
{
    struct caller *caller = mem_zalloc(sizeof *caller);
    caller->refs = 1;
    caller->address = mem_strndup(address, strnlen(address, FRAME_FROM_MAX - 1));
    caller->identity = mem_strdup("");
    caller->name = mem_strdup("");
    caller->token = (struct caller_token){
        .id = "", .identity = "", .pool = "", .pattern = "", .uid_domain = "", .owners = ""};
    caller->peer.slots = TOKEN_SLOTS;
    show_texts(caller);
    return caller;
}

/* Replaces the caller's identity or name. */
static void caller_set(struct caller *caller, char **text, const char *value)
{
    char *fresh = mem_strndup(value, strnlen(value, CALLER_IDENTITY_MAX - 1));
    mem_free(*text);
    *text = fresh;
    show_texts(caller);
}

static void caller_set_token(struct caller *caller, const struct token *token)
{
    const char *const from[] = {token->id,      token->identity,   token->pool,
                                token->pattern, token->uid_domain, token->owners};
    struct caller_token *ret = &caller->token;
    const char **const to[] = {&ret->id,      &ret->identity,   &ret->pool,
                               &ret->pattern, &ret->uid_domain, &ret->owners};
    struct strbuf texts;
    strbuf_init(&texts, 0);
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        strbuf_append(&texts, from[i], strlen(from[i]) + 1);
    }
    mem_free(ret->texts);
    ret->texts = mem_dup(texts.data, texts.length);
    strbuf_fini(&texts);
    const char *at = ret->texts;
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        *to[i] = at;
        at += strlen(at) + 1;
    }
    ret->expires_s = token->expires_s;
    caller->peer.scopes = token->scopes;
    caller->peer.slots = token->slots > 0 ? token->slots : TOKEN_SLOTS;
    caller->peer.slots_in_all = token->slots > 0;
    show_texts(caller);
}

struct caller *caller_ref(struct caller *caller)
{
    caller->refs++;
    return caller;
}

void caller_unref(struct caller *caller)
{
    if (caller == NULL || --caller->refs > 0) {
        return;
    }
    mem_free(caller->token.texts);
    mem_free(caller->identity);
    mem_free(caller->name);
    mem_free(caller->address);
    mem_free(caller);
}

bool wire_peer_may_advertise(const struct wire_peer *peer, const char *name)
{
    if (peer->pattern == NULL || peer->pattern[0] == '\0') {
        return true;
    }
    const char *last = name;
    for (const char *at = name; *at != '\0'; at++) {
        last = *at == '@' || *at == '/' ? at + 1 : last;
    }
    return text_glob(peer->pattern, last, true);
}

/* ---- judging --------------------------------------------------------------------------------- */

int greeting_judge_token(struct wire_context *context, const char *text, struct caller *caller,
                         struct evp_pkey_st **holder, struct err *err)
{
    struct token token = {0};
    int64_t now_s = loop_wall_s(context->loop);
    if (text[0] == '\0') {
        return err_set(err, -ENOKEY, "no token");
    }
    if (context->keys == NULL && !wire_context_reload_keys(context)) {
        return err_set(err, -EACCES,
                       "this daemon accepts no tokens: no signing keys are configured");
    }
    int rc = token_cache_check(context->tokens, context->keys, text, now_s, &token, holder, err);
    if (rc == -EKEYREJECTED && wire_context_reload_keys(context)) {
        /* the key may be new */
        rc = token_cache_check(context->tokens, context->keys, text, now_s, &token, holder, err);
    }
    if (token.identity[0] != '\0') {
        /* Also of an expired one, so that the log can name whose it was. */
        caller_set(caller, &caller->identity, token.identity);
    }
    if (rc < 0) {
        return rc;
    }
    const char *pool = wire_context_pool(context);
    if (strcmp(token.pool, pool) != 0) {
        return err_set(err, -EKEYREJECTED,
                       "token is for pool '%s', this is pool '%s' (POOL_NAME; id '%s' of %s)",
                       token.pool, pool, token.id, token.identity);
    }
    if (wire_context_is_revoked(context, token.id)) {
        return err_set(err, -EKEYREVOKED, "token revoked (id '%s' of %s)", token.id,
                       token.identity);
    }
    caller_set_token(caller, &token);
    return 0;
}

void greeting_judge_uid(const struct wire_context *context, uid_t uid, struct caller *caller)
{
    char user[USER_NAME_MAX], identity[CALLER_IDENTITY_MAX];
    if (os_user_name(context->os, uid, user, sizeof user, NULL) < 0) {
        (void)snprintf(user, sizeof user, "#%u", (unsigned)uid); /* no account: a bare number */
    }
    (void)snprintf(identity, sizeof identity, "%s@%s", user,
                   context->uid_domain == NULL ? "localhost" : context->uid_domain);
    caller_set(caller, &caller->identity, identity);
    caller->peer.has_uid = true;
    caller->peer.uid = uid;
    caller->peer.scopes = SCOPE_READ | SCOPE_WRITE;
    if (uid == 0 || uid == context->admin_uid) {
        caller->peer.scopes |= SCOPE_ADMINISTRATOR | SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_MASTER |
                               SCOPE_ADVERTISE | SCOPE_NEGOTIATOR | SCOPE_FACTORY;
    }
}

/* Writes "token 'id' of x@y", or, without a token, "user x@y". */
static const char *caller_text(const struct caller *caller, char *ret, size_t size)
{
    if (caller->token.identity[0] != '\0' && !caller->peer.has_uid) {
        (void)snprintf(ret, size, "token '%s' of %s", caller->token.id, caller->identity);
    } else {
        (void)snprintf(ret, size, "user %s", caller->identity);
    }
    return ret;
}

int greeting_judge_name(const struct caller *caller, const char *name, struct err *err)
{
    char who[700], needs[128], has[128];
    size_t length = strlen(name);
    if (length > WIRE_NAME_MAX) {
        return err_set(err, -EINVAL, "uplink name is longer than %d bytes", WIRE_NAME_MAX);
    }
    for (size_t i = 0; i < length; i++) {
        if (name[i] <= ' ' || name[i] == 0x7f) {
            return err_set(err, -EINVAL, "uplink name '%s' contains blanks or control characters",
                           name);
        }
    }
    size_t row = 0;
    while (strncmp(name, NAMES[row].prefix, strlen(NAMES[row].prefix)) != 0) {
        row++; /* the last prefix is that of all names */
    }
    if ((caller->peer.scopes & NAMES[row].scopes) == 0) {
        return err_set(err, -EACCES, "token is too weak: name '%s' needs %s; %s has %s", name,
                       scope_names(NAMES[row].scopes, needs, sizeof needs),
                       caller_text(caller, who, sizeof who),
                       scope_names(caller->peer.scopes, has, sizeof has));
    }
    if (!wire_peer_may_advertise(&caller->peer, name)) {
        return err_set(err, -EACCES,
                       "token is too weak: its name pattern '%s' does not allow name '%s' (%s)",
                       caller->peer.pattern, name, caller_text(caller, who, sizeof who));
    }
    return 0;
}

/* Returns the highest version that both sides speak, or -EPROTONOSUPPORT. */
static int greeting_version(uint16_t newest, uint16_t oldest, struct err *err)
{
    int mine_oldest = WIRE_VERSION_MIN;
    int chosen = newest < WIRE_VERSION ? newest : WIRE_VERSION;
    if (chosen < mine_oldest || chosen < oldest || oldest > newest) {
        return err_set(
            err, -EPROTONOSUPPORT,
            "protocol version mismatch: the peer supports %u to %u, this daemon %d to %d", oldest,
            newest, mine_oldest, WIRE_VERSION);
    }
    return chosen;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

/* Returns whether a token is sent and checked on this route.  On other routes a ticket, a nonce or
 * a claim id is the proof, and the server is not to learn our identity. */
static bool greeting_route_looks_at_tokens(const char *route)
{
    return strcmp(route, "collector") == 0 || strcmp(route, "schedd") == 0;
}

int greeting_offer_proof(struct wire_context *context, const char *route, const char *name,
                         const uint8_t *binding, struct ad *args, struct err *err)
{
    if (binding == NULL || !greeting_route_looks_at_tokens(route)) {
        return 0;
    }
    const struct credential *own = wire_context_own(context, 0);
    if (own == NULL) {
        log_debug(context->log, "wire.no_token", context->own.why, LOG_TEXT("route", route));
        return err_set(err, -EACCES, "%s", context->own.why);
    }
    const struct proof_greeting greeting = {.pool = own->token.pool,
                                            .token = own->text,
                                            .route = route,
                                            .name = name,
                                            .binding = binding};
    uint8_t proof[PROOF_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_greeting(&greeting, &statement);
    credential_sign(own, &statement, proof);
    strbuf_fini(&statement);
    proof_text(proof, text);
    ad_set_string(args, "Token", own->text);
    ad_set_string(args, "Proof", text);
    return 0;
}

/* Checks that the caller has the private key that its token names. */
static int judge_proof(const struct caller *caller, const struct greeting_place *place,
                       struct evp_pkey_st *holder, const char *token, const char *name,
                       const char *text, struct err *err)
{
    uint8_t proof[PROOF_BYTES];
    const struct proof_greeting greeting = {.pool = caller->token.pool,
                                            .token = token,
                                            .route = place->route,
                                            .name = name,
                                            .binding = place->binding};
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_greeting(&greeting, &statement);
    bool good = proof_from_text(text, proof) &&
                p256_verify(holder, strbuf_text(&statement), statement.length, proof);
    strbuf_fini(&statement);
    return good ? 0
                : err_set(err, -EKEYREJECTED,
                          "the caller did not prove that it holds the key of token '%s' of %s",
                          caller->token.id, caller->token.identity);
}

int greeting_judge_hello(struct wire_context *context, const struct frame *frame,
                         const struct frame_message *message, const struct greeting_place *place,
                         struct caller *caller, const struct ad **hello, struct err *err)
{
    int rc = greeting_version(frame->version, frame->version_min, err);
    if (rc < 0) {
        return rc;
    }
    const char *token = "";
    const char *proof = "";
    const char *name = "";
    *hello = NULL;
    if (message->args != NULL) {
        token = ad_string_or(message->args, "Token", "");
        proof = ad_string_or(message->args, "Proof", "");
        name = ad_string_or(message->args, "Name", "");
        (void)snprintf(caller->instance, sizeof caller->instance, "%s",
                       ad_string_or(message->args, "Instance", ""));
        (void)ad_get_ad(message->args, "Hello", hello);
    }
    if (caller->peer.has_uid) {
        /* The socket says who it is; whoever needs more dials TLS. */
    } else if (place->how->no_token) {
        caller->peer.scopes = place->how->scopes;
    } else {
        struct evp_pkey_st *holder = NULL;
        rc = greeting_judge_token(context, token, caller, &holder, err);
        rc = rc < 0 ? rc : judge_proof(caller, place, holder, token, name, proof, err);
        if (rc < 0) {
            caller->peer.scopes = 0;
            return rc;
        }
    }
    if (name[0] != '\0') {
        rc = greeting_judge_name(caller, name, err);
        if (rc < 0) {
            return rc;
        }
        caller_set(caller, &caller->name, name);
    }
    return 0;
}
