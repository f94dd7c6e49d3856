/* schedd/questions/job_watch.c - see job_watch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_watch.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "store/store.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define WATCH_BARRIERS_MAX 50

struct walk {
    watch_each_f each;
    void *arg;
};

static bool walk_job(void *arg, struct job *job)
{
    struct walk *walk = arg;
    char id[JOB_ID_SIZE];
    job_id(job, id);
    return walk->each(walk->arg, id);
}

static void walk_jobs(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    struct schedd *schedd = arg;
    if (strcmp(type, "Job") == 0) {
        struct walk walk = {each, each_arg};
        queue_walk(schedd, walk_job, &walk);
    }
}

static const struct ad *get_job(void *arg, const char *type, const char *key)
{
    return strcmp(type, "Job") == 0 ? queue_show(arg, key) : NULL;
}

struct watch_server *watchers_create(struct schedd *schedd)
{
    static const struct watch_server_source SOURCE = {.walk = walk_jobs, .get = get_job};
    return watch_server_create(schedd->loop, &SOURCE, schedd);
}

/* A watcher that waits for its snapshot.  The snapshot is taken from memory, so it must be taken
 * when the memory is durable: at a moment without a commit under way.  If the store never rests,
 * this is given up after a number of commits. */
struct watcher {
    struct schedd *schedd;
    struct wire_request *request;
    int barriers;
};

static void drop_watcher(void *arg)
{
    struct watcher *watcher = arg;
    wire_reply_error(watcher->request, -ESHUTDOWN, "the schedd is stopping");
    mem_free(watcher);
}

static void add_watcher(void *arg)
{
    struct watcher *watcher = arg;
    if (!store_is_idle(watcher->schedd->store) && watcher->barriers++ < WATCH_BARRIERS_MAX) {
        change_commit(change_begin(watcher->schedd), add_watcher, drop_watcher, watcher);
        return;
    }
    watch_server_limit_steps(watcher->schedd->watchers,
                             watcher->schedd->settings.constraint_steps_max);
    watch_server_add(watcher->schedd->watchers, watcher->request);
    mem_free(watcher);
}

void watch_handle(struct schedd *schedd, struct wire_request *request)
{
    struct watcher *watcher = mem_zalloc(sizeof(*watcher));
    watcher->schedd = schedd;
    watcher->request = request;
    add_watcher(watcher);
}
