/* starter/files/own_file.h - reads a file that the job's account has written.
 *
 * Processes of that account may replace such a file at any moment, and the starter may be root.  So
 * the file is checked after it was opened, no link is followed, and a file that belongs to somebody
 * else (reached by a hard link) is not read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_OWN_FILE_H
#define STARTER_FILES_OWN_FILE_H

#include <stddef.h>

struct starter;

/* Returns the first bytes, at most max, of the file `name` below `directory`, followed by a zero
 * byte; the caller frees the memory with mem_free().  Returns NULL if there is no such file or it
 * does not belong to the job's account. */
char *own_file_read(const struct starter *starter, const char *directory, const char *name,
                    size_t max);

#endif
