/* negotiator/kinds_plan.h - groups ads into kinds: ads that are alike in what matters.
 *
 * A pool of ten thousand slots has a few kinds of slots, and a queue of a million jobs a few kinds
 * of requests.  So pairs of kinds are judged, not pairs of ads.  What matters of a side (its
 * *significant attributes*): Requirements and Rank of both sides, what the negotiator's own
 * expressions read, and whatever these read, directly or through other attributes, in any ad.  This
 * set only grows.  An attribute that no ad has costs nothing: a kind is the tuple of values that
 * exist.
 *
 * Values are expressions, each stored once.  A kind keeps a small ad of its values, so that it does
 * not need the ads it was made from.  Kinds are reference-counted: the last kinds_unref() frees a
 * kind, and its number may be used again.
 *
 * Pure.  Everything is bounded by the ads that exist, except the set of names that ever mattered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_KINDS_PLAN_H
#define NEGOTIATOR_KINDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Significant names of one side.  Further names are ignored, and read as undefined. */
#define KINDS_NAMES_MAX 100000

struct ad;
struct ad_expr;
struct kinds;

/* Which side an ad or expression belongs to: slots or jobs. */
enum kinds_side { KINDS_SLOT, KINDS_JOB, KINDS_SIDES };

static inline enum kinds_side kinds_other(enum kinds_side side)
{
    return side == KINDS_SLOT ? KINDS_JOB : KINDS_SLOT;
}

struct kinds *kinds_create(void);
void kinds_destroy(struct kinds *kinds); /* NULL is allowed */

/* Declares this attribute of that side significant, whatever expressions read. */
void kinds_watch_name(struct kinds *kinds, enum kinds_side side, const char *name);
/* Declares significant what this expression of the configuration reads; it is evaluated as one of
 * `side`. */
void kinds_watch_expr(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr);

/* Returns the kind of this ad, which must not have a chained parent.  The caller owns a
 * reference. */
uint32_t kinds_of(struct kinds *kinds, enum kinds_side side, const struct ad *ad);
/* Returns the kind of an ad that is like `kind` except for these attributes, which become numbers
 * (integers if whole).  The caller owns a reference. */
uint32_t kinds_derive(struct kinds *kinds, enum kinds_side side, uint32_t kind,
                      const char *const *names, const double *values, size_t count);
void kinds_ref(struct kinds *kinds, enum kinds_side side, uint32_t kind);
void kinds_unref(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* News: names that became significant since the last kinds_end_news().  kinds_has_news() tells
 * whether there are any.  Ads for which kinds_is_news() is true have such a name, and need
 * kinds_of() again. */
bool kinds_has_news(const struct kinds *kinds, enum kinds_side side);
bool kinds_is_news(const struct kinds *kinds, enum kinds_side side, const struct ad *ad);
void kinds_end_news(struct kinds *kinds, enum kinds_side side);

/* ---- kinds, for those who judge them */

size_t kinds_count(const struct kinds *kinds, enum kinds_side side);
/* All kinds of this side have numbers below this. */
uint32_t kinds_limit(const struct kinds *kinds, enum kinds_side side);
bool kinds_exists(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns a serial number that changes whenever the kind's number is reused; never 0. */
uint64_t kinds_serial(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns an ad with the kind's significant attributes, which lives as long as the kind. */
const struct ad *kinds_ad(struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns a hash of the kind without its literals: kinds with the same skeleton are split into the
 * same clauses. */
uint64_t kinds_skeleton(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* Returns a hash (64 bits).  For kinds with the same hash, Rank gives the same value for any job;
 * valid until kinds_structure() rises. */
uint64_t kinds_rank_class(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* ---- what expressions read */

/* The names of both sides that an expression of `side` may read in any existing ad, directly or
 * through other attributes.  Names that no ad ever had are left out. */
struct kinds_reads {
    uint32_t *names[KINDS_SIDES]; /* numbers of names, ascending */
    size_t count[KINDS_SIDES];
    bool all; /* true: the expression may read anything, so all names count */
};
/* Fills *ret with what expr reads; release it with kinds_reads_fini(). */
void kinds_reads(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr,
                 struct kinds_reads *ret);
/* Like kinds_reads(), for the attribute `name` of that side. */
void kinds_reads_name(struct kinds *kinds, enum kinds_side side, const char *name,
                      struct kinds_reads *ret);
void kinds_reads_fini(struct kinds_reads *reads);
/* Returns a number that rises when an earlier result of kinds_reads() may have become
 * incomplete. */
uint64_t kinds_structure(const struct kinds *kinds);
/* Returns a hash (63 bits) of the kind's value of that name.  Equal expressions always have the
 * same hash; 0: the kind lacks the attribute. */
uint64_t kinds_value(const struct kinds *kinds, enum kinds_side side, uint32_t kind, uint32_t name);

#endif
