/* rsyscall/server.c - jobs, their lanes (worker threads), and deferred closing of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/server.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "rsyscall/server_state.h"
#include "rsyscall/view.h"

#define HANDLES_TOTAL 16384
#define LANES_TOTAL   64
#define KEPT_BYTES    ((size_t)4 << 20)

/* A handle or locker to close.  A lane closes it, because closing may wait for a file server. */
struct rsys_closing {
    struct rsys_handle *handle;
    struct rsys_locker *locker;
};

struct rsys_opening {
    struct rsys_job *job;
    struct rsys_view *view;
    struct err err;
};

/* ---- closing --------------------------------------------------------------------------------- */

static void close_one(struct rsys_closing *item)
{
    if (item->handle != NULL) {
        struct rsys_call call = {.opened = *item->handle};
        rsys_call_fini(&call);
        mem_free(item->handle);
    }
    if (item->locker != NULL) {
        rsys_locker_fds_destroy(item->locker->fds);
        mem_free(item->locker);
    }
    mem_free(item);
}

static int close_body(void *arg)
{
    struct rsys_server *server = arg;
    server->closer_began = true;
    for (size_t i = 0; i < server->closing.count; i++) {
        close_one(server->closing.items[i]);
    }
    return 0;
}

static void close_start(struct rsys_server *server);

static void close_done(void *arg, int result)
{
    struct rsys_server *server = arg;
    (void)result;
    server->handles -= (uint32_t)server->closing.count;
    vec_clear(&server->closing, NULL);
    close_start(server);
}

static void close_start(struct rsys_server *server)
{
    if (server->closing.count > 0 || server->to_close.count == 0) {
        return;
    }
    if (server->closer == NULL) {
        server->closer = loop_lane_create(server->loop);
    }
    struct vec empty = server->closing;
    server->closing = server->to_close;
    server->to_close = empty;
    server->closer_began = false;
    loop_lane_run(server->closer, close_body, close_done, server);
}

static void drop_later(struct rsys_server *server, struct rsys_handle *handle,
                       struct rsys_locker *locker)
{
    struct rsys_closing *item = mem_zalloc(sizeof(*item));
    item->handle = handle;
    item->locker = locker;
    vec_push(&server->to_close, item);
    close_start(server);
}

unsigned char *rsys_server_scratch(struct rsys_server *server)
{
    if (server->scratch == NULL) {
        server->scratch = mem_alloc(RSYS_SCRATCH_SIZE);
        /* The allocator keeps at hand, from now on, twice what was given back at once: what waits
         * to be sent is otherwise returned to the kernel, and cleared by it again, for each reply.
         */
        mem_free(mem_alloc(KEPT_BYTES));
    }
    return server->scratch;
}

void rsys_server_drop_handle(struct rsys_server *server, struct rsys_handle *handle)
{
    drop_later(server, handle, NULL);
}

void rsys_server_drop_locker(struct rsys_server *server, struct rsys_locker *locker)
{
    drop_later(server, NULL, locker);
}

/* ---- offers ---------------------------------------------------------------------------------- */

static bool path_is_absolute(const char *path)
{
    size_t length = path != NULL ? strlen(path) : 0;
    return length > 0 && length <= RSYS_PATH_MAX && path[0] == '/';
}

static bool offer_is_good(const struct rsys_offer *offer)
{
    const struct rsys_limits *limits = &offer->limits;
    if (offer->root_count == 0 || offer->root_count > RSYS_ROOTS_MAX ||
        offer->part_count > RSYS_PARTS_MAX || offer->within_count > RSYS_WITHIN_MAX ||
        offer->grant_count > RSYS_GRANTS_MAX ||
        (offer->home != NULL && !path_is_absolute(offer->home)) || limits->slots == 0 ||
        limits->slots > RSYS_SLOTS_MAX || limits->sessions == 0 || limits->handles == 0 ||
        limits->handles >= RSYS_HANDLES_MAX || limits->lanes == 0 ||
        limits->lanes > RSYS_LANES_MAX || limits->ranges == 0 || limits->lease_ms == 0 ||
        limits->queued_max == 0) {
        return false;
    }
    for (size_t i = 0; i < offer->root_count; i++) {
        const char *view = offer->roots[i].view;
        if (!path_is_absolute(offer->roots[i].directory) || !path_is_absolute(view) ||
            !rsys_path_is_good(view + 1, strlen(view) - 1)) {
            return false;
        }
    }
    for (size_t i = 0; i < offer->part_count; i++) {
        if (!path_is_absolute(offer->parts[i].path)) {
            return false;
        }
    }
    for (size_t i = 0; i < offer->grant_count; i++) {
        if (!path_is_absolute(offer->grants[i].path)) {
            return false;
        }
    }
    for (size_t i = 0; i < offer->within_count; i++) {
        if (!path_is_absolute(offer->within[i])) {
            return false;
        }
    }
    return true;
}

