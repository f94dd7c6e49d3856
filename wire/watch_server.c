/* wire/watch_server.c - publishes changes of a table of ads to those who watch it.
 *
 * A change goes out at once to a watcher that keeps up, so that it is on its way before anything
 * that the caller does next.  For one whose window is full only the key is kept, in the order of
 * the last change, and the ad is asked for again (get) when the window opens: a slow watcher costs
 * the bytes of the keys, sees each key's newest state, and never slows the others.  The snapshot is
 * the same thing: at first all keys wait.  Beyond WATCH_BACKLOG_MAX changes even the keys are
 * dropped and the watcher starts over.  Rejected: a queue of encoded changes (memory without a
 * useful limit), and copies of ads (an ad of a startd is kilobytes).
 *
 * A watcher with a constraint is told of a key that goes only if it was told of the key before:
 * `known` says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/watch.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/watch_protocol.h"
#include "wire/wire_private.h"

#define WATCHERS_MAX   4096 /* of one server */
#define PART_ADS       64   /* operations in one part */
#define PROJECTION_MAX 1000 /* attribute names */

/* What waits under a key of the backlog.  Values of a strmap are pointers: these are addresses. */
static const char WAITS_SNAPSHOT, WAITS_CHANGED, WAITS_GONE;

struct watcher {
    struct watch_server *server;
    struct watcher *previous, *next;
    struct wire_request *request;
    char *type;
    struct ad_expr *constraint; /* NULL: all */
    struct vec projection;      /* empty: all */
    bool with_private;
    struct strmap *known;   /* keys told, with a constraint only */
    struct strmap *backlog; /* key -> WAITS_ */
    size_t snapshot_left;   /* keys of the backlog that are WAITS_SNAPSHOT */
    bool synced;            /* Synced was sent */
    bool resync;            /* to be told, then to start over */
    bool full;
};

struct watch_server {
    struct loop *loop;
    struct watch_server_source source;
    void *arg;
    int64_t epoch;
    uint64_t sequence;
    struct watcher *first;
    size_t count;
};

/* One part under construction. */
struct part {
    struct strbuf operations;
    const struct ad *ads[PART_ADS];
    struct ad *owned[PART_ADS]; /* projections; NULL where the ad is the table's */
    size_t ad_count, operation_count;
};

/* ---- sending --------------------------------------------------------------------------------- */

static void part_init(struct part *part)
{
    strbuf_init(&part->operations, 0);
    part->ad_count = 0;
    part->operation_count = 0;
}

static void part_clear(struct part *part)
{
    for (size_t i = 0; i < part->ad_count; i++) {
        ad_destroy(part->owned[i]);
    }
    strbuf_fini(&part->operations);
    part_init(part);
}

static void part_add(struct part *part, enum watch_operation operation, const char *key)
{
    strbuf_putc(&part->operations, (char)operation);
    frame_put_text16(&part->operations, key, strlen(key));
    part->operation_count++;
}

static int event_send(struct watcher *watcher, const char *event, const struct part *part)
{
    struct watch_server *server = watcher->server;
    struct ad *args = ad_create();
    ad_set_string(args, "Event", event);
    ad_set_int(args, "Epoch", server->epoch);
    ad_set_int(args, "Sequence", (int64_t)server->sequence);
    struct wire_body body = {.args = args, .with_private = watcher->with_private};
    if (part != NULL) {
        body.ads = part->ads;
        body.ad_count = part->ad_count;
        body.blob = part->operations.data;
        body.blob_length = part->operations.length;
    }
    bool open = true;
    int rc = wire_reply_part_try(watcher->request, &body, &open);
    watcher->full = watcher->full || !open;
    ad_destroy(args);
    return rc;
}

