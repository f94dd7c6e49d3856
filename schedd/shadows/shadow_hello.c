/* schedd/shadows/shadow_hello.c - see shadow_hello.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/shadow_hello.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/log.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "schedd/queue/event_rows.h"
#include "schedd/queue/job_ad.h"
#include "schedd/job_checkpoints.h"
#include "schedd/queue/queue_table.h"
#include "schedd/revoked.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"
#include "schedd/shadows/shadows.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

struct kept {
    const struct owner *owner;
    struct strbuf *known;
    struct strbuf spooled; /* files that evicted jobs have left for their next run */
    struct strbuf checkpoints;
};

static void add_id(struct strbuf *list, const char *id, int64_t epoch)
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
        add_id(kept->known, id, job->epoch);
    }
    int64_t spooled = job->own != NULL ? ad_int_or(job->own, "SpooledEpoch", 0) : 0;
    if (spooled > 0) {
        add_id(&kept->spooled, id, spooled);
    }
    if (checkpoints_may_be(job)) {
        add_id(&kept->checkpoints, id, 0);
    }
    return true;
}

/* Sets in answer what the shadow must keep: Runs, that is the runs in known ("12.3.1,12.4.2",
 * extended here) and those whose results still wait to be placed; Spooled, the files that evicted
 * jobs have left; Checkpoints.  All other files of this owner may be removed.  Also sets the
 * revoked ones among the tokens of its clients (in args, of the hello).  O(jobs). */
static void put_kept(struct schedd *schedd, const struct owner *owner, const struct ad *args,
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

static struct owner *hello_owner(struct schedd *schedd, struct wire_request *request,
                                 struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(request);
    const char *name = ad_string_or(wire_request_args(request), "Owner", "");
    uid_t uid = 0;
    gid_t gid = 0;
    if (!peer->has_uid || !owner_name_is_valid(name)) {
        (void)err_set(err, -EACCES,
                      "a shadow must connect over the Unix socket and name its owner");
        return NULL;
    }
    if (os_user_find(schedd->os, name, &uid, &gid, err) != 0) {
        return NULL;
    }
    if (uid == 0) {
        (void)err_set(err, -EACCES, "'%s' has uid 0; root has no shadow", name);
        return NULL;
    }
    if (uid != peer->uid) {
        (void)err_set(err, -EACCES, "uid %u does not belong to %s", (unsigned)peer->uid, name);
        return NULL;
    }
    return queue_owner(schedd, name);
}

void shadow_hello_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    const struct ad *args = wire_request_args(request);
    struct owner *owner = hello_owner(schedd, request, &err);
    if (owner == NULL) {
        wire_reply_error(request, -EACCES, "%s", err.text);
        return;
    }
    if (!shadows_connect(schedd, owner, wire_request_wire(request),
                         ad_string_or(args, "ShadowPin", ""))) {
        /* Otherwise another process of the account could take over the shadow's runs and requests.
         * A shadow whose old connection is about to be found closed asks again. */
        log_warn(schedd->log, "shadow.second", "this owner has a connected shadow already",
                 LOG_TEXT("owner", owner->name), LOG_INT("pid", ad_int_or(args, "Pid", 0)));
        wire_reply_error(request, -EBUSY, "another shadow of %s is connected", owner->name);
        return;
    }
    log_info(schedd->log, "shadow.hello", "a shadow has connected", LOG_TEXT("owner", owner->name),
             LOG_INT("pid", ad_int_or(args, "Pid", 0)), LOG_INT("runs", shadow_runs_count(owner)));

    struct strbuf known;
    strbuf_init(&known, 0);
    shadow_runs_list(owner, &known);
    struct ad *answer = ad_create();
    put_kept(schedd, owner, args, &known, answer);
    const struct wire_body body = {.args = answer};
    wire_reply_ok(request, &body);
    ad_destroy(answer);
    strbuf_fini(&known);

    shadow_runs_tell(schedd, owner);
    shadows_connected(owner);
    event_rows_shadow_up(schedd, owner);
    shadows_look_at(owner);
}
