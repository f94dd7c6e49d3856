/* base/file_digest.h - SHA-256 of what is in a file, or in its first part.
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

#define FILE_DIGEST_ALL UINT64_MAX

/* Adds the bytes from *at to end, or to where the file ends before that; *at is how far it came,
 * also where it fails.  0 or what reading said. */
int file_digest_add(struct digest *digest, struct os_file *file, uint64_t *at, uint64_t end);
/* Of a plain file below root, which is opened as os_below_open() does; its errors, or -errno of
 * reading. */
int file_digest_below(struct os *os, const char *root, const char *path, char ret[DIGEST_HEX_SIZE],
                      struct err *err);

#endif
