/* rsyscall/wrap/wrap_calls.h - what the wrappers of calls have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_WRAP_WRAP_CALLS_H
#define RSYSCALL_WRAP_WRAP_CALLS_H

#include "rsyscall/wrap/wrap.h"

/* Negative: -1, and errno is set; else the same. */
long wrap_result(long code);
int wrap_open(int dir, const char *name, int flags, mode_t mode);
mode_t wrap_umask(void);
bool wrap_is_on(void);     /* there are remote files */
bool wrap_is_ours(int fd); /* a remote file's descriptor */
/* Does the name lead to the server, or nowhere?  Else *local is what the kernel knows it by, in
 * place if not name itself. */
bool wrap_is_remote(int dir, const char *name, const char **local, struct wrap_place *place);
/* One request about a name.  True: *ret is its status as a call's result, and errno; false: *name
 * is what the kernel knows it by, in place if not what it was. */
bool wrap_ask_name(int dir, const char **name, struct wrap_place *place,
                   struct rsys_request *request, struct rsys_reply *reply, long *ret);
/* Of an open file; under the lock. */
int wrap_set_attr(struct wrap_file *file, uint32_t how, const struct rsys_attr *attr);

#endif
