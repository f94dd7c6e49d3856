/* shadow/run/run_drop.c - see run_drop.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/run/run_drop.h"

#include <errno.h>

#include "base/check.h"
#include "base/log.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "shadow/link.h"
#include "shadow/remote.h"
#include "shadow/run/run_work.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/turns.h"

static int remove_stage(struct work *work)
{
    struct run *run = work->run;
    int result = os_remove_tree(run->shadow->os, run->part, &work->err);
    if (result == 0 && run->is_spent && run->spooled != NULL) {
        result = os_remove_tree(run->shadow->os, run->spooled, &work->err);
    }
    return result == 0 ? os_remove_tree(run->shadow->os, run->stage, &work->err) : result;
}

static void stage_removed(struct work *work, int result)
{
    if (result != 0 && result != -ESHUTDOWN) {
        log_warn(work->run->shadow->log, "stage.not_removed", work->err.text,
                 LOG_TEXT("job", work->run->id));
    }
}

void run_drop(struct run *run, bool remove)
{
    if (run->dropped) {
        return;
    }
    struct shadow *shadow = run->shadow;
    run_use(run);
    run->dropped = true;
    run_move(run, RUN_OVER);
    CHECK(strmap_remove(shadow->runs, run->id) == run);
    run_answer_done(run, -ESTALE, "this run of the job has been replaced or has ended");
    remotes_close(run);
    turn_give_back(run, false);
    turn_give_back(run, true);
    if (run->link != NULL) {
        link_let_go(run->link);
    }
    if (remove) {
        run_work_start(run, NULL, remove_stage, stage_removed, NULL);
    }
    run_unuse(run);
}

void runs_drop_all(struct shadow *shadow)
{
    struct vec runs = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        vec_push(&runs, value);
    }
    strmap_destroy(shadow->runs, NULL);
    shadow->runs = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < runs.count; i++) {
        struct run *run = runs.items[i];
        run_use(run);
        run->dropped = true; /* the callbacks that are still to come only let go */
        turns_forget(run);
        run_unuse(run);
    }
    vec_fini(&runs, NULL);
}
