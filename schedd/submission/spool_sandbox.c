/* schedd/submission/spool_sandbox.c - see spool_sandbox.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/spool_sandbox.h"

#include <stdio.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "submit/spool_plan.h"

bool spool_sandbox_is_used(const struct ad *cluster)
{
    return ad_has(cluster, SPOOL_MARK);
}

struct forgotten {
    struct schedd *schedd;
    char owner[OWNER_NAME_MAX + 1];
    char id[JOB_ID_SIZE];
};

static void ignore_answer(void *arg, int status, const char *text)
{
    (void)arg;
    (void)status;
    (void)text; /* a shadow that is there looks for itself what is gone */
}

static void remove_after_commit(void *arg)
{
    struct forgotten *forgotten = arg;
    struct owner *owner = queue_owner(forgotten->schedd, forgotten->owner);
    struct ad *args = ad_create();
    ad_set_string(args, "Sandbox", forgotten->id);
    if (!forgotten->schedd->stopping) {
        shadows_call(forgotten->schedd, owner, VERB_JOB_STOP, args, NULL, ignore_answer, NULL);
    }
    ad_destroy(args);
    mem_free(forgotten);
}

void spool_sandbox_forget(struct change *change, const struct cluster *cluster, uint32_t proc,
                          bool last)
{
    if (!spool_sandbox_is_used(cluster->ad)) {
        return;
    }
    struct forgotten *forgotten = mem_zalloc(sizeof(*forgotten));
    forgotten->schedd = change_schedd(change);
    (void)snprintf(forgotten->owner, sizeof(forgotten->owner), "%s", cluster->owner->name);
    if (last) {
        (void)snprintf(forgotten->id, sizeof(forgotten->id), "%lld", (long long)cluster->id);
    } else {
        (void)snprintf(forgotten->id, sizeof(forgotten->id), "%lld.%u", (long long)cluster->id,
                       (unsigned)proc);
    }
    change_then(change, remove_after_commit, forgotten);
}
