/* starter/files/upload.h - output that goes to URLs, while the cage is there and the sandbox is the
 * account's.
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

/* Before all other output. */
enum starter_upload_step { UPLOADS_UNKNOWN, UPLOADS_LISTED, UPLOADS_OVER };

struct starter_uploads {
    struct vec list; /* struct upload: output that goes to URLs */
    size_t at;
    enum starter_upload_step step;
    struct ad *hold; /* HoldReason ...: some of it could not be sent */
};

bool upload_is_needed(struct starter *starter);             /* comes back by WAKE_OVER */
bool upload_has_destination(const struct starter *starter); /* cheap: some URL is named at all */
bool upload_next(struct starter *starter); /* false: that one could not even be begun */
/* Is that file of the sandbox one of them?  It is kept for upload_next() the first time. */
bool upload_takes(struct starter *starter, const char *name, const char *path, int64_t size_bytes);
void upload_forget(struct starter *starter);

#endif
