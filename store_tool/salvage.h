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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store_witness;

/* A row as its page has it; it may be damaged.  The bytes live until the callback returns. */
struct salvage_row {
    uint32_t page;
    bool is_broken;  /* the place of a row that cannot be read: only `page` is set */
    const char *key; /* not ended by a zero */
    size_t key_length;
    const void *value;
    size_t length;
    int64_t sum;
};
typedef int (*salvage_f)(void *arg, const struct salvage_row *row);

/* The bytes of a store and of its write-ahead log (wal_length 0: there is none). */
struct salvage_bytes {
    const uint8_t *file;
    size_t length;
    const uint8_t *wal;
    size_t wal_length;
};

/* Calls each(arg, row) for every row of a store, page by page.  Returns 0, what `each` returned if
 * that was not 0, or -EUCLEAN with err when the file has no size of pages that can be used. */
int salvage_rows(const struct salvage_bytes *bytes, salvage_f each, void *arg, struct err *err);
/* Callback that gets a key which an index names; the key is not ended by a zero.  Returns 0, or a
 * negative errno, which ends the walk. */
typedef int (*salvage_key_f)(void *arg, uint32_t page, const char *key, size_t length);
/* Calls each(arg, ...) for every key that an index names, page by page; with what salvage_rows()
 * finds this tells which rows are lost.  Also the table "meta" has an index.  Results as those of
 * salvage_rows(). */
int salvage_keys(const struct salvage_bytes *bytes, salvage_key_f each, void *arg, struct err *err);
/* Reads from the store itself what its witness would say: daemon, version and tables.  Returns 0;
 * or -EUCLEAN with err: the first page is damaged. */
int salvage_identify(const struct salvage_bytes *bytes, struct store_witness *ret, struct err *err);

#endif
