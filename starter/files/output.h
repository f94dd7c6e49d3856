/* starter/files/output.h - what the job made, from the sandbox to the shadow: output.c, collect.c.
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

#define STARTER_PUTS_MAX 16 /* FILE_PUTs on their way at once */

struct starter_put { /* not answered yet */
    bool ends;       /* its entry */
    size_t bytes;
};

struct starter_outputs {
    struct vec list;      /* struct transfer_entry; path below the sandbox */
    struct vec checksums; /* of those that were sent */
    int64_t bytes;        /* of all of them */
    size_t at, acked;     /* next to be sent, to be acknowledged */
    unsigned failures;    /* of the submit host's storage, in this run's output */
    bool doubted;         /* what the shadow has of it could not be stored */
    bool asks;            /* what the shadow has of the file in hand is not known */
    struct starter_put puts[STARTER_PUTS_MAX];
    size_t puts_count;
    struct ad *missing; /* HoldReason ...: some output that the job names is not there */
    unsigned resends;   /* of all outputs */
};

/* ---- one step each */
void output_collect(struct starter *starter);
/* HTCondor's sentence, into ret. */
void output_cannot_be_read(const struct starter *starter, const char *name, int code,
                           const char *why, char *ret, size_t size);
/* Does what a job has made by the time it is stopped go back, too? */
bool output_is_spooled(const struct starter *starter);
void output_next(struct starter *starter);
void output_report(struct starter *starter);
void output_forget(struct starter *starter);
void output_cut(struct starter *starter); /* the connection is another */

#endif
