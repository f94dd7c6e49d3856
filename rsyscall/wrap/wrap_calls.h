/* rsyscall/wrap/wrap_calls.h - helper functions of the wrapped calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_WRAP_WRAP_CALLS_H
#define RSYSCALL_WRAP_WRAP_CALLS_H

#include "rsyscall/wrap/wrap.h"

/* The result of a system call: a negative code sets errno and returns -1; other codes are
 * returned. */
long wrap_result(long code);
int wrap_open(int dir, const char *name, int flags, mode_t mode);
mode_t wrap_umask(void);
bool wrap_is_on(void);     /* there are remote files */
bool wrap_is_ours(int fd); /* fd is a remote file's descriptor */
/* True when the name is remote (or cannot be resolved).  Otherwise *local is the name for the
 * kernel: name itself, or a path in *place. */
bool wrap_is_remote(int dir, const char *name, const char **local, struct wrap_place *place);
/* Sends one request about a name.  True: *ret is the call's result, and errno is set.  False: the
 * name is local and *name is the name for the kernel, unchanged or pointing into *place. */
bool wrap_ask_name(int dir, const char **name, struct wrap_place *place,
                   struct rsys_request *request, struct rsys_reply *reply, long *ret);
/* Changes attributes of an open file; call with the lock held. */
int wrap_set_attr(struct wrap_file *file, uint32_t how, const struct rsys_attr *attr);

#endif