static void offer_copy(const struct rsys_offer *from, struct rsys_offer *ret)
{
    struct rsys_offer_root *roots = mem_zalloc(from->root_count * sizeof(*roots));
    struct rsys_offer_part *parts = mem_zalloc((from->part_count + 1) * sizeof(*parts));
    for (size_t i = 0; i < from->root_count; i++) {
        roots[i] = from->roots[i];
        roots[i].view = mem_strdup(from->roots[i].view);
        roots[i].directory = mem_strdup(from->roots[i].directory);
    }
    for (size_t i = 0; i < from->part_count; i++) {
        parts[i] = from->parts[i];
        parts[i].path = mem_strdup(from->parts[i].path);
    }
    const char **within = mem_zalloc((from->within_count + 1) * sizeof(*within));
    for (size_t i = 0; i < from->within_count; i++) {
        within[i] = mem_strdup(from->within[i]);
    }
    struct rsys_offer_grant *grants = mem_zalloc((from->grant_count + 1) * sizeof(*grants));
    for (size_t i = 0; i < from->grant_count; i++) {
        grants[i] = from->grants[i];
        grants[i].path = mem_strdup(from->grants[i].path);
    }
    *ret = *from;
    ret->grants = grants;
    ret->home = from->home != NULL ? mem_strdup(from->home) : NULL;
    ret->within = within;
    ret->roots = roots;
    ret->parts = parts;
}

