/* ckpt/stub/sys.h - system calls for code without a C library.
 *
 * The stub, the program at the head of an image, runs in a process whose memory is being replaced;
 * the keeper (keeper.c) is part of it.  Neither may need a library, a stack protector, thread-local
 * storage or relocations.  SYS<n>(name, ...) does the system call of that name, with n arguments,
 * and returns its result or -errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_SYS_H
#define CKPT_STUB_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

#define SYS0(name)             sys6(SYS_##name, 0, 0, 0, 0, 0, 0)
#define SYS1(name, a)          sys6(SYS_##name, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(name, a, b)       sys6(SYS_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(name, a, b, c)    sys6(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(name, a, b, c, d) sys6(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(name, a, b, c, d, e) \
    sys6(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS6(name, a, b, c, d, e, f) \
    sys6(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Whether a result is an error, for calls that return addresses. */
#define SYS_FAILED(ret) ((unsigned long)(ret) > (unsigned long)-4096L)

#endif
