/* ckpt/tracee/guard_linux.c - makes a stopped process continue correctly if we are killed: see
 * guard_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/tracee/guard_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "ckpt/format.h"
#include "ckpt/tracee/tracee_linux.h"

/* Of each thread there is one: code and, behind it, what it needs.  The flags are not saved: no
 * instruction here changes them, and the kernel keeps them. */
struct place {
    uint64_t mask;
    uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rcx, r11, rip;
    uint32_t after; /* close() or, to no end, getpid() */
    int32_t opened; /* -1: nothing */
    char name[16];
};

#define SLOT       512U
#define PLACE      256U /* as in the code below */
#define COPY_ENTRY 4U

extern const unsigned char guard_code[], guard_code_end[];

#define CODE_BYTES ((size_t)(guard_code_end - guard_code))

__asm__(".pushsection .rodata\n"
        "    .globl guard_code, guard_code_end\n"
        "    .hidden guard_code, guard_code_end\n"
        "    .balign 16\n"
        "guard_code:\n"
        "    syscall\n"
        "    .byte 0xeb, 1f - 0f\n" /* jmp 1f, in two bytes: clang -O0 would take five */
        "0:  .org guard_code + 4\n" /* COPY_ENTRY: clone() */
        "    syscall\n"
        "    movq %rax, %rcx\n"
        "    jrcxz 2f\n"
        "1:  movq %rax, %rdi\n" /* close(), if that is what it opened */
        "    movl guard_code + 256 + 88(%rip), %eax\n"
        "    syscall\n"
        "    movl guard_code + 256 + 92(%rip), %edi\n"
        "    movl $3, %eax\n" /* close() */
        "    syscall\n"
        "    movl $2, %edi\n" /* SIG_SETMASK */
        "    leaq guard_code + 256(%rip), %rsi\n"
        "    movl $0, %edx\n"
        "    movl $8, %r10d\n"
        "    movl $14, %eax\n" /* rt_sigprocmask() */
        "    syscall\n"
        "    movq guard_code + 256 + 8(%rip), %rax\n"
        "    movq guard_code + 256 + 16(%rip), %rdi\n"
        "    movq guard_code + 256 + 24(%rip), %rsi\n"
        "    movq guard_code + 256 + 32(%rip), %rdx\n"
        "    movq guard_code + 256 + 40(%rip), %r10\n"
        "    movq guard_code + 256 + 48(%rip), %r8\n"
        "    movq guard_code + 256 + 56(%rip), %r9\n"
        "    movq guard_code + 256 + 64(%rip), %rcx\n"
        "    movq guard_code + 256 + 72(%rip), %r11\n"
        "    jmpq *guard_code + 256 + 80(%rip)\n"
        "2:  movl $15, %edi\n" /* PR_SET_NAME */
        "    leaq guard_code + 256 + 96(%rip), %rsi\n"
        "    movl $157, %eax\n" /* prctl() */
        "    syscall\n"
        "    movl $0, %edi\n"
        "    movl $231, %eax\n" /* exit_group() */
        "    syscall\n"
        "guard_code_end:\n"
        "    .popsection\n");

_Static_assert(offsetof(struct place, rip) == 80 && offsetof(struct place, after) == 88 &&
                   offsetof(struct place, opened) == 92 && offsetof(struct place, name) == 96 &&
                   PLACE + sizeof(struct place) <= SLOT,
               "struct place must have the offsets that the assembler code uses");

uint64_t guard_bytes(size_t threads)
{
    uint64_t bytes = (uint64_t)threads * SLOT;
    return (bytes + CKPT_PAGE - 1) / CKPT_PAGE * CKPT_PAGE;
}

/* Writes code for so many threads; its values are written before each call. */
static bool write_code(int memory, uint64_t start, uint64_t bytes, size_t threads)
{
    unsigned char *code = mem_zalloc((size_t)bytes);
    for (size_t i = 0; i < threads; i++) {
        memcpy(code + i * SLOT, guard_code, CODE_BYTES);
    }
    bool made = pwrite(memory, code, (size_t)bytes, (off_t)start) == (ssize_t)bytes;
    mem_free(code);
    return made;
}

