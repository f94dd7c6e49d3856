/* classad/ad_expr.h - one expression, compiled when it is parsed, immutable from then on.
 *
 * An expression is one block of memory that holds its whole tree (children of a node lie side by
 * side) and a count of its owners: sharing is ad_expr_ref().  Chains of operators of one precedence
 * are one node with many children, so that the depth of a tree is the nesting of its text: `a || b
 * || c ...` of ten thousand terms recurses nowhere.
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

/* AD_NEW: backslash escapes in strings, adjacent strings join.  AD_OLD: submit files,
 * configuration, -constraint, long form: inside a string only \" is special, and not as the last
 * character of the text. */
enum ad_syntax { AD_NEW, AD_OLD };

/* The whole text must be one expression.  0 and *ret (ad_expr_destroy), or -EINVAL or -E2BIG (a
 * limit) and err with the byte offset.  O(length). */
int ad_expr_parse(const char *text, size_t length, enum ad_syntax syntax, struct ad_expr **ret,
                  struct err *err);
/* The same; an absolute time that names no zone is in context's (else in UTC), and on refusal
 * *fault is the offset of what was refused.  context and fault may be NULL. */
int ad_expr_parse_in(const char *text, size_t length, enum ad_syntax syntax,
                     const struct ad_context *context, struct ad_expr **ret, size_t *fault,
                     struct err *err);
/* Is text one expression in old syntax?  The check of configurations (base/config/config.h);
 * context is not used. */
int ad_expr_check(void *context, const char *text, struct err *err);
struct ad_expr *ad_expr_ref(const struct ad_expr *expr); /* one more owner of the same expression */
void ad_expr_destroy(struct ad_expr *expr);              /* one owner less; NULL is allowed */

struct ad_expr *ad_expr_int(int64_t value);
struct ad_expr *ad_expr_real(double value);
struct ad_expr *ad_expr_bool(bool value);
/* stops at a zero byte; too long: the literal error */
struct ad_expr *ad_expr_string(const char *text, size_t length);
struct ad_expr *ad_expr_undefined(void);
struct ad_expr *ad_expr_error(void);
/* a list of string literals */
struct ad_expr *ad_expr_strings(const char *const *list, size_t count);
struct ad_expr *ad_expr_nested(struct ad *ad); /* ad is taken */

/* Literals without evaluation: true and *ret when the expression is just that.  *text is borrowed.
 */
bool ad_expr_literal_int(const struct ad_expr *expr, int64_t *ret);
bool ad_expr_literal_string(const struct ad_expr *expr, const char **text, size_t *length);
/* any literal, undefined and error among them */
bool ad_expr_is_literal(const struct ad_expr *expr);

/* AD_NEW: the canonical text of new syntax.  AD_OLD: that of the long form. */
void ad_expr_print(const struct ad_expr *expr, enum ad_syntax syntax, struct strbuf *out);

/* Same tree; names compare without case, reals by bits (so that NaN equals itself). */
bool ad_expr_same(const struct ad_expr *a, const struct ad_expr *b);

size_t ad_expr_bytes(const struct ad_expr *expr); /* memory of the block */

/* What a match with anything depends on: adds to `external` (case-insensitive map; values are
 * non-NULL and not owned) each name that the expression looks up in the target: TARGET.x (as "x"),
 * and x where my (may be NULL) has none.  Names found in my are followed into their expressions.
 * `internal` (may be NULL) gets the names found in my. */
void ad_refs(const struct ad_expr *expr, const struct ad *my, struct strmap *external,
             struct strmap *internal);

#endif
