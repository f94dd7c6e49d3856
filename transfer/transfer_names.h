/* transfer/transfer_names.h - names that travel with a job's files, and what each side may make of
 * them.
 *
 * Pure.  Starter and shadow do not trust each other: a path from the other side is only used below
 * a directory of ours, and only when transfer_path_is_safe() says so; a link only when it leads to
 * something in the directory with which it came.
 *
 * A path that travels is relative to the sandbox: "data/x.csv".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRANSFER_TRANSFER_NAMES_H
#define TRANSFER_TRANSFER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define TRANSFER_NAME_MAX  255
#define TRANSFER_PATH_MAX  2000
#define TRANSFER_DEPTH_MAX 64
#define TRANSFER_FILES_MAX 100000             /* of one job, one way; directories count */
#define TRANSFER_LIST_MAX  ((size_t)12 << 20) /* bytes of their names: one message holds them */

/* One name: no slash, not "." or "..", 1 to TRANSFER_NAME_MAX bytes. */
bool transfer_name_is_plain(const char *name);
/* Plain names between single slashes, at most TRANSFER_DEPTH_MAX of them, TRANSFER_PATH_MAX bytes.
 */
bool transfer_path_is_safe(const char *path);
/* May a link be at `path` and say `target`?  It is relative, goes up only at its beginning, and not
 * above the first directory of path: so, where no link is outside this rule, what it leads to, over
 * other links, too, is in that directory.  Never at the top. */
bool transfer_link_is_safe(const char *path, const char *target);

bool transfer_is_url(const char *text);
/* What follows the last slash. */
const char *transfer_last_name(const char *path);
/* The path without "." and empty names, and without the slash at the end; owned by the caller
 * (mem_free).  NULL: it has "..", or nothing is left. */
char *transfer_path_clean(const char *path);
/* Is path `directory` itself, or below it?  Then what follows ("" for itself), else NULL. */
const char *transfer_path_below(const char *path, const char *directory);

/* The next item of *at, blanks around it removed, or NULL at the end; owned by the caller
 * (mem_free).  Items may be empty. */
char *transfer_list_next(const char **at, char separator);

#endif
