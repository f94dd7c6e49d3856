/* base/secret_file.h - reads a password from a file.
 *
 * A configuration names the file and never contains the password: so the configuration may be
 * shown, and only its owner reads the file.  A file that others can read, or could have put there,
 * is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <stddef.h>

struct err;
struct os;

#define SECRET_FILE_MAX 4096 /* most bytes of a secret, with the terminating zero */

/* Reads the file into ret, zero-terminated and without white space at its end; size is at most
 * SECRET_FILE_MAX.  Returns 0; -EACCES: group or others have some right to the file, or its owner
 * is neither the user of this process nor root; -EINVAL: not a regular file, empty, contains a zero
 * byte, or longer than size - 1; or -errno of opening the file. err names the file and never quotes
 * its contents.  On failure ret contains nothing of the file. */
int secret_file_read(struct os *os, const char *path, char *ret, size_t size, struct err *err);
/* Overwrites a secret in memory.  The compiler cannot optimise this away. */
void secret_wipe(void *data, size_t length);
void secret_free(char *text); /* overwrites the text and frees it; NULL is allowed */

#endif
