/* store/store_beside.h - the two files beside a store: its witness and its reserve of disk space.
 *
 * The witness, FILE.witness, says that FILE was a store: a missing or empty FILE is then a loss,
 * and not the first start of a new pool.  It also holds the high-water mark, a number above each id
 * that the daemon has given, so that a store that came back from a backup does not give ids twice.
 * The generation, which FILE has, too, grows at each opening and closing: a FILE whose generation
 * is lower than its witness's is such an older copy.  Last, the witness says whether the store is
 * open: from the first transaction of an opening, when the write-ahead log has frames, until the
 * closing, before SQLite removes the log.
 * The reserve, FILE.reserve, is a file without content that takes disk space, and is removed to
 * make room for commits when the disk is full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_BESIDE_H
#define STORE_STORE_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

#define STORE_WITNESS_NAMES 1024

struct err;
struct os;

/* What changes in a witness. */
struct store_marks {
    int64_t high_water; /* 0: none */
    int64_t generation; /* 0: an older program wrote the witness */
    bool is_open;
};

/* What a witness says: enough to make an empty store, or to know the rows of a damaged one. */
struct store_witness {
    bool present;
    struct store_marks marks;
    char daemon[64];
    int version;
    char names[STORE_WITNESS_NAMES]; /* of the tables; with a zero after each */
    const char *tables[STORE_TABLES_MAX + 1];
};

/* Reads the witness of the store at path.  Returns 0, also if there is none; -EUCLEAN with err: the
 * witness cannot be understood; or another negative errno with err. */
int store_witness_read(struct os *os, const char *path, struct store_witness *ret, struct err *err);
/* Writes the witness, durably.  Returns 0, or a negative errno with err. */
int store_witness_write(struct os *os, const char *path, const struct store_schema *schema,
                        const struct store_marks *marks, struct err *err);
/* Returns 0 if the file at path is there and not empty; -EUCLEAN, with words for the operator in
 * err, if not. */
int store_witness_holds(struct os *os, const char *path, struct err *err);
/* Refuses a missing file without a witness where something else says that there was a store: files
 * that are made beside a store, or `remains` (a name in the same directory; may be NULL).  Returns
 * 0, also if the file is there; or -EUCLEAN, with words for the operator in err. */
int store_refuse_remains(struct os *os, const char *path, const char *remains, struct err *err);

/* Returns whether the disk takes no new files because it is mounted for reading only.  A disk on
 * which the kernel gave up answers the first write with an I/O error, and only then so. */
bool store_disk_is_read_only(struct os *os, const char *path);

/* Makes the reserve, unless it is there already.  Returns 0; -EOPNOTSUPP: the file system cannot do
 * it; or another negative errno with err. */
int store_reserve_make(struct os *os, const char *path, int64_t bytes, struct err *err);
/* Removes the reserve.  Returns whether there was one. */
bool store_reserve_drop(struct os *os, const char *path);

#endif
