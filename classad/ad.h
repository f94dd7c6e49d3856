/* classad/ad.h - a ClassAd: attributes with case-insensitive names and expressions as values.
 *
 * This header holds the ad itself (setting, getting, walking) and includes the rest of the
 * library's public headers: ad_limits.h  named limits              ad_value.h   what evaluation
 * yields ad_expr.h    one expression            ad_eval.h    evaluation: MY, TARGET, time, truth,
 * rank ad_parse.h   text to ads               ad_print.h   ads to text (new syntax, long form)
 * ad_pool.h    many ads in little memory
 *   ad_match.h   Requirements both ways    ad_binary.h  the compact form for the wire and the disk
 *   ad_json.h    JSON
 *
 * Design.  An ad owns an array of (name, expression) in order of insertion with a hash index beside
 * it; expressions are immutable, compiled when parsed, and shared by count between copies, so that
 * ad_copy() costs no parsing and no deep copy.  Ads and expressions belong to one thread.  The
 * library does no I/O and reads no clock: time, time zone and random seed come in through struct
 * ad_context.  Pointers handed out (names, expressions, strings) are borrowed and live until that
 * ad is changed or destroyed.
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

struct ad *ad_create(void);              /* empty; never NULL */
void ad_destroy(struct ad *ad);          /* NULL is allowed */
void ad_destroy_item(void *ad);          /* the same, for vec_fini() and its like */
struct ad *ad_copy(const struct ad *ad); /* the chained parent is kept as the parent of the copy */
/* Has it an attribute of its own that ad_attr_is_private()? */
bool ad_has_private(const struct ad *ad);
/* The same without its private attributes. */
struct ad *ad_copy_public(const struct ad *ad);
void ad_clear(struct ad *ad);

size_t ad_count(const struct ad *ad); /* of its own attributes, not those of a chained parent */

/* Walks the ad's own attributes in order of insertion: *at = 0 first; false at the end.  name and
 * expr may be NULL.  The ad must not change during the walk. */
bool ad_next(const struct ad *ad, size_t *at, const char **name, const struct ad_expr **expr);

/* NULL when absent; chained parents count */
const struct ad_expr *ad_lookup(const struct ad *ad, const char *name);
/* the attribute exists, whatever its value */
bool ad_has(const struct ad *ad, const char *name);
/* its own only; absent is fine */
void ad_remove(struct ad *ad, const char *name);

/* Attributes that ad lacks are looked up in parent, which is borrowed and must outlive ad; NULL
 * ends the chaining.  (A schedd's job ads are chained to the ad of their cluster.)  Printing,
 * encoding, counting and walking show ad's own only; ad_merge(flat, parent) and then ad_merge(flat,
 * ad) makes a flat one. */
void ad_chain(struct ad *ad, const struct ad *parent);

/* Setters replace what is there (keeping the place in the order) or append.  name: see
 * ad_name_is_valid(); checking names that come from outside is the caller's part, the setters take
 * any text that is not empty.  A name that falls on the same place of the index as
 * AD_COLLISIONS_MAX others is left out: only names made to do so come to that. */
void ad_set_int(struct ad *ad, const char *name, int64_t value);
void ad_set_real(struct ad *ad, const char *name, double value);
void ad_set_bool(struct ad *ad, const char *name, bool value);
/* beyond AD_STRING_MAX: the value error */
void ad_set_string(struct ad *ad, const char *name, const char *text);
void ad_set_undefined(struct ad *ad, const char *name);
void ad_set_error(struct ad *ad, const char *name);
void ad_set_ad(struct ad *ad, const char *name, struct ad *nested); /* nested is taken */
/* a list of strings */
void ad_set_strings(struct ad *ad, const char *name, const char *const *list, size_t count);
/* expr is taken */
void ad_set(struct ad *ad, const char *name, struct ad_expr *expr);

/* Sets from the text of an expression in new syntax; returns 0, or -EINVAL or -E2BIG with the ad
 * unchanged and err filled. */
int ad_set_expr(struct ad *ad, const char *name, const char *text, struct err *err);
/* old lexing: submit files, config */
int ad_set_expr_old(struct ad *ad, const char *name, const char *text, struct err *err);

/* Copies one attribute (shares the expression); returns 0 or -ENOENT with `to` unchanged. */
int ad_copy_attr(struct ad *to, const char *to_name, const struct ad *from, const char *name);

/* Sets in `into` every attribute of `from`'s own. */
void ad_merge(struct ad *into, const struct ad *from);

/* Evaluated getters: the attribute is evaluated in ad itself, without target, time or randomness.
 * Return 0 and set *ret, or -ENOENT (absent or undefined) or -EINVAL (of another type, or error,
 * also where it takes more than AD_GET_STEPS_MAX) with *ret untouched. */
/* integers and booleans; reals are cut */
int ad_get_int(const struct ad *ad, const char *name, int64_t *ret);
/* integers and booleans are promoted */
int ad_get_real(const struct ad *ad, const char *name, double *ret);
int ad_get_bool(const struct ad *ad, const char *name, bool *ret); /* numbers: not zero */
/* *ret is borrowed until the ad is changed or destroyed; computed strings are kept in the ad that
 * long. */
int ad_get_string(const struct ad *ad, const char *name, const char **ret);
/* The ad that is written there as `[ ... ]`, borrowed; not evaluated further. */
int ad_get_ad(const struct ad *ad, const char *name, const struct ad **ret);

/* The value of an attribute that is a literal, without evaluation: 0 and *ret, which owns nothing
 * and is valid until ad is changed; -ENOENT (absent) or -EINVAL (an expression). */
int ad_get_literal(const struct ad *ad, const char *name, struct ad_value *ret);

/* The same with a default for every failure. */
int64_t ad_int_or(const struct ad *ad, const char *name, int64_t otherwise);
double ad_real_or(const struct ad *ad, const char *name, double otherwise);
bool ad_bool_or(const struct ad *ad, const char *name, bool otherwise);
const char *ad_string_or(const struct ad *ad, const char *name, const char *otherwise);

/* Same names (any case, any order), same expressions. */
bool ad_same(const struct ad *a, const struct ad *b);

/* What HTCondor's daemons keep secret under its name: Capability, ClaimId, ClaimIds, ClaimIdList,
 * ChildClaimIds, PairedClaimId, TransferKey.  Ours have no secrets in ads (wire/secret_list.h);
 * such attributes of others are dropped where they come in. */
bool ad_attr_is_private(const char *name);

/* A letter or underscore, then letters, digits, underscores (dots are not names); at most
 * AD_NAME_MAX; no reserved word. */
bool ad_name_is_valid(const char *name);

/* ASCII case-insensitive comparison as for names: independent of the locale; sign as strcmp. */
int ad_name_compare(const char *a, const char *b);

#endif
