/* rsyscall/server_session.c - sessions: their lifetime, and the handles and locks that they have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "rsyscall/server_state.h"

/* low bits of a handle's number: its place in the table; the high bits are never used twice */
#define PLACE_BITS 20

/* ---- life ------------------------------------------------------------------------------------ */

static void on_lease(void *arg)
{
    struct rsys_session *session = arg;
    uint64_t silent = loop_now_ms(session->job->server->loop) - session->heard_ms;
    uint64_t lease = session->job->offer.limits.lease_ms;
    if (session->link != NULL && rsys_link_is_paused(session->link)) {
        loop_timer_set(session->lease, lease); /* it is we who do not listen */
    } else if (silent >= lease) {
        rsys_session_end(session, "the client was silent for the time of its lease");
    } else {
        loop_timer_set(session->lease, lease - silent);
    }
}

struct rsys_session *rsys_session_create(struct rsys_job *job, uint32_t slots)
{
    struct rsys_session *session = mem_zalloc(sizeof(*session));
    uint32_t max = job->offer.limits.slots;
    session->job = job;
    session->slot_count = slots == 0 || slots > max ? max : slots;
    session->slots = mem_zalloc(session->slot_count * sizeof(*session->slots));
    loop_secret(job->server->loop, session->id, RSYS_SESSION_SIZE);
    session->lease = loop_timer_create(job->server->loop, on_lease, session);
    rsys_session_heard(session);
    loop_timer_set(session->lease, job->offer.limits.lease_ms);
    vec_push(&job->sessions, session);
    log_info(job->server->log, "rsys.session", "a client of a job has started a session");
    return session;
}

struct rsys_session *rsys_session_find(struct rsys_job *job,
                                       const unsigned char id[RSYS_SESSION_SIZE])
{
    for (size_t i = 0; i < job->sessions.count; i++) {
        struct rsys_session *session = job->sessions.items[i];
        if (text_equal_secret(session->id, id, RSYS_SESSION_SIZE)) {
            return session;
        }
    }
    return NULL;
}

void rsys_session_heard(struct rsys_session *session)
{
    session->heard_ms = loop_now_ms(session->job->server->loop);
}

void rsys_session_attach(struct rsys_session *session, struct rsys_link *link)
{
    struct rsys_link *before = session->link;
    session->link = NULL;
    if (before != NULL && link != NULL) {
        rsys_link_close(before, "the client has connected again");
    }
    session->link = link;
    if (link != NULL) {
        rsys_session_heard(session);
    }
}

/* Drops the session's requests.  Those that wait for a lane or a lock are not carried out; those on
 * a lane are, but nobody gets the answer. */
static void drop_works(struct rsys_session *session)
{
    struct rsys_job *job = session->job;
    for (uint32_t i = 0; i < session->slot_count; i++) {
        if (session->slots[i].work != NULL) {
            session->slots[i].work->session = NULL;
        }
        mem_free(session->slots[i].saved);
    }
    struct rsys_work *next;
    for (struct rsys_work *each = TAILQ_FIRST(&job->queue); each != NULL; each = next) {
        next = TAILQ_NEXT(each, entry);
        if (each->session == NULL) {
            TAILQ_REMOVE(&job->queue, each, entry);
            rsys_work_free(each);
        }
    }
    for (size_t i = job->parked.count; i > 0; i--) {
        struct rsys_work *each = job->parked.items[i - 1];
        if (each->session == NULL) {
            vec_remove_at(&job->parked, i - 1);
            rsys_work_free(each);
        }
    }
}

void rsys_session_end(struct rsys_session *session, const char *why)
{
    struct rsys_job *job = session->job;
    log_info(job->server->log, "rsys.over", "a client of a job has ended its session",
             LOG_TEXT("why", why));
    if (session->link != NULL) {
        rsys_link_finish(session->link); /* which takes itself off */
    }
    drop_works(session);
    for (size_t i = 0; i < session->handles.count; i++) {
        struct rsys_handle *handle = session->handles.items[i];
        if (handle != NULL) {
            handle->number = 0;
            rsys_handle_unref(job, handle);
        }
    }
    for (size_t i = 0; i < session->lockers.count; i++) {
        rsys_locker_unref(job, session->lockers.items[i]);
    }
    vec_fini(&session->handles, NULL);
    vec_fini(&session->lockers, NULL);
    mem_free(session->free_places);
    mem_free(session->slots);
    loop_timer_destroy(session->lease);
    for (size_t i = 0; i < job->sessions.count; i++) {
        if (job->sessions.items[i] == session) {
            vec_remove_at(&job->sessions, i);
            break;
        }
    }
    mem_free(session);
    rsys_job_retry_parked(job); /* its locks are going */
}

/* ---- handles --------------------------------------------------------------------------------- */

