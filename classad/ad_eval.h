/* classad/ad_eval.h - evaluation of an expression in an ad, against a target, at a moment.
 *
 * Old-ClassAd semantics as HTCondor runs them: a bare name is looked up in my and then in target;
 * MY. and TARGET. (also OTHER.) name the side; an expression found in the target is evaluated with
 * the sides exchanged.  Nothing is allocated for numbers, booleans and comparisons of strings. Cost
 * is bounded by AD_EVAL_STEPS_MAX, AD_EVAL_DEPTH_MAX, AD_EVAL_BYTES_MAX;
 * what crosses one is the value error, which nothing hides.  An attribute that refers back to
 * itself is undefined at that place, as in HTCondor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_EVAL_H
#define CLASSAD_AD_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_expr;
struct ad_value;
struct strbuf;

/* What evaluations cost, added up, for a caller that evaluates for others and gives way to them.
 * Steps are counted (nodes, bytes of texts made or searched, parts of patterns that were tried),
 * never timed: the same expression in the same ads takes the same steps on every machine.  A step
 * is about as much work whatever it is spent on: docs/PERFORMANCE.md has its time. */
struct ad_work {
    uint64_t steps; /* taken by all evaluations so far */
    uint64_t over;  /* evaluations that crossed a limit: their value was error */
    /* steps that each single evaluation may take; 0 and more than that: AD_EVAL_STEPS_MAX */
    uint32_t steps_max;
};

/* What an evaluation may know of the world.  Zero-initialized: 1970, UTC, no randomness. */
struct ad_context {
    int64_t now_s;          /* time(): seconds since 1970-01-01 UTC */
    uint64_t *random_state; /* advanced by random(); NULL: random() is undefined */
    /* Seconds east of UTC of the local time zone at that moment; NULL: UTC. */
    int32_t (*zone_offset_s)(void *arg, int64_t at_s);
    const char *zone_name; /* %Z of formatTime(); NULL: "UTC" */
    /* The home directory of an account, into home[0..size): false when there is none.  NULL:
     * userHome() knows no accounts. */
    bool (*user_home)(void *arg, const char *account, char *home, size_t size);
    /* What the map says of a user: names between commas, as userMap() takes them apart; appended to
     * out.  map may be "name.method".  False: no such map, or nothing about that user.  NULL: there
     * are no maps.  What it costs is taken from *steps; 0 left: it did not suffice. */
    bool (*user_map)(void *arg, const char *map, const char *user, struct strbuf *out,
                     uint32_t *steps);
    void *arg; /* for the callbacks */
    /* Set to true when the clock, the time zone, random() or a map of users was asked: another time
     * the value may be another one.  Never set to false; NULL: nobody wants to know. */
    bool *is_timely;
    struct ad_work *work; /* each evaluation adds what it took; NULL: nobody counts */
};

/* my, target and context may be NULL (without a context time() and random() are undefined).  *ret
 * need not be initialized; release it with ad_value_fini().  Always yields a value: failures are
 * the value error. */
void ad_eval(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
             const struct ad_context *context, struct ad_value *ret);

/* The attribute `name` of my (chained parents count): 0 and *ret, or -ENOENT when my has none, *ret
 * then undefined. */
int ad_eval_attr(const struct ad *my, const struct ad *target, const char *name,
                 const struct ad_context *context, struct ad_value *ret);

enum ad_truth { AD_FALSE, AD_TRUE, AD_UNDEFINED, AD_ERROR };

/* Numbers count as true when not zero; strings, times, lists and ads are AD_ERROR. */
enum ad_truth ad_eval_bool(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                           const struct ad_context *context);

/* A number (true is 1.0); everything else 0.0. */
double ad_eval_rank(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                    const struct ad_context *context);

#endif
