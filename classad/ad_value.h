/* classad/ad_value.h - the value of an expression.
 *
 * A plain struct, so that numbers, booleans and literal strings cost no allocation.  Strings, lists
 * and ads in a value borrow from the expression and from the ads it was evaluated in (valid until
 * those change), or from memory that the value itself owns
 * (`memory`, released by ad_value_fini()).  A list or ad is kept unevaluated together with the
 * scope it was written in; its elements are evaluated when asked for.
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
    AD_TYPE_ABSTIME, /* a moment and the zone it is shown in */
    AD_TYPE_RELTIME, /* a duration: seconds in `real` */
    AD_TYPE_LIST,
    AD_TYPE_AD,
};

struct ad_value {
    enum ad_type type;
    uint32_t scope; /* of a list or ad: where its names are looked up; private to the library */
    union {
        bool boolean;
        int64_t integer;
        double real; /* also of AD_TYPE_RELTIME, seconds */
        struct {
            int64_t seconds;  /* since 1970-01-01 UTC */
            int32_t offset_s; /* east of UTC */
        } time;
        struct {
            const char *text; /* zero-terminated, without other zero bytes */
            size_t length;    /* bytes */
        } string;
        const struct ad_node *list; /* AD_TYPE_LIST: use ad_value_count() and ad_value_item() */
        const struct ad *ad;        /* AD_TYPE_AD */
    };
    const struct ad_world *world; /* of a list or ad; private */
    struct arena *memory;         /* owned; NULL when nothing had to be made */
};

/* the value becomes undefined; any value that was set is allowed */
void ad_value_fini(struct ad_value *value);

size_t ad_value_count(const struct ad_value *list); /* elements of a list; 0 for other types */

/* Evaluates element `index` where it was written.  item is independent of list's own memory only
 * until ad_value_fini(list): release item first.  Out of range: undefined. */
void ad_value_item(const struct ad_value *list, size_t index, struct ad_value *item);

/* The same for an attribute of an ad; undefined when it has none. */
void ad_value_attr(const struct ad_value *ad, const char *name, struct ad_value *ret);

/* The value in new syntax, as the conformance data show it: strings quoted, lists and ads with
 * unevaluated elements. */
void ad_value_print(const struct ad_value *value, struct strbuf *out);

/* The same, but a string is printed as it is, without quotes: what -af shows. */
void ad_value_print_bare(const struct ad_value *value, struct strbuf *out);

#endif
