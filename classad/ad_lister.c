/* classad/ad_lister.c - see ad_lister.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_lister.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad_packed.h"

/* most shapes that are remembered; ads of other shapes are printed without this help */
#define SHAPES_MAX 16

struct listed { /* one attribute of a remembered shape */
    uint32_t place;
    uint32_t raw_length, line_length;
    uint32_t raw_capacity, line_capacity;
    char *raw; /* the value of the ad that was printed last; NULL: none yet */
    char *line;
};

struct listed_shape {
    struct ad_shape *shape; /* a reference, owned */
    size_t count;
    struct listed *list; /* sorted by name */
};

struct ad_lister {
    enum ad_lister_form form;
    struct strmap *wanted; /* names to print; NULL: all */
    struct listed_shape shapes[SHAPES_MAX];
    size_t shape_count;
    struct strbuf line;
};

struct ad_lister *ad_lister_create(enum ad_lister_form form, const char *const *wanted,
                                   size_t wanted_count)
{
    struct ad_lister *lister = mem_zalloc(sizeof(*lister));
    lister->form = form;
    strbuf_init(&lister->line, 0);
    if (wanted_count > 0) {
        lister->wanted = strmap_create(STRMAP_CASE_IGNORED);
        for (size_t i = 0; i < wanted_count; i++) {
            (void)strmap_set(lister->wanted, wanted[i], lister); /* only presence counts */
        }
    }
    return lister;
}

void ad_lister_destroy(struct ad_lister *lister)
{
    if (lister == NULL) {
        return;
    }
    for (size_t i = 0; i < lister->shape_count; i++) {
        for (size_t k = 0; k < lister->shapes[i].count; k++) {
            mem_free(lister->shapes[i].list[k].raw);
            mem_free(lister->shapes[i].list[k].line);
        }
        mem_free(lister->shapes[i].list);
        ad_shape_unref(lister->shapes[i].shape);
    }
    strbuf_fini(&lister->line);
    strmap_destroy(lister->wanted, NULL);
    mem_free(lister);
}

static bool is_wanted(const struct ad_lister *lister, const char *name)
{
    return !ad_attr_is_private(name) &&
           (lister->wanted == NULL || strmap_get(lister->wanted, name) != NULL);
}

/* A line of JSON begins with the end of the line before it; the first line has no such end. */
#define JSON_BEFORE ",\n"

static void print_json(const char *name, size_t length, const struct ad_node *node,
                       struct strbuf *out)
{
    strbuf_puts(out, JSON_BEFORE "  ");
    ad_print_json_string(name, length, out);
    strbuf_puts(out, ": ");
    ad_node_print_json(node, out);
}

static void print_line(const struct ad_lister *lister, const char *name, size_t length,
                       const struct ad_node *node, struct strbuf *out)
{
    if (lister->form == AD_LISTER_JSON) {
        print_json(name, length, node, out);
        return;
    }
    strbuf_append(out, name, length);
    strbuf_append(out, " = ", 3);
    ad_node_print(node, AD_OLD, out);
    strbuf_putc(out, '\n');
}

static void put_line(const struct ad_lister *lister, bool first, const char *line, size_t length,
                     struct strbuf *out)
{
    size_t skipped = first && length > 0 && lister->form == AD_LISTER_JSON ? 1 : 0;
    strbuf_append(out, line + skipped, length - skipped);
}

/* ---- any ad ---- */

static int by_name(const void *a, const void *b)
{
    return ad_name_compare(((const struct ad_item *)a)->name, ((const struct ad_item *)b)->name);
}

static void print_items(struct ad_lister *lister, const struct ad *ad, struct strbuf *out)
{
    struct ad_item *items = mem_alloc((ad_count(ad) + 1) * sizeof(*items));
    size_t count = 0, at = 0;
    while (ad_walk(ad, &at, &items[count])) {
        count += is_wanted(lister, items[count].name);
    }
    if (count > 1) {
        qsort(items, count, sizeof(*items), by_name);
    }
    for (size_t i = 0; i < count; i++) {
        struct ad_node literal;
        strbuf_clear(&lister->line);
        print_line(lister, items[i].name, items[i].length, ad_spot_node(&items[i].spot, &literal),
                   &lister->line);
        put_line(lister, i == 0, lister->line.data, lister->line.length, out);
        out->failed = out->failed || lister->line.failed;
    }
    mem_free(items);
}

