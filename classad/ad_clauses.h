/* classad/ad_clauses.h - takes an expression apart into the clauses that it demands.
 *
 * A Requirements expression usually joins conditions of several authors, such as "START &&
 * WithinLimits", with START defined elsewhere in the ad.  To explain why two ads do not match, a
 * caller needs the single clauses, each of which can be printed and evaluated alone.
 *
 * The tree of && || ! is walked from the top, through parentheses and, where an ad is given,
 * through attributes of that ad whose expression is not a literal (START, MY.START).  Each node of
 * the result has its own expression, with the meaning that the clause had in the ad.  The leaves
 * are tests: everything that is not && || !.  The demands are the conjuncts: the whole expression
 * is true if and only if all demands are true (!(a || b) counts as the demands !a and !b).  An
 * attribute that refers back to itself is not taken apart: it stays one test.
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

/* most nodes that ad_clauses_create() makes; a part of the expression beyond this limit stays one
 * test */
#define AD_CLAUSES_MAX 1000
/* most bytes of all nodes' expressions together; a part of the expression beyond this limit stays
 * one test */
#define AD_CLAUSES_BYTES_MAX ((size_t)4 << 20)
#define AD_CLAUSE_NONE       ((size_t)-1)

enum ad_clause_kind { AD_CLAUSE_TEST, AD_CLAUSE_AND, AD_CLAUSE_OR, AD_CLAUSE_NOT };

struct ad_clause {
    enum ad_clause_kind kind;
    /* the clause; to be evaluated in the ad in which the whole expression stands */
    const struct ad_expr *expr;
    /* name of the attribute whose expression contains the clause; NULL: the clause is written in
     * the expression given to ad_clauses_create() */
    const char *from;
    size_t parent;      /* index of the parent node; AD_CLAUSE_NONE for the root */
    const size_t *kids; /* indices of the children in order; a test has none */
    size_t kid_count;
};

/* Takes expr apart.  my: the ad that contains expr; where a test is only the name of an attribute
 * of my, the attribute's expression is taken apart in its place (unless it is a literal).  my NULL:
 * names stay tests.  Never returns NULL.  The nodes borrow nothing from expr or my. */
struct ad_clauses *ad_clauses_create(const struct ad_expr *expr, const struct ad *my);
void ad_clauses_destroy(struct ad_clauses *clauses); /* NULL is allowed */

/* number of nodes, >= 1; node 0 is the root */
size_t ad_clauses_count(const struct ad_clauses *clauses);
const struct ad_clause *ad_clauses_at(const struct ad_clauses *clauses, size_t index);

/* ad_clauses_demand_count() returns the number of demands (conjuncts), and ad_clauses_demand() the
 * node index of demand `index`, for ad_clauses_at().  The node of a demand is a test, or the root
 * of a tree of AND, OR and NOT nodes. */
size_t ad_clauses_demand_count(const struct ad_clauses *clauses); /* >= 1 */
size_t ad_clauses_demand(const struct ad_clauses *clauses, size_t index);

/* Joins all demands with && into one expression.  replacement[i], unless NULL, is used instead of
 * demand i (to leave a demand out, give the literal true); replacement may be NULL.  Returns the
 * new expression, owned by the caller; NULL when the expression would exceed a limit. */
struct ad_expr *ad_clauses_join(const struct ad_clauses *clauses,
                                const struct ad_expr *const *replacement);

/* ---- the attributes that a clause mentions */

/* Which of the two ads of a match a name in an expression refers to.  AD_SIDE_MY: the ad that
 * contains the expression (MY.x, and x if that ad has x); AD_SIDE_TARGET: the other ad (TARGET.x,
 * and every other x). */
enum ad_side { AD_SIDE_MY, AD_SIDE_TARGET };

typedef void (*ad_clause_name_f)(void *arg, enum ad_side side, const char *name);

/* Calls the function `each` once for every attribute of a side that expr itself names, in order of
 * first appearance; the name passed to `each` lives as long as expr.  my: the ad that contains
 * expr; NULL: every x without MY. before it refers to the other ad.  Names inside nested ads of the
 * expression are left out. */
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
    char *name;            /* name of the attribute; released by ad_comparison_fini() */
    enum ad_compare op;    /* operator, turned so that the name is on the left */
    struct ad_expr *other; /* the operand that is not the name; released by ad_comparison_fini() */
};

/* Returns true and sets *ret when expr is `name op other` or `other op name`, where name refers to
 * an attribute of the ad `side` (MY.x, TARGET.x or x; see enum ad_side); otherwise false.  my: the
 * ad that contains expr, or NULL.  The expression `name` alone counts as `name =?= true`, and
 * `!name` as `name =?= false`.  Release *ret with ad_comparison_fini(). */
bool ad_clause_comparison(const struct ad_expr *expr, const struct ad *my, enum ad_side side,
                          struct ad_comparison *ret);
void ad_comparison_fini(struct ad_comparison *comparison);
const char *ad_compare_text(enum ad_compare op); /* the operator as text: "==", "=?=" ... */

/* Returns true when expr is only the name of an attribute (MY.x, TARGET.x or x), and sets *name to
 * x, which lives as long as expr, and *side to the ad to which the name refers (enum ad_side).
 * Otherwise returns false.  my: the ad that contains expr, or NULL. */
bool ad_clause_is_name(const struct ad_expr *expr, const struct ad *my, enum ad_side *side,
                       const char **name);

#endif
