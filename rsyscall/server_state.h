/* rsyscall/server_state.h - data structures that the server's files share.
 *
 * A server has jobs, a job has sessions, a session has slots, handles and lockers (owners of file
 * locks).  A link is a connection.  A work is a request that cannot be executed at once: it waits
 * in its job's queue for a lane (worker thread), or in job->parked for a lock.
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
    uint32_t handles_total, handles; /* limit and number of descriptors */
    uint32_t lanes_total, lanes;
    uint32_t busy; /* busy lanes of all jobs */
    /* struct rsys_closing *; `closing` is being closed by the lane `closer` */
    struct vec to_close, closing;
    struct loop_lane *closer; /* NULL: nothing was closed yet */
    bool closer_began;        /* whether closer works on `closing`; only used by that lane */
    unsigned char *scratch;   /* read buffer of the loop thread */
};

struct rsys_lane {
    struct loop_lane *lane;
    struct rsys_work *work; /* NULL: idle, or opening the view */
    struct rsys_opening *opening;
    struct rsys_job *job;
};

struct rsys_job {
    struct rsys_server *server;
    char *ticket;
    struct rsys_offer offer; /* the job owns the texts in it */
    struct rsys_view *view;  /* NULL: not opened yet, or that failed */
    struct rsys_handle roots[RSYS_ROOTS_MAX];
    bool opening; /* a lane is opening the view */
    int problem;  /* result of opening the view last; 0: no error */
    struct err problem_err;
    bool closed;
    struct vec sessions;
    struct vec parked; /* struct rsys_work *: requests that wait for a lock */
    struct loop_timer *parked_timer;
    TAILQ_HEAD(, rsys_work) queue;
    struct rsys_lane lanes[RSYS_LANES_MAX];
    uint32_t lane_count, busy;
    uint64_t queued_bytes;
    uint64_t bytes_charged, files_charged; /* including requests under way */
    uint32_t handles;                      /* in the tables, plus OPENs under way */
    uint32_t ranges;                       /* ranges locked by all lockers */
    struct rsys_stats stats;
};

enum rsys_slot_state { RSYS_SLOT_NEW, RSYS_SLOT_BUSY, RSYS_SLOT_DONE };

struct rsys_slot {
    enum rsys_slot_state state;
    uint32_t seq;
    struct rsys_work *work; /* NULL: none, or executed at once */
    unsigned char *saved;   /* the encoded reply; NULL: a repeated request is executed again */
    size_t saved_length;
};

struct rsys_session {
    struct rsys_job *job;
    struct rsys_link *link; /* NULL: the connection is cut */
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
    struct rsys_session *session; /* NULL: the session ended */
    uint16_t slot;
    unsigned char *frame; /* the message, with the request's texts */
    uint64_t bytes_charged;
    unsigned files_charged;
    bool opens;     /* a handle is reserved for it */
    bool no_create; /* OPEN may not create a file, because the limit of files is reached */
    bool cancelled;
    size_t held; /* bytes counted in job->queued_bytes */
    uint64_t wait_until_ms, wait_next_ms, wait_step_ms;
};

/* ---- server.c -------------------------------------------------------------------------------- */

struct rsys_job *rsys_server_find_job(struct rsys_server *server, const struct rsys_text *ticket);
/* Opens the job's view if nobody does yet; waiting links are told by rsys_link_offered(). */
void rsys_job_prepare(struct rsys_job *job);
void rsys_job_run(struct rsys_job *job, struct rsys_work *work); /* adds work to the queue */
unsigned char *rsys_server_scratch(struct rsys_server *server);  /* RSYS_SCRATCH_SIZE bytes */
/* Hand a handle or locker over to a lane, which closes its descriptors and frees it. */
void rsys_server_drop_handle(struct rsys_server *server, struct rsys_handle *handle);
void rsys_server_drop_locker(struct rsys_server *server, struct rsys_locker *locker);

/* ---- server_link.c --------------------------------------------------------------------------- */

void rsys_link_send(struct rsys_link *link, const void *data, size_t length);
/* pauses or resumes reading of the connection, depending on its load */
void rsys_link_flow(struct rsys_link *link);
bool rsys_link_is_paused(const struct rsys_link *link);
/* Answers a link that waits for the job's view: code 0: the view is open; otherwise the error. */
void rsys_link_offered(struct rsys_link *link, struct rsys_job *job, int code);
void rsys_link_close(struct rsys_link *link, const char *why); /* closes at once */
/* closes after sending what is pending */
void rsys_link_finish(struct rsys_link *link);

/* ---- server_session.c ------------------------------------------------------------------------ */

struct rsys_session *rsys_session_create(struct rsys_job *job, uint32_t slots);
struct rsys_session *rsys_session_find(struct rsys_job *job,
                                       const unsigned char id[RSYS_SESSION_SIZE]);
void rsys_session_end(struct rsys_session *session, const char *why);
/* Makes link the session's connection, and closes the one before; NULL: the session has no
 * connection. */
void rsys_session_attach(struct rsys_session *session, struct rsys_link *link);
void rsys_session_heard(struct rsys_session *session);
struct rsys_handle *rsys_session_handle(struct rsys_session *session, uint64_t number);
/* Adds a copy of opened to the table and takes over its descriptor, which must already be
 * counted. */
struct rsys_handle *rsys_session_add(struct rsys_session *session,
                                     const struct rsys_handle *opened);
/* Removes a handle from the table and drops the table's reference.  Returns 0 or -EBADF. */
int rsys_session_close(struct rsys_session *session, uint64_t number);
void rsys_handle_unref(struct rsys_job *job, struct rsys_handle *handle);
/* Finds the locker of an owner on a file; makes one if `make`.  The caller gets a reference.  NULL:
 * not found, or too many handles. */
struct rsys_locker *rsys_session_locker(struct rsys_session *session,
                                        const struct rsys_handle *handle, uint64_t owner,
                                        bool make);
void rsys_locker_unref(struct rsys_job *job, struct rsys_locker *locker);
/* Removes the locker from its session; it is freed when nobody uses it any more. */
void rsys_session_forget_locker(struct rsys_session *session, struct rsys_locker *locker);
bool rsys_job_may_open(const struct rsys_job *job);

/* ---- server_work.c --------------------------------------------------------------------------- */

/* Handles a message of a session's connection.  Returns 0, or -EPROTO: the connection must be
 * closed.  *bytes is the amount of work done at once.  Afterwards the session may have ended and
 * its link may be closed. */
int rsys_session_take(struct rsys_session *session, const void *frame, size_t length,
                      size_t *bytes);
void rsys_work_finish(struct rsys_work *work); /* takes the result after a lane executed work */
/* Releases all that work holds; the session must no longer refer to it. */
void rsys_work_free(struct rsys_work *work);
/* called after an unlock: tries the waiting locks again */
void rsys_job_retry_parked(struct rsys_job *job);

#endif
