/* shadow/path_join.h - joins a directory and a name to a path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_PATH_JOIN_H
#define SHADOW_PATH_JOIN_H

/* Returns "<directory>/<name>", or a copy of directory when name is "".  Owned by the caller. */
char *path_join(const char *directory, const char *name);

#endif
