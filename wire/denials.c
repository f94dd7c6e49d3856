/* wire/denials.c - see denials.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/denials.h"

#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "wire/wire_private.h"

struct denial {
    uint64_t logged_ms;
    int64_t unlogged;
};

struct denials {
    struct strmap *seen; /* "VERB IDENTITY" -> struct denial */
};

struct denials *denials_create(void)
{
    struct denials *denials = mem_zalloc(sizeof(*denials));
    denials->seen = strmap_create(STRMAP_CASE_SENSITIVE);
    return denials;
}

void denials_destroy(struct denials *denials)
{
    if (denials != NULL) {
        strmap_destroy(denials->seen, mem_free);
        mem_free(denials);
    }
}

/* Forgets pairs whose next refusal would be logged anyway. */
static void forget_old(struct denials *denials, uint64_t now_ms)
{
    size_t at = 0;
    const char *key = NULL;
    void *value = NULL;
    while (strmap_next(denials->seen, &at, &key, &value)) {
        if (now_ms - ((const struct denial *)value)->logged_ms >= DENIALS_MS) {
            mem_free(strmap_remove(denials->seen, key)); /* the walk allows it */
        }
    }
}

/* Returns the pair's entry, made if needed; NULL: there is no room for another one. */
static struct denial *find_or_make(struct denials *denials, const struct caller *caller,
                                   enum wire_verb verb, uint64_t now_ms)
{
    char key[CALLER_IDENTITY_MAX + 40];
    (void)snprintf(key, sizeof(key), "%s %s", wire_verb_name(verb), caller->identity); /* fits */
    struct denial *denial = strmap_get(denials->seen, key);
    if (denial == NULL && strmap_count(denials->seen) >= DENIALS_KEPT) {
        forget_old(denials, now_ms);
    }
    if (denial == NULL && strmap_count(denials->seen) < DENIALS_KEPT) {
        denial = mem_zalloc(sizeof(*denial));
        (void)strmap_set(denials->seen, key, denial); /* was absent */
    }
    return denial;
}

void denials_tell(struct wire *wire, const struct caller *caller, enum wire_verb verb,
                  const char *why)
{
    struct wire_context *context = wire->context;
    uint64_t now_ms = loop_now_ms(context->loop);
    unsigned n = ++wire->denied_count;
    struct denial *denial = find_or_make(context->denials, caller, verb, now_ms);
    bool is_early = n <= DENIALS_LOGGED || (denial == NULL && (n & (n - 1)) == 0);
    bool is_due =
        denial != NULL && (denial->logged_ms == 0 || now_ms - denial->logged_ms >= DENIALS_MS);
    if (!is_early && !is_due) {
        if (denial != NULL) {
            denial->unlogged++;
        }
        return;
    }
    log_warn(context->log, "wire.denied", "request refused", LOG_TEXT("peer", caller->address),
             LOG_TEXT("identity", caller->identity), LOG_TEXT("verb", wire_verb_name(verb)),
             LOG_TEXT("reason", why), LOG_INT("times", denial != NULL ? denial->unlogged + 1 : 1));
    if (denial != NULL) {
        *denial = (struct denial){.logged_ms = now_ms != 0 ? now_ms : 1};
    }
}
