/* starter/files/fetch.h - inputs that are URLs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_FETCH_H
#define STARTER_FILES_FETCH_H

#include <stdbool.h>

struct starter;

bool fetch_is_needed(struct starter *starter);
void fetch_next(struct starter *starter); /* comes back by WAKE_GO */
void fetch_forget(struct starter *starter);

#endif
