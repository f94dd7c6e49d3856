/* wire/wire_limits.c - see wire_limits.h.
 *
 * One timer for all connections of a context, set while there is something to check.  A timer for
 * each connection would have to be set and stopped for every frame that comes in two pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/strangers.h"
#include "base/stream/stream.h"
#include "base/strmap.h"
#include "wire/wire_private.h"

#define TICK_MS       250
#define LATE_MS       5000 /* a tick that is so late: we slept, or were held up ourselves */
#define IDLE_ACCOUNTS 1000 /* kept without a connection, for what was logged of them */
#define TRIM_BYTES    ((size_t)8 << 20) /* after so much of frames memory is given back */
#define CROWD_LOG_MS  60000
/* most bytes of an account's key or identity, with the terminating zero */
#define KEY_MAX       600
#define LOG_NUMBER(n) ((int64_t)(n))

struct wire_account {
    char *key;
    char *identity; /* for messages; the key where there is none */
    bool trusted;
    size_t connections;
    size_t frames, requests, unread; /* bytes */
    uint64_t complaints, unlogged;   /* complaints in all, and since the last log line */
    uint64_t logged_ms;
};

struct wire_limits {
    struct wire_context *context;
    struct strmap *accounts;
    struct wire_list partial; /* unfinished frames, those without reservation, too: oldest first */
    struct wire_list waiting; /* for room, the longest first */
    struct wire_list unread;
    struct loop_timer *timer;
    uint64_t tick_ms;                      /* time for which the timer is set */
    size_t frames, requests, unread_bytes; /* bytes of all accounts that are not trusted */
    size_t frames_since_trim;
    size_t connections;
    uint64_t complaints;
    struct wire_account *last; /* account of the last complaint; NULL: none, or forgotten */
    uint64_t crowd_logged, crowd_logged_ms;
};

/* ---- complaints ------------------------------------------------------------------------------ */

/* Logs one line per account and minute, with the number of complaints. */
static void log_complaint(struct wire *wire, struct wire_account *account, const char *what)
{
    struct wire_context *context = wire->context;
    struct wire_limits *limits = context->limits;
    uint64_t now_ms = loop_now_ms(context->loop);
    limits->complaints++;
    limits->last = account;
    account->complaints++;
    account->unlogged++;
    if (account->complaints > 1 && now_ms - account->logged_ms < WIRE_COMPLAINT_MS) {
        return;
    }
    log_warn(context->log, "wire.limit", what, LOG_TEXT("peer", wire->caller->address),
             LOG_TEXT("identity", account->identity), LOG_TEXT("token_id", wire->caller->token.id),
             LOG_INT("connections", LOG_NUMBER(account->connections)),
             LOG_INT("frame_bytes", LOG_NUMBER(account->frames)),
             LOG_INT("request_bytes", LOG_NUMBER(account->requests)),
             LOG_INT("unread_bytes", LOG_NUMBER(account->unread)),
             LOG_INT("times", LOG_NUMBER(account->unlogged)));
    account->logged_ms = now_ms;
    account->unlogged = 0;
}

