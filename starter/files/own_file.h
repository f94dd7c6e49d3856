/* starter/files/own_file.h - reads a file that the job's account has written.
 *
 * Processes of that account may replace such a file at any moment, and we may be root.  So the file
 * is checked after it was opened, no link is followed, and a file that belongs to somebody else
 * (reached by a hard link) is not read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_OWN_FILE_H
#define STARTER_FILES_OWN_FILE_H

#include <stddef.h>

struct starter;

/* Returns at most max bytes of the file `name` below `directory`, with a zero at the end; the
 * caller frees it with mem_free().  NULL: no such file, or it is not the account's. */
char *own_file_read(const struct starter *starter, const char *directory, const char *name,
                    size_t max);

#endif