static int open_memory(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return open(path, O_RDWR | O_CLOEXEC);
}

bool guard_make(struct guard *guard, pid_t pid, uint64_t start, size_t threads)
{
    uint64_t bytes = guard_bytes(threads);
    int memory = open_memory(pid);
    bool made = memory >= 0 && CODE_BYTES <= PLACE && write_code(memory, start, bytes, threads);
    if (made) {
        *guard = (struct guard){
            .start = start, .bytes = bytes, .threads = threads, .memory = memory, .inner = -1};
    } else if (memory >= 0) {
        (void)close(memory);
    }
    return made;
}

/* True for zeroes, or for our own code, left by a dumper that was killed then. */
static bool is_room(int memory, uint64_t start)
{
    static const unsigned char NONE[SLOT];
    unsigned char is[SLOT];
    return pread(memory, is, sizeof is, (off_t)start) == (ssize_t)sizeof is &&
           (memcmp(is, NONE, sizeof is) == 0 || memcmp(is, guard_code, CODE_BYTES) == 0);
}

bool guard_borrow(struct guard *guard, pid_t pid, uint64_t vdso, uint64_t vdso_end)
{
    int memory = vdso_end - vdso > SLOT ? open_memory(pid) : -1;
    uint64_t start = vdso_end - SLOT;
    bool made = memory >= 0 && CODE_BYTES <= PLACE && is_room(memory, start) &&
                write_code(memory, start, SLOT, 1);
    if (made) {
        *guard = (struct guard){.start = start,
                                .bytes = SLOT,
                                .threads = 1,
                                .memory = memory,
                                .inner = -1,
                                .is_borrowed = true};
    } else if (memory >= 0) {
        (void)close(memory);
    }
    return made;
}

void guard_fini(struct guard *guard)
{
    if (guard->start != 0) {
        if (guard->is_borrowed) {
            (void)write_code(guard->memory, guard->start, guard->bytes, 0); /* or it has ended */
        }
        (void)close(guard->memory);
    }
    *guard = (struct guard){.start = 0};
}

/* Does what the kernel does when it lets a thread with an interrupted system call continue. */
static void issue_again(struct place *place, int64_t was)
{
    switch ((int64_t)place->rax) {
    case -ERESTARTSYS:
    case -ERESTARTNOINTR:
    case -ERESTARTNOHAND:
    case -ERESTART_RESTARTBLOCK:
        if (was >= 0) {
            bool rests = (int64_t)place->rax == -ERESTART_RESTARTBLOCK;
            place->rax = rests ? SYS_restart_syscall : (uint64_t)was;
            place->rip -= CKPT_SYSCALL_BYTES;
        }
        break;
    default:
        break;
    }
}

uint64_t guard_set(const struct guard *guard, size_t thread, const struct tracee_thread *saved,
                   long number)
{
    const struct user_regs_struct *from = &saved->registers;
    uint64_t slot = guard->start + (uint64_t)thread * SLOT;
    bool opens = number == SYS_openat || number == SYS_userfaultfd;
    struct place place = {.mask = saved->mask,
                          .rax = from->rax,
                          .rdi = from->rdi,
                          .rsi = from->rsi,
                          .rdx = from->rdx,
                          .r10 = from->r10,
                          .r8 = from->r8,
                          .r9 = from->r9,
                          .rcx = from->rcx,
                          .r11 = from->r11,
                          .rip = from->rip,
                          .after = opens ? SYS_close : SYS_getpid,
                          .opened = guard->inner,
                          .name = GUARD_COPY};
    issue_again(&place, (int64_t)from->orig_rax);
    if (pwrite(guard->memory, &place, sizeof place, (off_t)(slot + PLACE)) !=
        (ssize_t)sizeof place) {
        return 0;
    }
    return slot + (number == SYS_clone ? COPY_ENTRY : 0);
}

uint64_t guard_in_copy(const struct guard *guard)
{
    return guard->start != 0 ? guard->start + COPY_ENTRY : 0;
}
