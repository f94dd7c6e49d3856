/* negotiator/queue_figures.c - answers POOL_FIGURES: how many jobs are idle, in the pool and for
 * machines, and how long the first of them waits.
 *
 * The answer has numbers only: no names of users, and nothing of their jobs.  A machine that may
 * only advertise is told about itself.  (With a START of its choice it could ask how many jobs have
 * some attribute; but such a START also gets it these jobs.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "wire/pool_figures.h"
#include "wire/watch.h"
#include "wire/wire.h"

/* Reads the names of the machines into names, as copies.  Returns 0, -EINVAL or -EACCES. */
static int read_machines(const struct wire_request *request, struct vec *names)
{
    const struct wire_peer *peer = wire_request_peer(request);
    bool any = (peer->scopes & (SCOPE_ROOSTER | SCOPE_ADMINISTRATOR)) != 0;
    size_t most = any ? POOL_FIGURES_MACHINES_MAX : 1;
    struct ad_value list;
    int rc = 0;
    if (ad_eval_attr(wire_request_args(request), NULL, "Machines", NULL, &list) != 0) {
        return 0;
    }
    size_t count = list.type == AD_TYPE_LIST ? ad_value_count(&list) : most + 1;
    rc = count > most ? -EINVAL : 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type != AD_TYPE_STRING) {
            rc = -EINVAL;
        } else if (!any && !wire_peer_may_advertise(peer, item.string.text)) {
            rc = -EACCES;
        } else {
            vec_push(names, mem_strdup(item.string.text));
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return rc;
}

static bool is_ready(const struct negotiator *negotiator)
{
    return negotiator->lease.leads && watch_is_synced(negotiator->watches.slots) &&
           watch_is_synced(negotiator->watches.requests) && negotiator->counts.cycles > 0;
}

static void reply_figures(struct negotiator *negotiator, struct wire_request *request,
                          const struct vec *names)
{
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    struct plan_queue all, *each = mem_alloc((names->count + 1) * sizeof *each);
    struct vec ads = {0};
    struct ad *args = ad_create();
    negotiator_plan_queue(negotiator->plan, &all);
    negotiator_plan_matching(negotiator->plan, (const char *const *)names->items, names->count,
                             each);
    ad_set_int(args, "PoolIdleJobs", all.jobs);
    ad_set_int(args, "PoolIdleJobsWait", plan_queue_wait_s(&all, now_s));
    for (size_t i = 0; i < names->count; i++) {
        if (each[i].jobs >= 0) {
            struct ad *ad = ad_create();
            ad_set_string(ad, "Machine", names->items[i]);
            ad_set_int(ad, "MatchingIdleJobs", each[i].jobs);
            ad_set_int(ad, "MatchingIdleJobsWait", plan_queue_wait_s(&each[i], now_s));
            vec_push(&ads, ad);
        }
    }
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)ads.items,
                                   .ad_count = ads.count};
    wire_reply_ok(request, &body);
    vec_fini(&ads, ad_destroy_item);
    ad_destroy(args);
    mem_free(each);
}

void queue_figures_answer(struct negotiator *negotiator, struct wire_request *request)
{
    struct vec names = {0};
    int rc = read_machines(request, &names);
    if (rc == -EACCES) {
        wire_reply_error(request, rc, "the token of %s is for other machines than it asks about",
                         wire_request_peer(request)->identity);
    } else if (rc != 0) {
        wire_reply_error(request, rc,
                         "POOL_FIGURES needs Machines, a list of machine names: at most %d from "
                         "a rooster, one from a machine",
                         POOL_FIGURES_MACHINES_MAX);
    } else if (!is_ready(negotiator)) {
        wire_reply_error(request, -EAGAIN, "this negotiator does not know the queue yet");
    } else {
        reply_figures(negotiator, request, &names);
    }
    vec_fini(&names, mem_free);
}
