/* starter/files/input.h - receives the job ad and the job's input files from the shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_INPUT_H
#define STARTER_FILES_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/vec.h"
#include "transfer/transfer_walk.h"

struct starter;

/* One entry of the job's input list: a file, directory or link. */
struct starter_input {
    char *name; /* path, relative to the sandbox */
    enum transfer_type type;
    char *target; /* the link's target; NULL: not a link */
    /* true: an earlier run of the job sent this entry back, and the submit host kept it; the entry
     * counts as new when the new and changed files are sent back at the end of this run */
    bool is_spooled;
    char *url;        /* URL from which it is fetched; NULL: it comes from the shadow */
    unsigned damaged; /* how often it arrived with a wrong checksum */
    int64_t size_bytes;
    mode_t mode;
    char checksum[DIGEST_HEX_SIZE]; /* checksum of the bytes that were received */
    /* modification time of the file after it was received, seconds since 1970 */
    int64_t mtime_s;
};

struct starter_inputs {
    struct vec list; /* struct starter_input: all inputs of the job */
    size_t at;       /* index of the first entry that has not been received yet */
    int64_t bytes;   /* total size of the files before entry `at` of the list, bytes */
    bool made;       /* true: the directories and links of the list were made */
    int64_t call;    /* number of the unanswered request to the shadow, for wire_cancel() */
};

/* Asks the shadow for the job ad and the list of inputs.  When both have been received, the run
 * enters STARTER_INPUT. */
void input_fetch(struct starter *starter);
/* Takes the next step of the input phase: makes directories and links, asks the shadow for the
 * files that are missing, or, when all have been received, enters STARTER_RUN. */
void input_next(struct starter *starter);

#endif
