/* rsyscall/server_work.c - requests: slots, execution at once or on a lane, answers.
 *
 * Design note: a request goes from rsys_session_take() to answer_request(), either at once, or
 * through the queue and a lane; a lock that must wait is parked and queued again.  Its slot is BUSY
 * all this time, so a slot never has two requests.  Quotas are charged before the execution and
 * corrected after it, so that many requests at once cannot exceed them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall/server_state.h"

#define COPY_CHARGED    ((uint64_t)16 << 20) /* most bytes that one COPY copies */
#define PUNCH_HOLE      2U                   /* FALLOC_FL_PUNCH_HOLE, which frees space */
#define PARKED_STEP_MS  20
#define PARKED_STEP_MAX 250

/* ---- answers --------------------------------------------------------------------------------- */

/* Sends the reply, and saves it in the slot if the request must not run twice. call has the reply's
 * data in `out`; NULL: no data. */
static void answer_request(struct rsys_session *session, uint16_t slot_number,
                           struct rsys_reply *reply, struct rsys_call *call)
{
    unsigned char buffer[RSYS_FIELDS_MAX];
    struct rsys_slot *slot = &session->slots[slot_number];
    reply->slot = slot_number;
    reply->seq = slot->seq;
    if (!rsys_op_is_repeatable(reply->op)) {
        struct rsys_reply bare = *reply; /* OPEN's data was a favour */
        bare.data_length = 0;
        int saved = rsys_encode_reply(&bare, buffer, sizeof(buffer));
        CHECK(saved > 0);
        slot->saved = mem_dup(buffer, (size_t)saved);
        slot->saved_length = (size_t)saved;
    }
    int length = rsys_encode_reply(reply, buffer, sizeof(buffer));
    CHECK(length > 0);
    slot->state = RSYS_SLOT_DONE;
    slot->work = NULL;
    if (session->link == NULL) {
        return;
    }
    if (call != NULL && call->out != NULL && reply->status >= 0) {
        CHECK((size_t)length <= RSYS_HEADROOM);
        unsigned char *begin = call->out + RSYS_HEADROOM - length;
        memcpy(begin, buffer, (size_t)length);
        rsys_link_send(session->link, begin, (size_t)length + reply->data_length);
    } else {
        rsys_link_send(session->link, buffer, (size_t)length);
    }
}

static void answer_status(struct rsys_session *session, const struct rsys_request *request,
                          int status)
{
    struct rsys_reply reply = {.op = request->op, .status = status};
    answer_request(session, request->slot, &reply, NULL);
}

/* ---- works ----------------------------------------------------------------------------------- */

void rsys_work_free(struct rsys_work *work)
{
    struct rsys_job *job = work->job;
    if (work->call.opened.fd >= 0) {
        struct rsys_handle *handle = mem_dup(&work->call.opened, sizeof(*handle));
        work->call.opened.fd = -1;
        handle->refs = 1;
        rsys_handle_unref(job, handle);
    } else if (work->opens) {
        job->handles--;
        job->server->handles--;
    }
    if (work->call.at != NULL) {
        rsys_handle_unref(job, work->call.at);
    }
    if (work->call.to != NULL) {
        rsys_handle_unref(job, work->call.to);
    }
    if (work->call.locker != NULL) {
        rsys_locker_unref(job, work->call.locker);
    }
    rsys_call_fini(&work->call);
    job->queued_bytes -= work->held;
    mem_free(work->frame);
    mem_free(work);
}

static void flow_all(const struct rsys_job *job)
{
    for (size_t i = 0; i < job->sessions.count; i++) {
        const struct rsys_session *session = job->sessions.items[i];
        if (session->link != NULL) {
            rsys_link_flow(session->link);
        }
    }
}

/* ---- locks that wait ------------------------------------------------------------------------- */

