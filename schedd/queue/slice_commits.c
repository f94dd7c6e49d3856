/* schedd/queue/slice_commits.c - see slice_commits.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/slice_commits.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/slices.h"
#include "schedd/claim/job_claims.h"
#include "schedd/queue/job_change.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

struct slice_commits {
    struct schedd *schedd;
    struct wire_request *request; /* NULL: slice_commits_end() was called */
    struct slice_work *turn;
    size_t under_way; /* slices that are not durable yet */
    size_t untold;    /* durable slices since the last part of the answer */
    bool waits;       /* true: the next slice is to be made when one is durable */
};

struct slice_commits *slice_commits_create(struct schedd *schedd, struct wire_request *request,
                                           struct slice_work *turn)
{
    struct slice_commits *commits = mem_zalloc(sizeof(*commits));
    commits->schedd = schedd;
    commits->request = request;
    commits->turn = turn;
    return commits;
}

static void tell_caller(struct slice_commits *commits)
{
    commits->untold++;
    if (commits->untold == SLICE_COMMITS_TELL) {
        commits->untold = 0;
        /* it is sent in any case */
        (void)wire_reply_part(commits->request, &(const struct wire_body){.args = NULL});
    }
}

static void slice_ended(struct slice_commits *commits)
{
    commits->under_way--;
    if (commits->request == NULL && commits->under_way == 0) {
        mem_free(commits);
    }
}

static void slice_committed(void *arg)
{
    struct slice_commits *commits = arg;
    struct schedd *schedd = commits->schedd;
    if (commits->request != NULL) {
        tell_caller(commits);
    }
    if (commits->request != NULL && commits->waits) {
        commits->waits = false;
        slice_work_want(commits->turn);
    }
    slice_ended(commits);
    claims_flush(schedd);
}

static void slice_dropped(void *arg)
{
    slice_ended(arg);
}

void slice_commits_add(struct slice_commits *commits, struct change *change)
{
    CHECK(commits->request != NULL);
    commits->under_way++;
    commits->waits = commits->under_way >= SLICE_COMMITS_MAX;
    change_commit(change, slice_committed, slice_dropped, commits);
    if (!commits->waits) {
        slice_work_want(commits->turn);
    }
}

void slice_commits_end(struct slice_commits *commits)
{
    if (commits == NULL) {
        return;
    }
    commits->request = NULL;
    commits->turn = NULL;
    if (commits->under_way == 0) {
        mem_free(commits);
    }
}