static const struct ad *watcher_project(const struct watcher *watcher, const struct ad *ad,
                                        struct ad **owned)
{
    *owned = NULL;
    if (watcher->projection.count == 0) {
        return ad;
    }
    *owned = ad_create();
    for (size_t i = 0; i < watcher->projection.count; i++) {
        const char *name = watcher->projection.items[i];
        (void)ad_copy_attr(*owned, name, ad,
                           name); /* private ones are not encoded, see event_send */
    }
    return *owned;
}

/* A copy without private attributes, or NULL when there are none. */
static struct ad *bare_copy(const struct ad *ad)
{
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    bool any = false;
    while (!any && ad_next(ad, &at, &name, NULL)) {
        any = ad_attr_is_private(name);
    }
    struct ad *bare = any ? ad_create() : NULL;
    at = 0;
    while (any && ad_next(ad, &at, &name, &expr)) {
        if (!ad_attr_is_private(name)) {
            ad_set(bare, name, ad_expr_ref(expr));
        }
    }
    return bare;
}

/* A constraint sees what its watcher may see: else a claim id could be found out by comparing. */
static bool watcher_wants(const struct watcher *watcher, const struct ad *ad)
{
    if (watcher->constraint == NULL) {
        return true;
    }
    struct ad *bare = watcher->with_private ? NULL : bare_copy(ad);
    struct ad_context context = {.now_s = loop_wall_s(watcher->server->loop)};
    bool wants =
        ad_eval_bool(watcher->constraint, bare != NULL ? bare : ad, NULL, &context) == AD_TRUE;
    ad_destroy(bare);
    return wants;
}

/* Adds what the watcher is to be told of a key whose ad is `ad` now (NULL: none), if anything. */
static void part_tell(struct part *part, struct watcher *watcher, const char *key,
                      const struct ad *ad)
{
    if (ad != NULL && watcher_wants(watcher, ad)) {
        size_t i = part->ad_count++;
        part->ads[i] = watcher_project(watcher, ad, &part->owned[i]);
        part_add(part, WATCH_CHANGED, key);
        if (watcher->known != NULL) {
            (void)strmap_set(watcher->known, key, watcher);
        }
    } else if (watcher->known == NULL ? ad == NULL : strmap_remove(watcher->known, key) != NULL) {
        part_add(part, WATCH_GONE, key);
    }
}

/* A part that is too large for a message is sent operation by operation; an ad that is too large
 * by itself is left out: it must not stop the others. */
static void part_split(struct watcher *watcher, struct part *whole)
{
    const char *at = whole->operations.data;
    size_t next_ad = 0;
    for (size_t i = 0; i < whole->operation_count; i++) {
        size_t length = 3 + (size_t)(uint8_t)at[1] + ((size_t)(uint8_t)at[2] << 8);
        struct part one;
        part_init(&one);
        strbuf_append(&one.operations, at, length);
        if (*at == WATCH_CHANGED) {
            one.ads[0] = whole->ads[next_ad++];
            one.owned[0] = NULL;
            one.ad_count = 1;
        }
        (void)event_send(watcher, WATCH_EVENT_CHANGES, &one);
        part_clear(&one);
        at += length;
    }
}

static void part_send(struct watcher *watcher, struct part *part)
{
    if (part->operation_count > 0 && !part->operations.failed &&
        event_send(watcher, WATCH_EVENT_CHANGES, part) == -EMSGSIZE && part->operation_count > 1) {
        part_split(watcher, part);
    }
    part_clear(part);
}

/* ---- the backlog ----------------------------------------------------------------------------- */

static bool snapshot_add(void *arg, const char *key, const struct ad *ad)
{
    struct watcher *watcher = arg;
    if (watcher_wants(watcher, ad) &&
        strmap_set(watcher->backlog, key, (void *)&WAITS_SNAPSHOT) == NULL) {
        watcher->snapshot_left++;
    }
    return true;
}

static void backlog_clear(struct watcher *watcher)
{
    strmap_destroy(watcher->backlog, NULL);
    watcher->backlog = strmap_create(STRMAP_CASE_SENSITIVE);
    watcher->snapshot_left = 0;
}

