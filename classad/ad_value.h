/* classad/ad_value.h - the value of an expression.
 *
 * A plain struct, so numbers, booleans and string literals need no allocation.  Strings, lists and
 * ads in a value are borrowed from the expression and from the ads in which it was evaluated (valid
 * until those change), or from memory that the value owns (`memory`, released by ad_value_fini()).
 * A list or ad is kept unevaluated, with the scope in which it was written; its elements are
 * evaluated when they are asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_VALUE_H
#define CLASSAD_AD_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_node;
struct ad_world;
struct arena;
struct strbuf;

enum ad_type {
    AD_TYPE_UNDEFINED,
    AD_TYPE_ERROR,
    AD_TYPE_BOOL,
    AD_TYPE_INT,
    AD_TYPE_REAL,
    AD_TYPE_STRING,
    AD_TYPE_ABSTIME, /* a moment, with the zone in which it is shown */
    AD_TYPE_RELTIME, /* a duration: seconds in `real` */
    AD_TYPE_LIST,
    AD_TYPE_AD,
};

struct ad_value {
    enum ad_type type;
    /* of a list or ad: the scope where its names are looked up; only for the library */
    uint32_t scope;
    union {
        bool boolean;
        int64_t integer;
        double real; /* also seconds of AD_TYPE_RELTIME */
        struct {
            int64_t seconds;  /* since 1970-01-01 UTC */
            int32_t offset_s; /* seconds east of UTC */
        } time;
        struct {
            const char *text; /* zero-terminated, without other zero bytes */
            size_t length;    /* bytes */
        } string;
        /* only if type is AD_TYPE_LIST; read the list with ad_value_count() and ad_value_item() */
        const struct ad_node *list;
        const struct ad *ad; /* only if type is AD_TYPE_AD */
    };
    /* of a list or ad: scopes and context with which its elements are evaluated; only for the
     * library */
    const struct ad_world *world;
    struct arena *memory; /* memory that the value owns; NULL when nothing was allocated */
};

/* Releases what the value owns and sets the value to undefined; *value must have been set before.
 */
void ad_value_fini(struct ad_value *value);

/* number of elements of a list; 0 for other types */
size_t ad_value_count(const struct ad_value *list);

/* Evaluates element `index` in the scope where it was written; undefined when out of range.  item
 * may borrow from list: release item before list. */
void ad_value_item(const struct ad_value *list, size_t index, struct ad_value *item);

/* Evaluates an attribute of a value of AD_TYPE_AD; undefined when the ad does not have it. */
void ad_value_attr(const struct ad_value *ad, const char *name, struct ad_value *ret);

/* Appends the value in new syntax: a string in quotes, a list or an ad with its elements as
 * expressions that are not evaluated. */
void ad_value_print(const struct ad_value *value, struct strbuf *out);

/* Appends what ad_value_print() appends, but a string without quotes, as option -af shows it. */
void ad_value_print_bare(const struct ad_value *value, struct strbuf *out);

#endif
