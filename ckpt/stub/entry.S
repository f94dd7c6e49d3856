/* ckpt/stub/entry.S - where the stub begins, and what C cannot say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
    .section .text.entry, "ax", @progbits
    .globl stub_entry_point
    .hidden stub_entry_point
    .type stub_entry_point, @function
/* The first byte of the code.  The kernel's stack: argc, argv, environment, auxiliary vector. */
stub_entry_point:
    xorl %ebp, %ebp
    movq %rsp, %rdi
    leaq stub_entry_point(%rip), %rsi
    andq $-16, %rsp
    call stub_main
    hlt
    .size stub_entry_point, . - stub_entry_point

/* See struct ckpt_wait, which rsp points to. */
    .org stub_entry_point + 64 /* CKPT_WAIT_AT */
stub_wait:
    syscall
    movq 16(%rsp), %rdi
    movq 24(%rsp), %rsi
    movq 32(%rsp), %rdx
    movq 40(%rsp), %r10
    movq 48(%rsp), %r8
    movq 56(%rsp), %r9
    movq 64(%rsp), %r11
    leaq 224(%rsp), %rsp
    jmp *%r11
    .org stub_wait + 48 /* CKPT_WAIT_BYTES: neither more nor less */

    .text
    .globl stub_on_stack
    .hidden stub_on_stack
    .type stub_on_stack, @function
/* stub_on_stack(function, arg, stack) */
stub_on_stack:
    movq %rdx, %rsp
    andq $-16, %rsp
    xorl %ebp, %ebp
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    hlt
    .size stub_on_stack, . - stub_on_stack

    .globl stub_clone
    .hidden stub_clone
    .type stub_clone, @function
/* stub_clone(args, size, function, arg): rdx and rcx reach the new thread in r8 and r9. */
stub_clone:
    movq %rdx, %r8
    movq %rcx, %r9
    movl $435, %eax
    syscall
    testq %rax, %rax
    jz 1f
    ret
1:  xorl %ebp, %ebp
    andq $-16, %rsp
    movq %r9, %rdi
    call *%r8
    hlt
    .size stub_clone, . - stub_clone

    .globl stub_sigreturn
    .hidden stub_sigreturn
    .type stub_sigreturn, @function
/* stub_sigreturn(frame) */
stub_sigreturn:
    movq %rdi, %rsp
    movl $15, %eax
    syscall
    hlt
    .size stub_sigreturn, . - stub_sigreturn

    .section .note.GNU-stack, "", @progbits
