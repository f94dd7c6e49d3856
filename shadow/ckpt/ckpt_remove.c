/* shadow/ckpt/ckpt_remove.c - removes the checkpoints of jobs that have left the queue or start
 * over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/ckpt/ckpt_remove.h"

#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "shadow/ckpt/ckpt_call.h"
#include "shadow/ckpt/ckpt_place.h"
#include "shadow/lanes.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"

struct removal { /* a removal on a lane that belongs to no run */
    LIST_ENTRY(removal) entry;
    struct shadow *shadow;
    struct vec names; /* ids of jobs */
};

static int removal_body(void *arg)
{
    const struct removal *removal = arg;
    for (size_t i = 0; i < removal->names.count; i++) {
        checkpoint_place_remove(removal->shadow, removal->names.items[i]);
    }
    return 0;
}

static void removal_destroy(struct removal *removal)
{
    LIST_REMOVE(removal, entry);
    vec_fini(&removal->names, mem_free);
    mem_free(removal);
}

static void removal_done(void *arg, int result)
{
    (void)result;
    removal_destroy(arg);
}

static struct removal *removal_create(struct shadow *shadow)
{
    struct removal *removal = mem_zalloc(sizeof *removal);
    removal->shadow = shadow;
    LIST_INSERT_HEAD(&shadow->removals, removal, entry);
    return removal;
}

static bool is_job_name(const char *name)
{
    size_t cluster = strspn(name, "0123456789");
    size_t proc = name[cluster] == '.' ? strspn(name + cluster + 1, "0123456789") : 0;
    return cluster > 0 && proc > 0 && name[cluster + 1 + proc] == '\0';
}

/* Removes a job's checkpoints on the job's lane, after the works of all its runs, because a
 * checkpoint that is just arriving would stay otherwise.  A run that has no checkpoint yet may be
 * the one that starts over because these are removed, so it may keep new ones. */
static void remove_job(struct shadow *shadow, const char *job)
{
    struct run *run = strmap_get(shadow->runs, job);
    if (run != NULL && run->ckpt.latest > 0) {
        run->ckpt.is_over = true;
    }
    if (is_job_name(job)) {
        struct removal *removal = removal_create(shadow);
        vec_push(&removal->names, mem_strdup(job));
        loop_lane_run(lanes_of(shadow, job), removal_body, removal_done, removal);
    }
}

void checkpoints_remove(struct shadow *shadow, const char *jobs)
{
    while (*jobs != '\0') {
        size_t length = strcspn(jobs, ", ");
        char *job = mem_strndup(jobs, length);
        remove_job(shadow, job);
        mem_free(job);
        jobs += length;
        jobs += strspn(jobs, ", ");
    }
}

static void note_name(void *arg, const char *name)
{
    struct removal *removal = arg;
    if (is_job_name(name) && removal->names.count < CKPT_NAMES_MAX) {
        vec_push(&removal->names, mem_strdup(name));
    }
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
        size_t item = strcspn(at, ", ");
        if (item == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += item;
    }
    return false;
}

void checkpoints_sweep(struct shadow *shadow, const char *known)
{
    struct removal *removal = removal_create(shadow);
    struct vec kept = {0};
    (void)os_list(shadow->os, shadow->ckpt.directory, note_name, removal, NULL); /* none: nothing */
    for (size_t i = 0; i < removal->names.count; i++) {
        char *name = removal->names.items[i];
        if (is_listed(known, name) || strmap_get(shadow->runs, name) != NULL) {
            mem_free(name); /* a run's may be on their way to the schedd */
        } else {
            vec_push(&kept, name);
        }
    }
    vec_fini(&removal->names, NULL);
    removal->names = kept;
    loop_lane_run(shadow->lanes[0], removal_body, removal_done, removal);
}

void checkpoints_end(struct shadow *shadow)
{
    while (!LIST_EMPTY(&shadow->removals)) {
        removal_destroy(LIST_FIRST(&shadow->removals));
    }
}
