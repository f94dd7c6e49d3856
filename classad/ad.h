/* classad/ad.h - a ClassAd: attributes with case-insensitive names and expressions as values.
 *
 * This header declares the ad itself (setting, getting, walking) and includes the other public
 * headers of the library:
 *   ad_limits.h  named limits
 *   ad_value.h   the value that evaluation yields
 *   ad_expr.h    one expression
 *   ad_eval.h    evaluation: MY, TARGET, time, truth, rank
 *   ad_parse.h   text to ads
 *   ad_print.h   ads to text (new syntax, long form)
 *   ad_pool.h    many ads in little memory
 *   ad_match.h   Requirements of both sides
 *   ad_binary.h  the compact form for the network and the disk
 *   ad_json.h    JSON
 *
 * Design.  An ad owns an array of (name, expression) in order of insertion, with a hash index.
 * Expressions are compiled when they are parsed, never change, and are shared between copies by a
 * reference count, so ad_copy() neither parses nor copies them.  Ads and expressions belong to one
 * thread.  The library does no I/O and reads no clock: time, time zone and random seed come in
 * through struct ad_context.  Pointers that the functions hand out (names, expressions, strings)
 * are borrowed; they stay valid until that ad is changed or destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_H
#define CLASSAD_AD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad_binary.h"
#include "classad/ad_eval.h"
#include "classad/ad_expr.h"
#include "classad/ad_json.h"
#include "classad/ad_limits.h"
#include "classad/ad_match.h"
#include "classad/ad_parse.h"
#include "classad/ad_pool.h"
#include "classad/ad_print.h"
#include "classad/ad_value.h"
#include "classad/ad_xml.h"

struct ad;
struct err;

struct ad *ad_create(void);     /* makes an empty ad; never NULL */
void ad_destroy(struct ad *ad); /* NULL is allowed */
/* does what ad_destroy() does, for vec_fini() and other callers that pass void * */
void ad_destroy_item(void *ad);
/* makes a copy of the ad, with the same chained parent; the caller destroys the copy */
struct ad *ad_copy(const struct ad *ad);
/* True when an attribute of the ad itself (not of its parent) has a name for which
 * ad_attr_is_private() is true. */
bool ad_has_private(const struct ad *ad);
/* A copy of the ad without its private attributes; the caller destroys it with ad_destroy(). */
struct ad *ad_copy_public(const struct ad *ad);
void ad_clear(struct ad *ad);

/* number of the ad's own attributes; those of a chained parent do not count */
size_t ad_count(const struct ad *ad);

/* Sets *name and *expr (each may be NULL) to the next of the ad's own attributes, in order of
 * insertion, and returns true; false at the end.  The caller sets *at to 0 before the first call,
 * and must not change the ad until the last call. */
bool ad_next(const struct ad *ad, size_t *at, const char **name, const struct ad_expr **expr);
/* Like ad_next(), for the attributes whose expressions are not literals; makes no expressions of
 * the others. */
bool ad_next_computed(const struct ad *ad, size_t *at, const struct ad_expr **expr);

/* The attribute's expression, borrowed; also found in chained parents.  NULL when absent. */
const struct ad_expr *ad_lookup(const struct ad *ad, const char *name);
/* True when the ad or a chained parent has the attribute, whatever its value. */
bool ad_has(const struct ad *ad, const char *name);
/* False when certainly none of the ad's own values, as they are written, contains the text inside a
 * string literal; true means "not known".  Makes no expressions: fast, and needs no memory, for an
 * ad that is in a pool of ads (ad_pool.h). */
bool ad_may_contain(const struct ad *ad, const char *text);
/* Removes the ad's own attribute; does nothing when the ad has none of this name. */
void ad_remove(struct ad *ad, const char *name);

/* Attributes that ad lacks are looked up in parent, which is borrowed and must outlive ad; NULL
 * ends the chaining.  (A schedd's job ads are chained to the ad of their cluster.)  Printing,
 * encoding, counting and walking show only the ad's own attributes.  To get one ad with all of
 * them, call ad_merge(flat, parent), then ad_merge(flat, ad). */
void ad_chain(struct ad *ad, const struct ad *parent);

/* The setters replace an attribute that exists (its place in the order stays) or append a new one.
 * name must not be empty; the caller checks names that come from outside with ad_name_is_valid(). A
 * new attribute is silently left out when AD_COLLISIONS_MAX others already fall on the same place
 * of the hash index; only names chosen for an attack reach that limit. */
