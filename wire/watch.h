/* wire/watch.h - keeps a live copy of another daemon's ads: a snapshot, then every change in order.
 *
 * The watcher (negotiator, rooster, schedd, CLI) keeps the ads by key.  After a lost connection or
 * a resync it gets a new snapshot.  The serving side (collector, schedd) publishes the changes of a
 * table of ads.
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

/* Changes that may wait for one slow watcher; with more, the watcher must resync. */
#define WATCH_BACKLOG_MAX 200000
/* Changes that may wait for all slow watchers of a server; with more, each watcher that has at
 * least 1/4096 of this number waiting must resync at its next change. */
#define WATCH_BACKLOG_ALL_MAX 1000000
/* Watches that one identity may have at a server.  Not limited are the pool's own daemons, and
 * machines that watch revocations. */
#define WATCH_CALLER_MAX 64

/* ---- the watching side ---- */

/* Which ads to watch. */
struct watch_spec {
    const char *type;       /* type of the ads: "Machine", "Request", "Submitter", "Job", ... */
    const char *constraint; /* expression that is true for the ads to watch; NULL: all ads */
    const char *const *projection; /* NULL-terminated attribute names; NULL: all */
    /* true: the ads come with their secrets (claim ids); needs the scope NEGOTIATOR */
    bool with_secrets;
};
/* Callbacks of the watching side. */
struct watch_events {
    /* An ad is new or has changed.  The watch owns ad, which is valid until the next event for its
     * key. */
    void (*changed)(void *arg, const char *key, const struct ad *ad);
    void (*gone)(void *arg, const char *key); /* the ad with this key was removed */
    void (*synced)(void *arg); /* the snapshot is complete: the events from now on are changes */
    /* The connection was lost, or the server demands a resync.  The copy is kept, but stale, until
     * the next synced; before that, keys that no longer exist are reported by gone.  May be NULL.
     */
    void (*lost)(void *arg);
    /* The server refused or ended the watch: for example, the constraint is malformed or takes too
     * many steps, or the token lacks a scope.  No event follows until watch_start().  May be
     * NULL. */
    void (*refused)(void *arg, int status, const char *why);
};
struct watch;
/* Makes a watch; spec is copied.  Nothing is sent before watch_start(). */
struct watch *watch_create(struct loop *loop, const struct watch_spec *spec,
                           const struct watch_events *events, void *arg);
/* Starts the watch, or starts it again, on this connection; call it from an uplink's up callback.
 * Returns 0, or the error of wire_call(). */
int watch_start(struct watch *watch, struct wire *wire);
void watch_destroy(struct watch *watch);
/* Returns the ad with that key; NULL: there is none. */
const struct ad *watch_get(const struct watch *watch, const char *key);
/* Returns the secrets that came with the ad of this key, valid as long as the ad; NULL: none. */
struct secret_list *watch_secrets(const struct watch *watch, const char *key);
size_t watch_count(const struct watch *watch);
/* Walks the ads in the order of arrival: start with *at = 0; false at the end. */
bool watch_next(const struct watch *watch, size_t *at, const char **key, const struct ad **ad);
/* Returns whether the copy is complete and current. */
bool watch_is_synced(const struct watch *watch);

/* ---- the serving side ---- */

/* Publishes one table of ads to all who watch it.  The daemon publishes a change that must be
 * durable only after the commit. */
struct watch_server;
/* Callback of watch_server_source.walk: gets the key of one ad; returns false to end the walk. */
typedef bool (*watch_each_f)(void *arg, const char *key);
/* How the server reads the daemon's table. */
struct watch_server_source {
    /* Calls `each` for the key of every ad of this type that watchers may see now; stops when
     * `each` returns false. */
    void (*walk)(void *arg, const char *type, watch_each_f each, void *each_arg);
    /* Returns the present ad of this key, NULL when there is none.  Required: for a slow watcher
     * only keys are kept, and it is then sent the newest state of each ad. */
    const struct ad *(*get)(void *arg, const char *type, const char *key);
    /* Returns the secrets of the ad of this key, for watchers that may have them; may be NULL. */
    const struct secret_list *(*secrets)(void *arg, const char *type, const char *key);
    /* Must set the members of context, besides now_s, that the evaluation of constraints needs, for
     * example the callbacks for userMap().  NULL: only now_s is set. */
    void (*serve)(void *arg, struct ad_context *context);
};
struct watch_server *watch_server_create(struct loop *loop,
                                         const struct watch_server_source *source, void *arg);
void watch_server_destroy(struct watch_server *server);
/* Limits the steps of evaluation that a watch's constraint may take for all ads of its snapshot; 0,
 * the default: no limit.  A watch that takes more ends with -EDQUOT. */
void watch_server_limit_steps(struct watch_server *server, uint64_t snapshot_steps_max);
/* Answers a WATCH request: sends a snapshot (which may have to wait for the snapshots of other
 * watchers), then changes until the peer goes.  Refuses with -EBUSY when the caller has
 * WATCH_CALLER_MAX watches, or when the bytes of its unanswered requests are too many.  Constraints
 * are evaluated with the loop's time of day. */
void watch_server_add(struct watch_server *server, struct wire_request *request);
/* To be called after an ad of the table was added or changed. */
void watch_server_changed(struct watch_server *server, const char *type, const char *key,
                          const struct ad *ad);
/* To be called after an ad was removed from the table. */
void watch_server_gone(struct watch_server *server, const char *type, const char *key);
size_t watch_server_count(const struct watch_server *server); /* watchers */
/* Returns the number of distinct watch kinds (wire/watch_kind.h). */
size_t watch_server_kinds(const struct watch_server *server);
/* Returns the number of changes that wait for watchers whose window is full. */
size_t watch_server_waiting(const struct watch_server *server);

#endif
