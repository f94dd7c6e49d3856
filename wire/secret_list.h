/* wire/secret_list.h - lists of secrets (claim ids, nonces, tickets), kept beside ads, never in
 * them.
 *
 * An ad can be queried, projected, logged, edited and evaluated.  Whoever may ask about an ad
 * learns its content, at the latest by guessing and comparing.  So a secret is not an attribute.
 * In a message, a secret is a field of its own (docs/protocol/wire.md §3), with its kind and the ad
 * it belongs to.  In memory, an immutable, reference-counted list beside the ad holds its secrets.
 *
 * Rejected: hidden attributes.  Every place that evaluates, prints or copies an ad would have to
 * leave them out, and one forgotten place is a hole (constraints of the schedd were one).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_SECRET_LIST_H
#define WIRE_SECRET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of secrets.  The numbers are part of the protocol and never change. */
enum wire_secret_kind {
    SECRET_CLAIM_ID = 1, /* claim id of a slot, or of a piece split off a slot */
    /* nonce of a run; or nonce of a claim, by which the machine proves itself to the schedd */
    SECRET_NONCE = 2,
    SECRET_TICKET = 3, /* ticket for one connection into a running job, or to spooled files */
};

#define SECRET_KIND_MAX 3
/* value of wire_secret.of: the secret belongs to the arguments */
#define SECRET_OF_ARGS  UINT32_MAX
#define SECRET_TEXT_MAX 1024   /* most bytes of one secret, without the terminating zero */
#define SECRETS_MAX     262144 /* most secrets in one message */

struct wire_secret {
    enum wire_secret_kind kind;
    /* which ad of the message the secret belongs to, counted from 0; or SECRET_OF_ARGS */
    uint32_t of;
    const char *text;
};

/* Returns the text of the first secret of that kind that belongs to ad number `of`; "" when
 * there is none. */
const char *wire_secret_find(const struct wire_secret *secrets, size_t count,
                             enum wire_secret_kind kind, uint32_t of);

struct secret_list;

/* Copies the secrets into a list; the copies have `of` 0.  Returns NULL when count is 0. */
struct secret_list *secret_list_create(const struct wire_secret *secrets, size_t count);
/* Counts one more user of the list, and returns the list; NULL is allowed. */
struct secret_list *secret_list_ref(struct secret_list *list);
/* Counts one user less; when there is none any more, wipes and frees the list. */
void secret_list_unref(struct secret_list *list);

/* Returns the number of secrets.  In the functions secret_list_...(), a list that is NULL is an
 * empty list. */
size_t secret_list_count(const struct secret_list *list);
/* the secrets; their `of` is 0 */
const struct wire_secret *secret_list_items(const struct secret_list *list);
const char *secret_list_find(const struct secret_list *list, enum wire_secret_kind kind);
/* Returns whether list has the same kinds and texts as secrets[0..count), in the same order. */
bool secret_list_is(const struct secret_list *list, const struct wire_secret *secrets,
                    size_t count);

/* The secrets of all ads of a message that is being built. */
struct secret_batch {
    struct wire_secret *items; /* the array is owned, its texts are borrowed */
    size_t count, capacity;
};
/* Adds all secrets of list (NULL: none) to the batch `heap`; they belong to ad number `of` of the
 * message, counted from 0. */
void secret_batch_add(struct secret_batch *heap, const struct secret_list *list, uint32_t of);
/* Removes all secrets from the batch `heap` and keeps its memory. */
void secret_batch_clear(struct secret_batch *heap);
void secret_batch_fini(struct secret_batch *heap);

#endif
