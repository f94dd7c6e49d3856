/* schedd/shadows/transfer_turns.c - see transfer_turns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/transfer_turns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define JOB_BYTES 40 /* bytes of a job's id, with the terminating zero */

struct turn {
    TAILQ_ENTRY(turn)
    entry; /* in schedd->under_way.turns, in the order of the requests */
    struct schedd *schedd;
    struct wire_request *request;
    const struct owner *owner;
    char job[JOB_BYTES];
    int64_t epoch;
    bool is_output, has_begun;
};

void turns_clear(struct ad *job)
{
    ad_remove(job, "TransferQueued");
    ad_remove(job, "TransferringInput");
    ad_remove(job, "TransferringOutput");
    ad_remove(job, "TransferDoneBytes");
    ad_remove(job, "TransferTotalBytes");
}

/* Shows the state of the transfer in the job's ad, in memory only: a restarted schedd knows of no
 * transfers. */
static void show_turn(const struct turn *turn, bool is_over)
{
    struct job *job = queue_job_by_id(turn->schedd, turn->job);
    if (job == NULL || job->epoch != turn->epoch) {
        return;
    }
    struct ad *own = job_own(job);
    turns_clear(own);
    if (!is_over) {
        ad_set_bool(own, turn->is_output ? "TransferringOutput" : "TransferringInput", true);
        ad_set_bool(own, "TransferQueued", !turn->has_begun);
    }
}

static int64_t turns_limit(const struct schedd *schedd, bool output)
{
    return config_int(schedd->config,
                      output ? "MAX_CONCURRENT_DOWNLOADS" : "MAX_CONCURRENT_UPLOADS");
}

static int64_t count_begun(const struct schedd *schedd, bool output, const struct owner *owner)
{
    int64_t found = 0;
    const struct turn *turn;
    TAILQ_FOREACH(turn, &schedd->under_way.turns, entry)
    {
        found +=
            turn->has_begun && turn->is_output == output && (owner == NULL || turn->owner == owner)
                ? 1
                : 0;
    }
    return found;
}

static struct turn *choose_turn(const struct schedd *schedd, bool output)
{
    struct turn *best = NULL;
    struct turn *turn;
    const struct owner *counted = NULL; /* those of one owner often follow one another */
    int64_t fewest = 0, its = 0;
    TAILQ_FOREACH(turn, &schedd->under_way.turns, entry)
    {
        if (turn->has_begun || turn->is_output != output) {
            continue;
        }
        if (turn->owner != counted) {
            counted = turn->owner;
            its = count_begun(schedd, output, counted);
        }
        if (best == NULL || its < fewest) {
            best = turn;
            fewest = its;
        }
    }
    return best;
}

static void begin_turn(struct turn *turn)
{
    turn->has_begun = true;
    show_turn(turn, false);
    struct ad *args = ad_create();
    ad_set_bool(args, "Begin", true);
    const struct wire_body body = {.args = args};
    (void)wire_reply_part(turn->request, &body); /* a handful of bytes: it fits the window */
    ad_destroy(args);
}

void turns_look(struct schedd *schedd)
{
    for (int output = 0; output < 2; output++) {
        int64_t most = turns_limit(schedd, output != 0);
        int64_t now = count_begun(schedd, output != 0, NULL);
        struct turn *turn;
        while ((most == 0 || now < most) && (turn = choose_turn(schedd, output != 0)) != NULL) {
            begin_turn(turn);
            now++;
        }
    }
}

static void turn_destroy(struct turn *turn)
{
    TAILQ_REMOVE(&turn->schedd->under_way.turns, turn, entry);
    show_turn(turn, true);
    mem_free(turn);
}

static void turn_gone(void *arg)
{
    struct turn *turn = arg;
    struct schedd *schedd = turn->schedd;
    turn_destroy(turn);
    turns_look(schedd);
}

void turns_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = ad_string_or(args, "JobId", "");
    struct job *job = queue_job_by_id(schedd, id);
    if (job == NULL || strlen(id) >= JOB_BYTES) {
        wire_reply_error(request, -ESTALE, "no such job in the queue: '%.40s'", id);
        return;
    }
    if (job->cluster->owner != owner) {
        wire_reply_error(request, -EPERM, "job '%.40s' does not belong to %s", id, owner->name);
        return;
    }
    struct turn *turn = mem_zalloc(sizeof(*turn));
    turn->schedd = schedd;
    turn->request = request;
    turn->owner = owner;
    (void)snprintf(turn->job, sizeof(turn->job), "%s", id); /* fits */
    turn->epoch = ad_int_or(args, "ClaimEpoch", 0);
    turn->is_output = ad_bool_or(args, "Output", false);
    TAILQ_INSERT_TAIL(&schedd->under_way.turns, turn, entry);
    wire_request_on_gone(request, turn_gone, turn);
    show_turn(turn, false);
    turns_look(schedd);
    if (!turn->has_begun) {
        log_info(schedd->log, "transfer.waits", "a transfer waits for its turn",
                 LOG_TEXT("job", turn->job), LOG_BOOL("output", turn->is_output));
    }
}

void turns_end(struct schedd *schedd)
{
    struct turn *turn;
    while ((turn = TAILQ_FIRST(&schedd->under_way.turns)) != NULL) {
        TAILQ_REMOVE(&schedd->under_way.turns, turn, entry);
        wire_request_on_gone(turn->request, NULL, NULL);
        wire_reply_error(turn->request, -ESHUTDOWN, "the schedd is stopping");
        mem_free(turn);
    }
}
