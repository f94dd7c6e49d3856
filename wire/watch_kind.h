/* wire/watch_kind.h - groups watchers that ask for the same ads, so that the work is done once.
 *
 * A pool has many watchers of few kinds: hundreds of schedds ask for the same ads with the same
 * projection.  Whether an ad matches, and its encoded bytes, are computed once for all watchers of
 * a kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WATCH_KIND_H
#define WIRE_WATCH_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad_eval.h"

struct ad;
struct ad_context;
struct ad_expr;
struct ad_projection;
struct err;
struct strbuf;
struct watcher;
struct wire_peer;

/* What one group of watchers asks for. */
struct watch_kind {
    struct watch_kind *previous, *next; /* list of the server's kinds */
    struct watcher *first;              /* list of this kind's watchers; the server maintains it */
    /* type, constraint, projection and secrets as one text; watchers with equal texts share a
     * kind */
    char *name;
    char *type;
    struct ad_expr *constraint; /* expression that is true for the ads to send; NULL: all ads */
    struct ad_projection *projection; /* attributes to send of each ad; NULL: all */
    bool with_secrets;
    /* steps taken for this kind: for evaluating the constraint, and for finding and sending ads */
    struct ad_work work;
    uint64_t judged;  /* how often the constraint was evaluated for an ad */
    uint64_t judging; /* steps of all those evaluations together; a part of work.steps */
};

/* Makes a kind from the arguments of a WATCH; *ret is the caller's.  Returns 0; -EINVAL: bad
 * argument, named in err; -EACCES: the peer asks for secrets without the scope NEGOTIATOR, or
 * has only the scope ADVERTISE and asks for another type than Revocation. */
int watch_kind_create(const struct ad *args, const struct wire_peer *peer, struct watch_kind **ret,
                      struct err *err);
void watch_kind_destroy(struct watch_kind *kind); /* NULL is allowed */
/* Returns approximately how many bytes of memory the kind takes. */
size_t watch_kind_bytes(const struct watch_kind *kind);

/* Steps that one evaluation of a watch's constraint may take.  Far fewer than elsewhere, because
 * the constraint is evaluated at each change of each ad, and everybody else waits meanwhile.  A
 * constraint that needs more in over WATCH_KIND_OVER_MAX evaluations is refused. */
#define WATCH_KIND_STEPS_MAX 5000
#define WATCH_KIND_OVER_MAX  100 /* evaluations that may need more than WATCH_KIND_STEPS_MAX */
#define WATCH_KIND_SLOW      300 /* average steps per evaluation; with more, a constraint is slow */

/* Returns whether the watchers of this kind get this ad.  The steps taken are added to kind->work;
 * context->work is ignored. */
bool watch_kind_wants(struct watch_kind *kind, const struct ad *ad,
                      const struct ad_context *context);
/* Returns whether more than WATCH_KIND_OVER_MAX evaluations of the constraint needed more than
 * WATCH_KIND_STEPS_MAX; watch_kind_wants() is false then. */
bool watch_kind_is_too_costly(const struct watch_kind *kind);
/* Returns whether evaluations are so costly that they are to be done in slices, not while an ad is
 * published. */
bool watch_kind_is_slow(const struct watch_kind *kind);

/* Appends the ad with the kind's projection, in the form of wire_body.encoded. */
void watch_kind_encode(const struct watch_kind *kind, const struct ad *ad, struct strbuf *out);

#endif
