/* classad/ad_get.c - reads ads: getters that evaluate, comparison, the order of printing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_packed.h"

/* ---- getting ---- */

/* Gets a value; a literal is not evaluated. */
static int get_value(const struct ad *ad, const char *name, struct ad_value *value)
{
    struct ad_spot spot;
    if (!ad_find_value(ad, name, &spot)) {
        return -ENOENT;
    }
    struct ad_node literal;
    if (spot.expr != NULL || !ad_bytes_literal(ad_body_value(spot.body, spot.place), &literal)) {
        ad_eval_within(ad_spot_expr(&spot), ad, AD_GET_STEPS_MAX, value);
    } else {
        value->world = NULL;
        value->memory = NULL;
        ad_literal_value(&literal, value);
    }
    return value->type == AD_TYPE_UNDEFINED ? -ENOENT : 0;
}

/* Gets a number of any of the three types; nothing needs to be released. */
static int get_number(const struct ad *ad, const char *name, struct ad_value *value)
{
    int rc = get_value(ad, name, value);
    if (rc < 0) {
        return rc;
    }
    if (value->type != AD_TYPE_INT && value->type != AD_TYPE_REAL && value->type != AD_TYPE_BOOL) {
        ad_value_fini(value);
        return -EINVAL;
    }
    return 0;
}

int ad_get_int(const struct ad *ad, const char *name, int64_t *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        if (!(value.real > -9.2e18 && value.real < 9.2e18)) {
            return -EINVAL;
        }
        *ret = (int64_t)value.real;
    } else {
        *ret = value.type == AD_TYPE_INT ? value.integer : value.boolean;
    }
    return 0;
}

int ad_get_real(const struct ad *ad, const char *name, double *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        *ret = value.real;
    } else {
        *ret = value.type == AD_TYPE_INT ? (double)value.integer : (double)value.boolean;
    }
    return 0;
}

int ad_get_bool(const struct ad *ad, const char *name, bool *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        *ret = value.real != 0.0;
    } else {
        *ret = value.type == AD_TYPE_INT ? value.integer != 0 : value.boolean;
    }
    return 0;
}

static const char *keep_text(const struct ad *ad, const struct ad_value *value)
{
    for (struct ad_text *text = ad->texts; text != NULL; text = text->next) {
        if (strcmp(text->text, value->string.text) == 0) {
            return text->text;
        }
    }
    struct ad_text *text = mem_alloc(sizeof(*text) + value->string.length + 1);
    memcpy(text->text, value->string.text, value->string.length + 1);
    /* A cache that callers cannot see: the ad counts as unchanged. */
    struct ad *cache = (struct ad *)(uintptr_t)ad;
    text->next = cache->texts;
    cache->texts = text;
    return text->text;
}

int ad_get_string(const struct ad *ad, const char *name, const char **ret)
{
    struct ad_value value;
    int rc = get_value(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_STRING) {
        *ret = value.memory != NULL ? keep_text(ad, &value) : value.string.text;
    } else {
        rc = -EINVAL;
    }
    ad_value_fini(&value);
    return rc;
}

int ad_get_ad(const struct ad *ad, const char *name, const struct ad **ret)
{
    const struct ad_expr *expr = ad_lookup(ad, name);
    if (expr == NULL || expr->root.kind == AD_NODE_UNDEFINED) {
        return -ENOENT;
    }
    if (expr->root.kind != AD_NODE_AD) {
        return -EINVAL;
    }
    *ret = expr->root.nested;
    return 0;
}

int ad_get_literal(const struct ad *ad, const char *name, struct ad_value *ret)
{
    struct ad_spot spot;
    struct ad_node literal;
    if (!ad_find_value(ad, name, &spot)) {
        return -ENOENT;
    }
    if (spot.expr == NULL) {
        if (!ad_bytes_literal(ad_body_value(spot.body, spot.place), &literal)) {
            return -EINVAL;
        }
    } else if (ad_expr_is_literal(spot.expr)) {
        literal = spot.expr->root;
    } else {
        return -EINVAL;
    }
    ret->world = NULL;
    ret->memory = NULL;
    ad_literal_value(&literal, ret);
    return 0;
}

int64_t ad_int_or(const struct ad *ad, const char *name, int64_t otherwise)
{
    (void)ad_get_int(ad, name, &otherwise); /* every failure leaves the default */
    return otherwise;
}

double ad_real_or(const struct ad *ad, const char *name, double otherwise)
{
    (void)ad_get_real(ad, name, &otherwise);
    return otherwise;
}

bool ad_bool_or(const struct ad *ad, const char *name, bool otherwise)
{
    (void)ad_get_bool(ad, name, &otherwise);
    return otherwise;
}

const char *ad_string_or(const struct ad *ad, const char *name, const char *otherwise)
{
    (void)ad_get_string(ad, name, &otherwise);
    return otherwise;
}
