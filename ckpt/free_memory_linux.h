/* ckpt/free_memory_linux.h - how much memory a process may still take before one is killed for it.
 *
 * A copy of a job takes none at first.  But the job goes on, and of each page that it writes to
 * meanwhile there are two then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FREE_MEMORY_LINUX_H
#define CKPT_FREE_MEMORY_LINUX_H

#include <stdint.h>
#include <sys/types.h>

/* The least of what the machine has, with swap, and of what the limits leave of each group of
 * processes (cgroup v2) that it is in: there what can be read from disk again counts as free.
 * UINT64_MAX: nobody says.  root: "", or a directory to look for /proc and /sys in. */
uint64_t free_memory(const char *root, pid_t pid);

#endif
