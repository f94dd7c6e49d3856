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

/* One stream.  The job writes to a file of its sandbox; what is new in that file is sent. */
struct starter_live {
    uint64_t offset; /* bytes that the shadow has acknowledged */
    uint64_t sent;   /* bytes that are on their way behind offset */
    bool ends, over; /* the message that is on its way says that the stream is complete */
    unsigned fails;  /* times that the shadow refused the end of the stream, in a row */
};

struct starter_streams {
    struct starter_live streams[2]; /* stdout, stderr */
    size_t at;                      /* index of the stream that was served last */
    bool busy;                      /* a message is on its way */
};

/* Returns whether the file `name` is a standard stream of the job that is sent while the job
 * runs. */
bool live_is(const struct starter *starter, const char *name);
/* Sends what is new, unless a message is on its way already.  Callback of TIMER_LIVE. */
void live_look(void *starter);
/* Begins to watch the streams, if the job has such streams.  Called when the job has started. */
void live_begin(struct starter *starter);
/* True when all streams are complete at the shadow, or the job has none. */
bool live_is_over(const struct starter *starter);
/* Called when a new connection to the shadow is ready: sends again what was not acknowledged. */
void live_cut(struct starter *starter);
/* Called at the end of the run. */
void live_forget(struct starter *starter);

#endif
