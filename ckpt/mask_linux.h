/* ckpt/mask_linux.h - starts a program such that it does without features of this processor.
 *
 * `roost-ckpt run --cpu x86-64-v2 -- PROGRAM`: so that its images resume on each machine of that
 * level.  What can be had honestly is had by the environment, of those who let themselves be told:
 * the C library, Go's runtime, OpenSSL, numpy, OpenBLAS, oneDNN, MKL, glibc's dynamic linker (which
 * is to bind all functions at once: then it saves no registers later).  A program or library that
 * asks the processor itself (CPUID: gmp, libgcrypt, __builtin_cpu_supports()) is not told; for it
 * the image promises too much, and he who started it has to know.  Rejected: to let CPUID fault
 * (arch_prctl(ARCH_SET_CPUID)) and answer it: execve() ends that, so something of ours would have
 * to stand beside each program for as long as it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_MASK_LINUX_H
#define CKPT_MASK_LINUX_H

#include "ckpt/machine.h"

struct err;

/* In the environment of a program that was started so: the name of the level. */
#define MASK_VARIABLE "ROOST_CKPT_CPU"

/* This process and those that it begins.  What is set in the environment already stays, beside
 * what is added.  -ENOMEM, -E2BIG (a value is too long). */
int mask_environment(enum machine_level level, struct err *err);

/* The same as the variable says, where it is set: so a job in a pool asks for it (`environment` in
 * its submit file).  -EINVAL: that is no level's name. */
int mask_as_told(struct err *err);

/* The same of an environment that is in a file, a zero byte after each entry: for a program that
 * another one will begin with it.  -EINVAL: that is no level's name; -E2BIG: more than 4 MiB, or a
 * value is too long; others: the file. */
int mask_file(const char *path, struct err *err);

#endif
