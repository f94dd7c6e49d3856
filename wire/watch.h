/* wire/watch.h - a live copy of another's ads: snapshot, then every change in order.
 *
 * The watcher (negotiator, rooster, schedd, CLI) keeps a strmap of ads by key; after a cut it is
 * told to resync and gets a new snapshot.  The serving side (collector, schedd) publishes changes
 * of a table of ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WATCH_H
#define WIRE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct err;
struct loop;
struct secret_list;
struct uplink;
struct wire;
struct wire_request;

/* changes waiting for one slow watcher; beyond it is told to resync */
#define WATCH_BACKLOG_MAX 200000
/* and for all slow ones of a server together: then who has more than a watcher's share is */
#define WATCH_BACKLOG_ALL_MAX 1000000
/* watches of one identity at a server, but for the pool's own daemons, and those of machines for
 * revocations */
#define WATCH_CALLER_MAX 64

/* ---- the watching side ---- */

struct watch_spec {
    const char *type;              /* "Machine", "Request", "Submitter", "Job", ... */
    const char *constraint;        /* NULL: all */
    const char *const *projection; /* NULL-terminated attribute names; NULL: all */
    bool with_secrets;             /* claim ids; needs NEGOTIATOR */
};
struct watch_events {
    /* An ad is new or changed: ad is owned by the watch and valid until the next event of the same
     * key. */
    void (*changed)(void *arg, const char *key, const struct ad *ad);
    void (*gone)(void *arg, const char *key);
    void (*synced)(void *arg); /* the snapshot is complete: from here on events are news */
    /* Connection lost, or told to resync: the copy is kept but stale until the next synced, before
     * which keys that are no longer there are reported gone; may be NULL. */
    void (*lost)(void *arg);
    /* The server said no (constraint, scope): nothing follows until watch_start(); may be NULL. */
    void (*refused)(void *arg, int status, const char *why);
};
struct watch;
/* spec is copied.  Nothing is sent before watch_start(). */
struct watch *watch_create(struct loop *loop, const struct watch_spec *spec,
                           const struct watch_events *events, void *arg);
/* (Again) on this connection: call it from an uplink's up callback.  0 or -errno of wire_call(). */
int watch_start(struct watch *watch, struct wire *wire);
void watch_destroy(struct watch *watch);
const struct ad *watch_get(const struct watch *watch, const char *key); /* NULL when absent */
/* What came beside that ad; NULL: nothing.  Valid as long as the ad. */
struct secret_list *watch_secrets(const struct watch *watch, const char *key);
size_t watch_count(const struct watch *watch);
/* in order of arrival */
bool watch_next(const struct watch *watch, size_t *at, const char **key, const struct ad **ad);
bool watch_is_synced(const struct watch *watch);

/* ---- the serving side ---- */

/* Publishes one table of ads.  Changes that must be durable first are published by the daemon after
 * the commit. */
struct watch_server;
typedef bool (*watch_each_f)(void *arg, const char *key);
struct watch_server_source {
    /* Walks the keys of the table's ads that are public now, of that type; stops when each returns
     * false. */
    void (*walk)(void *arg, const char *type, watch_each_f each, void *each_arg);
    /* The ad of that key as it is public now, NULL when there is none: a watcher that is behind is
     * told the newest state, so that only keys need to be kept for it.  Required. */
    const struct ad *(*get)(void *arg, const char *type, const char *key);
    /* What is beside that ad, for watchers that may have it; may be NULL. */
    const struct secret_list *(*secrets)(void *arg, const char *type, const char *key);
    /* Adds to what constraints may ask (now_s is set); may be NULL. */
    void (*serve)(void *arg, struct ad_context *context);
};
struct watch_server *watch_server_create(struct loop *loop,
                                         const struct watch_server_source *source, void *arg);
void watch_server_destroy(struct watch_server *server);
/* What the constraint of one watch may take, in steps of evaluation, in all ads of its snapshot; 0,
 * as at the beginning: no limit.  One that takes more ends with -EDQUOT. */
void watch_server_limit_steps(struct watch_server *server, uint64_t snapshot_steps_max);
/* Answers a WATCH request: snapshot (when its turn comes), then changes until the peer goes.
 * -EBUSY: the caller has WATCH_CALLER_MAX, or too many bytes of requests.  now_s for constraints
 * comes from the loop. */
void watch_server_add(struct watch_server *server, struct wire_request *request);
void watch_server_changed(struct watch_server *server, const char *type, const char *key,
                          const struct ad *ad);
void watch_server_gone(struct watch_server *server, const char *type, const char *key);
size_t watch_server_count(const struct watch_server *server);
size_t watch_server_kinds(const struct watch_server *server); /* of watchers that want the same */
/* Changes that wait, as keys, for watchers whose window is full. */
size_t watch_server_waiting(const struct watch_server *server);

#endif
