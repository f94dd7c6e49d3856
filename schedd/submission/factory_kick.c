/* schedd/submission/factory_kick.c - see factory_kick.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/factory_kick.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/slices.h"
#include "base/strmap.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"

void factory_kick(struct cluster *cluster)
{
    if (cluster->making != NULL) {
        slice_work_want(cluster->making);
    }
}

void factory_kick_waiting(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    if (!schedd->factories_wait) {
        return;
    }
    schedd->factories_wait = false;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        factory_kick(value);
    }
}
