/* store_tool/salvage.h - reads the rows of a damaged store from its pages, without its trees.
 *
 * Design note.  SQLite finds rows through inner pages; where one of these is damaged, all rows
 * below it are out of reach although their own pages are good.  So each page that is a leaf of a
 * table is read by itself, with the newest copies of pages that the write-ahead log committed.  A
 * leaf lists only rows that exist: deleted ones leave its list, and Debian's SQLite overwrites free
 * pages with zeros.  The checksum of a row says that the row is whole and which table it is of.
 * Source: "Database File Format", sqlite.org/fileformat2.html, sections 1.3, 1.6, 2.1 and 4.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_TOOL_SALVAGE_H
#define STORE_TOOL_SALVAGE_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* A row as its page has it; it may be damaged.  The bytes live until the callback returns. */
struct salvage_row {
    uint32_t page;
    const char *key; /* not ended by a zero */
    size_t key_length;
    const void *value;
    size_t length;
    int64_t sum;
};
typedef int (*salvage_f)(void *arg, const struct salvage_row *row);

/* Calls each(arg, row) for every row of a store that can be read.  file: the bytes of the store;
 * wal: those of its write-ahead log (wal_length 0: there is none).  *broken counts the cells that
 * could not be read.  Returns 0, what `each` returned if that was not 0, or -EUCLEAN with err when
 * the file has no size of pages that can be used. */
int salvage_rows(const uint8_t *file, size_t length, const uint8_t *wal, size_t wal_length,
                 salvage_f each, void *arg, size_t *broken, struct err *err);

#endif
