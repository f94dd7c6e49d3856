/* rsyscall_fuse/kernel_linux.h - reads the kernel's requests from /dev/fuse and writes the answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_KERNEL_LINUX_H
#define RSYSCALL_FUSE_KERNEL_LINUX_H

#include "rsyscall_fuse/rfs.h"

struct loop;
struct rfs_kernel;

/* Takes over both descriptors: fd is a mounted /dev/fuse; proc_fd is the /proc directory of the
 * job's sandbox (-1: none).  on_end is called when the file system is unmounted or the device
 * cannot be read. */
struct rfs_kernel *rfs_kernel_create(struct loop *loop, int fd, int proc_fd,
                                     void (*on_end)(void *arg), void *arg);
/* Returns the device to be given to rfs_create(). */
struct rfs_device rfs_kernel_device(struct rfs_kernel *kernel);
/* Starts reading the kernel's requests, and gives them to the file system fs. */
void rfs_kernel_serve(struct rfs_kernel *kernel, struct rfs *fs);
/* Stops serving: the kernel answers waiting processes with ECONNABORTED, so that they can end.
 * NULL is allowed. */
void rfs_kernel_stop(struct rfs_kernel *kernel);
/* Closes the descriptors and frees `kernel`.  To be called after rfs_destroy().  NULL is
 * allowed. */
void rfs_kernel_destroy(struct rfs_kernel *kernel);

#endif
