/* base/os/os_run.h - makes the real body of base/os/os.h; for a process's main() only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_RUN_H
#define BASE_OS_OS_RUN_H

struct err;
struct loop;
struct os;

/* Makes the struct os of this process. loop may be NULL in a program without a loop, which must not
 * use functions of base/os/ that take callbacks.  Returns 0 or -errno. */
int os_create(struct loop *loop, struct os **ret, struct err *err);
void os_destroy(struct os *os); /* NULL is allowed */

/* Raises this process's limit of open files as far as possible; programs that os_spawn() starts get
 * the limit with which this process was started, if os_create() comes first. */
void os_raise_file_limit(void);

/* Ends the process at once, without freeing anything: the kernel does that faster.  Output streams
 * must have been flushed.  In builds that check what a process leaves behind (sanitizers, coverage)
 * os_leave() returns, and the caller must clean up normally. */
void os_leave(int status);

#endif