static void snapshot_start(struct watcher *watcher)
{
    struct watch_server *server = watcher->server;
    backlog_clear(watcher);
    watcher->synced = false;
    if (watcher->known != NULL) {
        strmap_destroy(watcher->known, NULL);
        watcher->known = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    server->source.walk(server->arg, watcher->type, snapshot_add, watcher);
}

static void backlog_add(struct watcher *watcher, const char *key, const char *waits)
{
    const char *already = strmap_get(watcher->backlog, key);
    if (already == &WAITS_SNAPSHOT) {
        if (waits == &WAITS_GONE) { /* never told of, and the snapshot tells that it is not there */
            (void)strmap_remove(watcher->backlog, key);
            watcher->snapshot_left--;
        }
        return;
    }
    (void)strmap_remove(watcher->backlog, key); /* the order is that of the last changes */
    if (strmap_count(watcher->backlog) - watcher->snapshot_left >= WATCH_BACKLOG_MAX) {
        backlog_clear(watcher);
        watcher->resync = true;
        return;
    }
    (void)strmap_set(watcher->backlog, key, (void *)waits);
}

/* One part of what waits. */
static void backlog_send(struct watcher *watcher)
{
    struct watch_server *server = watcher->server;
    bool snapshot = watcher->snapshot_left > 0;
    struct part part;
    size_t at = 0;
    const char *key = NULL;
    void *waits = NULL;
    part_init(&part);
    while (part.ad_count < PART_ADS && part.operation_count < PART_ADS &&
           (!snapshot || watcher->snapshot_left > 0) &&
           strmap_next(watcher->backlog, &at, &key, &waits)) {
        const struct ad *ad = server->source.get(server->arg, watcher->type, key);
        if (waits == &WAITS_SNAPSHOT) {
            watcher->snapshot_left--;
            if (ad != NULL) {
                part_tell(&part, watcher, key, ad);
            }
        } else {
            part_tell(&part, watcher, key, ad);
        }
        (void)strmap_remove(watcher->backlog, key);
    }
    part_send(watcher, &part);
}

static void watcher_pump(struct watcher *watcher)
{
    while (!watcher->full) {
        if (watcher->resync) {
            watcher->resync = false;
            (void)event_send(watcher, WATCH_EVENT_RESYNC, NULL);
            snapshot_start(watcher);
        } else if (watcher->snapshot_left == 0 && !watcher->synced) {
            watcher->synced = true;
            (void)event_send(watcher, WATCH_EVENT_SYNCED, NULL);
        } else if (strmap_count(watcher->backlog) > 0) {
            backlog_send(watcher);
        } else {
            return;
        }
    }
}

static void watcher_drained(void *arg)
{
    struct watcher *watcher = arg;
    watcher->full = false;
    watcher_pump(watcher);
}

/* ---- watchers come and go -------------------------------------------------------------------- */

static void watcher_free(struct watcher *watcher)
{
    if (watcher->previous != NULL) {
        watcher->previous->next = watcher->next;
    } else {
        watcher->server->first = watcher->next;
    }
    if (watcher->next != NULL) {
        watcher->next->previous = watcher->previous;
    }
    watcher->server->count--;
    ad_expr_destroy(watcher->constraint);
    vec_fini(&watcher->projection, mem_free);
    strmap_destroy(watcher->known, NULL);
    strmap_destroy(watcher->backlog, NULL);
    mem_free(watcher->type);
    mem_free(watcher);
}

static void watcher_gone(void *arg)
{
    watcher_free(arg);
}

static int projection_read(const struct ad *args, struct vec *ret, struct err *err)
{
    struct ad_value list;
    if (ad_eval_attr(args, NULL, "Projection", NULL, &list) < 0) {
        return 0;
    }
    int rc = 0;
    size_t count = ad_value_count(&list);
    if (list.type != AD_TYPE_LIST || count > PROJECTION_MAX) {
        rc = err_set(err, -EINVAL, "Projection is no list of at most %d names", PROJECTION_MAX);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            vec_push(ret, mem_strndup(item.string.text, item.string.length));
        } else {
            rc = err_set(err, -EINVAL, "Projection: element %zu is no string", i);
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return rc;
}

static int watcher_read(struct watcher *watcher, const struct ad *args,
                        const struct wire_peer *peer, struct err *err)
{
    const char *constraint = NULL;
    watcher->type = mem_strdup(ad_string_or(args, "Type", ""));
    watcher->with_private = ad_bool_or(args, "Private", false);
    if (watcher->type[0] == '\0') {
        return err_set(err, -EINVAL, "WATCH: no Type");
    }
    if (watcher->with_private && (peer->scopes & SCOPE_NEGOTIATOR) == 0) {
        return err_set(err, -EACCES, "token is too weak: private attributes need NEGOTIATOR");
    }
    if (ad_get_string(args, "Constraint", &constraint) == 0) {
        int rc = ad_expr_parse(constraint, strlen(constraint), AD_NEW, &watcher->constraint, err);
        if (rc < 0) {
            return err_prefix(err, rc, "Constraint");
        }
        watcher->known = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    return projection_read(args, &watcher->projection, err);
}

struct watch_server *watch_server_create(struct loop *loop,
                                         const struct watch_server_source *source, void *arg)
{
    CHECK(source->walk != NULL && source->get != NULL);
    struct watch_server *server = mem_zalloc(sizeof *server);
    server->loop = loop;
    server->source = *source;
    server->arg = arg;
    server->epoch = loop_wall_ms(loop);
    return server;
}

void watch_server_destroy(struct watch_server *server)
{
    if (server == NULL) {
        return;
    }
    while (server->first != NULL) {
        struct wire_request *request = server->first->request;
        watcher_free(server->first);
        wire_reply_error(request, -ECONNRESET, "the server of this watch stops");
    }
    mem_free(server);
}

void watch_server_add(struct watch_server *server, struct wire_request *request)
{
    struct err err = {{0}};
    struct watcher *watcher = mem_zalloc(sizeof *watcher);
    watcher->server = server;
    watcher->request = request;
    watcher->next = server->first;
    if (server->first != NULL) {
        server->first->previous = watcher;
    }
    server->first = watcher;
    server->count++;
    int rc =
        server->count > WATCHERS_MAX
            ? err_set(&err, -EBUSY, "%zu watches are running", server->count)
            : watcher_read(watcher, wire_request_args(request), wire_request_peer(request), &err);
    if (rc < 0) {
        watcher_free(watcher);
        wire_reply_error(request, rc, "%s", err.text);
        return;
    }
    wire_request_on_gone(request, watcher_gone, watcher);
    wire_request_on_drained(request, watcher_drained, watcher);
    snapshot_start(watcher);
    watcher_pump(watcher);
}

size_t watch_server_count(const struct watch_server *server)
{
    return server->count;
}

/* ---- publishing ------------------------------------------------------------------------------ */

static void publish(struct watch_server *server, const char *type, const char *key,
                    const struct ad *ad)
{
    server->sequence++;
    for (struct watcher *watcher = server->first; watcher != NULL; watcher = watcher->next) {
        if (watcher->resync || strcmp(watcher->type, type) != 0) {
            continue;
        }
        if (watcher->full || !watcher->synced || strmap_count(watcher->backlog) > 0) {
            backlog_add(watcher, key, ad == NULL ? &WAITS_GONE : &WAITS_CHANGED);
            continue;
        }
        struct part part;
        part_init(&part);
        part_tell(&part, watcher, key, ad);
        part_send(watcher, &part);
    }
}

void watch_server_changed(struct watch_server *server, const char *type, const char *key,
                          const struct ad *ad)
{
    publish(server, type, key, ad);
}

void watch_server_gone(struct watch_server *server, const char *type, const char *key)
{
    publish(server, type, key, NULL);
}
