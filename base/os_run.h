/* base/os_run.h - making the real body of base/os.h: for a process's main only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_RUN_H
#define BASE_OS_RUN_H

struct err;
struct loop;
struct os;

/* loop may be NULL for programs without one: then nothing that calls back may be used. */
int os_create(struct loop *loop, struct os **ret, struct err *err);
void os_destroy(struct os *os); /* NULL is allowed */

#endif
