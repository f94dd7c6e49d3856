/* base/os/os_mark.h - finds processes by a variable in their environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_MARK_H
#define BASE_OS_OS_MARK_H

#include <sys/types.h>

/* Calls each(arg, pid, value) for each process but this one that has the variable `name` ("NAME=")
 * in its environment, and into which this process may look: its own user's, or all for root. */
void os_mark_each(const char *name, void (*each)(void *arg, pid_t pid, const char *value),
                  void *arg);

#endif
