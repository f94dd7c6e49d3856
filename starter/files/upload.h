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

/* UNKNOWN: the list of uploads is not made yet; LISTED: it is made; OVER: all its uploads have
 * ended. */
enum starter_upload_step { UPLOADS_UNKNOWN, UPLOADS_LISTED, UPLOADS_OVER };

struct starter_uploads {
    struct vec list; /* struct upload: the files to send to URLs */
    size_t at;       /* index in `list` of the present upload */
    enum starter_upload_step step;
    /* attributes of the hold (HoldReason ...) because an upload failed; NULL: none failed */
    struct ad *hold;
};

/* Returns whether an upload still has to be done.  The first call makes the list of uploads. */
bool upload_is_needed(struct starter *starter);
/* Returns whether the job names any URL for output, whether or not such output exists. */
bool upload_has_destination(const struct starter *starter);
/* Starts the next upload, or gives up the run if it was told to stop.  Returns false if the upload
 * could not be started, which is noted as a failed upload; otherwise true: the caller must return,
 * and job_over() is called again (WAKE_OVER) when the upload has ended. */
bool upload_next(struct starter *starter);
/* Returns whether the sandbox's file `name`, found at `path`, is sent to a URL instead of the
 * shadow.  While the list of uploads is being made, adds the file to it. */
bool upload_takes(struct starter *starter, const char *name, const char *path, int64_t size_bytes);
/* Called at the end of the run: frees the list of uploads. */
void upload_forget(struct starter *starter);

#endif
