/* transfer/transfer_dest.h - where a job's output files go, as its ad says: TransferOutput,
 * TransferOutputRemaps, OutputDestination.
 *
 * Pure.  The shadow makes paths of the owner from it; the starter finds out what to send to a URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_DEST_H
#define TRANSFER_TRANSFER_DEST_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

/* Finds where the file `name` of the sandbox would go without remaps. *ret: the path relative to
 * Iwd, owned by the caller (mem_free); its first *below bytes were named by the job's owner, the
 * rest by the job.  Returns false when the file is not an output of the job. */
bool transfer_dest_find(const struct ad *job, const char *name, char **ret, size_t *below);

/* Returns the new name that TransferOutputRemaps ("a = b; c = d") gives to `name` or to the longest
 * directory that `name` is in; owned by the caller (mem_free). *rest: the part of name below that.
 * NULL: name is not remapped. */
char *transfer_dest_remap(const struct ad *job, const char *name, const char **rest);

/* Returns the URL that an output file goes to instead of a directory of the owner; owned by the
 * caller (mem_free); NULL: none.  stream: for standard output or error, which can go only to
 * OutputDestination, the last name of the owner's file; NULL for other files. */
char *transfer_dest_url(const struct ad *job, const char *name, const char *stream);

#endif
