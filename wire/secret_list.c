/* wire/secret_list.c - see secret_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/secret_list.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/secret_file.h"

struct secret_list {
    unsigned refs;
    size_t count, size;
    struct wire_secret items[]; /* behind them, their texts */
};

const char *wire_secret_find(const struct wire_secret *secrets, size_t count,
                             enum wire_secret_kind kind, uint32_t of)
{
    for (size_t i = 0; i < count; i++) {
        if (secrets[i].kind == kind && secrets[i].of == of) {
            return secrets[i].text;
        }
    }
    return "";
}

struct secret_list *secret_list_create(const struct wire_secret *secrets, size_t count)
{
    if (count == 0) {
        return NULL;
    }
    size_t size = sizeof(struct secret_list) + count * sizeof(struct wire_secret);
    size_t at = size;
    for (size_t i = 0; i < count; i++) {
        size += strlen(secrets[i].text) + 1;
    }
    struct secret_list *list = mem_alloc(size);
    list->refs = 1;
    list->count = count;
    list->size = size;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(secrets[i].text) + 1;
        char *text = (char *)list + at;
        memcpy(text, secrets[i].text, length);
        list->items[i] = (struct wire_secret){.kind = secrets[i].kind, .text = text};
        at += length;
    }
    return list;
}

struct secret_list *secret_list_ref(struct secret_list *list)
{
    if (list != NULL) {
        list->refs++;
    }
    return list;
}

void secret_list_unref(struct secret_list *list)
{
    if (list != NULL && --list->refs == 0) {
        secret_wipe(list, list->size);
        mem_free(list);
    }
}

size_t secret_list_count(const struct secret_list *list)
{
    return list != NULL ? list->count : 0;
}

const struct wire_secret *secret_list_items(const struct secret_list *list)
{
    return list != NULL ? list->items : NULL;
}

const char *secret_list_find(const struct secret_list *list, enum wire_secret_kind kind)
{
    return list != NULL ? wire_secret_find(list->items, list->count, kind, 0) : "";
}

bool secret_list_is(const struct secret_list *list, const struct wire_secret *secrets, size_t count)
{
    if (secret_list_count(list) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (list->items[i].kind != secrets[i].kind ||
            strcmp(list->items[i].text, secrets[i].text) != 0) {
            return false;
        }
    }
    return true;
}

void secret_batch_add(struct secret_batch *batch, const struct secret_list *list, uint32_t of)
{
    for (size_t i = 0; i < secret_list_count(list); i++) {
        if (batch->count == batch->capacity) {
            batch->capacity = batch->capacity == 0 ? 16 : batch->capacity * 2;
            batch->items = mem_realloc(batch->items, batch->capacity * sizeof(struct wire_secret));
        }
        batch->items[batch->count] = list->items[i];
        batch->items[batch->count++].of = of;
    }
}

void secret_batch_clear(struct secret_batch *batch)
{
    batch->count = 0;
}

void secret_batch_fini(struct secret_batch *batch)
{
    mem_free(batch->items);
    *batch = (struct secret_batch){0};
}