/* ---- ads of a shape ---- */

static struct listed_shape *listed_of(struct ad_lister *lister, struct ad_shape *shape)
{
    for (size_t i = 0; i < lister->shape_count; i++) {
        if (lister->shapes[i].shape == shape) {
            return &lister->shapes[i];
        }
    }
    if (lister->shape_count == SHAPES_MAX) {
        return NULL;
    }
    struct listed_shape *listed = &lister->shapes[lister->shape_count++];
    struct ad_item *items = mem_alloc((shape->count + 1) * sizeof(*items));
    for (uint32_t place = 0; place < shape->count; place++) {
        if (is_wanted(lister, ad_shape_name(shape, place))) {
            items[listed->count++] =
                (struct ad_item){.name = ad_shape_name(shape, place), .spot = {.place = place}};
        }
    }
    if (listed->count > 1) {
        qsort(items, listed->count, sizeof(*items), by_name);
    }
    listed->shape = ad_shape_ref(shape); /* its address means it as long as it is ours */
    listed->list = mem_zalloc((listed->count + 1) * sizeof(*listed->list));
    for (size_t i = 0; i < listed->count; i++) {
        listed->list[i].place = items[i].spot.place;
    }
    mem_free(items);
    return listed;
}

static void keep_bytes(const void *data, size_t length, char **kept, uint32_t *kept_length,
                       uint32_t *capacity)
{
    if (length > *capacity) {
        *capacity = (uint32_t)length + 16;
        *kept = mem_realloc(*kept, *capacity);
    }
    memcpy(*kept, data, length);
    *kept_length = (uint32_t)length;
}

static void print_anew(struct ad_lister *lister, const struct ad_body *body, struct listed *listed,
                       struct ad_bytes raw)
{
    struct ad_node literal;
    const struct ad_node *node = ad_bytes_literal(ad_raw_value(raw), &literal)
                                     ? &literal
                                     : &ad_body_expr(body, listed->place)->root;
    strbuf_clear(&lister->line);
    print_line(lister, ad_shape_name(body->shape, listed->place),
               body->shape->entries[listed->place].length, node, &lister->line);
    keep_bytes(raw.data, raw.length, &listed->raw, &listed->raw_length, &listed->raw_capacity);
    keep_bytes(lister->line.data, lister->line.length, &listed->line, &listed->line_length,
               &listed->line_capacity);
}

static void print_ad(struct ad_lister *lister, const struct ad *ad, struct strbuf *out)
{
    const struct ad_body *body = ad->body;
    bool plain = body != NULL && ad->count == 0 && ad->hidden == NULL;
    struct listed_shape *shape = plain ? listed_of(lister, body->shape) : NULL;
    if (shape == NULL) {
        print_items(lister, ad, out);
        return;
    }
    for (size_t i = 0; i < shape->count; i++) {
        struct listed *listed = &shape->list[i];
        struct ad_bytes raw = ad_body_raw(body, listed->place);
        if (raw.length != listed->raw_length || listed->raw == NULL ||
            memcmp(raw.data, listed->raw, raw.length) != 0) {
            print_anew(lister, body, listed, raw);
            out->failed = out->failed || lister->line.failed;
        }
        put_line(lister, i == 0, listed->line, listed->line_length, out);
    }
}

void ad_lister_print(struct ad_lister *lister, const struct ad *ad, struct strbuf *out)
{
    if (lister->form == AD_LISTER_JSON) {
        strbuf_putc(out, '{');
        print_ad(lister, ad, out);
        strbuf_puts(out, "\n}\n");
    } else {
        print_ad(lister, ad, out);
    }
}
