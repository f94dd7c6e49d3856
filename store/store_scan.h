/* store/store_scan.h - one scan of store_scan(): the rows that it has kept so far, and its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_SCAN_H
#define STORE_STORE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

struct err;
struct store_db;
struct store_scan;

/* The arguments are those of store_scan(), with the table's index for its name, and the limit in
 * figures. */
struct store_scan *store_scan_create(int table, const char *from, const char *to, bool reverse,
                                     size_t limit, store_filter_f filter, void *filter_arg,
                                     store_scan_f done, void *arg);
void store_scan_destroy(struct store_scan *scan); /* NULL is allowed */

/* Reads the next slice of rows, on the thread that uses the file.  Returns 0; -E2BIG: the kept rows
 * have more than STORE_SCAN_BYTES_MAX; or another negative errno, with err unless it is -ENOMEM. */
int store_scan_slice(struct store_scan *scan, struct store_db *db, struct err *err);
/* Returns whether the last slice was the end of the scan. */
bool store_scan_is_complete(const struct store_scan *scan);
/* Gives the rows, or the error `code`, to the caller of store_scan(). */
void store_scan_tell(const struct store_scan *scan, int code);

#endif
