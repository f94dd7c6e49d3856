/* sim/os_terminal_sim.c - base/os/os_terminal.h for a simulated process: three pipes.  There are no
 * terminals.
 *
 * What one end writes is in a buffer at once; the other end is told some time later, if it asked.
 * A pipe belongs to the simulator and lives until both ends are closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_terminal.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "sim/sim_private.h"

#define PIPE_BYTES ((size_t)64 << 10) /* so much a kernel keeps of a pipe */
#define NEWS_MIN   20                 /* microseconds until the other end is told */
#define NEWS_MAX   400

struct buffer {
    char *data;
    size_t length;
};

struct os_terminal {
    struct sim *sim;
    struct sim_process *owner, *child; /* NULL: this end is closed */
    struct sim_link of_owner;
    bool is_attached, input_ended;
    bool wants[3];
    void (*ready)(void *arg);
    void *arg;
    loop_f heard; /* the child's callback for its input; may be NULL */
    void *heard_arg;
    struct sim_event *owner_event, *child_event;
    struct buffer streams[3];
    unsigned users; /* callbacks that run for it */
};

static void put_bytes(struct buffer *buffer, const void *data, size_t length)
{
    if (length > 0) {
        buffer->data = sim_realloc(buffer->data, buffer->length + length);
        memcpy(buffer->data + buffer->length, data, length);
        buffer->length += length;
    }
}

static size_t take_bytes(struct buffer *buffer, void *data, size_t length)
{
    size_t taken = length < buffer->length ? length : buffer->length;
    if (taken > 0) {
        memcpy(data, buffer->data, taken);
        buffer->length -= taken;
        memmove(buffer->data, buffer->data + taken, buffer->length);
    }
    return taken;
}

static void free_closed(struct os_terminal *pipes)
{
    if (pipes->owner != NULL || pipes->child != NULL || pipes->users > 0) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        sim_free(pipes->streams[i].data);
    }
    sim_free(pipes);
}

/* ---- news -------------------------------------------------------------------------------------*/

static void tell_owner(struct os_terminal *pipes);

static void call_owner(void *arg)
{
    struct os_terminal *pipes = arg;
    pipes->ready(pipes->arg);
}

static void owner_news(void *arg)
{
    struct os_terminal *pipes = arg;
    pipes->owner_event = NULL;
    pipes->users++;
    (void)sim_enter(pipes->owner, call_owner, pipes);
    pipes->users--;
    tell_owner(pipes); /* what it has not read is still there */
    free_closed(pipes);
}

static uint64_t news_us(const struct os_terminal *pipes)
{
    return pipes->sim->now_us + sim_between(pipes->sim, NEWS_MIN, NEWS_MAX);
}

static bool is_over(const struct os_terminal *pipes)
{
    return pipes->is_attached && pipes->child == NULL;
}

static void tell_owner(struct os_terminal *pipes)
{
    bool some = pipes->wants[0] && (is_over(pipes) || pipes->streams[0].length < PIPE_BYTES);
    for (int i = 1; i < 3; i++) {
        some = some || (pipes->wants[i] && (is_over(pipes) || pipes->streams[i].length > 0));
    }
    if (some && pipes->owner != NULL && pipes->owner_event == NULL) {
        pipes->owner_event = sim_at_process(pipes->owner, news_us(pipes), owner_news, pipes);
    }
}

static void call_child(void *arg)
{
    struct os_terminal *pipes = arg;
    pipes->heard(pipes->heard_arg);
}

static void child_news(void *arg)
{
    struct os_terminal *pipes = arg;
    pipes->child_event = NULL;
    pipes->users++;
    (void)sim_enter(pipes->child, call_child, pipes);
    pipes->users--;
    free_closed(pipes);
}

static void tell_child(struct os_terminal *pipes)
{
    if (pipes->child != NULL && pipes->heard != NULL && pipes->child_event == NULL) {
        pipes->child_event = sim_at_process(pipes->child, news_us(pipes), child_news, pipes);
    }
}

/* ---- the end of the starting process ----------------------------------------------------------*/