void ad_set_int(struct ad *ad, const char *name, int64_t value);
void ad_set_real(struct ad *ad, const char *name, double value);
void ad_set_bool(struct ad *ad, const char *name, bool value);
/* Sets the attribute to the string text, or to the value error when text is longer than
 * AD_STRING_MAX. */
void ad_set_string(struct ad *ad, const char *name, const char *text);
void ad_set_undefined(struct ad *ad, const char *name);
void ad_set_error(struct ad *ad, const char *name);
void ad_set_ad(struct ad *ad, const char *name, struct ad *nested); /* takes ownership of nested */
/* Sets the attribute to a list of count strings. */
void ad_set_strings(struct ad *ad, const char *name, const char *const *list, size_t count);
/* Takes ownership of expr. */
void ad_set(struct ad *ad, const char *name, struct ad_expr *expr);

/* Parses text as an expression in new syntax and sets the attribute to it.  Returns 0; or -EINVAL
 * (syntax) or -E2BIG (a limit), with the ad unchanged and err filled. */
int ad_set_expr(struct ad *ad, const char *name, const char *text, struct err *err);
/* Does the same as ad_set_expr(), but text is in the old syntax of submit files and configuration.
 */
int ad_set_expr_old(struct ad *ad, const char *name, const char *text, struct err *err);

/* Copies one attribute of `from` (or of its chained parents); the expression is shared.  Returns 0,
 * or -ENOENT with `to` unchanged. */
int ad_copy_attr(struct ad *to, const char *to_name, const struct ad *from, const char *name);

/* Sets in `into` every attribute that `from` itself has (not those of its chained parent). */
void ad_merge(struct ad *into, const struct ad *from);

/* The getters evaluate the attribute in ad itself, without a target, time or random numbers.  They
 * return 0 and set *ret; or, with *ret untouched, -ENOENT (absent or undefined) or -EINVAL (error,
 * a value of another type, or an evaluation of more than AD_GET_STEPS_MAX steps). */
/* Accepts integers, booleans and reals; a real loses its fraction. */
int ad_get_int(const struct ad *ad, const char *name, int64_t *ret);
/* Accepts reals; integers and booleans are converted. */
int ad_get_real(const struct ad *ad, const char *name, double *ret);
int ad_get_bool(const struct ad *ad, const char *name, bool *ret); /* numbers: true when not zero */
/* *ret is borrowed; it stays valid until the ad is changed or destroyed.  (The ad keeps strings
 * that evaluation computed.) */
int ad_get_string(const struct ad *ad, const char *name, const char **ret);
/* The nested ad of an attribute written as `[ ... ]`, borrowed; its attributes are not evaluated.
 * Returns 0, -ENOENT (absent or undefined) or -EINVAL (not an ad). */
int ad_get_ad(const struct ad *ad, const char *name, const struct ad **ret);

/* The value of an attribute that is a literal, without evaluation.  Returns 0 and sets *ret, which
 * owns nothing and is valid until ad is changed; -ENOENT (absent) or -EINVAL (not a literal). */
int ad_get_literal(const struct ad *ad, const char *name, struct ad_value *ret);

/* These functions work like ad_get_int() and the other getters, but return the value itself; they
 * return `otherwise` when the getter would return an error. */
int64_t ad_int_or(const struct ad *ad, const char *name, int64_t otherwise);
double ad_real_or(const struct ad *ad, const char *name, double otherwise);
bool ad_bool_or(const struct ad *ad, const char *name, bool otherwise);
const char *ad_string_or(const struct ad *ad, const char *name, const char *otherwise);

/* True when both ads have the same attribute names (in any case and order) with the same
 * expressions. */
bool ad_same(const struct ad *a, const struct ad *b);

/* True for the attribute names that HTCondor's daemons keep secret: Capability, ClaimId, ClaimIds,
 * ClaimIdList, ChildClaimIds, PairedClaimId, TransferKey.  Roost keeps no secrets in ads
 * (wire/secret_list.h) and drops such attributes from ads that it receives. */
bool ad_attr_is_private(const char *name);

/* True when name can be an attribute name: a letter or underscore, then letters, digits and
 * underscores (no dots); at most AD_NAME_MAX bytes; not a reserved word. */
bool ad_name_is_valid(const char *name);

/* Compares two names, ignoring ASCII case, whatever the locale; returns a sign as strcmp() does. */
int ad_name_compare(const char *a, const char *b);

#endif
