/* store/store_wal.h - whether the write-ahead log beside a store still has what was acknowledged.
 *
 * Design note.  SQLite takes a log that is missing, or whose header is wrong, for an empty one, and
 * ends at the first frame whose checksum does not match.  This is right after a power cut, but it
 * also hides the loss of transactions that were acknowledged.  So the log is read before SQLite
 * sees it.  Each transaction is synced before it is acknowledged and before the next one is
 * written.  A power cut therefore explains at most one transaction behind the first wrong frame.
 * While a daemon runs, and after it was killed, the log has at least one frame: the witness says
 * whether that is so (store_beside.h).
 *
 * SQLite writes a new header over the old one when all frames were copied into the store.  If the
 * power ends within that write, the header is wrong and nothing is lost: the pages of the store are
 * then the same as the last ones of the log.
 *
 * Source: sqlite.org/fileformat2.html, section 4.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_WAL_H
#define STORE_STORE_WAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct os;

enum store_wal_kind {
    STORE_WAL_MISSING,
    STORE_WAL_EMPTY, /* not even one frame */
    STORE_WAL_NO_HEADER,
    STORE_WAL_READABLE
};

struct store_wal {
    enum store_wal_kind kind;
    bool copied_back; /* STORE_WAL_NO_HEADER: the store has all pages of the log */
    /* STORE_WAL_READABLE: */
    uint64_t good_bytes; /* header and whole transactions before the first wrong frame */
    size_t behind;       /* transactions at or behind the first wrong frame, of the same round */
};

/* Reads the log of the store at path.  Costs about a millisecond for each MiB.  Returns 0, or a
 * negative errno with err when the file cannot be read. */
int store_wal_read(struct os *os, const char *path, struct store_wal *ret, struct err *err);
/* Judges the log of the store at path.  must_exist: the witness says that the daemon did not stop
 * in order.  Returns 0; -EUCLEAN, with words for the operator in err, if acknowledged transactions
 * are lost; or another negative errno with err. */
int store_wal_judge(struct os *os, const char *path, bool must_exist, struct err *err);

#endif
