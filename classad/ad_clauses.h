/* classad/ad_clauses.h - what an expression demands, taken apart into clauses.
 *
 * A Requirements is a conjunction that was written by several hands: "START && WithinLimits", with
 * START somewhere else in the ad.  Whoever asks why two ads do not match wants the single clauses,
 * each of which can be printed and evaluated alone.
 *
 * The way: the tree of && || ! is walked from the top, through parentheses and, where an ad is
 * given, through names of that ad whose expression is not a literal (START, MY.START).  Each node
 * of the result has an expression of its own that means in the ad what it meant where it stood. Its
 * leaves are tests: everything that is not && || !.  The demands are the conjuncts: the whole is
 * true if and only if all demands are (that is why !(a || b) counts as !a, !b).  What an attribute
 * that leads back to itself means is not taken apart: it stays one test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_CLAUSES_H
#define CLASSAD_AD_CLAUSES_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_clauses;
struct ad_expr;

#define AD_CLAUSES_MAX       1000              /* nodes; what is beyond stays one test */
#define AD_CLAUSES_BYTES_MAX ((size_t)4 << 20) /* memory of their expressions, likewise */
#define AD_CLAUSE_NONE       ((size_t)-1)

enum ad_clause_kind { AD_CLAUSE_TEST, AD_CLAUSE_AND, AD_CLAUSE_OR, AD_CLAUSE_NOT };

struct ad_clause {
    enum ad_clause_kind kind;
    const struct ad_expr *expr; /* evaluate it in the same ad */
    const char *from;           /* the attribute it is written in; NULL: in the expression itself */
    size_t parent;              /* AD_CLAUSE_NONE for the root */
    const size_t *kids;         /* in their order; of a test: none */
    size_t kid_count;
};

/* my NULL: names are not followed.  Never NULL.  The nodes borrow nothing. */
struct ad_clauses *ad_clauses_create(const struct ad_expr *expr, const struct ad *my);
void ad_clauses_destroy(struct ad_clauses *clauses); /* NULL is allowed */

size_t ad_clauses_count(const struct ad_clauses *clauses); /* >= 1; number 0 is the root */
const struct ad_clause *ad_clauses_at(const struct ad_clauses *clauses, size_t index);

/* The conjuncts, as numbers for ad_clauses_at(); a demand is a test or an AND_OR_NOT node below. */
size_t ad_clauses_demand_count(const struct ad_clauses *clauses); /* >= 1 */
size_t ad_clauses_demand(const struct ad_clauses *clauses, size_t index);

/* All demands as one expression, demand i replaced by replacement[i] where that is not NULL (true:
 * as if it was not there).  Owned by the caller; NULL when it grew beyond a limit. */
struct ad_expr *ad_clauses_join(const struct ad_clauses *clauses,
                                const struct ad_expr *const *replacement);

/* ---- what a clause talks about */

enum ad_side { AD_SIDE_MY, AD_SIDE_TARGET };

typedef void (*ad_clause_name_f)(void *arg, enum ad_side side, const char *name);

/* Each attribute that expr itself names, the first time it does, in order of appearance: MY.x, and
 * x where my (may be NULL) has it, are mine, TARGET.x and other x the target's.  Names inside ads
 * that are written in the expression are left out.  name lives as long as expr. */
void ad_clause_names(const struct ad_expr *expr, const struct ad *my, ad_clause_name_f each,
                     void *arg);

enum ad_compare {
    AD_COMPARE_EQ,
    AD_COMPARE_NE,
    AD_COMPARE_IS,
    AD_COMPARE_ISNT,
    AD_COMPARE_LT,
    AD_COMPARE_LE,
    AD_COMPARE_GT,
    AD_COMPARE_GE,
};

struct ad_comparison {
    char *name;            /* mem_free() */
    enum ad_compare op;    /* as if the name stood on the left */
    struct ad_expr *other; /* what it is compared with */
};

/* Is expr `name op other` or `other op name`, name an attribute of that side?  A bare name counts
 * as `name =?= true`, its ! as `name =?= false`.  True: *ret, which ad_comparison_fini() releases.
 */
bool ad_clause_comparison(const struct ad_expr *expr, const struct ad *my, enum ad_side side,
                          struct ad_comparison *ret);
void ad_comparison_fini(struct ad_comparison *comparison);
const char *ad_compare_text(enum ad_compare op); /* "==", "=?=" ... */

/* The attribute that expr is, and nothing else: true and its side and name (as long as expr). */
bool ad_clause_is_name(const struct ad_expr *expr, const struct ad *my, enum ad_side *side,
                       const char **name);

#endif
