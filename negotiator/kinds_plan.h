/* negotiator/kinds_plan.h - groups ads into kinds: ads that are equal in what matters for matching.
 *
 * A pool of ten thousand slots has a few kinds of slots, and a queue of a million jobs a few kinds
 * of requests.  So pairs of kinds are judged, not pairs of ads.  There are two sides, slots and
 * jobs.  What matters of a side are its *significant attributes*: Requirements and Rank, and each
 * attribute that Requirements or Rank of either side, or an expression of the negotiator's
 * configuration, reads in any ad, directly or through other attributes.  This set only grows.  A
 * significant attribute that an ad does not have costs nothing.
 *
 * Values are expressions, each stored once.  A kind keeps a small ad of its values, so that it does
 * not need the ads it was made from.  Kinds are reference-counted: the last kinds_unref() frees a
 * kind, and its number may be used again.
 *
 * Pure.  The memory needed is bounded by the ads that exist, and by the names that have ever been
 * significant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_KINDS_PLAN_H
#define NEGOTIATOR_KINDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of significant attributes on each side.  Further attributes are ignored: for
 * matching they are undefined. */
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

/* Makes this attribute of that side significant even if no expression reads it. */
void kinds_watch_name(struct kinds *kinds, enum kinds_side side, const char *name);
/* Makes the attributes significant that this expression of the configuration reads.  The expression
 * is evaluated as if it stood in an ad of `side`. */
void kinds_watch_expr(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr);

/* Returns the number of the kind of this ad, with a reference that the caller must give up by
 * kinds_unref().  The ad must not have a chained parent. */
uint32_t kinds_of(struct kinds *kinds, enum kinds_side side, const struct ad *ad);
/* Returns the kind of an ad that is like `kind`, except that the attributes names[0..count) have
 * the numbers values[0..count) as values; whole numbers become integers.  The caller must give up
 * the reference by kinds_unref(). */
uint32_t kinds_derive(struct kinds *kinds, enum kinds_side side, uint32_t kind,
                      const char *const *names, const double *values, size_t count);
void kinds_ref(struct kinds *kinds, enum kinds_side side, uint32_t kind);
void kinds_unref(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* These three are about news: names that became significant since the last kinds_end_news().
 * kinds_has_news() returns whether there are any.  kinds_is_news() returns whether the ad has an
 * attribute with such a name: then its kind must be found again by kinds_of(). */
bool kinds_has_news(const struct kinds *kinds, enum kinds_side side);
bool kinds_is_news(const struct kinds *kinds, enum kinds_side side, const struct ad *ad);
void kinds_end_news(struct kinds *kinds, enum kinds_side side);

/* ---- data of the kinds, which verdict_plan.h and reading_plan.h need */

/* Returns how many kinds of this side exist now. */
size_t kinds_count(const struct kinds *kinds, enum kinds_side side);
/* Returns a number that is above the numbers of all kinds of this side. */
uint32_t kinds_limit(const struct kinds *kinds, enum kinds_side side);
bool kinds_exists(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns the serial number of a kind, never 0.  When the number of a kind that was freed is used
 * for a new kind, the new kind has another serial number. */
uint64_t kinds_serial(const struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns an ad with the kind's significant attributes, which lives as long as the kind. */
const struct ad *kinds_ad(struct kinds *kinds, enum kinds_side side, uint32_t kind);
/* Returns a hash of the kind's significant attributes in which the values of literals do not count.
 * The Requirements of kinds with the same hash are split into the same clauses. */
uint64_t kinds_skeleton(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* Returns a hash (64 bits) such that, for any one job, kinds of slots with the same hash have the
 * same value of Rank.  Valid until kinds_structure() returns a higher number. */
uint64_t kinds_rank_class(struct kinds *kinds, enum kinds_side side, uint32_t kind);

/* ---- what expressions read */

/* Names of the attributes, of slots and of jobs, that an expression may read in any existing ad,
 * directly or through other attributes.  Names that no ad ever had are left out. */
struct kinds_reads {
    uint32_t *names[KINDS_SIDES]; /* numbers of the attribute names, in ascending order */
    size_t count[KINDS_SIDES];
    bool all; /* true: the expression may read anything, so all names count */
};
/* Fills *ret with what expr reads when it stands in an ad of `side`.  The caller must release *ret
 * by kinds_reads_fini(). */
void kinds_reads(struct kinds *kinds, enum kinds_side side, const struct ad_expr *expr,
                 struct kinds_reads *ret);
/* Fills *ret with what the attribute `name` of that side reads, in all ads that have the attribute.
 * The caller must release *ret by kinds_reads_fini(). */
void kinds_reads_name(struct kinds *kinds, enum kinds_side side, const char *name,
                      struct kinds_reads *ret);
void kinds_reads_fini(struct kinds_reads *reads);
/* Returns a number that rises when an ad has come in which an expression may read more attributes
 * than an earlier result of kinds_reads() says. */
uint64_t kinds_structure(const struct kinds *kinds);
/* Returns a hash (63 bits) of the expression that the kind has for the attribute number `name`; 0:
 * the kind has no such attribute.  Equal expressions have the same hash. */
uint64_t kinds_value(const struct kinds *kinds, enum kinds_side side, uint32_t kind, uint32_t name);

#endif