static void on_parked(void *arg)
{
    struct rsys_job *job = arg;
    uint64_t now = loop_now_ms(job->server->loop), next = UINT64_MAX;
    for (size_t i = job->parked.count; i > 0; i--) {
        struct rsys_work *work = job->parked.items[i - 1];
        if (work->wait_next_ms <= now) {
            vec_remove_at(&job->parked, i - 1);
            rsys_job_run(job, work);
        } else if (work->wait_next_ms < next) {
            next = work->wait_next_ms;
        }
    }
    if (next != UINT64_MAX) {
        loop_timer_set(job->parked_timer, next - now);
    }
}

void rsys_job_retry_parked(struct rsys_job *job)
{
    if (job->parked.count == 0) {
        return;
    }
    for (size_t i = 0; i < job->parked.count; i++) {
        struct rsys_work *work = job->parked.items[i];
        work->wait_next_ms = 0;
    }
    loop_timer_set(job->parked_timer, 0);
}

/* Parks a lock request that must wait.  True: it will be tried again; false: the request is
 * finished. */
static bool park_work(struct rsys_work *work)
{
    struct rsys_job *job = work->job;
    struct rsys_call *call = &work->call;
    uint64_t now = loop_now_ms(job->server->loop);
    if (call->request.op != RSYS_LOCK || call->reply.status != -EAGAIN || work->cancelled ||
        now >= work->wait_until_ms) {
        return false;
    }
    memset(&call->reply, 0, offsetof(struct rsys_reply, extents));
    call->reply.op = RSYS_LOCK;
    work->wait_step_ms = work->wait_step_ms == 0 ? PARKED_STEP_MS : 2 * work->wait_step_ms;
    if (work->wait_step_ms > PARKED_STEP_MAX) {
        work->wait_step_ms = PARKED_STEP_MAX;
    }
    work->wait_next_ms = now + work->wait_step_ms;
    if (work->wait_next_ms > work->wait_until_ms) {
        work->wait_next_ms = work->wait_until_ms;
    }
    vec_push(&job->parked, work);
    if (job->parked_timer == NULL) {
        job->parked_timer = loop_timer_create(job->server->loop, on_parked, job);
    }
    on_parked(job); /* sets the timer */
    return true;
}

static void finish_cancelled(struct rsys_work *work);

static void cancel_lock(struct rsys_session *session, const struct rsys_request *request)
{
    struct rsys_job *job = session->job;
    struct rsys_slot *slot =
        request->slot_of < session->slot_count ? &session->slots[request->slot_of] : NULL;
    struct rsys_work *work = slot != NULL && slot->seq == request->seq_of ? slot->work : NULL;
    if (work == NULL) {
        return;
    }
    work->cancelled = true;
    for (size_t i = 0; i < job->parked.count; i++) {
        if (job->parked.items[i] == work) {
            vec_remove_at(&job->parked, i);
            finish_cancelled(work);
            return;
        }
    }
}

/* ---- the end of a work ----------------------------------------------------------------------- */

/* Replaces the charge of the request by what it really used. */
static void settle_charges(struct rsys_work *work)
{
    struct rsys_job *job = work->job;
    const struct rsys_reply *reply = &work->call.reply;
    uint16_t op = work->call.request.op;
    uint64_t bytes = 0;
    if (reply->status == 0) {
        bool puts = op == RSYS_WRITE || op == RSYS_COPY;
        bytes = puts ? reply->value : work->bytes_charged;
        job->stats.bytes_written += puts ? bytes : 0;
        bytes = work->call.taken > bytes ? work->call.taken : bytes;
        job->stats.bytes_read += op == RSYS_READ || op == RSYS_OPEN ? reply->data_length : 0;
    }
    job->bytes_charged += bytes;
    job->bytes_charged -= work->bytes_charged;
    bool made = reply->status == 0 && (op != RSYS_OPEN || reply->value == 1);
    if (!made) {
        job->files_charged -= work->files_charged;
    }
    if (work->call.locker != NULL && reply->status == 0) {
        job->ranges += work->call.ranges - work->call.locker->ranges;
        work->call.locker->ranges = work->call.ranges;
    }
    bool removed = op == RSYS_UNLINK || op == RSYS_RMDIR || work->call.replaced;
    if (reply->status == 0 && removed && job->files_charged > 0) {
        job->files_charged--;
    }
}

