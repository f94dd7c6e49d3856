/* wire/watch_kind.h - watchers that want the same: what they want, and how an ad looks to them.
 *
 * A pool has many watchers of few kinds: hundreds of schedds ask for the same ads with the same
 * projection.  Whether an ad is wanted and what its bytes are is found out once for all of a kind.
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

struct watch_kind {
    struct watch_kind *previous, *next; /* of a server */
    struct watcher *first;              /* that are of it: the server's list */
    char *name;                         /* all that follows as one text: equal for the same kind */
    char *type;
    struct ad_expr *constraint;       /* NULL: all */
    struct ad_projection *projection; /* NULL: all attributes */
    bool with_secrets;
    struct ad_work work; /* of judging the constraint */
    uint64_t judged;     /* ads */
    uint64_t judging;    /* steps of that alone; others work in `work`, too */
};

/* What a WATCH asks for.  -EINVAL (which argument), -EACCES: secrets without NEGOTIATOR. */
int watch_kind_create(const struct ad *args, const struct wire_peer *peer, struct watch_kind **ret,
                      struct err *err);
void watch_kind_destroy(struct watch_kind *kind);       /* NULL is allowed */
size_t watch_kind_bytes(const struct watch_kind *kind); /* of memory, more or less */

/* A constraint is judged at each change of each ad, before anybody else has a turn: so it may take
 * far less than an evaluation may elsewhere.  One that crosses this again and again is refused. */
#define WATCH_KIND_STEPS_MAX 5000
#define WATCH_KIND_OVER_MAX  100 /* so often */
#define WATCH_KIND_SLOW      300 /* steps of an evaluation, on average, that are judged in slices */

/* What it takes is added to kind->work; context->work is not looked at. */
bool watch_kind_wants(struct watch_kind *kind, const struct ad *ad,
                      const struct ad_context *context);
bool watch_kind_is_too_costly(const struct watch_kind *kind); /* then it wants nothing any more */
/* Costs an evaluation so much that it is to be judged in slices, not while an ad is published? */
bool watch_kind_is_slow(const struct watch_kind *kind);

/* Appends the ad as a message carries it (wire_body.encoded). */
void watch_kind_encode(const struct watch_kind *kind, const struct ad *ad, struct strbuf *out);

#endif
