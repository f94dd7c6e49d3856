/* base/stream/wait_line_event.c - see wait_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/wait_line.h"

#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/stream/stream_event.h"

#define SPARE_PART 8  /* of the descriptors, for other things */
#define FEW        64 /* while no more wait, nobody is asked whether its peer has said something */
#define SILENT_MS  1000 /* from then on it may be closed, to make room in a full line */
#define HEAR_TURN  64   /* silent connections dealt with by one call of wait_line_hear() */

struct waiting {
    TAILQ_ENTRY(waiting) entry;
    int fd;
    uint64_t since_ms, told_ms; /* when it came, and when it was last told to wait */
};

TAILQ_HEAD(waiting_queue, waiting);

struct wait_line {
    struct waiting_queue queue;  /* the longest waiting first */
    struct waiting_queue silent; /* those whose turn it was, and that had sent nothing */
    int silent_epoll;            /* epoll descriptor with all of `silent` */
    size_t count, max;
    int fd_max; /* the line is full when a new descriptor is not below this */
    int fd_last;
    unsigned turns;
    uint64_t dropped;
};

struct wait_line *wait_line_create(size_t max)
{
    struct rlimit files;
    int silent_epoll = epoll_create1(EPOLL_CLOEXEC);
    if (silent_epoll < 0) {
        return NULL;
    }
    struct wait_line *line = mem_zalloc(sizeof(*line));
    line->silent_epoll = silent_epoll;
    TAILQ_INIT(&line->queue);
    TAILQ_INIT(&line->silent);
    line->max = max;
    line->fd_max = INT_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < INT_MAX) {
        line->fd_max = (int)(files.rlim_cur - files.rlim_cur / SPARE_PART);
    }
    return line;
}

/* Takes the connection out of its queue and out of the line; returns its descriptor. */
static int leave_line(struct wait_line *line, struct waiting_queue *queue, struct waiting *waiting)
{
    int fd = waiting->fd;
    TAILQ_REMOVE(queue, waiting, entry);
    line->count--;
    line->fd_last = 0; /* a number below it is free soon */
    mem_free(waiting);
    return fd;
}

static void drop_waiting(struct wait_line *line, struct waiting_queue *queue,
                         struct waiting *waiting)
{
    close(leave_line(line, queue, waiting));
    line->dropped++;
}

static void close_queue(struct wait_line *line, struct waiting_queue *queue)
{
    while (!TAILQ_EMPTY(queue)) {
        drop_waiting(line, queue, TAILQ_FIRST(queue));
    }
}

void wait_line_destroy(struct wait_line *line)
{
    if (line != NULL) {
        close_queue(line, &line->queue);
        close_queue(line, &line->silent);
        close(line->silent_epoll);
        mem_free(line);
    }
}

size_t wait_line_count(const struct wait_line *line)
{
    return line->count;
}

uint64_t wait_line_dropped(const struct wait_line *line)
{
    return line->dropped;
}

bool wait_line_is_full(const struct wait_line *line)
{
    return line->count > 0 && (line->count >= line->max || line->fd_last >= line->fd_max);
}

bool wait_line_make_room(struct wait_line *line, uint64_t now_ms)
{
    struct waiting *oldest = TAILQ_FIRST(&line->silent);
    if (wait_line_is_full(line) && oldest != NULL && now_ms - oldest->since_ms >= SILENT_MS) {
        drop_waiting(line, &line->silent, oldest);
    }
    return !wait_line_is_full(line);
}

void wait_line_add(struct wait_line *line, int fd, uint64_t now_ms)
{
    CHECK(!wait_line_is_full(line));
    struct waiting *waiting = mem_alloc(sizeof(*waiting));
    *waiting = (struct waiting){.fd = fd, .since_ms = now_ms, .told_ms = now_ms};
    TAILQ_INSERT_TAIL(&line->queue, waiting, entry);
    line->count++;
    line->fd_last = fd; /* the kernel gives the lowest free number */
}