static void finish_work(struct rsys_work *work)
{
    struct rsys_session *session = work->session;
    struct rsys_job *job = work->job;
    struct rsys_call *call = &work->call;
    uint16_t op = call->request.op;
    if (op == RSYS_OPEN && call->reply.status == 0) {
        struct rsys_handle opened = call->opened;
        call->opened.fd = -1;
        work->opens = false;
        call->reply.handle = rsys_session_add(session, &opened)->number;
    }
    if (op == RSYS_OPEN && work->no_create && call->reply.status == -ENOENT) {
        call->reply.status = -EDQUOT;
    }
    settle_charges(work);
    if (op == RSYS_FLUSH && call->locker != NULL) {
        rsys_session_forget_locker(session, call->locker);
    }
    bool unlocked =
        op == RSYS_FLUSH || (op == RSYS_LOCK && call->request.lock.type == RSYS_UNLOCKED);
    answer_request(session, work->slot, &call->reply, call);
    rsys_work_free(work);
    if (unlocked) {
        rsys_job_retry_parked(job);
    }
    flow_all(job);
}

static void finish_cancelled(struct rsys_work *work)
{
    work->call.reply.status = -EINTR;
    finish_work(work);
}

void rsys_work_finish(struct rsys_work *work)
{
    if (work->session == NULL) {
        struct rsys_job *job = work->job;
        rsys_work_free(work);
        flow_all(job);
    } else if (!park_work(work)) {
        if (work->cancelled && work->call.reply.status == -EAGAIN) {
            work->call.reply.status = -EINTR;
        }
        finish_work(work);
    }
}

/* ---- the beginning --------------------------------------------------------------------------- */

static bool has_second(uint16_t op)
{
    return op == RSYS_LINK || op == RSYS_RENAME || op == RSYS_COPY;
}

static uint64_t bytes_of(const struct rsys_request *request)
{
    switch (request->op) {
    case RSYS_WRITE:
        return request->data_length;
    case RSYS_FALLOCATE:
        return (request->how & PUNCH_HOLE) != 0 ? 0 : request->length;
    case RSYS_COPY:
        return request->length < COPY_CHARGED ? request->length : COPY_CHARGED;
    default:
        return 0;
    }
}

static bool makes_file(const struct rsys_request *request)
{
    switch (request->op) {
    case RSYS_MKDIR:
    case RSYS_MKNOD:
    case RSYS_SYMLINK:
    case RSYS_LINK:
        return true;
    case RSYS_OPEN:
        /* One without a name lives as long as its handle; LINK makes the file of it. */
        return (request->how & RSYS_OPEN_CREATE) != 0;
    default:
        return false;
    }
}

/* Charges the request to the job's quotas.  Returns 0, or -EDQUOT and the like when a quota would
 * be exceeded. */
static int charge_work(struct rsys_work *work)
{
    struct rsys_job *job = work->job;
    struct rsys_request *request = &work->call.request;
    const struct rsys_limits *limits = &job->offer.limits;
    uint64_t bytes = bytes_of(request);
    bool file = makes_file(request);
    if (limits->bytes_max > 0 &&
        (bytes > limits->bytes_max || job->bytes_charged > limits->bytes_max - bytes)) {
        return -EDQUOT;
    }
    if (file && limits->files_max > 0 && job->files_charged >= limits->files_max) {
        if (request->op != RSYS_OPEN) {
            return -EDQUOT;
        }
        /* What is there may be opened. */
        request->how &= ~(RSYS_OPEN_CREATE | RSYS_OPEN_EXCL);
        work->no_create = true;
        file = false;
    }
    if (request->op == RSYS_OPEN) {
        if (!rsys_job_may_open(job)) {
            return -ENFILE;
        }
        work->opens = true;
        job->handles++;
        job->server->handles++;
    }
    work->bytes_charged = bytes;
    work->files_charged = file ? 1 : 0;
    job->bytes_charged += bytes;
    job->files_charged += work->files_charged;
    return 0;
}

