/* rsyscall_fuse/begin_linux.h - starts a job whose file calls are wrapped (rsyscall/wrap/): our own
 * program opens the job's standard files and then executes the job's program.
 *
 * Our program's own calls are wrapped too, so it finds these files by the names that the job would
 * use, with no further code for resolving names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_BEGIN_LINUX_H
#define RSYSCALL_FUSE_BEGIN_LINUX_H

#define RFS_BEGIN_WORD  "--begin"
#define RFS_BEGIN_HERE  "here"  /* the program is a local file of this machine */
#define RFS_BEGIN_THERE "there" /* the program is on the server */

/* argv: any arguments, RFS_BEGIN_WORD, "here" or "there", the paths of the three standard streams
 * ("-": ours), the program and its arguments.  Returns only on failure, with the exit status and a
 * line on standard error. */
int rfs_begin(int argc, char **argv);

#endif
