/* wire/watch_server.c - publishes changes of a table of ads to those who watch it.
 *
 * A change is sent at once to a watcher that keeps up, before anything that the caller does next.
 * Watchers that want the same are one kind (watch_kind.h): whether they want the ad, and the
 * message for them, is computed once per kind; the message is copied after each watcher's request
 * number.
 *
 * For a watcher whose window is full only the key is kept, in the order of the last change.  When
 * the window opens, the ad is asked for again (get).  So a slow watcher costs the bytes of the
 * keys, sees each key's newest state, and never slows the others.  A snapshot works in the same
 * way: at first all keys wait.  Beyond WATCH_BACKLOG_MAX changes even the keys are dropped and the
 * watcher starts over; when WATCH_BACKLOG_ALL_MAX wait for all slow ones together, every watcher
 * with more than its share of them starts over.  Rejected: a queue of encoded changes (memory
 * without a useful limit), and copies of ads (an ad of a startd is kilobytes).
 *
 * Waiting keys are judged and sent in slices (base/slices.h) of counted work, so a snapshot of a
 * long table with a costly constraint holds up nobody.  A change is judged at once, so a constraint
 * may take few steps there (WATCH_KIND_STEPS_MAX); a constraint that exceeds them repeatedly ends
 * its watches.
 *
 * A snapshot begins when its turn comes, and a caller may have only CALLER_SNAPSHOTS_MAX under way.
 * So a caller who does not read can hold at most that many times the table's keys.
 *
 * A watcher with a constraint is told that a key is gone only if it was told of the key before: see
 * `known`.
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
#include "base/slices.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "wire/watch_kind.h"
#include "wire/watch_protocol.h"
#include "wire/wire_private.h"

/* Steps for judging one change before others have their turn; the rest is judged in slices. */
#define PUBLISH_STEPS_MAX 20000
#define TEXT_SHOWN        200 /* bytes of a constraint in an answer */
/* changes that one watcher may keep when all are used up */
#define BACKLOG_SHARE (WATCH_BACKLOG_ALL_MAX / 4096)
/* Snapshots under way: of one caller, and of callers without a limit that have one identity. */
#define CALLER_SNAPSHOTS_MAX 4
#define FREE_SNAPSHOTS_MAX   64
#define FREE_CALLER          " *" /* behind the identity: no identity has a blank */
#define PART_ADS             64   /* operations in one part */
/* bytes of ads in a part, from which on no ad is added */
#define PART_BYTES ((size_t)256 << 10)
/* bytes of an ad that fits in a message with its key */
#define AD_BYTES_MAX (WIRE_FRAME_MAX - ((size_t)1 << 20))
#define KEY_STEPS    400 /* what finding and sending an ad counts in a slice (classad/ad_limits.h) */
#define SPARE_BYTES  ((size_t)64 << 10) /* kept for the next change */

/* Why a key is in the backlog.  The values of a strmap are pointers, so these addresses are
 * used. */
static const char WAITS_SNAPSHOT, WAITS_CHANGED, WAITS_GONE;

struct watcher {
    struct watch_server *server;
    struct watch_kind *kind;
    struct watcher *previous, *next; /* list of the watchers of its kind */
    struct wire_request *request;
    struct slice_work *turn; /* the backlog is judged and sent in slices */
    uint64_t snapshot_steps; /* steps of judging the ads of its snapshot */
    struct strmap *known;    /* keys told, with a constraint only */
    struct strmap *backlog;  /* key -> WAITS_ */
    size_t snapshot_left;    /* keys of the backlog that are WAITS_SNAPSHOT */
    size_t snapshots_max;    /* under way at a time, of its caller */
    bool has_begun;          /* its first snapshot */
    bool synced;             /* Synced was sent */
    bool resync;             /* to be told, then to start over */
    bool full;
};

