/* ckpt/mask_linux.h - starts a program so that it does not use some features of this processor.
 *
 * For `roost-ckpt run --cpu x86-64-v2 -- PROGRAM`: the program's images can be resumed on every
 * machine of that level.  The features are hidden by environment variables from the libraries that
 * read such variables: the C library, Go's runtime, OpenSSL, numpy, OpenBLAS, oneDNN, MKL, and
 * glibc's dynamic linker (told to bind all functions at once, so that it saves no registers later).
 * A program or library that asks the processor itself (CPUID: gmp, libgcrypt,
 * __builtin_cpu_supports()) still sees all features.  For such a program the image promises too
 * much, and its user must know that.
 *
 * Rejected: to make CPUID fault (arch_prctl(ARCH_SET_CPUID)) and to answer CPUID in a tracing
 * process. execve() ends the faulting, so a process of Roost would have to stay beside each
 * program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MASK_LINUX_H
#define CKPT_MASK_LINUX_H

#include "ckpt/machine.h"

struct err;

/* The environment variable that names the level of processors (such as "x86-64-v2") for which
 * features are hidden from a program. */
#define MASK_VARIABLE "ROOST_CKPT_CPU"

/* Sets, in the environment of this process, the variables that hide features above the level from
 * the programs that it starts.  Of variables that are lists, the earlier entries are kept; other
 * variables are replaced.  Returns 0; -ENOMEM; or -E2BIG: a value is too long. */
int mask_environment(enum machine_level level, struct err *err);

/* If MASK_VARIABLE is set in the environment of this process, calls mask_environment() for the
 * level that it names: a job of a pool asks for a level that way (`environment` in its submit
 * file).  Returns 0; -EINVAL: unknown level; or as mask_environment(). */
int mask_as_told(struct err *err);

/* path: a file that holds the environment for a program, such as a job.  If MASK_VARIABLE is set in
 * that environment, adds to the file the variables that hide the processor's features above the
 * level that MASK_VARIABLE names.  Each entry of the file ends with a zero byte.  Returns 0;
 * -EINVAL: unknown level; -E2BIG: the file is larger than 4 MiB, or a value is too long; or another
 * -errno of reading and writing. */
int mask_file(const char *path, struct err *err);

#endif
