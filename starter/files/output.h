/* starter/files/output.h - sends the job's output files from the sandbox to the shadow, and reports
 * how the job ended.
 *
 * collect.c chooses the files, output.c sends them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_OUTPUT_H
#define STARTER_FILES_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ad;
struct starter;

#define STARTER_PUTS_MAX 16 /* FILE_PUTs that may be on their way at once */

struct starter_put { /* a FILE_PUT that is not answered yet */
    bool ends;       /* it is the last one of its file, directory or link */
    size_t bytes;
};

struct starter_outputs {
    struct vec list;      /* struct transfer_entry: what goes back; path is below the sandbox */
    struct vec checksums; /* char *: of the entries that were sent */
    int64_t bytes;        /* sizes of all files of the list */
    size_t at, acked;     /* index of the entry to send next, of the first unacknowledged one */
    unsigned failures;    /* times that the submit host could not store output of this run */
    bool doubted;         /* after such a failure: send the file in hand from its beginning */
    bool asks;            /* ask the shadow first how much of the file in hand it has */
    struct starter_put puts[STARTER_PUTS_MAX];
    size_t puts_count;
    struct ad *missing; /* HoldReason ...: output that the job names is missing; NULL: none is */
    unsigned resends;   /* times that all output was sent again */
};

/* ---- one step each */
/* Makes the list of what goes back.  The job has ended. */
void output_collect(struct starter *starter);
/* Writes HTCondor's hold reason for a file that cannot be read into ret. code: negative errno; why:
 * its text. */
void output_cannot_be_read(const struct starter *starter, const char *name, int code,
                           const char *why, char *ret, size_t size);
/* Returns whether the files of a job that is stopped before its end go back for its next run. */
bool output_is_spooled(const struct starter *starter);
/* Sends as much as may be on its way; called again after each answer.  Enters STARTER_REPORT after
 * the last. */
void output_next(struct starter *starter);
/* Sends JOB_DONE: how the job ended, or why it is to be held.  Enters STARTER_CLEAN when it is
 * answered. */
void output_report(struct starter *starter);
/* Forgets the list; called at the end of the run. */
void output_forget(struct starter *starter);
/* Called when a new connection to the shadow is ready: goes on at the first unacknowledged
 * entry. */
void output_cut(struct starter *starter);

#endif