struct watch_server {
    struct loop *loop;
    struct slices *slices;
    struct watch_server_source source;
    void *arg;
    uint64_t snapshot_steps_max; /* 0: no limit */
    uint64_t publish_steps;      /* steps of judging the change that is being published */
    int64_t epoch;
    uint64_t sequence;
    struct watch_kind *first;
    size_t count;
    size_t waiting;                  /* changes in all backlogs */
    struct strbuf ad, changed, gone; /* scratch buffers for the change that is being published */
};

/* A part of a reply that is being built. */
struct part {
    struct strbuf operations, ads;
    struct secret_batch secrets;
    size_t ad_count, operation_count;
};

/* ---- messages -------------------------------------------------------------------------------- */

static void operation_put(struct strbuf *out, enum watch_operation operation, const char *key)
{
    strbuf_putc(out, (char)operation);
    frame_put_text16(out, key, strlen(key));
}

static struct ad *event_args(const struct watch_server *server, const char *event)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Event", event);
    ad_set_int(args, "Epoch", server->epoch);
    ad_set_int(args, "Sequence", (int64_t)server->sequence);
    return args;
}

static void event_send(struct watcher *watcher, const char *event, const struct part *part)
{
    struct ad *args = event_args(watcher->server, event);
    struct wire_body body = {.args = args};
    if (part != NULL) {
        body.encoded = &part->ads;
        body.encoded_count = part->ad_count;
        body.blob = part->operations.data;
        body.blob_length = part->operations.length;
        body.secrets = part->secrets.items;
        body.secret_count = part->secrets.count;
    }
    watcher->full = !wire_reply_part(watcher->request, &body) || watcher->full;
    ad_destroy(args);
}

static bool watcher_wants(const struct watcher *watcher, const struct ad *ad)
{
    const struct watch_server *server = watcher->server;
    if (watcher->kind->constraint == NULL) {
        return true;
    }
    struct ad_context context = {.now_s = loop_wall_s(server->loop)};
    if (server->source.serve != NULL) {
        server->source.serve(server->arg, &context);
    }
    return watch_kind_wants(watcher->kind, ad, &context);
}

static void now_knows(struct watcher *watcher, const char *key)
{
    if (watcher->known != NULL) {
        (void)strmap_set(watcher->known, key, watcher);
    }
}

/* Returns whether the watcher must be told that a key is gone or does not meet its constraint any
 * more. */
static bool forget_known(struct watcher *watcher, const char *key, bool is_gone)
{
    return watcher->known == NULL ? is_gone : strmap_remove(watcher->known, key) != NULL;
}

/* ---- the backlog ----------------------------------------------------------------------------- */

/* Adds a key to the backlog; its ad is judged when its turn comes. */
static bool snapshot_add(void *arg, const char *key)
{
    struct watcher *watcher = arg;
    if (strmap_set(watcher->backlog, key, (void *)&WAITS_SNAPSHOT) == NULL) {
        watcher->snapshot_left++;
    }
    return true;
}

static size_t changes_waiting(const struct watcher *watcher)
{
    return strmap_count(watcher->backlog) - watcher->snapshot_left;
}

static void backlog_clear(struct watcher *watcher)
{
    watcher->server->waiting -= watcher->backlog == NULL ? 0 : changes_waiting(watcher);
    strmap_destroy(watcher->backlog, NULL);
    watcher->backlog = strmap_create(STRMAP_CASE_SENSITIVE);
    watcher->snapshot_left = 0;
}

