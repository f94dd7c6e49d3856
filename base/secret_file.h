/* base/secret_file.h - a password in a file of its own.
 *
 * A configuration names the file and never the password, so that the one may be shown and the other
 * is read by nobody.  A file that others may read, or that others could have put there, is refused
 * rather than used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <stddef.h>

struct err;
struct os;

#define SECRET_FILE_MAX 4096 /* bytes */

/* The text of the file without the white space at its end, zero-terminated, into ret; size is at
 * most SECRET_FILE_MAX.  -EACCES: group or others have a right to it, or it is neither ours nor
 * root's; -EINVAL: no plain file, empty, with a zero byte, or longer than size - 1; and what
 * opening it gives.  err names the file, and never quotes it.  On failure ret holds nothing of it.
 */
int secret_file_read(struct os *os, const char *path, char *ret, size_t size, struct err *err);
/* Overwrites what was secret, also where the compiler sees that nobody reads it again. */
void secret_wipe(void *data, size_t length);
void secret_free(char *text); /* wipes it and frees it; NULL is allowed */

#endif
