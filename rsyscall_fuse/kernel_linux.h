/* rsyscall_fuse/kernel_linux.h - /dev/fuse: the kernel's requests in, answers out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_KERNEL_LINUX_H
#define RSYSCALL_FUSE_KERNEL_LINUX_H

#include "rsyscall_fuse/rfs.h"

struct loop;
struct rfs_kernel;

/* Takes both descriptors: fd is an open /dev/fuse that is mounted, proc_fd a directory of /proc in
 * the namespace of who mounted it (-1: none).  on_end is called when the file system is no longer
 * mounted, or the device cannot be read. */
struct rfs_kernel *rfs_kernel_create(struct loop *loop, int fd, int proc_fd,
                                     void (*on_end)(void *arg), void *arg);
/* The device for rfs_create(); then the file system whose requests are read. */
struct rfs_device rfs_kernel_device(struct rfs_kernel *kernel);
void rfs_kernel_serve(struct rfs_kernel *kernel, struct rfs *fs);
/* No more: the kernel answers whoever still waits with ECONNABORTED, so that it can end.  NULL is
 * allowed. */
void rfs_kernel_stop(struct rfs_kernel *kernel);
/* After the file system.  NULL is allowed. */
void rfs_kernel_destroy(struct rfs_kernel *kernel);

#endif