static void snapshot_start(struct watcher *watcher)
{
    struct watch_server *server = watcher->server;
    backlog_clear(watcher);
    watcher->synced = false;
    watcher->snapshot_steps = 0;
    if (watcher->known != NULL) {
        strmap_destroy(watcher->known, NULL);
        watcher->known = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    server->source.walk(server->arg, watcher->kind->type, snapshot_add, watcher);
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
    if (strmap_remove(watcher->backlog, key) != NULL) { /* the order is that of the last changes */
        watcher->server->waiting--;
    }
    size_t waiting = changes_waiting(watcher);
    if (waiting >= WATCH_BACKLOG_MAX ||
        (watcher->server->waiting >= WATCH_BACKLOG_ALL_MAX && waiting >= BACKLOG_SHARE)) {
        backlog_clear(watcher);
        watcher->resync = true;
        return;
    }
    (void)strmap_set(watcher->backlog, key, (void *)waits);
    watcher->server->waiting++;
}

/* Adds the secrets of the ad that has this index in the message. */
static void secrets_put(const struct watch_server *server, const struct watch_kind *kind,
                        const char *key, uint32_t index, struct secret_batch *out)
{
    if (kind->with_secrets && server->source.secrets != NULL) {
        secret_batch_add(out, server->source.secrets(server->arg, kind->type, key), index);
    }
}

/* Adds what the watcher must be told of a key whose ad is now `ad` (NULL: none), if anything.  An
 * ad that is too large for a message is left out, so that it does not stop the others. */
static void part_tell(struct part *part, struct watcher *watcher, const char *key,
                      const struct ad *ad)
{
    if (ad != NULL && watcher_wants(watcher, ad)) {
        size_t before = part->ads.length;
        watch_kind_encode(watcher->kind, ad, &part->ads);
        if (part->ads.failed || part->ads.length > AD_BYTES_MAX) {
            part->ads.length = before;
            part->ads.failed = false;
            return;
        }
        secrets_put(watcher->server, watcher->kind, key, (uint32_t)part->ad_count, &part->secrets);
        part->ad_count++;
        part->operation_count++;
        operation_put(&part->operations, WATCH_CHANGED, key);
        now_knows(watcher, key);
    } else if (forget_known(watcher, key, ad == NULL)) {
        part->operation_count++;
        operation_put(&part->operations, WATCH_GONE, key);
    }
}

/* Sends one part of the backlog, or less if the slice ends before. */
static void backlog_send(struct watcher *watcher, uint64_t end)
{
    struct watch_server *server = watcher->server;
    bool snapshot = watcher->snapshot_left > 0;
    struct part part = {.ad_count = 0};
    size_t at = 0;
    const char *key = NULL;
    void *waits = NULL;
    strbuf_init(&part.operations, 0);
    strbuf_init(&part.ads, 0);
    while (part.operation_count < PART_ADS && part.ads.length < PART_BYTES &&
           watcher->kind->work.steps < end && (!snapshot || watcher->snapshot_left > 0) &&
           strmap_next(watcher->backlog, &at, &key, &waits)) {
        const struct ad *ad = server->source.get(server->arg, watcher->kind->type, key);
        watcher->kind->work.steps += KEY_STEPS;
        if (waits == &WAITS_SNAPSHOT) {
            uint64_t before = watcher->kind->judging;
            watcher->snapshot_left--;
            if (ad != NULL) {
                part_tell(&part, watcher, key, ad);
            }
            watcher->snapshot_steps += watcher->kind->judging - before;
        } else {
            server->waiting--;
            part_tell(&part, watcher, key, ad);
        }
        (void)strmap_remove(watcher->backlog, key);
    }
    if (part.operation_count > 0) {
        event_send(watcher, WATCH_EVENT_CHANGES, &part);
    }
    strbuf_fini(&part.operations);
    strbuf_fini(&part.ads);
    secret_batch_fini(&part.secrets);
}

static void kind_leave(struct watch_server *server, struct watch_kind *kind)
{
    if (kind->first != NULL) {
        return;
    }
    if (kind->previous != NULL) {
        kind->previous->next = kind->next;
    } else {
        server->first = kind->next;
    }
    if (kind->next != NULL) {
        kind->next->previous = kind->previous;
    }
    watch_kind_destroy(kind);
}

static void watcher_free(struct watcher *watcher)
{
    if (watcher->previous != NULL) {
        watcher->previous->next = watcher->next;
    } else {
        watcher->kind->first = watcher->next;
    }
    if (watcher->next != NULL) {
        watcher->next->previous = watcher->previous;
    }
    kind_leave(watcher->server, watcher->kind);
    watcher->server->count--;
    watcher->server->waiting -= changes_waiting(watcher);
    slice_work_destroy(watcher->turn);
    strmap_destroy(watcher->known, NULL);
    strmap_destroy(watcher->backlog, NULL);
    mem_free(watcher);
}

/* Ends a watch that is too costly; wire/request.c logs it with the caller. */
static void watcher_refuse(struct watcher *watcher, uint64_t steps, const char *where)
{
    struct wire_request *request = watcher->request;
    watcher_free(watcher);
    wire_reply_error(request, -EDQUOT,
                     "evaluating the constraint '%.*s' took more than %llu steps %s; use a "
                     "cheaper one",
                     TEXT_SHOWN, ad_string_or(wire_request_args(request), "Constraint", ""),
                     (unsigned long long)steps, where);
}

/* Returns whether evaluating the constraint for the whole snapshot took too many steps. */
static bool snapshot_is_too_costly(const struct watcher *watcher)
{
    uint64_t most = watcher->server->snapshot_steps_max;
    return most != 0 && watcher->snapshot_steps > most;
}

/* Does one slice of a watcher's backlog. */
static void watcher_pump(void *arg)
{
    struct watcher *watcher = arg;
    uint64_t end = watcher->kind->work.steps + AD_SLICE_STEPS;
    while (!watcher->full) {
        if (watch_kind_is_too_costly(watcher->kind)) {
            watcher_refuse(watcher, WATCH_KIND_STEPS_MAX, "for one ad, several times");
            return;
        }
        if (snapshot_is_too_costly(watcher)) {
            watcher_refuse(watcher, watcher->server->snapshot_steps_max,
                           "for all ads together (MAX_CONSTRAINT_STEPS)");
            return;
        }
        if (watcher->kind->work.steps >= end) {
            slice_work_want(watcher->turn);
            return;
        }
        if (watcher->resync || !watcher->has_begun) {
            if (!slice_work_enter(watcher->turn, watcher->snapshots_max)) {
                return;
            }
            if (watcher->resync) {
                event_send(watcher, WATCH_EVENT_RESYNC, NULL);
            }
            watcher->resync = false;
            watcher->has_begun = true;
            snapshot_start(watcher);
        } else if (watcher->snapshot_left == 0 && !watcher->synced) {
            watcher->synced = true;
            slice_work_leave(watcher->turn);
            event_send(watcher, WATCH_EVENT_SYNCED, NULL);
        } else if (strmap_count(watcher->backlog) > 0) {
            backlog_send(watcher, end);
        } else {
            return;
        }
    }
}

static void watcher_drained(void *arg)
{
    struct watcher *watcher = arg;
    watcher->full = false;
    slice_work_want(watcher->turn);
}

/* ---- watchers come and go -------------------------------------------------------------------- */

/* Returns an existing kind that equals this one, else this kind. */
static struct watch_kind *kind_join(struct watch_server *server, struct watch_kind *kind)
{
    for (struct watch_kind *there = server->first; there != NULL; there = there->next) {
        if (strcmp(there->name, kind->name) == 0) {
            watch_kind_destroy(kind);
            return there;
        }
    }
    kind->next = server->first;
    if (kind->next != NULL) {
        kind->next->previous = kind;
    }
    server->first = kind;
    return kind;
}

static void watcher_gone(void *arg)
{
    watcher_free(arg);
}

struct watch_server *watch_server_create(struct loop *loop,
                                         const struct watch_server_source *source, void *arg)
{
    CHECK(source->walk != NULL && source->get != NULL);
    struct watch_server *server = mem_zalloc(sizeof *server);
    server->loop = loop;
    server->slices = slices_create(loop);
    server->source = *source;
    server->arg = arg;
    server->epoch = loop_wall_ms(loop);
    strbuf_init(&server->ad, 0);
    strbuf_init(&server->changed, 0);
    strbuf_init(&server->gone, 0);
    return server;
}

void watch_server_destroy(struct watch_server *server)
{
    if (server == NULL) {
        return;
    }
    while (server->first != NULL) {
        struct watcher *watcher = server->first->first;
        struct wire_request *request = watcher->request;
        watcher_free(watcher);
        wire_reply_error(request, -ECONNRESET, "the server of this watch is stopping");
    }
    strbuf_fini(&server->ad);
    strbuf_fini(&server->changed);
    strbuf_fini(&server->gone);
    slices_destroy(server->slices);
    mem_free(server);
}

void watch_server_limit_steps(struct watch_server *server, uint64_t snapshot_steps_max)
{
    server->snapshot_steps_max = snapshot_steps_max;
}

/* Returns whether the number of watches is limited: not for the pool's own daemons, and not for
 * machines that watch revocations, because they may share a token. */
static bool is_limited(const struct wire_peer *peer, const struct watch_kind *kind)
{
    bool revocations = (peer->scopes & SCOPE_ADVERTISE) != 0 && kind->constraint == NULL &&
                       strcmp(kind->type, "Revocation") == 0;
    return (peer->scopes & SCOPES_TRUSTED) == 0 && !revocations;
}

/* Checks that the caller has neither too many watches nor too large ones.  `limited`: the identity
 * whose watches are counted; NULL: no limit. */
static int kind_admit(const struct watch_server *server, const struct watch_kind *kind,
                      struct wire_request *request, const char *limited, struct err *err)
{
    size_t count = limited != NULL ? slice_caller_works(server->slices, limited) : 0;
    if (count >= WATCH_CALLER_MAX) {
        return err_set(err, -EBUSY, "%zu watches of %s are already running", count, limited);
    }
    return wire_request_charge(request, sizeof(struct watcher) + watch_kind_bytes(kind), err);
}

void watch_server_add(struct watch_server *server, struct wire_request *request)
{
    struct err err = {{0}};
    struct watch_kind *kind = NULL;
    const struct wire_peer *peer = wire_request_peer(request);
    int rc = watch_kind_create(wire_request_args(request), peer, &kind, &err);
    const char *limited = rc == 0 && is_limited(peer, kind) ? peer->identity : NULL;
    rc = rc < 0 ? rc : kind_admit(server, kind, request, limited, &err);
    if (rc < 0) {
        watch_kind_destroy(kind);
        wire_reply_error(request, rc, "%s", err.text);
        return;
    }
    struct strbuf name;
    struct watcher *watcher = mem_zalloc(sizeof *watcher);
    watcher->server = server;
    watcher->request = request;
    watcher->kind = kind_join(server, kind);
    watcher->next = watcher->kind->first;
    if (watcher->next != NULL) {
        watcher->next->previous = watcher;
    }
    watcher->kind->first = watcher;
    watcher->backlog = strmap_create(STRMAP_CASE_SENSITIVE);
    watcher->known =
        watcher->kind->constraint == NULL ? NULL : strmap_create(STRMAP_CASE_SENSITIVE);
    server->count++;
    wire_request_on_gone(request, watcher_gone, watcher);
    wire_request_on_drained(request, watcher_drained, watcher);
    watcher->snapshots_max = limited != NULL ? CALLER_SNAPSHOTS_MAX : FREE_SNAPSHOTS_MAX;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s%s", peer->identity, limited != NULL ? "" : FREE_CALLER);
    watcher->turn = slice_work_create(server->slices, strbuf_text(&name), watcher_pump, watcher);
    strbuf_fini(&name);
    slice_work_want(watcher->turn);
}

size_t watch_server_count(const struct watch_server *server)
{
    return server->count;
}

size_t watch_server_kinds(const struct watch_server *server)
{
    size_t count = 0;
    for (const struct watch_kind *kind = server->first; kind != NULL; kind = kind->next) {
        count++;
    }
    return count;
}

size_t watch_server_waiting(const struct watch_server *server)
{
    return server->waiting;
}

/* ---- publishing ------------------------------------------------------------------------------ */

/* A change as the watchers of one kind see it; computed when the first of them needs it. */
struct news {
    const struct watch_kind *kind;
    const char *key;
    const struct ad *ad; /* NULL: gone */
    bool judged, wanted;
    bool has_changed, has_gone; /* the messages are made */
};

static const struct strbuf *news_message(struct watch_server *server, struct news *news,
                                         enum watch_operation operation)
{
    bool changed = operation == WATCH_CHANGED;
    struct strbuf *out = changed ? &server->changed : &server->gone;
    bool *made = changed ? &news->has_changed : &news->has_gone;
    if (*made) {
        return out;
    }
    *made = true;
    struct strbuf blob;
    struct ad *args = event_args(server, WATCH_EVENT_CHANGES);
    strbuf_init(&blob, 0);
    operation_put(&blob, operation, news->key);
    struct wire_body body = {.args = args, .blob = blob.data, .blob_length = blob.length};
    struct secret_batch secrets = {0};
    if (changed) {
        strbuf_clear(&server->ad);
        watch_kind_encode(news->kind, news->ad, &server->ad);
        body.encoded = &server->ad;
        body.encoded_count = 1;
        secrets_put(server, news->kind, news->key, 0, &secrets);
        body.secrets = secrets.items;
        body.secret_count = secrets.count;
    }
    strbuf_clear(out);
    frame_put_body(out, &body);
    ad_destroy(args);
    secret_batch_fini(&secrets);
    strbuf_fini(&blob);
    return out;
}

static void news_send(struct watcher *watcher, struct news *news, enum watch_operation operation)
{
    const struct strbuf *message = news_message(watcher->server, news, operation);
    if (!message->failed && message->length <= AD_BYTES_MAX) {
        bool open = wire_reply_part_made(watcher->request, message->data, message->length);
        watcher->full = watcher->full || !open;
    }
}

static void watcher_tell(struct watcher *watcher, struct news *news)
{
    if (watcher->resync || !watcher->has_begun) {
        return; /* the snapshot tells */
    }
    bool is_slow =
        news->ad != NULL && !news->judged &&
        (watch_kind_is_slow(watcher->kind) || watcher->server->publish_steps > PUBLISH_STEPS_MAX);
    if (watcher->full || !watcher->synced || strmap_count(watcher->backlog) > 0 || is_slow) {
        backlog_add(watcher, news->key, news->ad == NULL ? &WAITS_GONE : &WAITS_CHANGED);
        if (!watcher->full) {
            slice_work_want(watcher->turn);
        }
        return;
    }
    if (!news->judged) {
        uint64_t before = watcher->kind->judging;
        news->judged = true;
        news->wanted = news->ad != NULL && watcher_wants(watcher, news->ad);
        watcher->server->publish_steps += watcher->kind->judging - before + AD_LOOK_STEPS;
        if (watch_kind_is_too_costly(watcher->kind)) {
            slice_work_want(watcher->turn); /* where it is refused */
        }
    }
    if (news->wanted) {
        now_knows(watcher, news->key);
        news_send(watcher, news, WATCH_CHANGED);
    } else if (forget_known(watcher, news->key, news->ad == NULL)) {
        news_send(watcher, news, WATCH_GONE);
    }
}

/* Frees a large buffer after use. */
static void spare_memory(struct strbuf *buf)
{
    if (buf->capacity > SPARE_BYTES) {
        strbuf_fini(buf);
        strbuf_init(buf, 0);
    }
}

static void publish_ad(struct watch_server *server, const char *type, const char *key,
                       const struct ad *ad)
{
    server->sequence++;
    server->publish_steps = 0;
    for (struct watch_kind *kind = server->first; kind != NULL; kind = kind->next) {
        if (strcmp(kind->type, type) != 0) {
            continue;
        }
        struct news news = {.kind = kind, .key = key, .ad = ad};
        for (struct watcher *watcher = kind->first; watcher != NULL; watcher = watcher->next) {
            watcher_tell(watcher, &news);
        }
    }
    spare_memory(&server->ad);
    spare_memory(&server->changed);
}

void watch_server_changed(struct watch_server *server, const char *type, const char *key,
                          const struct ad *ad)
{
    publish_ad(server, type, key, ad);
}

void watch_server_gone(struct watch_server *server, const char *type, const char *key)
{
    publish_ad(server, type, key, NULL);
}
