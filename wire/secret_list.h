/* wire/secret_list.h - what proves something, beside ads and never in them.
 *
 * An ad can be queried, projected, logged, edited and evaluated: whoever may ask about it learns
 * what it holds, at the latest by guessing and comparing.  So a secret is no attribute.  In a
 * message it is a field of its own (docs/protocol/wire.md §3) that says what kind of secret it is
 * and of which ad; in memory it is beside the ad, in a list that is never changed and shared by
 * count.
 *
 * Rejected: hidden attributes.  Each place that evaluates, prints or copies an ad has to think of
 * them, and one that does not is a hole (constraints of the schedd were).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_SECRET_LIST_H
#define WIRE_SECRET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers are for ever. */
enum wire_secret_kind {
    SECRET_CLAIM_ID = 1, /* of a slot, or of one of its pieces */
    SECRET_NONCE = 2,    /* of a run; of a claim: its machine shows it to the schedd */
    SECRET_TICKET = 3,   /* for one connection into a running job, or to spooled files */
};

#define SECRET_KIND_MAX 3
#define SECRET_OF_ARGS  UINT32_MAX
#define SECRET_TEXT_MAX 1024   /* bytes of one */
#define SECRETS_MAX     262144 /* in one message */

struct wire_secret {
    enum wire_secret_kind kind;
    uint32_t of; /* index of the ad in the message, or SECRET_OF_ARGS */
    const char *text;
};

/* The first of that kind and of that ad; "" when there is none. */
const char *wire_secret_find(const struct wire_secret *secrets, size_t count,
                             enum wire_secret_kind kind, uint32_t of);

struct secret_list;

/* A copy of these, all as of the same ad; NULL when count is 0. */
struct secret_list *secret_list_create(const struct wire_secret *secrets, size_t count);
struct secret_list *secret_list_ref(struct secret_list *list); /* NULL is allowed */
void secret_list_unref(struct secret_list *list);              /* the last one wipes it */

/* NULL has none. */
size_t secret_list_count(const struct secret_list *list);
const struct wire_secret *secret_list_items(const struct secret_list *list); /* of == 0 */
const char *secret_list_find(const struct secret_list *list, enum wire_secret_kind kind);
/* The same kinds and texts in the same order? */
bool secret_list_is(const struct secret_list *list, const struct wire_secret *secrets,
                    size_t count);

/* Secrets of the ads of a message that is being put together. */
struct secret_batch {
    struct wire_secret *items; /* texts are borrowed */
    size_t count, capacity;
};
void secret_batch_add(struct secret_batch *heap, const struct secret_list *list, uint32_t of);
void secret_batch_clear(struct secret_batch *heap);
void secret_batch_fini(struct secret_batch *heap);

#endif
