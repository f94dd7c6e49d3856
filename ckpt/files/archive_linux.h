/* ckpt/files/archive_linux.h - makes a whole archive of a job's files from an earlier archive and
 * an archive of changes.
 *
 * An archive of changes is a tar archive (POSIX format) without the files that did not change.  Its
 * first member is a list of these files: names as in archives, each ended by a zero.
 *
 * The result consists of the archive of changes, without that list, and then of the listed members
 * of the earlier archive, copied as they are: nothing is unpacked, and contents are not looked at.
 * Only name and length of a member are read; tar itself handles what it knows better (sparse files,
 * long names, times).
 *
 * Rejected: to keep the archives of changes beside the earlier one until somebody unpacks them.
 * Each machine on which the job continues would have to receive all of them, and a chain must end
 * somewhere.
 *
 * Archives come from untrusted users: all contents are read as bytes, and a listed name that is
 * missing or occurs twice is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_ARCHIVE_LINUX_H
#define CKPT_FILES_ARCHIVE_LINUX_H

#include <stdint.h>

struct err;

struct archive_file { /* an open archive file; name: its name, for messages */
    int fd;
    const char *name;
};

/* Makes a whole archive from the earlier archive `before` and the archive of changes `changes`, and
 * writes it to `out`, which must be empty. *bytes: its length.  Returns 0; -EBADMSG: one of the two
 * archives is damaged or has another format; -ENODATA: the earlier archive lacks a file that the
 * list at the beginning of `changes` names; -EFBIG: the result would have more than `max` bytes, or
 * that list is too long; or another -errno. */
int archive_merge(const struct archive_file *before, const struct archive_file *changes,
                  const struct archive_file *out, uint64_t max, uint64_t *bytes, struct err *err);

#endif
