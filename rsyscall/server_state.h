/* rsyscall/server_state.h - data structures that the server's files share.
 *
 * A server has jobs, a job has sessions, a session has request slots, handles and lockers (owners
 * of file locks).  A link is a connection.  A work is a request that cannot be executed at once: it
 * waits in its job's queue for a lane (worker thread), or in job->parked for a lock.  A view is the
 * opened root directories of a job (view.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_SERVER_STATE_H
#define RSYSCALL_SERVER_STATE_H

#include <sys/queue.h>

#include "base/err.h"
#include "base/vec.h"
#include "rsyscall/call.h"
#include "rsyscall/server.h"

struct loop_lane;
struct loop_timer;
struct stream;

#define RSYS_LANES_MAX   32
#define RSYS_HANDLES_MAX (1U << 20)

struct rsys_link;
struct rsys_session;
struct rsys_work;

struct rsys_server {
    struct loop *loop;
    struct log *log;
    struct vec jobs;    /* struct rsys_job *; closed jobs are in `retired` */
    struct vec retired; /* closed jobs whose lanes are still busy */
    struct vec links;
    /* most open handles of all jobs together; their current number */
    uint32_t handles_total, handles;
    uint32_t lanes_total, lanes;
    uint32_t busy; /* number of busy lanes of all jobs */
    /* struct rsys_closing *: handles and lockers to be closed, and those that the lane `closer` is
     * closing now. */
    struct vec to_close, closing;
    struct loop_lane *closer; /* lane that closes descriptors; NULL: nothing was closed yet */
    bool closer_began;        /* true: the lane `closer` has begun to close what is in `closing` */
    /* read buffer of the loop thread (RSYS_SCRATCH_SIZE bytes); NULL: not needed yet */
    unsigned char *scratch;
};

struct rsys_lane {
    struct loop_lane *lane;
    /* The request that the lane executes; NULL: the lane is idle, or opens the job's view. */
    struct rsys_work *work;
    struct rsys_opening *opening;
    struct rsys_job *job;
};

struct rsys_job {
    struct rsys_server *server;
    char *ticket;
    struct rsys_offer offer; /* a copy of the offer and its texts */
    struct rsys_view *view;  /* the opened roots; NULL: not opened yet, or opening failed */
    struct rsys_handle roots[RSYS_ROOTS_MAX];
    bool opening; /* true: a lane is opening the view */
    int problem;  /* result of the last opening of the view: 0 or -errno */
    struct err problem_err;
    bool closed;
    struct vec sessions;
    struct vec parked; /* struct rsys_work *: requests that wait for a lock */
    struct loop_timer *parked_timer;
    TAILQ_HEAD(, rsys_work) queue;
    struct rsys_lane lanes[RSYS_LANES_MAX];
    uint32_t lane_count, busy;
    uint64_t queued_bytes;
    /* Bytes and files that count against limits.bytes_max and limits.files_max, those of requests
     * under way included. */
    uint64_t bytes_charged, files_charged;
    uint32_t handles; /* handles of all sessions, plus one for each OPEN under way */
    /* Estimated number of ranges that the job's lockers have locked, never too small. */
    uint32_t ranges;
    struct rsys_stats stats;
};

enum rsys_slot_state { RSYS_SLOT_NEW, RSYS_SLOT_BUSY, RSYS_SLOT_DONE };

struct rsys_slot {
    enum rsys_slot_state state;
    uint32_t seq;
    struct rsys_work *work; /* the slot's request while it waits or a lane executes it; else NULL */
    /* The encoded reply to the last request, owned; NULL: not kept, because the request may be
     * executed again. */
    unsigned char *saved;
    size_t saved_length;
};

struct rsys_session {
    struct rsys_job *job;
    struct rsys_link *link; /* the client's connection; NULL: it is cut */
    unsigned char id[RSYS_SESSION_SIZE];
    uint64_t heard_ms;
    struct loop_timer *lease;
    struct rsys_slot *slots;
    uint32_t slot_count;
    struct vec handles;    /* struct rsys_handle *; NULL in free places */
    uint32_t *free_places; /* indices of free places in handles */
    uint32_t free_count, free_capacity;
    uint64_t generation;
    struct vec lockers;
};

struct rsys_work {
    TAILQ_ENTRY(rsys_work) entry;
    struct rsys_call call;
    struct rsys_job *job;
    /* session of the request; NULL: the session has ended meanwhile */
    struct rsys_session *session;
    uint16_t slot;
    unsigned char *frame; /* the received message, into which the request's texts point; owned */
    uint64_t bytes_charged;
    unsigned files_charged;
    bool opens;     /* true: an OPEN whose new handle is already counted in rsys_job.handles */
    bool no_create; /* true: OPEN may not create a file, because the limit of files is reached */
    bool cancelled;
    size_t held; /* bytes of this request that are counted in rsys_job.queued_bytes */
    uint64_t wait_until_ms, wait_next_ms, wait_step_ms;
};

