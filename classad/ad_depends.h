/* classad/ad_depends.h - what a caller needs to group ads whose differences do not matter: the
 * names that an expression may look up, a hash that agrees with ad_expr_same(), and a comparison of
 * two values.
 *
 * ad_refs() answers for one given ad.  ad_depends() answers for every ad in which the expression
 * may stand, so it reports too much rather than too little: a bare name may be an attribute of
 * either side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_DEPENDS_H
#define CLASSAD_AD_DEPENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "classad/ad_clauses.h"
#include "classad/ad_eval.h"

struct ad_expr;
struct ad_value;

/* Receives a name that the expression may look up in its own ad (in_my) or in the other ad of a
 * match (in_target).  name lives as long as the expression; a name may be reported more than once.
 */
typedef void (*ad_depends_f)(void *arg, const char *name, bool in_my, bool in_target);

/* Calls each for every name that expr itself may look up in its own ad (in_my) or in the other side
 * of a match (in_target); the expressions of those names are not followed.  Returns true when expr
 * may also look up any other name, because it computes names (eval(), unresolved()) or uses a whole
 * ad as a value. */
bool ad_depends(const struct ad_expr *expr, ad_depends_f each, void *arg);

/* A hash; equal for any two expressions that ad_expr_same() calls the same. */
uint64_t ad_expr_hash(const struct ad_expr *expr);

/* Evaluates `a op b` and returns its truth, as ad_eval_bool() does for an expression. */
enum ad_truth ad_compare_values(enum ad_compare op, const struct ad_value *a,
                                const struct ad_value *b);

#endif
