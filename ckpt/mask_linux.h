/* ckpt/mask_linux.h - starts a program so that it does not use some features of this processor.
 *
 * For `roost-ckpt run --cpu x86-64-v2 -- PROGRAM`: its images can be resumed on every machine of
 * that level.  The features are hidden by environment variables, from those that read such
 * variables: the C library, Go's runtime, OpenSSL, numpy, OpenBLAS, oneDNN, MKL, and glibc's
 * dynamic linker (told to bind all functions at once, so that it saves no registers later).  A
 * program or library that asks the processor itself (CPUID: gmp, libgcrypt,
 * __builtin_cpu_supports()) still sees all features.  For such a program the image promises too
 * much, and its user must know that.
 *
 * Rejected: to make CPUID fault (arch_prctl(ARCH_SET_CPUID)) and answer it ourselves. execve() ends
 * that, so a process of ours would have to stay beside each program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MASK_LINUX_H
#define CKPT_MASK_LINUX_H

#include "ckpt/machine.h"

struct err;

/* The environment variable that names the level in a program that was started so. */
#define MASK_VARIABLE "ROOST_CKPT_CPU"

/* Changes the environment of this process, for the programs that it starts.  Values that are set
 * already are kept, the new ones are added.  0, -ENOMEM, or -E2BIG: a value is too long. */
int mask_environment(enum machine_level level, struct err *err);

/* Does the same for the level that MASK_VARIABLE names, if it is set: a job of a pool asks for a
 * level that way (`environment` in its submit file).  -EINVAL: unknown level. */
int mask_as_told(struct err *err);

/* Does the same to an environment in a file, with a zero byte after each entry, which another
 * program will use.  -EINVAL: unknown level; -E2BIG: more than 4 MiB, or a value is too long; or
 * another -errno of reading and writing. */
int mask_file(const char *path, struct err *err);

#endif
