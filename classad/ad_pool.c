/* classad/ad_pool.c - see ad_pool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_pool.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_private.h"

struct ad_pool {
    size_t count;
};

struct ad_pool *ad_pool_create(void)
{
    return mem_zalloc(sizeof(struct ad_pool));
}

void ad_pool_destroy(struct ad_pool *pool)
{
    mem_free(pool);
}

int ad_decode_in(struct ad_pool *pool, const struct ad *previous, const void *data, size_t length,
                 size_t *used, struct ad **ret, struct err *err)
{
    (void)pool;
    (void)previous;
    return ad_decode(data, length, used, ret, err);
}

int ad_peek_string(struct ad_pool *pool, const void *data, size_t length, const char *name,
                   const char **text, size_t *text_length, struct err *err)
{
    (void)pool;
    struct ad *ad = NULL;
    size_t used;
    int rc = ad_decode(data, length, &used, &ad, err);
    if (rc < 0) {
        return rc;
    }
    const struct ad_expr *expr = ad_lookup(ad, name);
    const char *found = NULL;
    size_t found_length = 0;
    rc = -ENOENT;
    if (expr != NULL && ad_expr_literal_string(expr, &found, &found_length)) {
        const char *at = found_length > 0 ? memmem(data, length, found, found_length) : data;
        if (at != NULL) {
            *text = at;
            *text_length = found_length;
            rc = 0;
        }
    }
    ad_destroy(ad);
    return rc;
}

struct ad *ad_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes)
{
    (void)pool;
    struct ad *ad = ad_copy(old);
    ad_merge(ad, changes);
    return ad;
}

void ad_pack(struct ad_pool *pool, const struct ad *previous, struct ad *ad)
{
    (void)pool;
    (void)previous;
    (void)ad;
}

size_t ad_encoded_bytes(const struct ad *ad)
{
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    size_t length = bytes.failed ? SIZE_MAX : bytes.length;
    strbuf_fini(&bytes);
    return length;
}

void ad_pool_figures(const struct ad_pool *pool, struct ad_pool_figures *ret)
{
    (void)pool;
    *ret = (struct ad_pool_figures){0};
}

size_t ad_own_bytes(const struct ad *ad)
{
    size_t bytes = sizeof(*ad) + ad->capacity * sizeof(*ad->entries);
    for (uint32_t i = 0; i < ad->count; i++) {
        bytes += ad_expr_bytes(ad->entries[i].expr) + sizeof(struct ad_name) + 16;
    }
    return bytes;
}
