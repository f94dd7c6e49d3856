/* shadow/spool.h - the sandboxes of spooled clusters: files that clients send and fetch
 * (docs/protocol/access.md, section 4).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_SPOOL_H
#define SHADOW_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

struct shadow;
struct vec;
struct wire_request;

struct spool_right {            /* what a client's ticket allows */
    const struct vec *clusters; /* cluster ids such as "12" */
    bool fetches;               /* true: fetch output; false: spool input */
};

/* To be called once at the start.  quota: bytes for all sandboxes of the owner; 0: no limit. */
void spools_begin(struct shadow *shadow, int64_t quota);
/* Answers a SPOOL_... request of a client with this right. */
void spool_answer(struct shadow *shadow, const struct spool_right *right,
                  struct wire_request *request);
/* Removes the sandbox of a job ("12.3") or of a whole cluster ("12") that has left the queue. */
void spool_remove(struct shadow *shadow, const char *id);
/* Asks the schedd which sandboxes belong to no cluster any more, and removes them. */
void spool_sweep(struct shadow *shadow);
/* Refuses the SPOOL_... requests not answered yet, with -ESHUTDOWN (the shadow ends).  To be called
 * after the lanes have stopped. */
void spools_end(struct shadow *shadow);

#endif
