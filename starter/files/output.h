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

/* most FILE_PUT requests (each with some bytes of an output file) that may be unanswered at a
 * time */
#define STARTER_PUTS_MAX 16

/* A FILE_PUT request, with some bytes of an output file, that is not answered yet. */
struct starter_put {
    /* true: the request has the last bytes of its file, or is the only request for a directory or
     * link */
    bool ends;
    size_t bytes;
};

struct starter_outputs {
    /* struct transfer_entry: what is sent back; its paths are relative to the sandbox */
    struct vec list;
    struct vec checksums; /* char *: checksums of the entries that were sent */
    int64_t bytes;        /* total size of the files in `list`, bytes */
    /* at: index of the entry to send next; acked: index of the first entry that the shadow has not
     * acknowledged completely. */
    size_t at, acked;
    unsigned failures; /* how often the submit host could not store output of this run */
    /* true: the submit host could not store the file at index `acked` of `list`, which must be sent
     * from its beginning */
    bool doubted;
    /* true: before sending more, ask the shadow how many bytes it has of the file at index `at` of
     * `list` */
    bool asks;
    struct starter_put puts[STARTER_PUTS_MAX];
    size_t puts_count;
    /* attributes of the hold (HoldReason ...) if an output file that the job names is missing;
     * NULL: none is missing */
    struct ad *missing;
    unsigned resends; /* how often all output was sent again */
};

/* ---- steps of the phases STARTER_OUTPUT and STARTER_REPORT */
/* Called when the job has ended: makes the list of files, directories and links that are sent
 * back. */
void output_collect(struct starter *starter);
/* Writes to ret HTCondor's hold reason for the output file `name` that cannot be read. code:
 * negative errno; why: the text of the error. */
void output_cannot_be_read(const struct starter *starter, const char *name, int code,
                           const char *why, char *ret, size_t size);
/* Returns whether the files of the job, if it is stopped before its end, are sent back and kept for
 * its next run. */
bool output_is_spooled(const struct starter *starter);
/* Sends FILE_PUT requests with output until STARTER_PUTS_MAX of them are unanswered; is called
 * again after each answer.  Enters STARTER_REPORT when all output was sent and answered. */
void output_next(struct starter *starter);
/* Sends JOB_DONE to the shadow: how the job ended, or why it must be held.  Enters STARTER_CLEAN
 * when JOB_DONE is answered. */
void output_report(struct starter *starter);
/* Called at the end of the run: frees the list of outputs. */
void output_forget(struct starter *starter);
/* Called when a new connection to the shadow is ready: sends output again from the first entry that
 * was not acknowledged. */
void output_cut(struct starter *starter);

#endif
