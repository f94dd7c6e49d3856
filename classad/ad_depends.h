/* classad/ad_depends.h - what grouping ads by what matters needs to know of expressions: which
 * names one may look up, a hash that goes with ad_expr_same(), and the comparison of two values
 * alone.
 *
 * Unlike ad_refs(), which answers for one ad, this answers for every ad in which the expression may
 * stand, and so says too much rather than too little: a bare name may be one of either side.
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

/* name lives as long as the expression; it may come more than once. */
typedef void (*ad_depends_f)(void *arg, const char *name, bool in_my, bool in_target);

/* Calls each for every name that expr itself may look up in the ad where it stands, or in the other
 * side of a match; names found are not followed.  True: beside these it may look up anything,
 * because it computes names (eval(), unresolved()) or takes a whole side as a value. */
bool ad_depends(const struct ad_expr *expr, ad_depends_f each, void *arg);

/* Equal for expressions that are ad_expr_same(). */
uint64_t ad_expr_hash(const struct ad_expr *expr);

/* What `a op b` is, as Requirements take it. */
enum ad_truth ad_compare_values(enum ad_compare op, const struct ad_value *a,
                                const struct ad_value *b);

#endif
