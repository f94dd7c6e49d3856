/* ckpt/files/archive_linux.h - an archive of a job's files, made whole of one before and what
 * changed.
 *
 * What changed is a tar archive, too (POSIX format), without the files that are as they were: of
 * these it has a list, its first member, of names as archives have them, each ended by a zero.
 * What comes of both is what changed, but for that list, and behind it the members of the one
 * before that the list names, as they are there: nothing is unpacked, and contents are not looked
 * at.  Members that tar understands better than we (sparse files, long names, times) stay its
 * business: of a member only its name and its length are read.
 *
 * Rejected: to keep what changed beside the one before, for who unpacks it one day.  Each machine
 * that the job goes on at would be sent all of them, and a chain has an end somewhere.
 *
 * Archives come from strangers: whatever is in them is read as bytes, and a name that is listed but
 * not there, or there twice, is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_ARCHIVE_LINUX_H
#define CKPT_FILES_ARCHIVE_LINUX_H

#include <stdint.h>

struct err;

struct archive_file { /* open; the name is for messages */
    int fd;
    const char *name;
};

/* Writes to `out`, which is empty; *bytes: how much.  -EBADMSG: what is there is no such archive;
 * -ENODATA: the one before has not what is to be kept; -EFBIG: it would be more than `max` bytes,
 * or the list is longer than that of any job should be. */
int archive_merge(const struct archive_file *before, const struct archive_file *changes,
                  const struct archive_file *out, uint64_t max, uint64_t *bytes, struct err *err);

#endif
