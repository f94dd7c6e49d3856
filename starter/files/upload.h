/* starter/files/upload.h - output files that go to URLs.
 *
 * They are sent after the job has ended and before all other output, while the cage still exists
 * and the sandbox still belongs to the job's account.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_UPLOAD_H
#define STARTER_FILES_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ad;
struct starter;

/* Whether the list of uploads is made, and whether all were sent. */
enum starter_upload_step { UPLOADS_UNKNOWN, UPLOADS_LISTED, UPLOADS_OVER };

struct starter_uploads {
    struct vec list; /* struct upload */
    size_t at;       /* index of the upload in hand */
    enum starter_upload_step step;
    struct ad *hold; /* HoldReason ...: some upload failed; NULL: none */
};

/* Returns whether an upload is left.  The first call makes the list. */
bool upload_is_needed(struct starter *starter);
/* Returns whether the job names any URL for output.  Does not look at files. */
bool upload_has_destination(const struct starter *starter);
/* Starts the next upload; WAKE_OVER follows when it has ended.  False: it could not be started, and
 * was noted as failed. */
bool upload_next(struct starter *starter);
/* Returns whether the sandbox's file `name`, found at `path`, goes to a URL.  While the list is
 * being made, the file is added to it. */
bool upload_takes(struct starter *starter, const char *name, const char *path, int64_t size_bytes);
/* Called at the end of the run. */
void upload_forget(struct starter *starter);

#endif
