/* transfer/transfer_names.h - checks the names of files that are sent between shadow and starter.
 *
 * Pure.  Starter and shadow do not trust each other.  A path from the other side is used only below
 * a directory that the receiver has chosen, and only when transfer_path_is_safe() accepts it.  A
 * link is accepted only when it leads to something in the directory with which it was sent.
 *
 * A path that is sent is relative to the sandbox: "data/x.csv".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_NAMES_H
#define TRANSFER_TRANSFER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* most bytes of one name in a path, without the terminating zero */
#define TRANSFER_NAME_MAX  255
#define TRANSFER_PATH_MAX  2000 /* most bytes of a path, without the terminating zero */
#define TRANSFER_DEPTH_MAX 64
#define TRANSFER_FILES_MAX 100000 /* most files and directories of a job in one direction */
/* Most bytes of the names of all files that are sent in one direction, because one message must
 * hold the whole list. */
#define TRANSFER_LIST_MAX ((size_t)12 << 20)

/* Returns whether name is a single name: no slash, not "." or "..", 1 to TRANSFER_NAME_MAX
 * bytes. */
bool transfer_name_is_plain(const char *name);
/* Returns whether the path consists of plain names between single slashes, at most
 * TRANSFER_DEPTH_MAX names and TRANSFER_PATH_MAX bytes. */
bool transfer_path_is_safe(const char *path);
/* Returns whether a link at `path` may have this target.  The target must be relative, may go up
 * ("..") only at its beginning, and not above the first directory of path.  If all links keep this
 * rule, a link leads only into that directory, even when it leads through other links.  False for a
 * link at the top of the sandbox. */
bool transfer_link_is_safe(const char *path, const char *target);

bool transfer_is_url(const char *text); /* true for "scheme://..." */
/* Returns the part of path after the last slash. */
const char *transfer_last_name(const char *path);
/* Returns path without "."  and empty names, and without a slash at the end; owned by the caller
 * (mem_free).  NULL when it has "..", or when nothing is left. */
char *transfer_path_clean(const char *path);
/* Returns the part of path below directory, "" when they are the same; NULL when path is not below
 * it. */
const char *transfer_path_below(const char *path, const char *directory);

/* Returns the next item of a list without the blanks around it, owned by the caller (mem_free);
 * NULL at the end.  *at points to the rest of the list and is advanced behind the item.  Items may
 * be empty. */
char *transfer_list_next(const char **at, char separator);

#endif
