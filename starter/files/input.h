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
    char *name; /* path in the sandbox */
    enum transfer_type type;
    char *target;     /* of a link; NULL otherwise */
    bool is_spooled;  /* made by an earlier run of the job: it always goes back at the end */
    char *url;        /* fetched from there, not from the shadow; NULL otherwise */
    unsigned damaged; /* times that it arrived with a wrong checksum */
    int64_t size_bytes;
    mode_t mode;
    char checksum[DIGEST_HEX_SIZE]; /* of the bytes that were received */
    int64_t mtime_s;                /* after we wrote it */
};

struct starter_inputs {
    struct vec list; /* struct starter_input */
    size_t at;       /* index of the first entry that is not here yet */
    int64_t bytes;   /* of the files before it */
    bool made;       /* directories and links of the list were made */
    int64_t call;    /* number of the request under way, for wire_cancel() */
};

/* Asks the shadow for the job ad and the list of inputs.  The run enters STARTER_INPUT when both
 * are here. */
void input_fetch(struct starter *starter);
/* Takes the next step of the input phase: makes directories and links, asks for the files that are
 * missing, or, when all are here, enters STARTER_RUN. */
void input_next(struct starter *starter);

#endif
