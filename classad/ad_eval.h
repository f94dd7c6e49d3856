/* classad/ad_eval.h - evaluation of an expression in an ad, against a target, at a moment.
 *
 * Old-ClassAd semantics as HTCondor runs them: a bare name is looked up in my and then in target;
 * MY. and TARGET. (also OTHER.) name the side; an expression found in the target is evaluated with
 * the sides exchanged.  Nothing is allocated for numbers, booleans and comparisons of strings.
 * Cost is bounded by AD_EVAL_STEPS_MAX, AD_EVAL_DEPTH_MAX and AD_EVAL_BYTES_MAX; an evaluation that
 * exceeds a limit yields the value error, which no function such as isError() can hide.  An
 * attribute that refers back to itself is undefined at that place, as in HTCondor.
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

/* Adds up what evaluations cost, for a caller that evaluates on behalf of others and must share the
 * event loop.  Steps are counted (nodes, bytes of text made or searched, tried parts of patterns),
 * never timed: the same expression in the same ads takes the same steps on every machine.  Every
 * step is about the same amount of work; docs/PERFORMANCE.md says how long one takes. */
struct ad_work {
    uint64_t steps; /* steps of all evaluations so far */
    uint64_t over;  /* number of evaluations that exceeded a limit and so yielded the value error */
    /* limit of steps for each evaluation; 0, or a value above AD_EVAL_STEPS_MAX, means
     * AD_EVAL_STEPS_MAX */
    uint32_t steps_max;
};

/* What an evaluation may know of the outside world.  All fields zero: the year 1970, UTC, no
 * random numbers. */
struct ad_context {
    int64_t now_s;          /* the value of time(): seconds since 1970-01-01 UTC */
    uint64_t *random_state; /* advanced by random(); NULL: random() is undefined */
    /* Returns the seconds east of UTC of the local time zone at the moment at_s; NULL: UTC. */
    int32_t (*zone_offset_s)(void *arg, int64_t at_s);
    const char *zone_name; /* text that formatTime() prints for %Z; NULL: "UTC" */
    /* Writes the home directory of an account into home[0..size); false when there is none.  A NULL
     * callback: userHome() knows no accounts. */
    bool (*user_home)(void *arg, const char *account, char *home, size_t size);
    /* Appends to out the names, separated by commas, that the map gives for user; for userMap().
     * map may be "name.method".  Returns false when there is no such map or the map says nothing
     * about the user.  A NULL callback: there are no maps.  The call subtracts its cost from
     * *steps; 0 left means that the steps did not suffice. */
    bool (*user_map)(void *arg, const char *map, const char *user, struct strbuf *out,
                     uint32_t *steps);
    void *arg; /* passed to the callbacks */
    /* Set to true when the evaluation used the clock, the time zone, random() or a user map, so
     * that it may yield another value at another time.  Never set to false; may be NULL. */
    bool *is_timely;
    struct ad_work *work; /* each evaluation adds its cost; NULL: costs are not added up */
};

/* Evaluates expr.  my, target and context may be NULL (without a context, time() and random() are
 * undefined).  *ret need not be initialized; the caller releases it with ad_value_fini().  Every
 * evaluation yields a value: failures are the value error. */
void ad_eval(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
             const struct ad_context *context, struct ad_value *ret);

/* Evaluates the attribute `name` of my or of its chained parents.  Returns 0 and sets *ret; or
 * -ENOENT when my has no such attribute, with *ret undefined. */
int ad_eval_attr(const struct ad *my, const struct ad *target, const char *name,
                 const struct ad_context *context, struct ad_value *ret);

enum ad_truth { AD_FALSE, AD_TRUE, AD_UNDEFINED, AD_ERROR };

/* Evaluates expr as a condition.  Numbers are true when not zero; strings, times, lists and ads are
 * AD_ERROR. */
enum ad_truth ad_eval_bool(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                           const struct ad_context *context);

/* Evaluates expr as a rank: a number as it is, true as 1.0, everything else as 0.0. */
double ad_eval_rank(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                    const struct ad_context *context);

#endif
