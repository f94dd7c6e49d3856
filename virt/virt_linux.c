/* virt/virt_linux.c - threads, the connection, input and output lines: see virt.h.
 *
 * Locks: `opening` is held while a connection is made (which may take long, and all who need it
 * wait); `lock` protects everything else and is never held during a libvirt call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "virt/line_plan.h"
#include "virt/virt.h"

/* A daemon that has not answered for so long counts as lost. */
#define KEEPALIVE_S     5
#define KEEPALIVE_COUNT 3
#define QUEUE_MAX       100000 /* orders that wait for their turn */

struct virt {
    const char *uri;
    pthread_mutex_t opening, lock, writing;
    virConnectPtr conn; /* NULL: none */
    bool lost;
    int events; /* libvirt's number for our callback; -1: none */
    struct virt_names *names;
    struct virt_watches *watches;
    struct vec waits;          /* struct virt_wait */
    struct vec queue, at_work; /* struct job */
    unsigned running;          /* threads for orders */
    char input[VIRT_LINE_MAX];
    size_t input_length;
    bool skipping; /* the rest of a line that was too long */
};

struct job { /* an order */
    struct virt_line line;
    atomic_bool cancelled;
};

struct virt_wait {
    struct virt *virt;
    bool any; /* waits for the loss of the connection only */
    unsigned char uuid[VIR_UUID_BUFLEN];
    bool news;
    pthread_cond_t cond;
};

static void lock_mutex(pthread_mutex_t *mutex)
{
    CHECK(pthread_mutex_lock(mutex) == 0);
}

static void unlock_mutex(pthread_mutex_t *mutex)
{
    CHECK(pthread_mutex_unlock(mutex) == 0);
}

uint64_t virt_now_ms(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct virt_names *virt_names(struct virt *virt)
{
    return virt->names;
}

/* ---- waiting */

struct virt_wait *virt_wait_begin(struct virt *virt, const unsigned char *uuid)
{
    struct virt_wait *wait = mem_zalloc(sizeof *wait);
    pthread_condattr_t attr;
    wait->virt = virt;
    wait->any = uuid == NULL;
    if (uuid != NULL) {
        memcpy(wait->uuid, uuid, sizeof wait->uuid);
    }
    CHECK(pthread_condattr_init(&attr) == 0);
    CHECK(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&wait->cond, &attr) == 0);
    CHECK(pthread_condattr_destroy(&attr) == 0);
    lock_mutex(&virt->lock);
    vec_push(&virt->waits, wait);
    unlock_mutex(&virt->lock);
    return wait;
}

void virt_wait(struct virt_wait *wait, uint64_t until_ms)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                                   .tv_nsec = (long)(until_ms % 1000) * 1000000};
    lock_mutex(&wait->virt->lock);
    int rc = 0;
    while (!wait->news && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&wait->cond, &wait->virt->lock, &until);
    }
    wait->news = false;
    unlock_mutex(&wait->virt->lock);
}

void virt_wait_end(struct virt_wait *wait)
{
    struct virt *virt = wait->virt;
    lock_mutex(&virt->lock);
    for (size_t i = 0; i < virt->waits.count; i++) {
        if (virt->waits.items[i] == wait) {
            vec_remove_at(&virt->waits, i);
            break;
        }
    }
    unlock_mutex(&virt->lock);
    CHECK(pthread_cond_destroy(&wait->cond) == 0);
    mem_free(wait);
}

/* Wakes up the orders that wait for events of this domain; uuid NULL: all orders. */
static void tell_waits(struct virt *virt, const unsigned char *uuid)
{
    lock_mutex(&virt->lock);
    for (size_t i = 0; i < virt->waits.count; i++) {
        struct virt_wait *wait = virt->waits.items[i];
        if (uuid == NULL || (!wait->any && memcmp(wait->uuid, uuid, VIR_UUID_BUFLEN) == 0)) {
            wait->news = true;
            CHECK(pthread_cond_signal(&wait->cond) == 0);
        }
    }
    unlock_mutex(&virt->lock);
}

/* ---- the connection */

static int domain_event(virConnectPtr conn, virDomainPtr domain, int event, int detail, void *arg)
{
    struct virt *virt = arg;
    unsigned char uuid[VIR_UUID_BUFLEN];
    (void)conn;
    (void)detail;
    bool renamed = event == VIR_DOMAIN_EVENT_DEFINED || event == VIR_DOMAIN_EVENT_UNDEFINED;
    if (renamed) {
        virt_names_forget(virt->names);
    }
    if (virDomainGetUUID(domain, uuid) == 0) {
        tell_waits(virt, uuid);
        virt_watches_event(virt->watches, uuid, renamed);
    }
    return 0;
}

