/* base/file_digest.h - SHA-256 of a file, or of its first part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_FILE_DIGEST_H
#define BASE_FILE_DIGEST_H

#include <stdint.h>

#include "base/digest.h"

struct err;
struct os;
struct os_file;

/* a value for `end` of file_digest_add(): up to the end of the file */
#define FILE_DIGEST_ALL UINT64_MAX

/* Adds the file's bytes from *at up to `end`, or to the end of the file if that comes first.  Moves
 * *at to the first byte that was not added, on failure too.  Returns 0, or -errno of reading. */
int file_digest_add(struct digest *digest, struct os_file *file, uint64_t *at, uint64_t end);
/* Computes the SHA-256 of a regular file below the directory root; os_below_open() opens path,
 * without following links.  Returns 0, an error of os_below_open(), or -errno when reading fails;
 * ret is set only for 0. */
int file_digest_below(struct os *os, const char *root, const char *path, char ret[DIGEST_HEX_SIZE],
                      struct err *err);

#endif