/* Finds the owner of the locks that the request is about. -ENOLCK: the job has too many locks. */
static int find_locker(struct rsys_session *session, struct rsys_call *call)
{
    const struct rsys_request *request = &call->request;
    bool range = request->op == RSYS_LOCK && (request->how & RSYS_LOCK_FLOCK) == 0;
    if (!range && request->op != RSYS_FLUSH) {
        return 0;
    }
    const struct rsys_job *job = session->job;
    if (range && (request->how & RSYS_LOCK_GET) == 0 && request->lock.type != RSYS_UNLOCKED &&
        job->ranges >= job->offer.limits.ranges) {
        return -ENOLCK;
    }
    call->locker = rsys_session_locker(session, call->at, request->owner, range);
    return call->locker != NULL || !range ? 0 : -ENOLCK;
}

static struct rsys_work *work_create(struct rsys_session *session, const void *frame, size_t length)
{
    struct rsys_job *job = session->job;
    struct rsys_work *work = mem_zalloc(sizeof(*work));
    work->frame = mem_try_alloc(length);
    if (work->frame == NULL) {
        mem_free(work);
        return NULL;
    }
    memcpy(work->frame, frame, length);
    CHECK(rsys_decode_request(work->frame, length, &work->call.request) == 0);
    const struct rsys_request *request = &work->call.request;
    work->job = job;
    work->session = session;
    work->slot = request->slot;
    work->held = sizeof(*work) + length;
    if (request->op == RSYS_READ || request->op == RSYS_READDIR) {
        work->held += request->length < RSYS_DATA_MAX ? (size_t)request->length : RSYS_DATA_MAX;
    } else if (request->op == RSYS_OPEN) {
        work->held += request->length < RSYS_OPEN_DATA ? (size_t)request->length : RSYS_OPEN_DATA;
    }
    job->queued_bytes += work->held;
    if (job->queued_bytes > job->stats.queued_peak) {
        job->stats.queued_peak = job->queued_bytes;
    }
    return work;
}

static void fill_call(struct rsys_session *session, struct rsys_call *call, struct rsys_handle *at,
                      struct rsys_handle *to)
{
    call->view = session->job->view;
    call->at = at;
    call->to = to;
    call->data_max = RSYS_DATA_MAX;
    call->counted =
        session->job->offer.limits.bytes_max > 0 || session->job->offer.limits.files_max > 0;
    call->opened.fd = -1;
    call->reply.op = call->request.op;
}

/* True for a write while lanes are busy.  A write waits for others that change the same file, and a
 * lane may do that for seconds (allocating or cutting off gigabytes); its request may name the file
 * in any way. */
static bool may_wait(const struct rsys_work *work)
{
    return work->call.request.op == RSYS_WRITE && work->job->server->busy > 0;
}

/* Makes a work with all that the request needs, and queues it for a lane, unless it can be done at
 * once. */
static int start_work(struct rsys_session *session, const void *frame, size_t length,
                      struct rsys_handle *at, struct rsys_handle *to)
{
    struct rsys_job *job = session->job;
    struct rsys_work *work = work_create(session, frame, length);
    if (work == NULL) {
        return -ENOMEM;
    }
    fill_call(session, &work->call, at, to);
    at->refs++;
    if (to != NULL) {
        to->refs++;
    }
    int code = charge_work(work);
    if (code == 0) {
        code = find_locker(session, &work->call);
    }
    if (code != 0) {
        rsys_work_free(work);
        return code;
    }
    if (work->call.request.op == RSYS_LOCK) {
        uint32_t wait = work->call.request.wait_ms;
        work->wait_until_ms = loop_now_ms(job->server->loop) +
                              (wait < RSYS_LOCK_WAIT_MS_MAX ? wait : RSYS_LOCK_WAIT_MS_MAX);
    }
    session->slots[work->slot].work = work;
    if (!may_wait(work) && rsys_call_at_once(&work->call)) {
        job->stats.at_once++;
        finish_work(work);
        return 0;
    }
    rsys_job_run(job, work);
    if (session->link != NULL) {
        rsys_link_flow(session->link);
    }
    return 0;
}