static void connection_closed(virConnectPtr conn, int reason, void *arg)
{
    struct virt *virt = arg;
    (void)reason;
    lock_mutex(&virt->lock);
    virt->lost = virt->lost || conn == virt->conn;
    unlock_mutex(&virt->lock);
    tell_waits(virt, NULL);
    virt_watches_lost(virt->watches);
}

bool virt_lost(struct virt *virt, virConnectPtr conn)
{
    bool alive = virConnectIsAlive(conn) == 1;
    lock_mutex(&virt->lock);
    bool lost = virt->lost || virt->conn != conn || !alive;
    virt->lost = virt->lost || (virt->conn == conn && !alive);
    unlock_mutex(&virt->lock);
    return lost;
}

static void give_up(virConnectPtr conn, int events)
{
    if (events >= 0) {
        (void)virConnectDomainEventDeregisterAny(conn, events); /* it is closed: fine */
    }
    (void)virConnectUnregisterCloseCallback(conn, connection_closed);
    (void)virConnectClose(conn);
}

static int open_connection(struct virt *virt, struct err *err)
{
    virConnectPtr conn = virConnectOpen(virt->uri);
    if (conn == NULL) {
        return err_set(err, -ENOTCONN, "%s", virt_error_text());
    }
    (void)virConnectSetKeepAlive(conn, KEEPALIVE_S, KEEPALIVE_COUNT); /* where there is a daemon */
    (void)virConnectRegisterCloseCallback(conn, connection_closed, virt, NULL);
    int events =
        virConnectDomainEventRegisterAny(conn, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
                                         VIR_DOMAIN_EVENT_CALLBACK(domain_event), virt, NULL);
    if (events < 0) {
        int rc = err_set(err, -ENOTCONN, "cannot receive domain events: %s", virt_error_text());
        give_up(conn, -1);
        return rc;
    }
    virt_names_forget(virt->names);
    lock_mutex(&virt->lock);
    virt->conn = conn;
    virt->events = events;
    virt->lost = false;
    unlock_mutex(&virt->lock);
    tell_waits(virt, NULL); /* who waits to try again */
    return 0;
}

int virt_connect(struct virt *virt, virConnectPtr *ret, struct err *err)
{
    int rc = 0;
    lock_mutex(&virt->opening);
    lock_mutex(&virt->lock);
    virConnectPtr old = virt->lost ? virt->conn : NULL;
    int events = virt->events;
    virt->conn = virt->lost ? NULL : virt->conn;
    virt->lost = false;
    bool have = virt->conn != NULL;
    unlock_mutex(&virt->lock);
    if (old != NULL) {
        give_up(old, events);
    }
    if (!have) {
        rc = open_connection(virt, err);
    }
    if (rc == 0 && virConnectRef(virt->conn) != 0) { /* only changed under `opening` */
        rc = err_set(err, -ENOTCONN, "%s", virt_error_text());
    }
    if (rc == 0) {
        *ret = virt->conn;
    }
    unlock_mutex(&virt->opening);
    return rc;
}

/* ---- lines */

void virt_say(struct virt *virt, const char *text)
{
    size_t length = strlen(text), at = 0;
    lock_mutex(&virt->writing);
    while (at < length) {
        ssize_t wrote = write(STDOUT_FILENO, text + at, length - at);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            _exit(1); /* nobody reads any more */
        }
        at += (size_t)wrote;
    }
    unlock_mutex(&virt->writing);
}

