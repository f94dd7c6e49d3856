/* classad/ad_doubts.h - what is probably a mistake in an expression, whatever the ads are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_DOUBTS_H
#define CLASSAD_AD_DOUBTS_H

struct ad_expr;
struct ad_value;

/* Receives a doubt, a text without a subject: "calls the unknown function 'f'". */
typedef void (*ad_doubt_f)(void *arg, const char *text);
/* Calls each for every call that always yields error: of a function that does not exist, or with a
 * wrong number of arguments.  O(nodes). */
void ad_call_doubts(const struct ad_expr *expr, ad_doubt_f each, void *arg);

/* Receives a constant; the value lives during the call. */
typedef void (*ad_constant_f)(void *arg, const struct ad_value *value);
/* Calls each for every number, text or truth value that is written in the expression and may be its
 * result: the whole expression, or a branch of `a ? b : c`, `a ?: b` or ifThenElse(). */
void ad_constant_results(const struct ad_expr *expr, ad_constant_f each, void *arg);

#endif
