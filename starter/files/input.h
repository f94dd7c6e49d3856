/* starter/files/input.h - the job ad and its input files, from the shadow.
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

struct starter_input {
    char *name; /* in the sandbox */
    enum transfer_type type;
    char *target;     /* of a link */
    bool is_spooled;  /* an earlier run of the job made it: it goes back in any case */
    char *url;        /* it comes from there, not from the shadow; NULL otherwise */
    unsigned damaged; /* times that it came so */
    int64_t size_bytes;
    mode_t mode;
    char checksum[DIGEST_HEX_SIZE]; /* as received */
    int64_t mtime_s;                /* as written */
};

struct starter_inputs {
    struct vec list; /* struct starter_input */
    size_t at;       /* the first that is not here yet */
    int64_t bytes;   /* of the files before it */
    bool made;       /* its directories and links */
    int64_t call;
};

/* One step each. */
void input_fetch(struct starter *starter);
void input_next(struct starter *starter);

#endif