/* Does a read or stat at once, if that cannot block.  True: it was done and answered. */
static bool do_at_once(struct rsys_session *session, const struct rsys_request *request,
                       struct rsys_handle *at, size_t *bytes)
{
    struct rsys_job *job = session->job;
    if (request->op != RSYS_READ && request->op != RSYS_STAT) {
        return false;
    }
    struct rsys_call call = {.request = *request};
    fill_call(session, &call, at, NULL);
    call.scratch = rsys_server_scratch(job->server);
    bool done = rsys_call_at_once(&call);
    if (done) {
        job->stats.at_once++;
        job->stats.bytes_read += call.reply.data_length;
        *bytes += call.reply.data_length;
        answer_request(session, request->slot, &call.reply, &call);
    }
    rsys_call_fini(&call);
    return done;
}

static void begin_request(struct rsys_session *session, const struct rsys_request *request,
                          const void *frame, size_t length, size_t *bytes)
{
    switch (request->op) {
    case RSYS_PING:
        answer_status(session, request, 0);
        return;
    case RSYS_BYE:
        answer_status(session, request, 0);
        rsys_session_end(session, "the client ended the session");
        return;
    case RSYS_CANCEL:
        cancel_lock(session, request);
        answer_status(session, request, 0);
        return;
    case RSYS_CLOSE:
        answer_status(session, request, rsys_session_close(session, request->at.handle));
        rsys_job_retry_parked(session->job);
        return;
    default:
        break;
    }
    struct rsys_handle *at = rsys_session_handle(session, request->at.handle);
    struct rsys_handle *to =
        has_second(request->op) ? rsys_session_handle(session, request->to.handle) : NULL;
    int code = at == NULL || (has_second(request->op) && to == NULL) ? -EBADF : 0;
    if (code == 0 && do_at_once(session, request, at, bytes)) {
        return;
    }
    if (code == 0) {
        code = start_work(session, frame, length, at, to);
    }
    if (code != 0) {
        answer_status(session, request, code);
    }
}

/* Handles a request that arrived before: sends the saved reply again, or runs the request again. */
static void repeat_request(struct rsys_session *session, const struct rsys_request *request,
                           int bad, const void *frame, size_t length, size_t *bytes)
{
    struct rsys_slot *slot = &session->slots[request->slot];
    session->job->stats.repeated++;
    if (slot->state == RSYS_SLOT_BUSY) {
        return; /* its answer will come, to this connection */
    }
    if (slot->saved != NULL) {
        if (session->link != NULL) {
            rsys_link_send(session->link, slot->saved, slot->saved_length);
        }
        return;
    }
    slot->state = RSYS_SLOT_BUSY;
    if (bad != 0) {
        answer_status(session, request, bad);
    } else {
        begin_request(session, request, frame, length, bytes);
    }
}

int rsys_session_take(struct rsys_session *session, const void *frame, size_t length, size_t *bytes)
{
    struct rsys_request request;
    int bad = rsys_decode_request(frame, length, &request);
    if (request.op == RSYS_HELLO || request.slot >= session->slot_count) {
        return -EPROTO;
    }
    struct rsys_job *job = session->job;
    struct rsys_slot *slot = &session->slots[request.slot];
    job->stats.requests++;
    job->stats.malformed += bad != 0 ? 1 : 0;
    if (slot->state != RSYS_SLOT_NEW && request.seq == slot->seq) {
        repeat_request(session, &request, bad, frame, length, bytes);
        return 0;
    }
    if (slot->state == RSYS_SLOT_BUSY || request.seq != slot->seq + 1) {
        return -EPROTO;
    }
    mem_free(slot->saved);
    *slot = (struct rsys_slot){.state = RSYS_SLOT_BUSY, .seq = request.seq};
    if (bad != 0) {
        answer_status(session, &request, bad);
    } else {
        begin_request(session, &request, frame, length, bytes);
    }
    return 0;
}