/* Logs, once a minute, how many strangers had to go; base/ counts them. */
static void tell_of_strangers(struct wire_limits *limits)
{
    struct wire_context *context = limits->context;
    struct stream_strangers strangers;
    uint64_t now_ms = loop_now_ms(context->loop);
    stream_get_strangers(context->loop, &strangers);
    if (strangers.sent_away == limits->crowd_logged ||
        (limits->crowd_logged > 0 && now_ms - limits->crowd_logged_ms < CROWD_LOG_MS)) {
        return;
    }
    log_warn(context->log, "wire.strangers",
             "too many connections without a proved identity; closing the oldest connections of "
             "the busiest address",
             LOG_TEXT("last_from", strangers.last_host),
             LOG_INT("times", LOG_NUMBER(strangers.sent_away - limits->crowd_logged)));
    limits->crowd_logged = strangers.sent_away;
    limits->crowd_logged_ms = now_ms;
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void account_key(const struct caller *caller, char ret[KEY_MAX])
{
    char host[STRANGERS_HOST_MAX];
    if (caller->token.id[0] != '\0') {
        (void)snprintf(ret, KEY_MAX, "token %s", caller->token.id);
    } else if (caller->identity[0] != '\0') {
        (void)snprintf(ret, KEY_MAX, "identity %s", caller->identity);
    } else {
        (void)snprintf(ret, KEY_MAX, "address %s", strangers_host_of(caller->address, host));
    }
}

static void account_free(void *value)
{
    struct wire_account *account = value;
    mem_free(account->key);
    mem_free(account->identity);
    mem_free(account);
}

static bool is_forgettable(const struct wire_account *account, uint64_t now_ms)
{
    return account->connections == 0 &&
           (account->complaints == 0 || now_ms - account->logged_ms >= WIRE_COMPLAINT_MS);
}

static void account_forget(struct wire_limits *limits, struct wire_account *account)
{
    (void)strmap_remove(limits->accounts, account->key);
    limits->last = limits->last == account ? NULL : limits->last;
    account_free(account);
}

/* Forgets accounts without connections; they are kept a while to limit their log lines. */
static void forget_old_accounts(struct wire_limits *limits)
{
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    size_t at = 0;
    void *value;
    if (strmap_count(limits->accounts) < limits->connections + IDLE_ACCOUNTS) {
        return;
    }
    while (strmap_next(limits->accounts, &at, NULL, &value)) {
        if (is_forgettable(value, now_ms)) {
            account_forget(limits, value);
        }
    }
}

static struct wire_account *account_of(struct wire_limits *limits, const struct caller *caller)
{
    char key[KEY_MAX];
    account_key(caller, key);
    struct wire_account *account = strmap_get(limits->accounts, key);
    if (account == NULL) {
        forget_old_accounts(limits);
        account = mem_zalloc(sizeof(*account));
        account->key = mem_strdup(key);
        account->identity = mem_strdup(caller->identity[0] != '\0' ? caller->identity : key);
        account->trusted = (caller->peer.scopes & SCOPES_TRUSTED) != 0;
        (void)strmap_set(limits->accounts, key, account);
    }
    return account;
}

static size_t connections_max(const struct wire *wire)
{
    const struct wire_peer *peer = &wire->caller->peer;
    size_t most = WIRE_CONNECTIONS_USER;
    if (wire->how.no_token || (peer->scopes & SCOPES_TRUSTED) != 0) {
        most = WIRE_CONNECTIONS_MAX;
    } else if ((peer->scopes & SCOPE_ADVERTISE) != 0) {
        most = WIRE_CONNECTIONS_MACHINE + (size_t)WIRE_CONNECTIONS_PER_SLOT * peer->slots;
    }
    return most < WIRE_CONNECTIONS_MAX ? most : WIRE_CONNECTIONS_MAX;
}

int wire_limits_join(struct wire *wire, struct err *err)
{
    struct wire_limits *limits = wire->context->limits;
    struct wire_share *share = &wire->share;
    if (share->proved) {
        return 0;
    }
    tell_of_strangers(limits);
    if (wire->dialled) {
        share->proved = true;
        return 0;
    }
    struct wire_account *account = account_of(limits, wire->caller);
    if (account->connections >= connections_max(wire)) {
        log_complaint(wire, account, "too many connections of one identity");
        return err_set(err, -EBUSY, "%s has too many connections to this daemon (%zu)",
                       account->identity, account->connections);
    }
    share->proved = true;
    share->account = account;
    account->connections++;
    limits->connections++;
    wire_limits_request_begins(wire, wire->request_bytes); /* what proves is a request, too */
    stream_known(wire->stream);
    stream_set_input_max(wire->stream, WIRE_FRAME_FREE);
    return 0;
}

/* ---- the timer ------------------------------------------------------------------------------- */

static void tick_soon(struct wire_limits *limits)
{
    if (!loop_timer_is_set(limits->timer)) {
        limits->tick_ms = loop_now_ms(limits->context->loop) + TICK_MS;
        loop_timer_set(limits->timer, TICK_MS);
    }
}

/* ---- frames that come in --------------------------------------------------------------------- */

static bool has_room(const struct wire_limits *limits, const struct wire_account *account,
                     size_t bytes)
{
    return account->frames + bytes <= WIRE_ACCOUNT_FRAMES_MAX &&
           (account->trusted || limits->frames + bytes <= WIRE_ALL_FRAMES_MAX);
}

static void grant_room(struct wire_limits *limits, struct wire *wire)
{
    struct wire_share *share = &wire->share;
    share->granted = share->frame_size;
    share->granted_ms = loop_now_ms(limits->context->loop);
    share->account->frames += share->granted;
    limits->frames += share->account->trusted ? 0 : share->granted;
    stream_set_input_max(wire->stream, share->frame_size);
}

static void grant_return(struct wire_limits *limits, struct wire *wire)
{
    struct wire_share *share = &wire->share;
    share->account->frames -= share->granted;
    limits->frames -= share->account->trusted ? 0 : share->granted;
    limits->frames_since_trim += share->granted;
    share->granted = 0;
}

/* The peer has no unfinished frame any more: ends its reservation. */
static void frame_over(struct wire_limits *limits, struct wire *wire)
{
    struct wire_share *share = &wire->share;
    if (share->frame_size == 0) {
        return;
    }
    share->frame_size = 0;
    if (share->waits) {
        TAILQ_REMOVE(&limits->waiting, wire, share.frame_entry);
        share->waits = false;
    } else {
        TAILQ_REMOVE(&limits->partial, wire, share.frame_entry);
    }
    if (share->granted > 0) {
        grant_return(limits, wire);
        if (!TAILQ_EMPTY(&limits->waiting)) {
            tick_soon(limits);
        }
    }
}

/* Begins a new period for the frame to grow. */
static void mark_progress(struct wire *wire, size_t have)
{
    struct wire_share *share = &wire->share;
    share->marked_bytes = share->moved_bytes = have;
    share->marked_ms = share->moved_ms = loop_now_ms(wire->context->loop);
}

static void drop_slow(struct wire_limits *limits, struct wire *wire, size_t have)
{
    size_t size = wire->share.frame_size;
    log_complaint(wire, wire->share.account, "connection closed: a frame arrives too slowly");
    frame_over(limits, wire); /* its room is free at once */
    wire_fail(wire, -ETIMEDOUT, true,
              "a frame of %zu bytes arrives too slowly: only %zu bytes have arrived", size, have);
}

static size_t have_of(const struct wire *wire)
{
    size_t have = 0;
    if (wire->stream != NULL) {
        (void)stream_input(wire->stream, &have);
    }
    return have;
}

/* Closes connections whose frame has not grown enough in its time. */
static void drop_slow_ones(struct wire_limits *limits)
{
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    struct wire *next;
    for (struct wire *wire = TAILQ_FIRST(&limits->partial); wire != NULL; wire = next) {
        next = TAILQ_NEXT(wire, share.frame_entry);
        if (now_ms - wire->share.marked_ms < WIRE_STEP_MS) {
            continue;
        }
        size_t have = have_of(wire);
        if (have - wire->share.marked_bytes >= WIRE_STEP_BYTES) {
            mark_progress(wire, have);
            wire_ping(wire); /* its own PING is behind the frame, and it would take us for dead */
        } else {
            drop_slow(limits, wire, have);
        }
    }
}

/* Closes connections whose frame does not grow, as few as are needed to make room for this one. */
static void make_room(struct wire_limits *limits, const struct wire *wants)
{
    const struct wire_account *account = wants->share.account;
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    struct wire *next;
    for (struct wire *wire = TAILQ_FIRST(&limits->partial);
         wire != NULL && !has_room(limits, account, wants->share.frame_size); wire = next) {
        const struct wire_share *share = &wire->share;
        next = TAILQ_NEXT(wire, share.frame_entry);
        bool helps = share->account == account || (!share->account->trusted && !account->trusted);
        bool is_slow = now_ms - share->moved_ms >= WIRE_PRESSED_MS ||
                       now_ms - share->granted_ms >= WIRE_HOLD_MS(share->granted);
        if (share->granted > 0 && helps && is_slow) {
            drop_slow(limits, wire, have_of(wire));
        }
    }
}

/* Reserves room for the wire's frame.  Returns false when there is not enough. */
static bool try_grant(struct wire_limits *limits, struct wire *wire)
{
    struct wire_share *share = &wire->share;
    if (!has_room(limits, share->account, share->frame_size)) {
        make_room(limits, wire);
        if (!has_room(limits, share->account, share->frame_size)) {
            return false;
        }
    }
    grant_room(limits, wire);
    return true;
}

static void wait_for_room(struct wire_limits *limits, struct wire *wire)
{
    struct wire_share *share = &wire->share;
    TAILQ_REMOVE(&limits->partial, wire, share.frame_entry);
    TAILQ_INSERT_TAIL(&limits->waiting, wire, share.frame_entry);
    share->waits = true;
    share->waits_since_ms = loop_now_ms(wire->context->loop);
    stream_pause(wire->stream, true);
}

void wire_limits_frame_partial(struct wire *wire, size_t size, size_t have)
{
    struct wire_limits *limits = wire->context->limits;
    struct wire_share *share = &wire->share;
    if (share->account == NULL || have == 0 || share->waits) {
        return;
    }
    if (share->frame_size == 0) {
        TAILQ_INSERT_TAIL(&limits->partial, wire, share.frame_entry);
        mark_progress(wire, have);
        tick_soon(limits);
    } else if (have >= share->moved_bytes + WIRE_MOVE_BYTES) {
        share->moved_bytes = have;
        share->moved_ms = loop_now_ms(wire->context->loop);
    }
    share->frame_size = size > 0 ? size : 1; /* as long as it does not say */
    if (size > WIRE_FRAME_FREE && share->granted == 0 && !try_grant(limits, wire)) {
        wait_for_room(limits, wire);
    }
}

void wire_limits_frame_whole(struct wire *wire)
{
    struct wire_share *share = &wire->share;
    if (share->frame_size == 0) {
        return;
    }
    bool was_granted = share->granted > 0;
    frame_over(wire->context->limits, wire);
    if (was_granted) {
        stream_set_input_max(wire->stream, WIRE_FRAME_FREE);
    }
}

bool wire_limits_is_waiting(const struct wire *wire)
{
    return wire->share.waits;
}

/* Gives room to waiting frames in the order in which they came; a frame that does not fit does not
 * hold up those after it. */
static void serve_waiting(struct wire_limits *limits)
{
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    struct wire *next;
    for (struct wire *wire = TAILQ_FIRST(&limits->waiting); wire != NULL; wire = next) {
        struct wire_share *share = &wire->share;
        next = TAILQ_NEXT(wire, share.frame_entry);
        if (try_grant(limits, wire)) {
            TAILQ_REMOVE(&limits->waiting, wire, share.frame_entry);
            TAILQ_INSERT_TAIL(&limits->partial, wire, share.frame_entry);
            share->waits = false;
            mark_progress(wire, share->marked_bytes);
            stream_pause(wire->stream, false);
        } else if (now_ms - share->waits_since_ms >= WIRE_WAIT_MS) {
            size_t size = share->frame_size;
            log_complaint(wire, share->account, "connection closed: no memory for its frame");
            frame_over(limits, wire);
            wire_fail(wire, -EBUSY, true,
                      "no memory for a frame of %zu bytes: too many unfinished frames of %s, or of "
                      "all peers",
                      size, share->account->identity);
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

int wire_limits_request(struct wire *wire, size_t bytes, struct err *err)
{
    const struct wire_limits *limits = wire->context->limits;
    struct wire_account *account = wire->share.account;
    if (!wire->share.proved) {
        return wire->requests.chains.count < WIRE_STRANGER_REQUESTS &&
                       bytes <= WIRE_STRANGER_BYTES - wire->request_bytes
                   ? 0
                   : err_set(err, -EBUSY,
                             "too many requests of a peer that has not proved its identity");
    }
    if (account == NULL) {
        return 0;
    }
    size_t with = account->requests + bytes;
    bool has_place =
        with <= WIRE_REQUESTS_FREE || limits->requests + bytes <= WIRE_ALL_REQUESTS_MAX;
    bool fits = account->trusted ? with <= WIRE_REQUEST_BYTES_MAX
                                 : with <= WIRE_ACCOUNT_REQUESTS_MAX && has_place;
    if (!fits) {
        log_complaint(wire, account, "request refused: too many bytes of unanswered requests");
        return err_set(err, -EBUSY,
                       "too many bytes of unanswered requests: %zu of %s, %zu of all peers",
                       account->requests, account->identity, limits->requests);
    }
    return 0;
}

void wire_limits_request_begins(struct wire *wire, size_t bytes)
{
    struct wire_account *account = wire->share.account;
    if (account != NULL) {
        account->requests += bytes;
        wire->context->limits->requests += account->trusted ? 0 : bytes;
    }
}

void wire_limits_request_ends(struct wire *wire, size_t bytes)
{
    struct wire_account *account = wire->share.account;
    if (account != NULL) {
        account->requests -= bytes;
        wire->context->limits->requests -= account->trusted ? 0 : bytes;
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void unread_set(struct wire_limits *limits, struct wire *wire, size_t bytes)
{
    struct wire_share *share = &wire->share;
    share->account->unread += bytes - share->unread;
    limits->unread_bytes += bytes - share->unread;
    share->unread = bytes;
    if (bytes > 0 && !share->is_unread) {
        TAILQ_INSERT_TAIL(&limits->unread, wire, share.unread_entry);
    } else if (bytes == 0 && share->is_unread) {
        TAILQ_REMOVE(&limits->unread, wire, share.unread_entry);
    }
    share->is_unread = bytes > 0;
}

/* Returns the connection to close: one that has read nothing for a while, of the account with the
 * most unread output. */
static struct wire *worst_reader(const struct wire_limits *limits, uint64_t now_ms)
{
    struct wire *worst = NULL, *wire;
    TAILQ_FOREACH(wire, &limits->unread, share.unread_entry)
    {
        if (now_ms - wire->share.unread_ms >= WIRE_UNREAD_MS &&
            (worst == NULL || wire->share.account->unread > worst->share.account->unread)) {
            worst = wire;
        }
    }
    return worst;
}

static void look_at_unread(struct wire_limits *limits)
{
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    struct wire *next, *worst;
    for (struct wire *wire = TAILQ_FIRST(&limits->unread); wire != NULL; wire = next) {
        struct wire_share *share = &wire->share;
        size_t pending = wire->stream != NULL ? stream_pending(wire->stream) : 0;
        next = TAILQ_NEXT(wire, share.unread_entry);
        if (pending < share->unread) {
            share->unread_ms = now_ms;
            unread_set(limits, wire, pending > WIRE_UNREAD_FREE ? pending : 0);
        }
    }
    while (limits->unread_bytes > WIRE_ALL_UNREAD_MAX &&
           (worst = worst_reader(limits, now_ms)) != NULL) {
        size_t pending = worst->share.unread;
        log_complaint(worst, worst->share.account, "connection closed: the peer does not read");
        unread_set(limits, worst, 0);
        wire_fail(worst, -ENOBUFS, false, "the peer does not read: %zu bytes wait to be sent",
                  pending);
    }
}

void wire_limits_output(struct wire *wire, size_t pending)
{
    struct wire_limits *limits = wire->context->limits;
    struct wire_share *share = &wire->share;
    if (!share->proved && !wire->dialled && pending > WIRE_STRANGER_BYTES) {
        wire_fail(wire, -ENOBUFS, false, "a peer that has not proved its identity does not read");
        return;
    }
    if (share->account == NULL || share->account->trusted || pending <= WIRE_UNREAD_FREE ||
        wire->state == WIRE_OVER) {
        return;
    }
    if (!share->is_unread || pending < share->unread) {
        share->unread_ms = loop_now_ms(wire->context->loop);
    }
    unread_set(limits, wire, pending);
    tick_soon(limits);
}

/* ---- the context's side ---------------------------------------------------------------------- */

static void on_tick(void *arg)
{
    struct wire_limits *limits = arg;
    uint64_t now_ms = loop_now_ms(limits->context->loop);
    if (now_ms - limits->tick_ms >= LATE_MS) { /* nobody could be in time */
        struct wire *wire;
        TAILQ_FOREACH(wire, &limits->partial, share.frame_entry)
        {
            wire->share.marked_ms = wire->share.moved_ms = now_ms;
        }
        TAILQ_FOREACH(wire, &limits->waiting, share.frame_entry)
        {
            wire->share.waits_since_ms = now_ms;
        }
    }
    drop_slow_ones(limits);
    serve_waiting(limits);
    look_at_unread(limits);
    if (limits->frames == 0 && limits->frames_since_trim >= TRIM_BYTES) {
        limits->frames_since_trim = 0;
        mem_trim();
    }
    if (!TAILQ_EMPTY(&limits->partial) || !TAILQ_EMPTY(&limits->waiting) ||
        !TAILQ_EMPTY(&limits->unread) || limits->frames_since_trim >= TRIM_BYTES) {
        tick_soon(limits);
    }
}

void wire_limits_leave(struct wire *wire)
{
    struct wire_limits *limits = wire->context->limits;
    struct wire_account *account = wire->share.account;
    if (account == NULL) {
        return;
    }
    frame_over(limits, wire);
    if (wire->share.is_unread) {
        unread_set(limits, wire, 0);
    }
    wire_limits_request_ends(wire, wire->request_bytes);
    wire->share.account = NULL;
    limits->connections--;
    if (--account->connections == 0 && account->complaints == 0) {
        account_forget(limits, account);
    }
}

struct wire_limits *wire_limits_create(struct wire_context *context)
{
    struct wire_limits *limits = mem_zalloc(sizeof(*limits));
    limits->context = context;
    limits->accounts = strmap_create(STRMAP_CASE_SENSITIVE);
    limits->timer = loop_timer_create(context->loop, on_tick, limits);
    TAILQ_INIT(&limits->partial);
    TAILQ_INIT(&limits->waiting);
    TAILQ_INIT(&limits->unread);
    return limits;
}

void wire_limits_destroy(struct wire_limits *limits)
{
    loop_timer_destroy(limits->timer);
    strmap_destroy(limits->accounts, account_free);
    mem_free(limits);
}

void wire_context_figures(const struct wire_context *context, struct wire_figures *ret)
{
    const struct wire_limits *limits = context->limits;
    const struct wire_account *busiest = NULL;
    struct stream_strangers strangers;
    size_t at = 0;
    void *value;
    stream_get_strangers(context->loop, &strangers);
    *ret =
        (struct wire_figures){.strangers = strangers.now,
                              .strangers_sent_away = strangers.sent_away,
                              .connections = limits->connections,
                              .complaints = limits->complaints,
                              .last_offender = limits->last != NULL ? limits->last->identity : ""};
    while (strmap_next(limits->accounts, &at, NULL, &value)) {
        const struct wire_account *account = value;
        size_t bytes = account->frames + account->requests + account->unread;
        ret->identities += account->connections > 0;
        ret->frame_bytes += account->frames;
        ret->request_bytes += account->requests;
        ret->unread_bytes += account->unread;
        if (bytes > ret->busiest_bytes) {
            ret->busiest_bytes = bytes;
            busiest = account;
        }
    }
    ret->busiest = busiest != NULL ? busiest->identity : "";
}
