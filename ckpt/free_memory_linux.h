/* ckpt/free_memory_linux.h - how much memory a process may still use before the kernel kills a
 * process for it.
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

/* Returns the least of the machine's free memory, with swap, and of what the limits leave free in
 * each cgroup (v2) of the process.  In a cgroup, memory that can be read from disk again counts as
 * free.  UINT64_MAX: unknown. root: "", or a directory that contains another /proc and /sys. */
uint64_t free_memory(const char *root, pid_t pid);

#endif
