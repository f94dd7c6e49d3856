/* shadow/run/run_work.c - see run_work.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/run/run_work.h"

#include <errno.h>

#include "base/loop.h"
#include "base/mem.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"

static int work_body(void *arg)
{
    struct work *work = arg;
    return work->body(work);
}

static void work_done(void *arg, int result)
{
    struct work *work = arg;
    struct run *run = work->run;
    struct vec *works = &run->shadow->works;
    for (size_t i = 0; i < works->count; i++) {
        if (works->items[i] == work) {
            vec_remove_at(works, i);
            break;
        }
    }
    work->done(work, result);
    mem_free(work);
    run_unuse(run);
}

void run_work_start(struct run *run, struct wire_request *request, int (*body)(struct work *work),
                    void (*done)(struct work *work, int result), void *arg)
{
    struct work *work = mem_zalloc(sizeof(*work));
    work->run = run;
    work->request = request;
    work->body = body;
    work->done = done;
    work->arg = arg;
    run_use(run);
    vec_push(&run->shadow->works, work);
    loop_lane_run(run->lane, work_body, work_done, work);
}

void run_works_end(struct shadow *shadow)
{
    while (shadow->works.count > 0) {
        work_done(shadow->works.items[0], -ESHUTDOWN);
    }
    vec_fini(&shadow->works, NULL);
}
