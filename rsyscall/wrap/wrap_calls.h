/* rsyscall/wrap/wrap_calls.h - helper functions of the wrapped calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_WRAP_WRAP_CALLS_H
#define RSYSCALL_WRAP_WRAP_CALLS_H

#include "rsyscall/wrap/wrap.h"

/* Turns a result into that of a C library function: if code is a negative errno, sets errno and
 * returns -1; otherwise returns code. */
long wrap_result(long code);
int wrap_open(int dir, const char *name, int flags, mode_t mode);
mode_t wrap_umask(void);
bool wrap_is_on(void);     /* returns whether this process has remote files */
bool wrap_is_ours(int fd); /* returns whether fd is a descriptor of a remote file */
/* Returns whether the name, relative to the directory `dir` (AT_FDCWD: the working directory), is
 * that of a remote file, or cannot be resolved.  If not, *local is the
 * name to be given to the kernel: `name` itself, or a path in *place. */
bool wrap_is_remote(int dir, const char *name, const char **local, struct wrap_place *place);
/* Sends one request about a name, relative to the directory `dir` (AT_FDCWD: the working
 * directory), if the name is that of a remote file.  Returns true: *ret is the result
 * for the caller of the C library function; if it is -1, errno is set.  Returns false: the file is
 * local, and *name is the name to be given to the kernel: unchanged, or a path in *place. */
bool wrap_ask_name(int dir, const char **name, struct wrap_place *place,
                   struct rsys_request *request, struct rsys_reply *reply, long *ret);
/* Changes attributes of an open remote file. how: which ones (RSYS_SET_*).  The caller must hold
 * the lock of this library (wrap.h).  Returns 0 or a negative errno. */
int wrap_set_attr(struct wrap_file *file, uint32_t how, const struct rsys_attr *attr);

#endif