static void offer_fini(struct rsys_offer *offer)
{
    for (size_t i = 0; i < offer->root_count; i++) {
        mem_free((void *)offer->roots[i].view);
        mem_free((void *)offer->roots[i].directory);
    }
    for (size_t i = 0; i < offer->part_count; i++) {
        mem_free((void *)offer->parts[i].path);
    }
    for (size_t i = 0; i < offer->within_count; i++) {
        mem_free((void *)offer->within[i]);
    }
    for (size_t i = 0; i < offer->grant_count; i++) {
        mem_free((void *)offer->grants[i].path);
    }
    mem_free((void *)offer->grants);
    mem_free((void *)offer->home);
    mem_free((void *)offer->within);
    mem_free((void *)offer->roots);
    mem_free((void *)offer->parts);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* Returns an idle lane, or a new one; NULL: all lanes that the job may have are busy. */
static struct rsys_lane *idle_lane(struct rsys_job *job)
{
    struct rsys_server *server = job->server;
    for (uint32_t i = 0; i < job->lane_count; i++) {
        if (job->lanes[i].work == NULL && job->lanes[i].opening == NULL) {
            return &job->lanes[i];
        }
    }
    if (job->lane_count == job->offer.limits.lanes ||
        (job->lane_count > 0 && server->lanes >= server->lanes_total)) {
        return NULL;
    }
    struct rsys_lane *lane = &job->lanes[job->lane_count++];
    *lane = (struct rsys_lane){.job = job, .lane = loop_lane_create(server->loop)};
    server->lanes++;
    return lane;
}

static void job_free(struct rsys_job *job)
{
    for (uint32_t i = 0; i < job->lane_count; i++) {
        struct rsys_lane *lane = &job->lanes[i];
        loop_lane_destroy(lane->lane);
        if (lane->work != NULL) {
            rsys_work_free(lane->work);
        }
        if (lane->opening != NULL) {
            rsys_view_destroy(lane->opening->view);
            mem_free(lane->opening);
        }
    }
    job->server->lanes -= job->lane_count;
    loop_timer_destroy(job->parked_timer);
    rsys_view_destroy(job->view);
    offer_fini(&job->offer);
    vec_fini(&job->sessions, NULL);
    vec_fini(&job->parked, NULL);
    mem_free(job->ticket);
    mem_free(job);
}

static void retire_job(struct rsys_job *job)
{
    struct vec *retired = &job->server->retired;
    for (size_t i = 0; i < retired->count; i++) {
        if (retired->items[i] == job) {
            vec_remove_at(retired, i);
            break;
        }
    }
    job_free(job);
}

/* Marks a lane as idle.  False: the job was closed, and is gone now. */
static bool lane_done(struct rsys_lane *lane)
{
    struct rsys_job *job = lane->job;
    lane->work = NULL;
    lane->opening = NULL;
    job->busy--;
    job->server->busy--;
    if (job->closed && job->busy == 0) {
        retire_job(job);
        return false;
    }
    return true;
}

static void start_work(struct rsys_job *job);

static int work_body(void *arg)
{
    const struct rsys_lane *lane = arg;
    rsys_call_run(&lane->work->call);
    return 0;
}

static void work_done(void *arg, int result)
{
    struct rsys_lane *lane = arg;
    struct rsys_job *job = lane->job;
    struct rsys_work *work = lane->work;
    (void)result;
    if (job->closed) {
        rsys_work_free(work);
    } else {
        rsys_work_finish(work);
    }
    if (lane_done(lane)) {
        start_work(job);
    }
}

static void start_work(struct rsys_job *job)
{
    struct rsys_work *work;
    while (!job->closed && (work = TAILQ_FIRST(&job->queue)) != NULL) {
        struct rsys_lane *lane = idle_lane(job);
        if (lane == NULL) {
            return;
        }
        TAILQ_REMOVE(&job->queue, work, entry);
        lane->work = work;
        job->busy++;
        job->server->busy++;
        loop_lane_run(lane->lane, work_body, work_done, lane);
    }
}

void rsys_job_run(struct rsys_job *job, struct rsys_work *work)
{
    TAILQ_INSERT_TAIL(&job->queue, work, entry);
    start_work(job);
}

/* ---- opening the view ------------------------------------------------------------------------ */

static int open_body(void *arg)
{
    struct rsys_lane *lane = arg;
    /* The offer does not change while the job is there. */
    return rsys_view_create(&lane->job->offer, &lane->opening->view, &lane->opening->err);
}

static void roots_fill(struct rsys_job *job)
{
    for (uint32_t i = 0; i < rsys_view_root_count(job->view); i++) {
        job->roots[i] = (struct rsys_handle){.refs = 1,
                                             .number = i,
                                             .fd = rsys_view_root_fd(job->view, i),
                                             .how = RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY,
                                             .root = i,
                                             .directory = true};
    }
}

static void open_done(void *arg, int code)
{
    struct rsys_lane *lane = arg;
    struct rsys_job *job = lane->job;
    struct rsys_opening *opening = lane->opening;
    job->opening = false;
    job->problem = code;
    job->problem_err = opening->err;
    if (job->closed) {
        rsys_view_destroy(opening->view);
    } else if (code == 0) {
        job->view = opening->view;
        roots_fill(job);
    } else {
        log_warn(job->server->log, "rsys.roots", "cannot offer a job's directories",
                 LOG_TEXT("error", opening->err.text));
    }
    mem_free(opening);
    if (!lane_done(lane)) {
        return;
    }
    /* An answer may end a link: from behind. */
    struct vec *links = &job->server->links;
    for (size_t i = links->count; i > 0; i--) {
        rsys_link_offered(links->items[i - 1], job, code);
    }
    start_work(job);
}

void rsys_job_prepare(struct rsys_job *job)
{
    struct rsys_lane *lane;
    if (job->opening || job->view != NULL || (lane = idle_lane(job)) == NULL) {
        return;
    }
    job->opening = true;
    job->busy++;
    job->server->busy++;
    lane->opening = mem_zalloc(sizeof(*lane->opening));
    lane->opening->job = job;
    loop_lane_run(lane->lane, open_body, open_done, lane);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct rsys_job *rsys_server_find_job(struct rsys_server *server, const struct rsys_text *ticket)
{
    struct rsys_job *found = NULL;
    for (size_t i = 0; i < server->jobs.count; i++) {
        struct rsys_job *job = server->jobs.items[i];
        if (strlen(job->ticket) == ticket->length && ticket->length > 0 &&
            text_equal_secret(job->ticket, ticket->data, ticket->length)) {
            found = job;
        }
    }
    return found;
}

int rsys_job_open(struct rsys_server *server, const char *ticket, const struct rsys_offer *offer,
                  struct rsys_job **ret)
{
    size_t length = strlen(ticket);
    if (length == 0 || length > RSYS_TICKET_MAX || !offer_is_good(offer)) {
        return -EINVAL;
    }
    struct rsys_text text = {ticket, (uint16_t)length};
    if (rsys_server_find_job(server, &text) != NULL) {
        return -EEXIST;
    }
    struct rsys_job *job = mem_zalloc(sizeof(*job));
    job->server = server;
    job->ticket = mem_strdup(ticket);
    offer_copy(offer, &job->offer);
    TAILQ_INIT(&job->queue);
    vec_push(&server->jobs, job);
    rsys_job_prepare(job);
    *ret = job;
    return 0;
}

int rsys_job_problem(const struct rsys_job *job, struct err *err)
{
    return job->problem != 0 ? err_set(err, job->problem, "%s", job->problem_err.text) : 0;
}

void rsys_job_close(struct rsys_job *job)
{
    if (job == NULL) {
        return;
    }
    struct rsys_server *server = job->server;
    for (size_t i = 0; i < server->jobs.count; i++) {
        if (server->jobs.items[i] == job) {
            vec_remove_at(&server->jobs, i);
            break;
        }
    }
    while (job->sessions.count > 0) {
        rsys_session_end(job->sessions.items[job->sessions.count - 1], "the job has ended");
    }
    for (size_t i = server->links.count; i > 0; i--) {
        rsys_link_offered(server->links.items[i - 1], job, -EACCES);
    }
    struct rsys_work *work;
    while ((work = TAILQ_FIRST(&job->queue)) != NULL) {
        TAILQ_REMOVE(&job->queue, work, entry);
        rsys_work_free(work);
    }
    for (size_t i = 0; i < job->parked.count; i++) {
        rsys_work_free(job->parked.items[i]);
    }
    vec_clear(&job->parked, NULL);
    job->closed = true;
    if (job->busy == 0) {
        job_free(job);
    } else {
        vec_push(&server->retired, job);
    }
}

void rsys_job_get_stats(const struct rsys_job *job, struct rsys_stats *ret)
{
    *ret = job->stats;
    ret->files = job->files_charged;
    ret->sessions = (uint32_t)job->sessions.count;
    ret->connections = 0;
    for (size_t i = 0; i < job->sessions.count; i++) {
        const struct rsys_session *session = job->sessions.items[i];
        ret->connections += session->link != NULL ? 1 : 0;
    }
    ret->handles = job->handles;
    ret->lanes = job->lane_count;
}

/* ---- the server ------------------------------------------------------------------------------ */

struct rsys_server *rsys_server_create(const struct rsys_server_options *options)
{
    struct rsys_server *server = mem_zalloc(sizeof(*server));
    server->loop = options->loop;
    server->log = options->log;
    server->handles_total = options->handles_total;
    if (server->handles_total == 0) {
        /* The other half is our process's own. */
        uint32_t half = rsys_view_descriptors_max() / 2;
        server->handles_total = half < HANDLES_TOTAL ? half : HANDLES_TOTAL;
    }
    server->lanes_total = options->lanes_total > 0 ? options->lanes_total : LANES_TOTAL;
    return server;
}

void rsys_server_destroy(struct rsys_server *server)
{
    if (server == NULL) {
        return;
    }
    while (server->links.count > 0) {
        rsys_link_close(server->links.items[server->links.count - 1], "the server is stopping");
    }
    while (server->jobs.count > 0) {
        rsys_job_close(server->jobs.items[server->jobs.count - 1]);
    }
    while (server->retired.count > 0) {
        retire_job(server->retired.items[server->retired.count - 1]);
    }
    if (server->closer != NULL) {
        loop_lane_destroy(server->closer); /* waits, if it has begun */
    }
    if (server->closing.count > 0 && !server->closer_began) {
        (void)close_body(server);
    }
    for (size_t i = 0; i < server->to_close.count; i++) {
        close_one(server->to_close.items[i]);
    }
    mem_free(server->scratch);
    vec_fini(&server->closing, NULL);
    vec_fini(&server->to_close, NULL);
    vec_fini(&server->jobs, NULL);
    vec_fini(&server->retired, NULL);
    vec_fini(&server->links, NULL);
    mem_free(server);
}