bool rsys_job_may_open(const struct rsys_job *job)
{
    return job->handles < job->offer.limits.handles &&
           job->server->handles < job->server->handles_total;
}

struct rsys_handle *rsys_session_handle(struct rsys_session *session, uint64_t number)
{
    struct rsys_job *job = session->job;
    if (number < RSYS_ROOTS_MAX) {
        return number < job->offer.root_count ? &job->roots[number] : NULL;
    }
    uint64_t place = (number & ((1U << PLACE_BITS) - 1)) - RSYS_ROOTS_MAX;
    struct rsys_handle *handle =
        place < session->handles.count ? session->handles.items[place] : NULL;
    return handle != NULL && handle->number == number ? handle : NULL;
}

struct rsys_handle *rsys_session_add(struct rsys_session *session, const struct rsys_handle *opened)
{
    struct rsys_handle *handle = mem_zalloc(sizeof(*handle));
    size_t place = session->handles.count;
    *handle = *opened;
    handle->refs = 1;
    if (session->free_count > 0) {
        place = session->free_places[--session->free_count];
        session->handles.items[place] = handle;
    } else {
        vec_push(&session->handles, handle);
    }
    handle->number = (++session->generation << PLACE_BITS) | (place + RSYS_ROOTS_MAX);
    return handle;
}

static void free_place(struct rsys_session *session, uint32_t place)
{
    if (session->free_count == session->free_capacity) {
        session->free_capacity = session->free_capacity > 0 ? 2 * session->free_capacity : 16;
        session->free_places = mem_realloc(session->free_places,
                                           session->free_capacity * sizeof(*session->free_places));
    }
    session->free_places[session->free_count++] = place;
}

void rsys_handle_unref(struct rsys_job *job, struct rsys_handle *handle)
{
    if (--handle->refs == 0) {
        job->handles--;
        rsys_server_drop_handle(job->server, handle);
    }
}

/* Forgets the session's locks on a file, unless the session still has a handle of that file. */
static void forget_lockers(struct rsys_session *session, uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < session->handles.count; i++) {
        const struct rsys_handle *each = session->handles.items[i];
        if (each != NULL && each->dev == dev && each->ino == ino) {
            return;
        }
    }
    for (size_t i = session->lockers.count; i > 0; i--) {
        struct rsys_locker *each = session->lockers.items[i - 1];
        if (each->dev == dev && each->ino == ino) {
            vec_remove_at(&session->lockers, i - 1);
            rsys_locker_unref(session->job, each);
        }
    }
}

int rsys_session_close(struct rsys_session *session, uint64_t number)
{
    struct rsys_handle *handle = rsys_session_handle(session, number);
    if (handle == NULL || number < RSYS_ROOTS_MAX) {
        return -EBADF;
    }
    uint64_t place = (number & ((1U << PLACE_BITS) - 1)) - RSYS_ROOTS_MAX;
    session->handles.items[place] = NULL;
    free_place(session, (uint32_t)place);
    if (session->lockers.count > 0) {
        forget_lockers(session, handle->dev, handle->ino);
    }
    handle->number = 0;
    rsys_handle_unref(session->job, handle);
    return 0;
}

/* ---- lockers --------------------------------------------------------------------------------- */

struct rsys_locker *rsys_session_locker(struct rsys_session *session,
                                        const struct rsys_handle *handle, uint64_t owner, bool make)
{
    struct rsys_job *job = session->job;
    for (size_t i = 0; i < session->lockers.count; i++) {
        struct rsys_locker *each = session->lockers.items[i];
        if (each->dev == handle->dev && each->ino == handle->ino && each->owner == owner) {
            each->refs++;
            return each;
        }
    }
    if (!make || !rsys_job_may_open(job)) {
        return NULL;
    }
    struct rsys_locker *locker = mem_zalloc(sizeof(*locker));
    *locker = (struct rsys_locker){.refs = 2,
                                   .dev = handle->dev,
                                   .ino = handle->ino,
                                   .owner = owner,
                                   .fds = rsys_locker_fds_create()};
    vec_push(&session->lockers, locker);
    job->handles++;
    job->server->handles++;
    return locker;
}

void rsys_locker_unref(struct rsys_job *job, struct rsys_locker *locker)
{
    if (--locker->refs == 0) {
        job->ranges -= locker->ranges;
        job->handles--;
        rsys_server_drop_locker(job->server, locker);
    }
}

void rsys_session_forget_locker(struct rsys_session *session, struct rsys_locker *locker)
{
    if (locker->refs > 2) { /* the table's, the caller's, and another */
        return;
    }
    for (size_t i = 0; i < session->lockers.count; i++) {
        if (session->lockers.items[i] == locker) {
            vec_remove_at(&session->lockers, i);
            rsys_locker_unref(session->job, locker);
            break;
        }
    }
}
