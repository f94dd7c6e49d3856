/* ckpt/free_memory_linux.h - finds how much more memory a process can use before the kernel kills a
 * process for lack of memory.
 *
 * A copy of a job (fork) uses no memory at first.  But the job continues, and each page that it
 * writes to exists twice from then on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FREE_MEMORY_LINUX_H
#define CKPT_FREE_MEMORY_LINUX_H

#include <stdint.h>
#include <sys/types.h>

/* Returns bytes: the machine's free memory and swap space, or the memory that the limit of a cgroup
 * (v2) of the process `pid` leaves free, if that is less.  In a cgroup, memory that can be read
 * from disk again counts as free.  Returns UINT64_MAX if unknown. root: ""; in tests, a directory
 * that contains /proc and /sys. */
uint64_t free_memory(const char *root, pid_t pid);

#endif
