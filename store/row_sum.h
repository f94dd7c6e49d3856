/* store/row_sum.h - the checksum that each row of a store carries.
 *
 * Design note.  SQLite has no checksums of its own, so a flipped bit within a value, a block of
 * another file in the middle of this one, or an old copy of a page would be read as if it were what
 * the daemon wrote.  The checksum covers the name of the table, the key and the value: a good value
 * below another row's key is damage, too.  CRC-32 of zlib finds every change of up to 32 bits in a
 * row, and all but one of 4 billion others; the cost is about a microsecond for a job ad.
 * Rejected: SQLite's checksum extension (Debian does not have it), and SHA-256, which costs several
 * times as much and guards against intent, from which a plain checksum in the same file never does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_ROW_SUM_H
#define STORE_ROW_SUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of a row of the table.  The key need not end with a zero. */
int32_t row_sum(const char *table, const void *key, size_t key_length, const void *value,
                size_t length);

#endif
