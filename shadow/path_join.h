/* shadow/path_join.h - a name below a directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_PATH_JOIN_H
#define SHADOW_PATH_JOIN_H

/* "<directory>/<name>", or the directory itself where the name is ""; owned by the caller. */
char *path_join(const char *directory, const char *name);

#endif
