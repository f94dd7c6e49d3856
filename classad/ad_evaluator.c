/* classad/ad_evaluator.c - memory, steps and scopes of an evaluation, and the values that it makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_evaluator.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad_packed.h"
#include "classad/ad_regex.h"

#define ARENA_BLOCK_BYTES 2048

/* Steps for compiling a pattern.  They are counted even when the compiled pattern was kept, so that
 * the same evaluation always takes the same number of steps. */
#define REGEX_STEPS        20
#define REGEX_TEXT_A_STEP  2 /* bytes of the pattern in one step */
#define REGEX_BYTES_A_STEP 4 /* bytes of the compiled pattern in one step */

/* ---- memory ---- */

bool ad_evaluator_fail(struct ad_evaluator *ev)
{
    ev->failed = true;
    ev->steps_left = 0;
    return false;
}

void *ad_evaluator_alloc(struct ad_evaluator *ev, size_t size)
{
    if (ev->arena == NULL) {
        ev->arena = arena_create(ARENA_BLOCK_BYTES, AD_EVAL_BYTES_MAX);
    }
    void *block = ev->arena != NULL ? arena_alloc(ev->arena, size) : NULL;
    if (block == NULL) {
        (void)ad_evaluator_fail(ev);
    }
    return block;
}

bool ad_evaluator_spend(struct ad_evaluator *ev, size_t steps)
{
    if (steps >= ev->steps_left) {
        return ad_evaluator_fail(ev);
    }
    ev->steps_left -= (uint32_t)steps;
    return true;
}

void ad_evaluator_keep(struct ad_evaluator *ev, struct ad_expr *expr)
{
    vec_push(&ev->exprs, expr);
}

/* Returns the cache of compiled patterns: that of the pool of one of the ads; NULL: none. */
static struct ad_regex_cache *regex_cache(const struct ad_evaluator *ev)
{
    static const uint32_t SIDES[] = {AD_SCOPE_MY, AD_SCOPE_TARGET};
    for (size_t i = 0; i < ARRAY_COUNT(SIDES); i++) {
        const struct ad *ad = ev->scopes[SIDES[i]].ad;
        struct ad_pool *pool = ad != NULL && ad->body != NULL ? ad->body->shape->pool : NULL;
        if (pool != NULL) {
            if (pool->regexes == NULL) {
                pool->regexes = ad_regex_cache_create();
            }
            return pool->regexes;
        }
    }
    return NULL;
}

struct ad_regex *ad_evaluator_regex(struct ad_evaluator *ev, const char *pattern, size_t length,
                                    const char *options)
{
    if (!ad_evaluator_spend(ev, REGEX_STEPS + length / REGEX_TEXT_A_STEP)) {
        return NULL;
    }
    struct ad_regex *regex = ad_regex_take(regex_cache(ev), pattern, length, options);
    if (regex != NULL) {
        (void)ad_evaluator_spend(ev, ad_regex_bytes(regex) /
                                         REGEX_BYTES_A_STEP); /* error at the next step */
    }
    return regex;
}

void ad_evaluator_regex_done(struct ad_evaluator *ev, struct ad_regex *regex)
{
    if (regex != NULL) {
        ad_regex_give_back(regex_cache(ev), regex);
    }
}

uint32_t ad_evaluator_scope(struct ad_evaluator *ev, const struct ad *ad, uint32_t parent)
{
    if (ev->scope_count == ev->scope_capacity) {
        struct ad_scope *grown =
            ad_evaluator_alloc(ev, 2 * (size_t)ev->scope_capacity * sizeof(*grown));
        if (grown == NULL) {
            return AD_SCOPE_NONE;
        }
        memcpy(grown, ev->scopes, ev->scope_count * sizeof(*grown));
        ev->scopes = grown;
        ev->scope_capacity *= 2;
    }
    uint32_t number = ev->scope_count++;
    ev->scopes[number] =
        (struct ad_scope){.ad = ad,
                          .parent = parent,
                          .root = parent == AD_SCOPE_NONE ? number : ev->scopes[parent].root};
    return number;
}

/* ---- made values ---- */

void ad_make_string(struct ad_evaluator *ev, const char *text, size_t length, struct ad_value *ret)
{
    char *copy = length > AD_STRING_MAX ? NULL : ad_evaluator_alloc(ev, length + 1);
    if (copy == NULL || !ad_evaluator_spend(ev, length / AD_TEXT_BYTES_A_STEP)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    ad_is_text(ret, copy, length);
}

void ad_make_text(struct ad_evaluator *ev, struct strbuf *buf, struct ad_value *ret)
{
    if (buf->failed) {
        (void)ad_evaluator_spend(ev, AD_STRING_MAX /
                                         AD_TEXT_BYTES_A_STEP); /* the work was done all the same */
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_make_string(ev, strbuf_text(buf), buf->length, ret);
    }
    strbuf_fini(buf);
}

struct ad_node *ad_make_list(struct ad_evaluator *ev, uint32_t count, struct ad_value *ret)
{
    struct ad_node *list = ad_evaluator_alloc(ev, ((size_t)count + 1) * sizeof(*list));
    if (list == NULL || !ad_evaluator_spend(ev, count)) {
        ad_is(ret, AD_TYPE_ERROR);
        return NULL;
    }
    memset(list, 0, ((size_t)count + 1) * sizeof(*list));
    *list = (struct ad_node){.kind = AD_NODE_LIST, .count = count, .kids = list + 1};
    ret->type = AD_TYPE_LIST;
    ret->list = list;
    ret->scope = AD_SCOPE_NONE;
    return list + 1;
}

void ad_list_put(struct ad_evaluator *ev, struct ad_node *items, uint32_t index,
                 const struct ad_value *value)
{
    struct ad_node *item = &items[index];
    *item = (struct ad_node){.kind = (uint8_t)value->type};
    switch (value->type) {
    case AD_TYPE_BOOL:
        item->boolean = value->boolean;
        break;
    case AD_TYPE_INT:
        item->integer = value->integer;
        break;
    case AD_TYPE_REAL:
        item->real = value->real;
        break;
    case AD_TYPE_STRING:
        item->text = value->string.text;
        item->count = (uint32_t)value->string.length;
        break;
    case AD_TYPE_ABSTIME:
        item->integer = value->time.seconds;
        item->count = (uint32_t)value->time.offset_s;
        break;
    case AD_TYPE_RELTIME:
    case AD_TYPE_LIST:
    case AD_TYPE_AD: {
        struct ad_value *copy = ad_evaluator_alloc(ev, sizeof(*copy));
        if (copy != NULL) {
            *copy = *value;
            *item = (struct ad_node){.kind = AD_NODE_VALUE, .value = copy};
        }
        break;
    }
    default:
        break;
    }
}
