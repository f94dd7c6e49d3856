/* starter/live.h - standard output and error that go to the owner while the job runs (StreamOut,
 * StreamErr).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_LIVE_H
#define STARTER_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct starter;

/* One standard stream of the job.  The job writes to a file of its sandbox; new bytes of that file
 * are sent to the shadow. */
struct starter_live {
    uint64_t offset; /* bytes that the shadow has acknowledged */
    uint64_t sent;   /* bytes behind `offset` that were sent and not acknowledged yet */
    /* ends: the message that was sent last says that the stream is complete; over: the shadow has
     * acknowledged that. */
    bool ends, over;
    /* after the job has ended: how often in a row the shadow has refused bytes of the stream, or
     * the message that the stream is complete */
    unsigned fails;
};

struct starter_streams {
    struct starter_live streams[2]; /* [0]: standard output, [1]: standard error */
    size_t at;                      /* index of the stream of which bytes were sent last */
    /* true: a message about a stream was sent to the shadow and is not answered yet */
    bool busy;
};

/* Returns whether the file `name` is a standard stream of the job that is sent while the job
 * runs. */
bool live_is(const struct starter *starter, const char *name);
/* Callback of TIMER_LIVE: sends new bytes of the streams to the shadow, unless a message is
 * unanswered. */
void live_look(void *starter);
/* Called when the job has started: begins to follow the streams that are sent while the job runs,
 * if any. */
void live_begin(struct starter *starter);
/* Returns whether the shadow has received all streams completely, or the job has no streams that
 * are sent while it runs. */
bool live_is_over(const struct starter *starter);
/* Called when a new connection to the shadow is ready: sends bytes again that were not
 * acknowledged. */
void live_cut(struct starter *starter);
/* Called at the end of the run: forgets how far the streams were sent. */
void live_forget(struct starter *starter);

#endif
