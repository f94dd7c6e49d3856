/* classad/ad_expr.h - one expression; compiled when it is parsed, never changed afterwards.
 *
 * An expression is one block of memory that holds its whole tree (the children of a node lie side
 * by side) and a reference count: ad_expr_ref() shares it.  A chain of operators of one precedence
 * is one node with many children, so the depth of a tree is the nesting of its text: `a || b || c
 * ...` with ten thousand terms needs no recursion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_EXPR_H
#define CLASSAD_AD_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct ad_expr;
struct err;
struct strbuf;
struct strmap;

/* AD_NEW: strings have backslash escapes, and adjacent strings are joined.  AD_OLD, for submit
 * files, configuration, -constraint and the long form: in a string only \" is an escape (for a
 * quote); at the end of a line or of the text, \" is a backslash and the closing quote. */
enum ad_syntax { AD_NEW, AD_OLD };

/* Parses text, which must be exactly one expression.  Returns 0 and sets *ret (release with
 * ad_expr_destroy()); or -EINVAL (syntax) or -E2BIG (a limit), with the byte offset in err.
 * O(length). */
int ad_expr_parse(const char *text, size_t length, enum ad_syntax syntax, struct ad_expr **ret,
                  struct err *err);
/* Does what ad_expr_parse() does, but reads an absolute time without a zone as a time in the zone
 * of context (context NULL: in UTC), and on failure sets *fault to the byte offset of the error.
 * context and fault may be NULL. */
int ad_expr_parse_in(const char *text, size_t length, enum ad_syntax syntax,
                     const struct ad_context *context, struct ad_expr **ret, size_t *fault,
                     struct err *err);
/* Checks that text is one expression in old syntax; the errors are those of ad_expr_parse().  For
 * the knob tables of base/config/config.h; context is not used. */
int ad_expr_check(void *context, const char *text, struct err *err);
/* Expressions are shared and count their references.  ad_expr_destroy() removes one reference, and
 * frees the expression when no reference is left. */
struct ad_expr *ad_expr_ref(const struct ad_expr *expr); /* adds a reference; returns expr */
void ad_expr_destroy(struct ad_expr *expr);              /* NULL is allowed */

struct ad_expr *ad_expr_int(int64_t value);
struct ad_expr *ad_expr_real(double value);
struct ad_expr *ad_expr_bool(bool value);
/* Makes a string literal from text, up to its first zero byte; the literal error when text is
 * longer than AD_STRING_MAX. */
struct ad_expr *ad_expr_string(const char *text, size_t length);
struct ad_expr *ad_expr_undefined(void);
struct ad_expr *ad_expr_error(void);
/* Makes a list of string literals. */
struct ad_expr *ad_expr_strings(const char *const *list, size_t count);
/* makes an expression that is this ad; takes ownership of ad */
struct ad_expr *ad_expr_nested(struct ad *ad);

/* Returns true and sets *ret when the expression is just an integer literal; evaluates nothing. */
bool ad_expr_literal_int(const struct ad_expr *expr, int64_t *ret);
/* Returns true and sets *text (borrowed) and *length when the expression is just a string literal;
 * evaluates nothing. */
bool ad_expr_literal_string(const struct ad_expr *expr, const char **text, size_t *length);
/* True for any literal, also undefined and error. */
bool ad_expr_is_literal(const struct ad_expr *expr);

/* Appends the expression as text: AD_NEW in the canonical new syntax, AD_OLD as in the long form.
 */
void ad_expr_print(const struct ad_expr *expr, enum ad_syntax syntax, struct strbuf *out);

/* True when the trees of both expressions are equal; names compare without case, reals by their
 * bits (so NaN equals itself). */
bool ad_expr_same(const struct ad_expr *a, const struct ad_expr *b);

/* size of the expression's memory block in bytes */
size_t ad_expr_bytes(const struct ad_expr *expr);

/* Finds the names on which a match of this expression depends.  Adds to `external` (a
 * case-insensitive map; the values are non-NULL and not owned) each name that is looked up in the
 * target: TARGET.x (as "x"), and x when my (may be NULL) has no x.  Names that my has are followed
 * into their expressions, and added to `internal` unless it is NULL. */
void ad_refs(const struct ad_expr *expr, const struct ad *my, struct strmap *external,
             struct strmap *internal);

#endif
