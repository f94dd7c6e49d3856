/* negotiator/kinds_plan.h - ads that are alike in what matters are one kind.
 *
 * A pool of ten thousand slots has a few kinds of them, and a queue of a million jobs a few kinds
 * of requests; so pairs of kinds are judged, not pairs of ads.  What matters of one side (its
 * *significant attributes*): Requirements and Rank of both sides, what the negotiator's own
 * expressions look at, and whatever these look up, directly or through other attributes, in
 * any ad.  It only ever grows.  An attribute that nobody has costs nothing: a kind is the tuple of
 * values that are there.
 *
 * Values are expressions, interned; a kind keeps a small ad of them, so that it needs none of its
 * members.  Kinds are counted: the last kinds_unref() ends one, and its number is used again.
 *
 * Pure.  All is bounded by the ads that are there, but for the names that ever mattered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_KINDS_PLAN_H
#define NEGOTIATOR_KINDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one side; what comes later does not matter, and is undefined to who looks it up. */
#define KINDS_NAMES_MAX 100000

struct ad;
struct ad_expr;
struct kinds;

enum kinds_side { KINDS_SLOT, KINDS_JOB, KINDS_SIDES };

static inline enum kinds_side kinds_other(enum kinds_side side)
{
    return side == KINDS_SLOT ? KINDS_JOB : KINDS_SLOT;
}

struct kinds *kinds_create(void);
void kinds_destroy(struct kinds *kinds); /* NULL is allowed */

/* This attribute of that side matters, whatever expressions say. */
void kinds_watch_name(struct kinds *kinds, enum kinds_side side, const char *name);
/* What this expression (of the configuration) looks up matters; it stands on that side. */
void kinds_watch_expr(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr);

/* The kind of this ad, which has no chained parent; one more owner of it. */
uint32_t kinds_of(struct kinds *kinds, enum kinds_side side, const struct ad *ad);
/* The kind of an ad like `kind`, but for these attributes: numbers (integers where they are whole).
 */
uint32_t kinds_derive(struct kinds *kinds, enum kinds_side side, uint32_t kind,
                      const char *const *names, const double *values, size_t count);
void kinds_ref(struct kinds *kinds, enum kinds_side side, uint32_t kind);
void kinds_unref(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* More matters than when kinds_end_news() was called last: ads for which kinds_is_news() is true
 * must be keyed again. */
bool kinds_has_news(const struct kinds *kinds, enum kinds_side side);
bool kinds_is_news(const struct kinds *kinds, enum kinds_side side, const struct ad *ad);
void kinds_end_news(struct kinds *kinds, enum kinds_side side);

/* ---- kinds, for who judges them */

size_t kinds_count(const struct kinds *kinds, enum kinds_side side);
/* Numbers are below this. */
uint32_t kinds_limit(const struct kinds *kinds, enum kinds_side side);
bool kinds_exists(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Changes whenever the number is given to another kind; never 0. */
uint64_t kinds_serial(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* What matters of it; lives as long as the kind. */
const struct ad *kinds_ad(struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* The kind with its literals left out: kinds with the same skeleton are split into the same
 * clauses. */
uint64_t kinds_skeleton(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* Of kinds with the same number (a hash of 64 bits) Rank yields the same for any job; until
 * kinds_structure() rises. */
uint64_t kinds_rank_class(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* ---- what expressions read */

/* The names of both sides that an expression standing on `side` may look up in any ad that is
 * there, followed through attributes.  Names that no ad ever had are left out. */
struct kinds_reads {
    uint32_t *names[KINDS_SIDES]; /* numbers, ascending */
    size_t count[KINDS_SIDES];
    bool all; /* it may read anything: every name that is there */
};
void kinds_reads(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr,
                 struct kinds_reads *ret);
/* The same for the attribute `name` of that side. */
void kinds_reads_name(struct kinds *kinds, enum kinds_side side, const char *name,
                      struct kinds_reads *ret);
void kinds_reads_fini(struct kinds_reads *reads);
/* Rises when an answer that kinds_reads() gave may have become too small. */
uint64_t kinds_structure(const struct kinds *kinds);
/* A number for the value of that name in the kind, the same for equal expressions at any time (a
 * hash of 63 bits); 0: absent. */
uint64_t kinds_value(const struct kinds *kinds, enum kinds_side side, uint32_t kind, uint32_t name);

#endif
