/* schedd/shadow_hello.c - see shadow_hello.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadow_hello.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "schedd/job_ad.h"
#include "schedd/job_checkpoints.h"
#include "schedd/queue_table.h"
#include "schedd/revoked.h"
#include "schedd/schedd_state.h"
#include "wire/checkpoint_attrs.h"

struct kept {
    const struct owner *owner;
    struct strbuf *known;
    struct strbuf spooled; /* what evicted jobs have left for their next run */
    struct strbuf checkpoints;
};

static void add(struct strbuf *list, const char *id, int64_t epoch)
{
    strbuf_printf(list, "%s%s", list->length > 0 ? "," : "", id);
    if (epoch > 0) {
        strbuf_printf(list, ".%" PRId64, epoch);
    }
}

static bool add_job(void *arg, struct job *job)
{
    struct kept *kept = arg;
    char id[JOB_ID_SIZE];
    if (job->cluster->owner != kept->owner) {
        return true;
    }
    job_id(job, id);
    if (job->staged) { /* held, but with a committed result: what is staged is still needed */
        add(kept->known, id, job->epoch);
    }
    int64_t spooled = job->own != NULL ? ad_int_or(job->own, "SpooledEpoch", 0) : 0;
    if (spooled > 0) {
        add(&kept->spooled, id, spooled);
    }
    if (checkpoints_may_be(job)) {
        add(&kept->checkpoints, id, 0);
    }
    return true;
}

void shadow_hello_put(struct schedd *schedd, const struct owner *owner, const struct ad *args,
                      struct strbuf *known, struct ad *answer)
{
    struct kept kept = {.owner = owner, .known = known};
    strbuf_init(&kept.spooled, 0);
    strbuf_init(&kept.checkpoints, 0);
    queue_walk(schedd, add_job, &kept);
    ad_set_string(answer, "Runs", strbuf_text(known));
    ad_set_string(answer, "Spooled", strbuf_text(&kept.spooled));
    ad_set_string(answer, CKPT_JOBS, strbuf_text(&kept.checkpoints));
    revoked_hello(schedd, ad_string_or(args, "GuestTokens", ""), answer);
    strbuf_fini(&kept.spooled);
    strbuf_fini(&kept.checkpoints);
}
