/* ckpt/library/entry.S - a thread or a process that the C library does not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
    .text
    .globl library_clone
    .hidden library_clone
    .type library_clone, @function
/* library_clone(flags, stack_end, function, arg): clone(); the new one calls function(arg), and its
 * thread ends when that returns. */
library_clone:
    subq $16, %rsi
    movq %rdx, (%rsi)
    movq %rcx, 8(%rsi)
    xorl %edx, %edx
    xorl %r10d, %r10d
    xorl %r8d, %r8d
    movl $56, %eax
    syscall
    testq %rax, %rax
    jz 1f
    ret
1:  xorl %ebp, %ebp
    popq %rax
    popq %rdi
    call *%rax
    xorl %edi, %edi
    movl $60, %eax
    syscall
    hlt
    .size library_clone, . - library_clone

    .section .note.GNU-stack, "", @progbits
