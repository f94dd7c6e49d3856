/* transfer/transfer_dest.h - where output goes by the job's ad: TransferOutput,
 * TransferOutputRemaps, OutputDestination.
 *
 * Pure.  The shadow makes paths of the owner of it, the starter finds what it has to send to a URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_DEST_H
#define TRANSFER_TRANSFER_DEST_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

/* Where the file `name` of the sandbox would go without remaps, relative to Iwd: in *ret, owned by
 * the caller (mem_free); its first *below bytes are what the owner named himself.  False: it is no
 * output of the job. */
bool transfer_dest_find(const struct ad *job, const char *name, char **ret, size_t *below);

/* The new name, by TransferOutputRemaps ("a = b; c = d"), of `name` or the longest of the
 * directories that it is in; owned by the caller (mem_free).  *rest: what of name is below that.
 * NULL: it has none. */
char *transfer_dest_remap(const struct ad *job, const char *name, const char **rest);

/* The URL that the file goes to in place of the owner's directory; owned by the caller (mem_free).
 * stream: the last name of the owner's file where it is his standard output or error, which only
 * go to OutputDestination; NULL: it is another.  NULL: there is none. */
char *transfer_dest_url(const struct ad *job, const char *name, const char *stream);

#endif
