/* wire/wire_context.c - what all connections of a process share: see wire_private.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/net_text.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad_pool.h"
#include "wire/denials.h"
#include "wire/wire_private.h"

static char *copy_or_null(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

/* Copies the text; NULL for NULL and "". */
static char *name_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? NULL : mem_strdup(text);
}

/* Converts a fingerprint as people write it ("AB:CD:...") to the stream's form; "" if there is
 * none. */
static int read_pin(const char *text, char ret[STREAM_PIN_SIZE], struct err *err)
{
    ret[0] = '\0';
    int rc = text == NULL || text[0] == '\0' ? 0 : net_text_fingerprint(text, ret, err);
    return rc == 0 ? 0 : err_prefix(err, rc, "COLLECTOR_PIN");
}

int wire_context_create(const struct wire_context_options *options, struct wire_context **ret,
                        struct err *err)
{
    struct token_keys *keys = NULL;
    char pin[STREAM_PIN_SIZE];
    int code = read_pin(options->collector_pin, pin, err);
    if (code < 0) {
        return code;
    }
    if (options->pool_keys != NULL && !options->keys_when_asked) {
        int rc = token_keys_load(options->os, options->pool_keys, &keys, err);
        if (rc < 0 && rc != -ENOENT) { /* none yet is fine: looked for again when a token comes */
            return rc;
        }
    }
    struct wire_context *context = mem_zalloc(sizeof *context);
    context->args_pool = ad_pool_create();
    context->loop = options->loop;
    context->os = options->os;
    context->log = options->log;
    credential_init(&context->own, options->token_path);
    context->complaint_dir = copy_or_null(options->complaint_dir);
    context->complaint_name = copy_or_null(options->complaint_name);
    instance_init(&context->instance, options->loop);
    context->tokens = token_cache_create();
    context->pool = name_or_null(options->pool);
    context->ca_file = copy_or_null(options->ca_file);
    memcpy(context->collector_pin, pin, sizeof pin);
    context->uid_domain = copy_or_null(options->uid_domain);
    context->admin_uid = options->admin_uid;
    context->keys_path = copy_or_null(options->pool_keys);
    context->keys = keys;
    context->keys_read_ms = loop_now_ms(options->loop);
    context->keys_were_read = !options->keys_when_asked;
    context->revoked = strmap_create(STRMAP_CASE_SENSITIVE);
    TAILQ_INIT(&context->turns);
    context->turn = loop_timer_create(options->loop, wire_context_turns, context);
    context->limits = wire_limits_create(context);
    context->denials = denials_create();
    context->revocations = revocations_create(context, options->revocations_path);
    context->token_timer = loop_timer_create(options->loop, wire_context_watch_token, context);
    if (options->log != NULL && !options->keys_when_asked) { /* a daemon, not a tool */
        loop_timer_set(context->token_timer, 0);
    }
    *ret = context;
    return 0;
}

void wire_context_destroy(struct wire_context *context)
{
    if (context == NULL) {
        return;
    }
    loop_timer_destroy(context->token_timer);
    revocations_destroy(context->revocations); /* its watch is a call of a wire */
    wire_context_sweep(context);
    denials_destroy(context->denials);
    wire_limits_destroy(context->limits);
    loop_timer_destroy(context->turn);
    credential_fini(&context->own);
    instance_fini(&context->instance);
    token_cache_destroy(context->tokens);
    token_keys_destroy(context->keys);
    strmap_destroy(context->revoked, NULL);
    mem_free(context->keys_path);
    mem_free(context->pool);
    mem_free(context->ca_file);
    mem_free(context->uid_domain);
    mem_free(context->complaint_dir);
    mem_free(context->complaint_name);
    ad_pool_destroy(context->args_pool);
    mem_free(context);
}

static void path_change(char **path, const char *fresh)
{
    char *copy = copy_or_null(fresh);
    mem_free(*path);
    *path = copy;
}

int wire_context_change(struct wire_context *context, const struct wire_context_options *options,
                        struct err *err)
{
    struct token_keys *keys = NULL;
    char pin[STREAM_PIN_SIZE];
    int code = read_pin(options->collector_pin, pin, err);
    if (code < 0) {
        return code;
    }
    if (options->pool_keys != NULL && !options->keys_when_asked) {
        int rc = token_keys_load(context->os, options->pool_keys, &keys, err);
        if (rc < 0 && (rc != -ENOENT || context->keys != NULL)) { /* as at the start */
            return rc;
        }
    }
    token_keys_destroy(context->keys); /* one that was taken away is good no more */
    context->keys = keys;
    context->keys_read_ms = loop_now_ms(context->loop);
    context->keys_were_read = !options->keys_when_asked;
    token_cache_clear(context->tokens);
    credential_change(&context->own, options->token_path);
    mem_free(context->pool);
    context->pool = name_or_null(options->pool);
    path_change(&context->keys_path, options->pool_keys);
    path_change(&context->ca_file, options->ca_file);
    memcpy(context->collector_pin, pin, sizeof pin);
    path_change(&context->uid_domain, options->uid_domain);
    return 0;
}

void wire_context_on_revoked(struct wire_context *context,
                             void (*revoked)(void *arg, const char *token_id), void *arg)
{
    context->on_revoked = revoked;
    context->on_revoked_arg = arg;
}

void wire_context_revoke(struct wire_context *context, const char *token_id)
{
    if (token_id[0] == '\0') {
        return;
    }
    bool is_new = strmap_set(context->revoked, token_id, context) == NULL;
    for (struct wire *wire = context->first; wire != NULL; wire = wire->next) {
        if (wire->state != WIRE_OVER && strcmp(wire->caller->token.id, token_id) == 0) {
            log_warn(context->log, "wire.revoked", "connection closed: its token was revoked",
                     LOG_TEXT("peer", wire->caller->address),
                     LOG_TEXT("identity", wire->caller->identity), LOG_TEXT("token_id", token_id));
            wire_fail(wire, -EKEYREVOKED, true, "token revoked (id '%s')", token_id);
        } else if (wire->state == WIRE_READY) {
            request_end_revoked(wire, token_id);
        }
    }
    if (is_new && context->on_revoked != NULL) {
        context->on_revoked(context->on_revoked_arg, token_id);
    }
}
