/* wire/wire_known.c - what a process knows of tokens: its own, the pool's signing keys, the revoked
 * ones.
 *
 * Connections use this file; wire_context.c, above them, closes those whose token is revoked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_complaint.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "wire/wire_private.h"

#define KEYS_AGE_MS     2000    /* strangers' tokens do not make us read files more often */
#define OWN_ENDS_AGE_MS 3600000 /* our own token's end is looked up again after that */
#define TOKEN_WATCH_MS  UINT64_C(86400000)
#define OWN_POOL_AGE_MS 60000 /* our own token's pool is looked up again after that */

const struct credential *wire_context_own(struct wire_context *context, uint64_t max_age_ms)
{
    return credential_read(&context->own, context->os, context->loop, max_age_ms) ? &context->own
                                                                                  : NULL;
}

const char *wire_context_pool(struct wire_context *context)
{
    if (context->pool != NULL) {
        return context->pool;
    }
    const struct credential *own = wire_context_own(context, OWN_POOL_AGE_MS);
    return own != NULL ? own->token.pool : context->uid_domain != NULL ? context->uid_domain : "";
}

bool wire_context_reload_keys(struct wire_context *context)
{
    struct token_keys *keys = NULL;
    uint64_t now_ms = loop_now_ms(context->loop);
    if (context->keys_path == NULL ||
        (context->keys_were_read && now_ms - context->keys_read_ms < KEYS_AGE_MS)) {
        return false;
    }
    context->keys_read_ms = now_ms;
    context->keys_were_read = true;
    if (token_keys_load(context->os, context->keys_path, &keys, NULL) < 0) {
        return false; /* those that we have stay good */
    }
    token_keys_destroy(context->keys);
    context->keys = keys;
    token_cache_clear(context->tokens);
    return true;
}

struct loop *wire_context_loop(const struct wire_context *context)
{
    return context->loop;
}

bool wire_context_is_revoked(const struct wire_context *context, const char *token_id)
{
    return token_id[0] != '\0' && strmap_get(context->revoked, token_id) != NULL;
}

void wire_context_forget(struct wire_context *context, const char *token_id)
{
    (void)strmap_remove(context->revoked, token_id);
}

int64_t wire_context_token_ends_s(struct wire_context *context)
{
    const struct credential *own = wire_context_own(context, OWN_ENDS_AGE_MS);
    int64_t ends_s = own != NULL ? own->token.expires_s : 0;
    return ends_s != 0 && ends_s - loop_wall_s(context->loop) < TOKEN_ENDS_S ? ends_s : 0;
}

void wire_context_complain(struct wire_context *context, const char *why)
{
    if (context->complaint_dir == NULL || (why == NULL && !context->complained)) {
        return;
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    if (why != NULL) {
        strbuf_printf(&text, DAEMON_CANNOT_JOIN "%s; the token is in %s", why,
                      context->own.path != NULL ? context->own.path : "no file (TOKEN_FILE)");
    }
    daemon_complaint_write(context->os, context->complaint_dir, context->complaint_name,
                           strbuf_text(&text));
    context->complained = why != NULL;
    strbuf_fini(&text);
}

void wire_context_watch_token(void *arg)
{
    struct wire_context *context = arg;
    int64_t ends_s = wire_context_token_ends_s(context);
    if (ends_s != 0) {
        char when[TEXT_UTC_MAX];
        text_utc_s(ends_s, when);
        if (ends_s <= loop_wall_s(context->loop)) {
            log_error(context->log, "token.expired",
                      "the token of this daemon has expired, and nobody accepts it; replace the "
                      "file (`roost token create`)",
                      LOG_TEXT("ended", when), LOG_TEXT("identity", context->own.token.identity),
                      LOG_TEXT("token_id", context->own.token.id),
                      LOG_TEXT("file", context->own.path));
        } else {
            log_warn(context->log, "token.ends",
                     "the token of this daemon ends soon; replace the file (`roost token create`)",
                     LOG_TEXT("ends", when), LOG_TEXT("identity", context->own.token.identity),
                     LOG_TEXT("token_id", context->own.token.id),
                     LOG_TEXT("file", context->own.path));
        }
    }
    loop_timer_set(context->token_timer, TOKEN_WATCH_MS);
}