/* ---- server.c -------------------------------------------------------------------------------- */

/* Returns the job that the ticket admits to; NULL: there is none. */
struct rsys_job *rsys_server_find_job(struct rsys_server *server, const struct rsys_text *ticket);
/* Makes a lane open the job's view, unless a lane does so already or the view is open; afterwards
 * rsys_link_offered() is called for each link that waits for the view. */
void rsys_job_prepare(struct rsys_job *job);
/* Adds work to the job's queue, for a lane to execute. */
void rsys_job_run(struct rsys_job *job, struct rsys_work *work);
/* Returns the read buffer of the loop thread: RSYS_SCRATCH_SIZE bytes, owned by the server. */
unsigned char *rsys_server_scratch(struct rsys_server *server);
/* Hands a handle over to a lane, which closes its descriptor and frees the handle. */
void rsys_server_drop_handle(struct rsys_server *server, struct rsys_handle *handle);
/* Hands a locker over to a lane, which closes its descriptors and frees the locker. */
void rsys_server_drop_locker(struct rsys_server *server, struct rsys_locker *locker);

/* ---- server_link.c --------------------------------------------------------------------------- */

/* Sends bytes on the connection; they are copied. */
void rsys_link_send(struct rsys_link *link, const void *data, size_t length);
/* Pauses or resumes the reading of the connection: it is not read while too many replies are
 * unsent, too many bytes of requests wait, or the link waits for the job's view. */
void rsys_link_flow(struct rsys_link *link);
bool rsys_link_is_paused(const struct rsys_link *link);
/* Answers the HELLO of a link that waits for the job's view. code: 0: the view is open; otherwise
 * the -errno with which opening it failed. */
void rsys_link_offered(struct rsys_link *link, struct rsys_job *job, int code);
/* closes the connection at once; why: reason for the log */
void rsys_link_close(struct rsys_link *link, const char *why);
/* Closes the connection after all replies that are not sent yet were sent. */
void rsys_link_finish(struct rsys_link *link);

/* ---- server_session.c ------------------------------------------------------------------------ */

/* Begins a session of the job, without a connection. slots: number of request slots, at most
 * limits.slots; 0: limits.slots. */
struct rsys_session *rsys_session_create(struct rsys_job *job, uint32_t slots);
struct rsys_session *rsys_session_find(struct rsys_job *job,
                                       const unsigned char id[RSYS_SESSION_SIZE]);
void rsys_session_end(struct rsys_session *session, const char *why);
/* Makes link the session's connection, and closes the connection that it had before. link: NULL:
 * the session has no connection from now on. */
void rsys_session_attach(struct rsys_session *session, struct rsys_link *link);
void rsys_session_heard(struct rsys_session *session);
struct rsys_handle *rsys_session_handle(struct rsys_session *session, uint64_t number);
/* Adds a copy of `opened` to the session's table of handles, and takes over its descriptor, which
 * must already be counted in rsys_job.handles.  Returns the handle in the table. */
struct rsys_handle *rsys_session_add(struct rsys_session *session,
                                     const struct rsys_handle *opened);
/* Removes the handle with that number from the session's table, and drops the table's reference.
 * Returns 0; or -EBADF: no such handle. */
int rsys_session_close(struct rsys_session *session, uint64_t number);
void rsys_handle_unref(struct rsys_job *job, struct rsys_handle *handle);
/* Finds the locker for an owner and the file of a handle; if there is none and `make` is true,
 * makes one.  The caller gets a reference.  Returns NULL if there is none and `make` is false, or
 * the limit of open handles is reached. */
struct rsys_locker *rsys_session_locker(struct rsys_session *session,
                                        const struct rsys_handle *handle, uint64_t owner,
                                        bool make);
void rsys_locker_unref(struct rsys_job *job, struct rsys_locker *locker);
/* Drops the session's reference to the locker, and so forgets the locker, unless another request
 * uses it now; then does nothing.  The caller must hold a reference of its own. */
void rsys_session_forget_locker(struct rsys_session *session, struct rsys_locker *locker);
bool rsys_job_may_open(const struct rsys_job *job);

/* ---- server_work.c --------------------------------------------------------------------------- */

/* Handles a message that came on the session's connection. *bytes: increased by the bytes of data
 * in the reply if the request was executed at once, on the loop thread.  Returns 0; or -EPROTO: the
 * message is a HELLO, or has a slot or number that cannot come now, so the caller must close the
 * connection.  Afterwards the session may have ended and its link may be closed. */
int rsys_session_take(struct rsys_session *session, const void *frame, size_t length,
                      size_t *bytes);
/* To be called on the loop thread when a lane has executed work: takes the result and replies. */
void rsys_work_finish(struct rsys_work *work);
/* Frees work and all that it holds; its session must no longer refer to it. */
void rsys_work_free(struct rsys_work *work);
/* To be called after a lock was released: tries again to take the locks that requests wait for. */
void rsys_job_retry_parked(struct rsys_job *job);

#endif
