/* rsyscall_fuse/begin_linux.h - the first steps of a job whose calls are wrapped: a program of
 * ours that opens its standard files and becomes it.
 *
 * Its own calls are wrapped, too, so that it finds all that by the job's names, links and all, with
 * nothing of that made a second time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_BEGIN_LINUX_H
#define RSYSCALL_FUSE_BEGIN_LINUX_H

#define RFS_BEGIN_WORD  "--begin"
#define RFS_BEGIN_HERE  "here"  /* the program is this machine's */
#define RFS_BEGIN_THERE "there" /* the server's */

/* argv: any, RFS_BEGIN_WORD, one of the two, the paths of three streams ("-": ours), the program,
 * its arguments.  Returns the exit status when it cannot be, with a line on standard error. */
int rfs_begin(int argc, char **argv);

#endif