enum said { SAID_NOTHING, SAID_SOMETHING, SAID_BYE };

static enum said what_peer_said(const struct waiting *waiting)
{
    struct pollfd look = {.fd = waiting->fd, .events = POLLIN | POLLRDHUP};
    if (poll(&look, 1, 0) != 1) {
        return SAID_NOTHING;
    }
    return (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 ? SAID_BYE : SAID_SOMETHING;
}

static void become_silent(struct wait_line *line, struct waiting *waiting)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = waiting};
    if (epoll_ctl(line->silent_epoll, EPOLL_CTL_ADD, waiting->fd, &event) != 0) {
        drop_waiting(line, &line->queue, waiting); /* no memory: its peer dials again */
        return;
    }
    TAILQ_REMOVE(&line->queue, waiting, entry);
    TAILQ_INSERT_TAIL(&line->silent, waiting, entry);
}

int wait_line_next(struct wait_line *line)
{
    bool newest = ++line->turns % WAIT_LINE_NEWEST_PART == 0;
    while (!TAILQ_EMPTY(&line->queue)) {
        struct waiting *waiting =
            newest ? TAILQ_LAST(&line->queue, waiting_queue) : TAILQ_FIRST(&line->queue);
        enum said said = line->count <= FEW ? SAID_SOMETHING : what_peer_said(waiting);
        if (said == SAID_SOMETHING) {
            return leave_line(line, &line->queue, waiting);
        }
        if (said == SAID_BYE) {
            drop_waiting(line, &line->queue, waiting);
        } else {
            become_silent(line, waiting);
        }
    }
    return -1;
}

int wait_line_silent_fd(const struct wait_line *line)
{
    return line->silent_epoll;
}

/* The connection's turn comes next: its peer has sent something, or only few wait. */
static void speak_again(struct wait_line *line, struct waiting *waiting)
{
    (void)epoll_ctl(line->silent_epoll, EPOLL_CTL_DEL, waiting->fd, NULL);
    TAILQ_REMOVE(&line->silent, waiting, entry);
    TAILQ_INSERT_HEAD(&line->queue, waiting, entry);
}

void wait_line_hear(struct wait_line *line)
{
    struct epoll_event events[HEAR_TURN];
    int count = epoll_wait(line->silent_epoll, events, HEAR_TURN, 0);
    for (int i = 0; i < count; i++) {
        struct waiting *waiting = events[i].data.ptr;
        if ((events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
            drop_waiting(line, &line->silent, waiting);
        } else {
            speak_again(line, waiting);
        }
    }
}

/* Sends the word to the peers of the queue that have waited for it. */
static void tell_queue(const struct waiting_queue *queue, uint64_t now_ms)
{
    struct waiting *waiting;
    TAILQ_FOREACH(waiting, queue, entry)
    {
        if (now_ms - waiting->told_ms >= WAIT_LINE_WORD_MS) {
            waiting->told_ms = now_ms;
            /* Who does not take it has gone, or reads nothing; then it dials again. */
            (void)send(waiting->fd, STREAM_WAIT_WORD, strlen(STREAM_WAIT_WORD),
                       MSG_DONTWAIT | MSG_NOSIGNAL);
        }
    }
}

void wait_line_tell(struct wait_line *line, uint64_t now_ms)
{
    struct waiting *waiting, *next;
    for (waiting = TAILQ_FIRST(&line->silent); waiting != NULL; waiting = next) {
        next = TAILQ_NEXT(waiting, entry);
        if (now_ms - waiting->since_ms >= STREAM_HANDSHAKE_MS) {
            drop_waiting(line, &line->silent, waiting);
        } else if (line->count <= FEW) {
            speak_again(line, waiting);
        }
    }
    tell_queue(&line->queue, now_ms);
    tell_queue(&line->silent, now_ms);
}
