/* sim/work_sim.h - simulated jobs that can be checkpointed, and what is in an image of one.
 *
 * "/sim/steps SECONDS STATUS OUTPUT NUMBER": works for so long, one step after the other, and
 * writes at the end of each a line to its standard output, behind the last one, wherever it is in
 * that file; so what it has written at its end tells whether each step was done exactly once.
 *
 * An image is a file with the program "image": run, it goes on with the job where that was.  The
 * file says so in lines of text, then bytes that mean nothing; a sum is over all of it.  One of
 * what changed names the image that it builds upon, and cannot be run.
 *
 * An archive is what tar makes of a job's files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_WORK_SIM_H
#define SIM_WORK_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

#define SIM_STEP_US       (2 * SIM_S)
#define SIM_IMAGE_PROGRAM "image"

struct sim_image {
    uint64_t id, base_id; /* base_id 0: it is whole */
    unsigned number;      /* of the job */
    unsigned steps, done; /* all of them; those that are done */
    uint64_t rest_us;     /* of the step in hand */
    unsigned status;      /* with which it ends */
    char out[200];        /* as the job names it */
    uint64_t offset;      /* in it */
    char features[64];    /* of the machine where the job began: "avx,sse" */
    size_t bytes;         /* of the image as a file */
};

/* How much work is in it, in the job's time. */
uint64_t sim_image_done_us(const struct sim_image *image);
void sim_image_encode(const struct sim_image *image, struct strbuf *ret);
/* False: it is no image, or its sum is wrong. */
bool sim_image_decode(const void *data, size_t length, struct sim_image *ret);

/* The job that the process is, as an image of this moment would have it, with the id of the image
 * with which it began (0: at its start); false: the process is none. */
bool sim_work_look(const struct sim_process *process, struct sim_image *ret);

/* Adds the file, or all files below the directory, at that place of the host, as `as`. */
void sim_archive_add(struct sim_host *host, const char *path, const char *as, struct strbuf *ret);
void sim_archive_end(struct strbuf *ret);
typedef int (*sim_archive_f)(void *arg, const char *path, mode_t mode, const void *data,
                             size_t length);
/* Calls each for each file; false: the archive is cut off, or one of these calls was not 0. */
bool sim_archive_walk(const void *data, size_t length, sim_archive_f each, void *arg);

/* What processors of that machine have: "avx,sse". */
const char *sim_host_features(struct sim_host *host);
void sim_host_set_features(struct sim_host *host, const char *features);
/* Is each word of the first list in the second? */
bool sim_features_suit(const char *wanted, const char *there);

/* Writes a line to the process's standard error, or output where it has none. */
void sim_say(struct sim_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