int os_terminal_open(struct os *os, const struct os_terminal_spec *spec, struct os_terminal **ret,
                     struct err *err)
{
    if (spec->tty) {
        return err_set(err, -ENOTSUP, "no terminals in a simulation");
    }
    struct os_terminal *pipes = sim_alloc(sizeof(*pipes));
    pipes->sim = os->process->sim;
    pipes->owner = os->process;
    pipes->ready = spec->ready;
    pipes->arg = spec->arg;
    sim_list_add(&os->process->pipes, &pipes->of_owner, pipes);
    *ret = pipes;
    return 0;
}

static void close_owner(struct os_terminal *pipes)
{
    sim_list_remove(&pipes->of_owner);
    pipes->owner = NULL;
    pipes->owner_event = NULL;
    tell_child(pipes);
    free_closed(pipes);
}

void os_terminal_close(struct os_terminal *pipes)
{
    if (pipes != NULL) {
        sim_cancel(pipes->owner_event);
        close_owner(pipes);
    }
}

void os_terminal_want(struct os_terminal *pipes, bool input, bool output, bool error)
{
    pipes->wants[0] = input;
    pipes->wants[1] = output;
    pipes->wants[2] = error;
    tell_owner(pipes);
}

ssize_t os_terminal_read(struct os_terminal *pipes, int stream, void *data, size_t length)
{
    size_t taken = take_bytes(&pipes->streams[stream], data, length);
    return taken > 0 ? (ssize_t)taken : is_over(pipes) ? 0 : -EAGAIN;
}

ssize_t os_terminal_write(struct os_terminal *pipes, const void *data, size_t length)
{
    struct buffer *input = &pipes->streams[0];
    if (is_over(pipes) || pipes->input_ended) {
        return -EPIPE;
    }
    size_t room = PIPE_BYTES - input->length, taken = length < room ? length : room;
    put_bytes(input, data, taken);
    tell_child(pipes);
    return taken > 0 ? (ssize_t)taken : -EAGAIN;
}

void os_terminal_end_input(struct os_terminal *pipes)
{
    pipes->input_ended = true;
    tell_child(pipes);
}

void os_terminal_resize(struct os_terminal *pipes, uint16_t rows, uint16_t columns)
{
    (void)pipes;
    (void)rows;
    (void)columns;
}

pid_t os_terminal_foreground(struct os_terminal *pipes)
{
    (void)pipes;
    return 0;
}

/* ---- the end of the program -------------------------------------------------------------------*/

void sim_pipes_attach(struct os_terminal *pipes, struct sim_process *child)
{
    pipes->child = child;
    pipes->is_attached = true;
    child->standard = pipes;
}

void sim_pipes_hear(struct sim_process *child, loop_f heard, void *arg)
{
    struct os_terminal *pipes = child->standard;
    if (pipes != NULL) {
        pipes->heard = heard;
        pipes->heard_arg = arg;
        tell_child(pipes);
    }
}

ssize_t sim_pipes_read(struct sim_process *child, void *data, size_t length)
{
    struct os_terminal *pipes = child->standard;
    size_t taken = pipes != NULL ? take_bytes(&pipes->streams[0], data, length) : 0;
    if (taken > 0) {
        tell_owner(pipes);
        return (ssize_t)taken;
    }
    return pipes == NULL || pipes->owner == NULL || pipes->input_ended ? 0 : -EAGAIN;
}

void sim_pipes_write(struct sim_process *child, int stream, const void *data, size_t length)
{
    struct os_terminal *pipes = child->standard;
    if (pipes != NULL && pipes->owner != NULL) {
        put_bytes(&pipes->streams[stream], data, length);
        tell_owner(pipes);
    }
}

void sim_pipes_drop(struct sim_process *process)
{
    struct os_terminal *pipes;
    while ((pipes = sim_list_first(&process->pipes)) != NULL) {
        close_owner(pipes);
    }
    pipes = process->standard;
    if (pipes != NULL) {
        process->standard = NULL;
        pipes->child = NULL;
        pipes->child_event = NULL;
        tell_owner(pipes);
        free_closed(pipes);
    }
}
