/* tests/support/told_secrets.h - lets tests write secrets as attributes: ClaimId, ClaimIdList,
 * Nonce and Ticket in texts of tests stand for the secrets that are sent beside an ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_TOLD_SECRETS_H
#define TESTS_SUPPORT_TOLD_SECRETS_H

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/wire.h"

#define TOLD_SECRETS_MAX 64

struct told_secrets {
    struct wire_secret items[TOLD_SECRETS_MAX];
    size_t count;
    struct vec texts;
};

static inline void told_add(struct told_secrets *told, enum wire_secret_kind kind, uint32_t of,
                            const char *text)
{
    char *copy = mem_strdup(text);
    vec_push(&told->texts, copy);
    told->items[told->count++] = (struct wire_secret){kind, of, copy};
}

/* Moves the secrets of an ad out of the ad and into told; of: number of the ad in the message,
 * SECRET_OF_ARGS: its args.  Call told_take() for the ads in order, and last for the args. */
static inline void told_take(struct told_secrets *told, struct ad *ad, uint32_t of)
{
    static const struct {
        const char *name;
        enum wire_secret_kind kind;
    } NAMES[] = {{"ClaimId", SECRET_CLAIM_ID}, {"Nonce", SECRET_NONCE}, {"Ticket", SECRET_TICKET}};
    struct ad_value list;
    /* without this attribute, list becomes undefined */
    (void)ad_eval_attr(ad, NULL, "ClaimIdList", NULL, &list);
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        told_add(told, SECRET_CLAIM_ID, of, item.string.text);
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    ad_remove(ad, "ClaimIdList");
    for (size_t i = 0; i < 3; i++) {
        const char *text;
        if (ad_get_string(ad, NAMES[i].name, &text) == 0) {
            told_add(told, NAMES[i].kind, of, text);
            ad_remove(ad, NAMES[i].name);
        }
    }
}

static inline void told_put(const struct told_secrets *told, struct wire_body *body)
{
    body->secrets = told->items;
    body->secret_count = told->count;
}

static inline void told_fini(struct told_secrets *told)
{
    vec_fini(&told->texts, mem_free);
    *told = (struct told_secrets){.count = 0};
}

/* Returns a copy of a request's args with the request's secrets as attributes; owned by the caller.
 */
static inline struct ad *told_args(const struct wire_request *request)
{
    static const struct {
        const char *name;
        enum wire_secret_kind kind;
    } NAMES[] = {{"ClaimId", SECRET_CLAIM_ID}, {"Nonce", SECRET_NONCE}, {"Ticket", SECRET_TICKET}};
    struct ad *args = ad_copy(wire_request_args(request));
    for (size_t i = 0; i < 3; i++) {
        const char *text = wire_request_secret(request, NAMES[i].kind);
        if (text[0] != '\0') {
            ad_set_string(args, NAMES[i].name, text);
        }
    }
    return args;
}

/* Adds the claim id that the reply has for its ad number `of` to that ad, as ClaimId. */
static inline void told_show(const struct wire_reply *reply, struct ad *ad, uint32_t of)
{
    const char *id = wire_secret_find(reply->secrets, reply->secret_count, SECRET_CLAIM_ID, of);
    if (id[0] != '\0') {
        ad_set_string(ad, "ClaimId", id);
    }
}

#endif
