/* rsyscall/server_state.h - what the files of the server share.
 *
 * server -> jobs -> sessions -> slots, handles, lockers; a link is a connection, a work a request
 * that is not done at once: it waits in its job's queue for a lane, or for a lock (job->parked).
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
    struct vec jobs;    /* struct rsys_job; those that were closed are in `retired` */
    struct vec retired; /* wait for what their lanes are doing */
    struct vec links;
    uint32_t handles_total, handles; /* descriptors */
    uint32_t lanes_total, lanes;
    uint32_t busy;                /* lanes, of all jobs */
    struct vec to_close, closing; /* struct rsys_closing; on the closer's lane: closing */
    struct loop_lane *closer;     /* NULL: nothing was closed yet */
    bool closer_began;            /* with what is in closing; its own */
    unsigned char *scratch;       /* for what is read on the loop thread */
};

struct rsys_lane {
    struct loop_lane *lane;
    struct rsys_work *work; /* NULL: idle, or the view's */
    struct rsys_opening *opening;
    struct rsys_job *job;
};

struct rsys_job {
    struct rsys_server *server;
    char *ticket;
    struct rsys_offer offer; /* owns its texts */
    struct rsys_view *view;  /* NULL: not opened yet, or in vain */
    struct rsys_handle roots[RSYS_ROOTS_MAX];
    bool opening; /* on a lane */
    int problem;  /* of opening it last; 0: none */
    struct err problem_err;
    bool closed;
    struct vec sessions;
    struct vec parked; /* struct rsys_work: locks that wait */
    struct loop_timer *parked_timer;
    TAILQ_HEAD(, rsys_work) queue;
    struct rsys_lane lanes[RSYS_LANES_MAX];
    uint32_t lane_count, busy;
    uint64_t queued_bytes;
    uint64_t bytes_charged, files_charged; /* with what is under way */
    uint32_t handles;                      /* in tables, with opens under way */
    uint32_t ranges;                       /* locked: of all lockers */
    struct rsys_stats stats;
};

enum rsys_slot_state { RSYS_SLOT_NEW, RSYS_SLOT_BUSY, RSYS_SLOT_DONE };

struct rsys_slot {
    enum rsys_slot_state state;
    uint32_t seq;
    struct rsys_work *work; /* NULL: none, or done at once */
    unsigned char *saved;   /* the reply; NULL: to be done again */
    size_t saved_length;
};

struct rsys_session {
    struct rsys_job *job;
    struct rsys_link *link; /* NULL: cut */
    unsigned char id[RSYS_SESSION_SIZE];
    uint64_t heard_ms;
    struct loop_timer *lease;
    struct rsys_slot *slots;
    uint32_t slot_count;
    struct vec handles;    /* struct rsys_handle, NULL where one was */
    uint32_t *free_places; /* of handles */
    uint32_t free_count, free_capacity;
    uint64_t generation;
    struct vec lockers;
};

struct rsys_work {
    TAILQ_ENTRY(rsys_work) entry;
    struct rsys_call call;
    struct rsys_job *job;
    struct rsys_session *session; /* NULL: it ended */
    uint16_t slot;
    unsigned char *frame; /* what request's texts are in */
    uint64_t bytes_charged;
    unsigned files_charged;
    bool opens;     /* a handle is counted for it */
    bool no_create; /* OPEN without making what is not there: too many files */
    bool cancelled;
    size_t held; /* of job->queued_bytes */
    uint64_t wait_until_ms, wait_next_ms, wait_step_ms;
};

/* ---- server.c -------------------------------------------------------------------------------- */

struct rsys_job *rsys_server_find_job(struct rsys_server *server, const struct rsys_text *ticket);
/* Opens the view, unless that is being done; links that wait are told by rsys_link_offered(). */
void rsys_job_prepare(struct rsys_job *job);
void rsys_job_run(struct rsys_job *job, struct rsys_work *work); /* queues it */
unsigned char *rsys_server_scratch(struct rsys_server *server);  /* RSYS_SCRATCH_SIZE */
/* Lets a lane close and free it. */
void rsys_server_drop_handle(struct rsys_server *server, struct rsys_handle *handle);
void rsys_server_drop_locker(struct rsys_server *server, struct rsys_locker *locker);

/* ---- server_link.c --------------------------------------------------------------------------- */

void rsys_link_send(struct rsys_link *link, const void *data, size_t length);
void rsys_link_flow(struct rsys_link *link); /* read on, or not yet? */
bool rsys_link_is_paused(const struct rsys_link *link);
/* The view is there (code 0), or not. */
void rsys_link_offered(struct rsys_link *link, struct rsys_job *job, int code);
void rsys_link_close(struct rsys_link *link, const char *why); /* at once */
void rsys_link_finish(struct rsys_link *link);                 /* after what is pending */

/* ---- server_session.c ------------------------------------------------------------------------ */

struct rsys_session *rsys_session_create(struct rsys_job *job, uint32_t slots);
struct rsys_session *rsys_session_find(struct rsys_job *job,
                                       const unsigned char id[RSYS_SESSION_SIZE]);
void rsys_session_end(struct rsys_session *session, const char *why);
/* Its connection from now on; NULL: none. */
void rsys_session_attach(struct rsys_session *session, struct rsys_link *link);
void rsys_session_heard(struct rsys_session *session);
struct rsys_handle *rsys_session_handle(struct rsys_session *session, uint64_t number);
/* Takes a copy of it over; it is counted already. */
struct rsys_handle *rsys_session_add(struct rsys_session *session,
                                     const struct rsys_handle *opened);
/* The table's reference goes.  -EBADF. */
int rsys_session_close(struct rsys_session *session, uint64_t number);
void rsys_handle_unref(struct rsys_job *job, struct rsys_handle *handle);
/* With a reference; NULL: there is none, and not to be made, or too many handles. */
struct rsys_locker *rsys_session_locker(struct rsys_session *session,
                                        const struct rsys_handle *handle, uint64_t owner,
                                        bool make);
void rsys_locker_unref(struct rsys_job *job, struct rsys_locker *locker);
/* Forgets it unless others use it. */
void rsys_session_forget_locker(struct rsys_session *session, struct rsys_locker *locker);
bool rsys_job_may_open(const struct rsys_job *job);

/* ---- server_work.c --------------------------------------------------------------------------- */

/* A message of a session's connection.  0; -EPROTO: the connection is of no use. *bytes: what was
 * done for it at once.  The session may have ended, and its link be finished. */
int rsys_session_take(struct rsys_session *session, const void *frame, size_t length,
                      size_t *bytes);
void rsys_work_finish(struct rsys_work *work); /* a lane did it */
/* Gives back what it holds; its session does not know it any more. */
void rsys_work_free(struct rsys_work *work);
void rsys_job_retry_parked(struct rsys_job *job); /* somebody unlocked something */

#endif
