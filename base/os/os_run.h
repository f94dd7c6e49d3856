/* base/os/os_run.h - making the real body of base/os/os.h: for a process's main only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_RUN_H
#define BASE_OS_OS_RUN_H

struct err;
struct loop;
struct os;

/* loop may be NULL for programs without one: then nothing that calls back may be used. */
int os_create(struct loop *loop, struct os **ret, struct err *err);
void os_destroy(struct os *os); /* NULL is allowed */

/* Ends the process at once: the kernel takes back memory and descriptors faster than we and the
 * libraries give them back one by one.  Streams that were written to must have been flushed.  It
 * returns in builds that look at what a process leaves behind (sanitizers, coverage): the caller
 * then tidies up as if there were no such function. */
void os_leave(int status);

#endif
