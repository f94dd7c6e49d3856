/* transfer/transfer_dest.h - finds where a job's output files go, as its ad says: TransferOutput,
 * TransferOutputRemaps, OutputDestination.
 *
 * Pure.  The shadow uses these functions to make paths on the submit host; the starter uses them to
 * find out which files to send to a URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_DEST_H
#define TRANSFER_TRANSFER_DEST_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

/* Finds where the file `name` of the sandbox would go without remaps. *ret: the path relative to
 * Iwd, owned by the caller (mem_free). *below: how many bytes at the beginning of *ret are a
 * path that the owner has named in TransferOutput; the job has named the rest.  If the job ad has
 * no TransferOutput, *below is the whole length of *ret.  Returns false when the file is not an
 * output of the job. */
bool transfer_dest_find(const struct ad *job, const char *name, char **ret, size_t *below);

/* Returns the new name that TransferOutputRemaps ("a = b; c = d") gives to `name` or to the longest
 * directory that `name` is in; owned by the caller (mem_free).  *rest: the part of name below that
 * directory, "" when name itself is remapped.  NULL: name is not remapped. */
char *transfer_dest_remap(const struct ad *job, const char *name, const char **rest);

/* Returns the URL that an output file is sent to, owned by the caller (mem_free); NULL when the
 * file goes to a directory of the owner instead.  stream: NULL for ordinary files; for standard
 * output and error, the name of the owner's file without its directory (these two go to
 * OutputDestination if that is a URL, and are never remapped to one). */
char *transfer_dest_url(const struct ad *job, const char *name, const char *stream);

#endif
