/* sim/work_sim.h - simulated jobs that can be checkpointed, and the contents of their images.
 *
 * "/sim/steps SECONDS STATUS OUTPUT NUMBER" works for that many seconds in steps.  At the end of
 * each step it writes a line to its standard output, at the end of what it wrote before.  So its
 * final output shows whether each step was done exactly once.
 *
 * An image is a file with the program "image"; running it continues the job where the image was
 * made.  The file has lines of text that say so, then filler bytes, and a checksum over everything.
 * A delta (an image of what changed) names the image it builds on and cannot be run.
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
    uint64_t id, base_id; /* base_id: the image on which this delta builds; 0: a whole image */
    unsigned number;      /* number of the job */
    unsigned steps, done; /* steps of the job, and steps done */
    uint64_t rest_us;     /* time that the current step still needs */
    unsigned status;      /* exit status of the job */
    char out[200];        /* path of the output file, as the job was given it */
    uint64_t offset;      /* bytes written to the output file */
    char features[64];    /* CPU features of the machine where the job began, such as "avx,sse" */
    size_t bytes;         /* size of the image file */
};

/* Returns the amount of work in the image, as run time of the job in microseconds. */
uint64_t sim_image_done_us(const struct sim_image *image);
void sim_image_encode(const struct sim_image *image, struct strbuf *ret);
/* Reads an image file into *ret.  Returns false when data is not an image or has a wrong checksum.
 */
bool sim_image_decode(const void *data, size_t length, struct sim_image *ret);

/* Sets *ret to what an image of the process would hold if it were made now; ret->id becomes the id
 * of the image that the process continues (0: none).  False: the process is not a job that can be
 * checkpointed. */
bool sim_work_look(const struct sim_process *process, struct sim_image *ret);

/* Adds the file at `path` on the host, or all files below that directory, to the archive under the
 * name `as`. */
void sim_archive_add(struct sim_host *host, const char *path, const char *as, struct strbuf *ret);
void sim_archive_end(struct strbuf *ret);
typedef int (*sim_archive_f)(void *arg, const char *path, mode_t mode, const void *data,
                             size_t length);
/* Calls `each` for every file of the archive.  Returns false when the archive is truncated, or a
 * call of `each` did not return 0. */
bool sim_archive_walk(const void *data, size_t length, sim_archive_f each, void *arg);

/* Returns the CPU features of the host, such as "avx,sse". */
const char *sim_host_features(struct sim_host *host);
void sim_host_set_features(struct sim_host *host, const char *features);
/* Returns whether every word of `wanted` is in `there`, two lists of CPU features such as
 * "avx,sse". */
bool sim_features_suit(const char *wanted, const char *there);

/* Writes a line to the process's standard error, or to its standard output when it has no standard
 * error. */
void sim_say(struct sim_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
