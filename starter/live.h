/* starter/live.h - streams that go to the owner while the job runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_LIVE_H
#define STARTER_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct starter;

struct starter_live {
    uint64_t offset; /* acknowledged */
    uint64_t sent;   /* on its way behind that */
    bool ends, over;
    unsigned fails;
};

struct starter_streams {
    struct starter_live streams[2]; /* stdout, stderr */
    size_t at;
    bool busy;
};

bool live_is(const struct starter *starter, const char *name); /* is that file one? */
void live_look(void *starter);                                 /* TIMER_LIVE's */
void live_begin(struct starter *starter);
bool live_is_over(const struct starter *starter);
void live_cut(struct starter *starter); /* the connection is another */
void live_forget(struct starter *starter);

#endif
