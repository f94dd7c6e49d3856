/* shadow/spool.h - sandboxes of spooled clusters: docs/protocol/access.md, section 4.
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

struct spool_right {            /* of a ticket */
    const struct vec *clusters; /* "12" */
    bool fetches;               /* it is for Fetch, not for Spool */
};

void spools_begin(struct shadow *shadow, int64_t quota); /* bytes; 0: no limit */
void spool_answer(struct shadow *shadow, const struct spool_right *right,
                  struct wire_request *request);
/* The job ("12.3") or the whole cluster ("12") has left the queue. */
void spool_remove(struct shadow *shadow, const char *id);
void spool_sweep(struct shadow *shadow); /* asks the schedd which sandboxes are of no cluster */
void spools_end(struct shadow *shadow);  /* the process ends, lanes have stopped */

#endif
