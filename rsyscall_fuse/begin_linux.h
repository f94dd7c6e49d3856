/* rsyscall_fuse/begin_linux.h - starts a job whose file calls are wrapped (rsyscall/wrap/): a
 * process of roost-rsys-mount opens the job's standard files and then executes the job's program.
 *
 * The calls of that process are wrapped too, so it finds these files by the names that the job
 * would use, with no further code for resolving names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_BEGIN_LINUX_H
#define RSYSCALL_FUSE_BEGIN_LINUX_H

#define RFS_BEGIN_WORD  "--begin"
#define RFS_BEGIN_HERE  "here"  /* the job's program is a local file of this machine */
#define RFS_BEGIN_THERE "there" /* the job's program is a file of the server */

/* Opens the standard files and executes the job's program.  argv: the name of roost-rsys-mount;
 * RFS_BEGIN_WORD; RFS_BEGIN_HERE or RFS_BEGIN_THERE; the paths of the three standard streams ("-":
 * the one that this process has); the program and its arguments.  Returns only on failure: the exit
 * status, after a line on standard error. */
int rfs_begin(int argc, char **argv);

#endif