static void answer_order(struct virt *virt, const struct virt_line *line, struct virt_answer *how)
{
    char text[VIRT_TEXT_MAX + 80];
    for (char *c = how->text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    if (line->verb == VIRT_STATUS) {
        (void)snprintf(text, sizeof text, "%llu %s %s\n", (unsigned long long)line->id,
                       how->status == 0 ? how->state : "unknown", how->text);
    } else if (how->status == 0) {
        (void)snprintf(text, sizeof text, "%llu ok %s\n", (unsigned long long)line->id, how->text);
    } else {
        (void)snprintf(text, sizeof text, "%llu error %d %s\n", (unsigned long long)line->id,
                       -how->status, how->text);
    }
    virt_say(virt, text);
}

/* A thread: carries out one order after the other until none is left. */
static void *serve_orders(void *arg)
{
    struct virt *virt = arg;
    lock_mutex(&virt->lock);
    while (virt->queue.count > 0) {
        struct job *job = virt->queue.items[0];
        struct virt_answer how;
        vec_remove_at(&virt->queue, 0);
        vec_push(&virt->at_work, job);
        unlock_mutex(&virt->lock);
        virt_order(virt, &job->line, &job->cancelled, &how);
        answer_order(virt, &job->line, &how);
        lock_mutex(&virt->lock);
        for (size_t i = 0; i < virt->at_work.count; i++) {
            if (virt->at_work.items[i] == job) {
                vec_remove_at(&virt->at_work, i);
                break;
            }
        }
        mem_free(job);
    }
    virt->running--;
    unlock_mutex(&virt->lock);
    return NULL;
}

static void begin_order(struct virt *virt, const struct virt_line *line)
{
    pthread_t thread;
    lock_mutex(&virt->lock);
    bool full = virt->queue.count >= QUEUE_MAX;
    bool more = !full && virt->running < VIRT_ORDERS_MAX;
    if (!full) {
        struct job *job = mem_zalloc(sizeof *job);
        job->line = *line;
        vec_push(&virt->queue, job);
    }
    virt->running += more ? 1 : 0;
    unlock_mutex(&virt->lock);
    if (more && pthread_create(&thread, NULL, serve_orders, virt) == 0) {
        (void)pthread_detach(thread);
    } else if (more) { /* a thread that runs takes it; without any the caller's deadline ends it */
        lock_mutex(&virt->lock);
        virt->running--;
        unlock_mutex(&virt->lock);
    } else if (full) {
        struct virt_answer how = {.status = -EBUSY,
                                  .state = "unknown",
                                  .text = "too many orders are waiting"};
        answer_order(virt, line, &how);
    }
}

static void cancel_in(const struct vec *jobs, uint64_t id)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = jobs->items[i];
        if (job->line.id == id) {
            atomic_store(&job->cancelled, true);
        }
    }
}

static void cancel_order(struct virt *virt, uint64_t id)
{
    lock_mutex(&virt->lock);
    cancel_in(&virt->queue, id);
    cancel_in(&virt->at_work, id);
    unlock_mutex(&virt->lock);
    tell_waits(virt, NULL); /* they look again */
}

static void take_line(struct virt *virt, const char *text)
{
    struct virt_line line;
    struct err err;
    if (virt_line_parse(text, &line, &err) != 0) {
        char reply[ERR_TEXT_MAX + 40];
        (void)snprintf(reply, sizeof reply, "0 error %d %s\n", EINVAL, err.text);
        virt_say(virt, reply);
        return;
    }
    switch (line.verb) {
    case VIRT_WAKE:
    case VIRT_SLEEP:
    case VIRT_STATUS:
        begin_order(virt, &line);
        break;
    case VIRT_CANCEL:
        cancel_order(virt, line.id);
        break;
    case VIRT_WATCH:
        virt_watches_add(virt->watches, line.id, line.domain);
        break;
    case VIRT_UNWATCH:
        virt_watches_remove(virt->watches, line.id);
        break;
    }
}

static void input_readable(int watch, int fd, int events, void *arg)
{
    struct virt *virt = arg;
    char data[4096];
    (void)watch;
    (void)events;
    ssize_t got = read(fd, data, sizeof data);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (got <= 0) {
        _exit(0); /* the rooster has gone; what libvirtd is at, it brings to its end */
    }
    for (ssize_t i = 0; i < got; i++) {
        if (data[i] == '\n') {
            virt->input[virt->input_length] = '\0';
            if (!virt->skipping) {
                take_line(virt, virt->input);
            }
            virt->input_length = 0;
            virt->skipping = false;
        } else if (virt->input_length == sizeof virt->input - 1) {
            virt->skipping = true;
        } else {
            virt->input[virt->input_length++] = data[i];
        }
    }
}

static void say_nothing(void *arg, virErrorPtr error)
{
    (void)arg;
    (void)error; /* the answer to the order says it */
}

int virt_run(const char *uri)
{
    struct virt *virt = mem_zalloc(sizeof *virt);
    *virt = (struct virt){.uri = uri, .events = -1, .names = virt_names_create()};
    CHECK(pthread_mutex_init(&virt->opening, NULL) == 0);
    CHECK(pthread_mutex_init(&virt->lock, NULL) == 0);
    CHECK(pthread_mutex_init(&virt->writing, NULL) == 0);
    virt->watches = virt_watches_create(virt);
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    virSetErrorFunc(NULL, say_nothing);
    if (virInitialize() != 0 || virEventRegisterDefaultImpl() != 0 ||
        virEventAddHandle(STDIN_FILENO, VIR_EVENT_HANDLE_READABLE | VIR_EVENT_HANDLE_HANGUP,
                          input_readable, virt, NULL) < 0) {
        (void)fprintf(stderr, "roost-libvirt: %s\n", virt_error_text());
        return 1;
    }
    for (;;) {
        if (virEventRunDefaultImpl() != 0) {
            (void)fprintf(stderr, "roost-libvirt: %s\n", virt_error_text());
            return 1;
        }
    }
}
