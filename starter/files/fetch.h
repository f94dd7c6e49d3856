/* starter/files/fetch.h - inputs that are URLs: fetched in the job's cage before the job starts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_FETCH_H
#define STARTER_FILES_FETCH_H

#include <stdbool.h>

struct starter;

/* Returns whether some input with a URL has not been fetched yet. */
bool fetch_is_needed(struct starter *starter);
/* Starts fetching the next input that is a URL.  WAKE_GO follows when it is there or must be tried
 * again; after too many failures the job is held. */
void fetch_next(struct starter *starter);
/* Called at the end of the run. */
void fetch_forget(struct starter *starter);

#endif
