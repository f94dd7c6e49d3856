/* wire/revocations.c - see revocations.h.
 *
 * The file has one ad per line, [Name = "the token's id"; Expires = 0].  It is written as a whole,
 * a moment after a change, so that many tokens revoked by one command are one write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/revocations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/watch.h"
#include "wire/wire_private.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define SAVE_MS        50      /* changes of that time are written together */
#define REFUSED_MS     2500    /* a watch that was refused is asked for again */
#define EXPIRE_MS      3600000 /* how often those that are over are looked for */

struct revocations {
    struct wire_context *context;
    char *path;             /* NULL: kept in memory only */
    struct strmap *expires; /* token id -> int64_t, seconds since 1970; 0: never */
    struct watch *watch;    /* NULL: nobody watches */
    struct wire *wire;      /* the connection that was watched last; it may be gone */
    bool wants_again;       /* the watch was refused, or is to be started once more */
    bool judged_again;      /* list asked for again on this connection: unknown key */
    bool said;              /* it was logged that requests came too early */
    struct loop_timer *save_timer, *look_timer;
};

/* ---- one revocation -------------------------------------------------------------------------- */

int revocation_sign(struct wire_context *context, const char *token_id, int64_t expires_s,
                    struct ad *ret, struct err *err)
{
    const struct credential *own = wire_context_own(context, 0);
    if (own == NULL) {
        return err_set(err, -ENOKEY, "a revocation needs the signature of an administrator: %s",
                       context->own.why);
    }
    const struct proof_revocation revocation = {.pool = own->token.pool,
                                                .token = own->text,
                                                .token_id = token_id,
                                                .expires_s = expires_s};
    uint8_t proof[PROOF_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_revocation(&revocation, &statement);
    credential_sign(own, &statement, proof);
    strbuf_fini(&statement);
    proof_text(proof, text);
    ad_set_string(ret, "TokenId", token_id);
    ad_set_int(ret, "Expires", expires_s);
    ad_set_string(ret, "Token", own->text);
    ad_set_string(ret, "Proof", text);
    return 0;
}

/* Checks the token of the administrator who signed, ignoring its dates. */
static int signer_judge(struct wire_context *context, const char *text, struct token *ret,
                        struct err *err)
{
    if (context->keys == NULL && !wire_context_reload_keys(context)) {
        return err_set(err, -EKEYREJECTED, "no signing keys are configured");
    }
    int rc = token_check(context->keys, text, INT64_MAX, ret, err);
    if (rc == -EKEYREJECTED && wire_context_reload_keys(context)) {
        rc = token_check(context->keys, text, INT64_MAX, ret, err); /* the key may be new */
    }
    if (rc < 0 && rc != -EKEYEXPIRED) {
        return rc;
    }
    if (strcmp(ret->pool, wire_context_pool(context)) != 0) {
        return err_set(err, -EKEYREJECTED,
                       "the revocation is signed with a token for pool '%s', this is pool '%s'",
                       ret->pool, wire_context_pool(context));
    }
    if ((ret->scopes & SCOPE_ADMINISTRATOR) == 0) {
        return err_set(
            err, -EACCES,
            "revoking needs the scope ADMINISTRATOR, which token '%s' of %s does not have", ret->id,
            ret->identity);
    }
    return 0;
}

static int judge_ad(struct wire_context *context, const struct ad *ad, struct token *signer,
                    struct err *err)
{
    const char *id = ad_string_or(ad, "TokenId", "");
    const char *token = ad_string_or(ad, "Token", "");
    uint8_t proof[PROOF_BYTES];
    int64_t expires_s = ad_int_or(ad, "Expires", 0);
    if (id[0] == '\0' || strlen(id) > REVOKED_ID_MAX || expires_s < 0) {
        return err_set(err, -EINVAL,
                       "TokenId must have 1 to %d bytes, and Expires must not be negative",
                       REVOKED_ID_MAX);
    }
    if (token[0] == '\0' || !proof_from_text(ad_string_or(ad, "Proof", ""), proof)) {
        return err_set(err, -EINVAL,
                       "the revocation is not signed; `roost token revoke` signs it with the token "
                       "and the key of an ADMINISTRATOR (TOKEN_FILE)");
    }
    int rc = signer_judge(context, token, signer, err);
    if (rc < 0) {
        return rc;
    }
    const struct proof_revocation revocation = {.pool = signer->pool,
                                                .token = token,
                                                .token_id = id,
                                                .expires_s = expires_s};
    struct evp_pkey_st *holder = p256_from_point(signer->holder);
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_revocation(&revocation, &statement);
    bool good =
        holder != NULL && p256_verify(holder, strbuf_text(&statement), statement.length, proof);
    strbuf_fini(&statement);
    p256_free(holder);
    return good ? 0
                : err_set(err, -EKEYREJECTED,
                          "the holder of token '%s' of %s has not signed this revocation",
                          signer->id, signer->identity);
}

static void signer_tell(const struct token *token, struct revocation_signer *ret)
{
    (void)snprintf(ret->identity, sizeof ret->identity, "%s", token->identity);
    (void)snprintf(ret->token_id, sizeof ret->token_id, "%s", token->id);
}

int revocation_judge(struct wire_context *context, const struct ad *ad,
                     struct revocation_signer *ret, struct err *err)
{
    struct token signer = {0};
    int rc = judge_ad(context, ad, &signer, err);
    if (rc == 0) {
        signer_tell(&signer, ret);
    }
    return rc;
}

int revocation_judge_new(struct wire_context *context, const struct ad *ad,
                         struct revocation_signer *ret, struct err *err)
{
    struct token signer = {0};
    int rc = judge_ad(context, ad, &signer, err);
    rc = rc < 0 ? rc : token_check_dates(&signer, loop_wall_s(context->loop), err);
    if (rc == 0 && wire_context_is_revoked(context, signer.id)) {
        rc =
            err_set(err, -EKEYREVOKED, "token revoked (id '%s' of %s)", signer.id, signer.identity);
    }
    if (rc == 0) {
        signer_tell(&signer, ret);
    }
    return rc;
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool is_over(int64_t expires_s, int64_t now_s)
{
    return expires_s > 0 && expires_s <= now_s;
}

bool revocation_lasts_longer(int64_t a_s, int64_t b_s)
{
    return b_s > 0 && (a_s == 0 || a_s > b_s);
}

/* Returns whether the revocation has ended, or is already known for as long. */
static bool is_known(const struct revocations *revocations, const char *id, int64_t expires_s)
{
    const int64_t *known = strmap_get(revocations->expires, id);
    return is_over(expires_s, loop_wall_s(revocations->context->loop)) ||
           (known != NULL && !revocation_lasts_longer(expires_s, *known));
}

/* Adds a revocation.  Returns whether it is new, or lasts longer than the known one. */
static bool revocation_add(struct revocations *revocations, const char *id, int64_t expires_s)
{
    struct wire_context *context = revocations->context;
    size_t length = strlen(id);
    bool is_new = strmap_get(revocations->expires, id) == NULL;
    if (length == 0 || length > REVOKED_ID_MAX || is_known(revocations, id, expires_s)) {
        return false;
    }
    if (is_new && strmap_count(revocations->expires) >= REVOCATIONS_MAX) {
        log_error(context->log, "revocations.full",
                  "a revocation was dropped because there are too many", LOG_TEXT("token_id", id),
                  LOG_INT("limit", REVOCATIONS_MAX));
        return false;
    }
    int64_t *copy = mem_alloc(sizeof *copy);
    *copy = expires_s;
    mem_free(strmap_set(revocations->expires, id, copy));
    wire_context_revoke(context, id);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void save_file(void *arg)
{
    struct revocations *revocations = arg;
    const struct wire_context *context = revocations->context;
    struct strbuf text;
    struct err err = {{0}};
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    if (revocations->path == NULL) {
        return;
    }
    strbuf_init(&text, FILE_BYTES_MAX);
    while (strmap_next(revocations->expires, &at, &id, &value)) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "Name", id);
        ad_set_int(ad, "Expires", *(const int64_t *)value);
        ad_print(ad, &text);
        strbuf_putc(&text, '\n');
        ad_destroy(ad);
    }
    char *directory = mem_strdup(revocations->path);
    *(strrchr(directory, '/') != NULL ? strrchr(directory, '/') : directory) = '\0';
    if (directory[0] != '\0') {
        (void)os_mkdirs(context->os, directory, 0755, NULL); /* the write says what is wrong */
    }
    mem_free(directory);
    int rc = text.failed ? err_set(&err, -EFBIG, "%s: too many revocations", revocations->path)
                         : os_write_file(context->os, revocations->path, strbuf_text(&text),
                                         text.length, 0600, true, &err);
    strbuf_fini(&text);
    if (rc < 0) {
        log_error(
            context->log, "revocations.unsaved", err.text,
            LOG_TEXT(
                "consequence",
                "after a restart, revocations are known only once the collector has sent them"));
    }
}

static void load_file(struct revocations *revocations)
{
    struct wire_context *context = revocations->context;
    struct err err = {{0}};
    char *text = NULL;
    size_t length = 0;
    int rc = os_read_file(context->os, revocations->path, FILE_BYTES_MAX, &text, &length, &err);
    if (rc < 0) {
        if (rc != -ENOENT) {
            log_error(context->log, "revocations.unread", err.text);
        }
        return;
    }
    for (const char *at = text; *at != '\0';) {
        size_t width = strcspn(at, "\n");
        struct ad *ad = NULL;
        rc = width == 0 ? 0 : ad_parse(at, width, &ad, &err);
        if (rc < 0) {
            log_error(context->log, "revocations.unread", err.text,
                      LOG_TEXT("file", revocations->path));
        } else if (ad != NULL) {
            (void)revocation_add(revocations, ad_string_or(ad, "Name", ""),
                                 ad_int_or(ad, "Expires", 0));
            ad_destroy(ad);
        }
        at += width + (at[width] == '\n' ? 1 : 0);
    }
    mem_free(text);
}

/* ---- what the collector shows ---------------------------------------------------------------- */

/* The administrator's token may be signed by a key so new that our directory of keys was read
 * before it appeared.  Asks the collector for the list once more. */
static void judge_again_later(struct revocations *revocations, int rc)
{
    if (rc == -EKEYREJECTED && !revocations->judged_again) {
        revocations->judged_again = true;
        revocations->wants_again = true;
        loop_timer_set(revocations->look_timer, REFUSED_MS);
    }
}

static void ad_changed(void *arg, const char *key, const struct ad *ad)
{
    struct revocations *revocations = arg;
    struct wire_context *context = revocations->context;
    const char *id = ad_string_or(ad, "TokenId", "");
    struct revocation_signer by;
    struct err err = {{0}};
    if (is_known(revocations, id, ad_int_or(ad, "Expires", 0))) {
        return; /* of each snapshot: not verified again */
    }
    int rc = revocation_judge(context, ad, &by, &err);
    if (rc < 0) {
        log_warn(context->log, "revocations.unproved", "a revocation was ignored",
                 LOG_TEXT("name", key), LOG_TEXT("reason", err.text));
        judge_again_later(revocations, rc);
    } else if (revocation_add(revocations, id, ad_int_or(ad, "Expires", 0))) {
        log_info(context->log, "token.revoked", "a token is refused from now on",
                 LOG_TEXT("token_id", id), LOG_TEXT("by", by.identity));
        loop_timer_set(revocations->save_timer, SAVE_MS);
    }
}

static void ad_gone(void *arg, const char *key)
{
    (void)arg; /* it ends by its own time: the collector cannot take one back */
    (void)key;
}

static void list_synced(void *arg)
{
    struct revocations *revocations = arg;
    log_debug(revocations->context->log, "revocations.known", "all revocations are known",
              LOG_INT("count", strmap_count(revocations->expires)));
}

static void watch_refused(void *arg, int status, const char *why)
{
    struct revocations *revocations = arg;
    log_error(revocations->context->log, "revocations.refused",
              "the collector does not send its list of revoked tokens; requests through the "
              "collector are refused",
              LOG_INT("status", status), LOG_TEXT("reason", why));
    revocations->wants_again = true;
    loop_timer_set(revocations->look_timer, REFUSED_MS);
}

static void watch_again(struct revocations *revocations)
{
    revocations->wants_again = false;
    int rc = watch_start(revocations->watch, revocations->wire);
    if (rc < 0) {
        watch_refused(revocations, rc, err_code_text(rc));
    }
}

static bool is_there(const struct wire_context *context, const struct wire *wanted)
{
    const struct wire *wire = context->first;
    while (wire != NULL && wire != wanted) {
        wire = wire->next;
    }
    return wire != NULL && wire_is_ready(wire);
}

static void forget_those_that_are_over(struct revocations *revocations)
{
    int64_t now_s = loop_wall_s(revocations->context->loop);
    struct vec over = {0};
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (strmap_next(revocations->expires, &at, &id, &value)) {
        if (is_over(*(const int64_t *)value, now_s)) {
            vec_push(&over, mem_strdup(id));
        }
    }
    for (size_t i = 0; i < over.count; i++) {
        mem_free(strmap_remove(revocations->expires, over.items[i]));
        wire_context_forget(revocations->context, over.items[i]);
    }
    if (over.count > 0) {
        save_file(revocations);
    }
    vec_fini(&over, mem_free);
}

static void look_again(void *arg)
{
    struct revocations *revocations = arg;
    if (revocations->wants_again && is_there(revocations->context, revocations->wire)) {
        watch_again(revocations);
    }
    forget_those_that_are_over(revocations);
    loop_timer_set(revocations->look_timer, EXPIRE_MS);
}

/* ---- for others ------------------------------------------------------------------------------ */

struct revocations *revocations_create(struct wire_context *context, const char *path)
{
    struct revocations *revocations = mem_zalloc(sizeof *revocations);
    revocations->context = context;
    revocations->path = path == NULL ? NULL : mem_strdup(path);
    revocations->expires = strmap_create(STRMAP_CASE_SENSITIVE);
    revocations->save_timer = loop_timer_create(context->loop, save_file, revocations);
    revocations->look_timer = loop_timer_create(context->loop, look_again, revocations);
    if (path != NULL) {
        load_file(revocations);
    }
    return revocations;
}

void revocations_destroy(struct revocations *revocations)
{
    if (revocations == NULL) {
        return;
    }
    watch_destroy(revocations->watch);
    if (loop_timer_is_set(revocations->save_timer)) {
        save_file(revocations);
    }
    loop_timer_destroy(revocations->save_timer);
    loop_timer_destroy(revocations->look_timer);
    strmap_destroy(revocations->expires, mem_free);
    mem_free(revocations->path);
    mem_free(revocations);
}

void revocations_watch(struct wire_context *context, struct wire *wire)
{
    static const struct watch_spec SPEC = {.type = "Revocation"};
    static const struct watch_events EVENTS = {.changed = ad_changed,
                                               .gone = ad_gone,
                                               .synced = list_synced,
                                               .refused = watch_refused};
    struct revocations *revocations = context->revocations;
    if (revocations->watch == NULL) {
        revocations->watch = watch_create(context->loop, &SPEC, &EVENTS, revocations);
    }
    revocations->wire = wire;
    revocations->judged_again = false;
    revocations->said = false;
    if (!loop_timer_is_set(revocations->look_timer)) {
        loop_timer_set(revocations->look_timer, EXPIRE_MS);
    }
    watch_again(revocations);
}

bool revocations_are_known(struct revocations *revocations)
{
    if (revocations->watch == NULL || watch_is_synced(revocations->watch)) {
        return true;
    }
    if (!revocations->said) {
        revocations->said = true;
        log_info(
            revocations->context->log, "revocations.awaited",
            "requests through the collector wait until it has sent its list of revoked tokens");
    }
    return false;
}

size_t revocations_count(const struct wire_context *context)
{
    return strmap_count(context->revocations->expires);
}
