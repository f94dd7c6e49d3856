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
/* Starts fetching the next input that is a URL.  When the input was fetched, or must be tried
 * again, makes starter.c continue the run (WAKE_GO); after STARTER_URL_TRIES_MAX failures, or if
 * another attempt would be useless, holds the job. */
void fetch_next(struct starter *starter);
/* Called at the end of the run: frees the list of file transfer plug-ins. */
void fetch_forget(struct starter *starter);

#endif
