/* ckpt/tracee/tracee_linux.c - stops a process and makes it do system calls: see tracee_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/tracee/tracee_linux.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/maps_linux.h"
#include "ckpt/tracee/tracee_parts.h"
#include "ckpt/xstate.h"

#define END_TRIES      20000 /* ten seconds */
#define END_PAUSE_NS   500000
#define ENDS_WITHIN_MS 10000

static const unsigned char CALL[] = {0x0f, 0x05}; /* syscall */

/* ---- memory */

ssize_t tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};
    ssize_t got = process_vm_readv(tracee->pid, &here, 1, &there, 1, 0);
    if (got == (ssize_t)bytes) {
        return got;
    }
    /* Not readable for itself, perhaps: a debugger's way. */
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)tracee->pid);
    FILE *memory = fopen(path, "re");
    if (memory == NULL) {
        return -errno;
    }
    got = pread(fileno(memory), to, bytes, (off_t)address);
    ssize_t ret = got < 0 ? -errno : got;
    (void)fclose(memory);
    return ret;
}

ssize_t tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t bytes)
{
    struct iovec here = {(void *)(uintptr_t)from, bytes},
                 there = {(void *)(uintptr_t)address, bytes};
    ssize_t done = process_vm_writev(tracee->pid, &here, 1, &there, 1, 0);
    return done < 0 ? -errno : done;
}

/* ---- system calls */

int tracee_next_stop(struct tracee_thread *thread, int *ret)
{
    int status;
    while (waitpid(thread->tid, &status, __WALL) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    if (!WIFSTOPPED(status)) {
        return -ESRCH;
    }
    *ret = status;
    return 0;
}

static int run_on(const struct tracee_thread *thread)
{
    return ptrace(PTRACE_SYSCALL, thread->tid, NULL, NULL) != 0 ? -errno : 0;
}

/* The thread runs: waits for the next entry of a system call, or return from it. */
static int await_call(struct tracee_thread *thread)
{
    for (;;) {
        int status = 0;
        int rc = tracee_next_stop(thread, &status);
        if (rc != 0 || WSTOPSIG(status) == SYSCALL_STOP) {
            return rc;
        }
        rc = run_on(thread);
        if (rc != 0) {
            return rc;
        }
    }
}

int tracee_begin_call(const struct tracee *tracee, struct tracee_thread *thread, long number,
                      const uint64_t args[6])
{
    struct user_regs_struct registers = thread->registers;
    uint64_t all = ~UINT64_C(0), call = tracee->call;
    size_t index = (size_t)(thread - tracee->threads);
    if (index < tracee->guard.threads) {
        call = guard_set(&tracee->guard, index, thread, number);
        if (call == 0) {
            return -EIO;
        }
    }
    registers.rip = call;
    registers.rax = (unsigned long long)number;
    registers.orig_rax = (unsigned long long)-1; /* what was interrupted stays so */
    registers.rdi = args[0];
    registers.rsi = args[1];
    registers.rdx = args[2];
    registers.r10 = args[3];
    registers.r8 = args[4];
    registers.r9 = args[5];
    /* In this order: what heals it puts back the mask, too. */
    thread->is_used = thread->is_dirty = true;
    if (ptrace(PTRACE_SETREGS, thread->tid, NULL, &registers) != 0 ||
        ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof all, &all) != 0) {
        return -errno;
    }
    return 0;
}

int tracee_start_call(struct tracee *tracee, size_t index, long number, const uint64_t args[6])
{
    struct tracee_thread *thread = &tracee->threads[index];
    int rc = tracee_begin_call(tracee, thread, number, args);
    rc = rc != 0 ? rc : run_on(thread);
    rc = rc != 0 ? rc : await_call(thread); /* its entry */
    return rc != 0 ? rc : run_on(thread);
}

long tracee_await_call(struct tracee *tracee, size_t index)
{
    struct tracee_thread *thread = &tracee->threads[index];
    struct user_regs_struct registers;
    int rc = await_call(thread);
    if (rc == 0 && ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) != 0) {
        rc = -errno;
    }
    return rc != 0 ? rc : (long)registers.rax;
}

long tracee_call(struct tracee *tracee, size_t index, long number, const uint64_t args[6])
{
    int rc = tracee_start_call(tracee, index, number, args);
    return rc != 0 ? rc : tracee_await_call(tracee, index);
}

/* Restores the thread's own registers, in a stop in which the kernel treats them as those of an
 * interrupted call. */
static void put_back(struct tracee_thread *thread)
{
    int status = 0;
    if (!thread->is_used) {
        return;
    }
    if (thread->is_dirty && ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0) {
        do {
            if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0 ||
                tracee_next_stop(thread, &status) != 0) {
                return;
            }
        } while (EVENT_OF(status) != PTRACE_EVENT_STOP);
        thread->is_dirty = false;
    }
    (void)ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof thread->mask, &thread->mask);
    (void)ptrace(PTRACE_SETREGS, thread->tid, NULL, &thread->registers);
    thread->is_used = false;
}

/* Removes what was made for us; the last call is done from the borrowed space. */
static void remove_ours(struct tracee *tracee)
{
    struct guard page = tracee->guard;
    if (tracee->scratch != 0) {
        (void)TRACEE_CALL(tracee, 0, SYS_munmap, tracee->scratch, CKPT_PAGE);
    }
    if (page.start != 0 && !page.is_borrowed) {
        tracee->guard = (struct guard){.start = 0};
        (void)guard_borrow(&tracee->guard, tracee->pid, tracee->vdso, tracee->vdso_end);
        (void)TRACEE_CALL(tracee, 0, SYS_munmap, page.start, page.bytes);
        guard_fini(&page);
    }
}

/* Waits until nothing is left of the process: then others can have its pipes and locks. */
static void wait_until_gone(const struct tracee_thread *thread)
{
    const struct timespec pause = {.tv_nsec = END_PAUSE_NS};
    int status = 0;
    for (int i = 0; i < END_TRIES; i++) {
        pid_t pid = waitpid(thread->tid, &status, __WALL | WNOHANG);
        if (pid < 0 || (pid > 0 && (WIFEXITED(status) || WIFSIGNALED(status)))) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
}

void tracee_release(struct tracee *tracee, bool kill_it)
{
    if (kill_it && tracee->count > 0) {
        (void)kill(tracee->pid, SIGKILL);
    } else {
        tracee_shorten_waits(tracee);
    }
    for (size_t i = tracee->count; i > 0; i--) { /* the first one ends last */
        struct tracee_thread *thread = &tracee->threads[i - 1];
        if (kill_it) {
            wait_until_gone(thread);
            continue;
        }
        if (i == 1) { /* nobody else needs them any more */
            remove_ours(tracee);
        }
        put_back(thread);
    }
    guard_fini(&tracee->guard);
    for (size_t i = tracee->count; i > 0; i--) {
        (void)ptrace(PTRACE_DETACH, tracee->threads[i - 1].tid, NULL, NULL); /* or it is gone */
    }
    mem_free(tracee->threads);
    *tracee = (struct tracee){.pid = tracee->pid};
}

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/* Waits until all threads but the first have ended, and then the process. */
static void wait_for_end(const struct tracee *tracee, int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    for (int waited_ms = 0; waited_ms < ENDS_WITHIN_MS; waited_ms++) {
        for (size_t i = 1; i < tracee->count; i++) {
            (void)waitpid(tracee->threads[i].tid, NULL, __WALL | WNOHANG);
        }
        if (poll(&ended, 1, 1) > 0) {
            return;
        }
    }
}

/* Releases only the first thread, which finds nothing but the signal: the kernel ends the other
 * threads, which are still stopped, with it. */
void tracee_end(struct tracee *tracee, int signal)
{
    const struct kernel_action none = {.handler = 0};
    struct tracee_thread *thread = &tracee->threads[0];
    uint64_t mask = ~(UINT64_C(1) << (signal - 1));
    int pidfd = (int)syscall(SYS_pidfd_open, tracee->pid, 0);
    if (tracee_write(tracee, tracee->scratch, &none, sizeof none) == (ssize_t)sizeof none &&
        TRACEE_CALL(tracee, 0, SYS_rt_sigaction, (uint64_t)signal, tracee->scratch, 0,
                    sizeof mask) == 0 &&
        ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof mask, &mask) == 0 && pidfd >= 0 &&
        kill(tracee->pid, signal) == 0) {
        (void)ptrace(PTRACE_DETACH, thread->tid, NULL, NULL);
        wait_for_end(tracee, pidfd);
    }
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    tracee_release(tracee, true);
}

/* ---- preparing */

bool tracee_is_call(const struct tracee *tracee, uint64_t address)
{
    unsigned char code[sizeof CALL] = {0};
    return tracee_read(tracee, address, code, sizeof code) == (ssize_t)sizeof code &&
           memcmp(code, CALL, sizeof CALL) == 0;
}

static bool find_call(struct tracee *tracee, const struct map *map)
{
    size_t bytes = (size_t)(map->end - map->start);
    unsigned char *code = mem_try_alloc(bytes);
    bool found = false;
    if (code != NULL && tracee_read(tracee, map->start, code, bytes) == (ssize_t)bytes) {
        const unsigned char *at = memmem(code, bytes, CALL, sizeof CALL);
        found = at != NULL;
        tracee->call = found ? map->start + (uint64_t)(at - code) : 0;
    }
    mem_free(code);
    return found;
}

static bool is_inside(const struct tracee_thread *thread, uint64_t start, uint64_t end)
{
    return thread->registers.rip >= start && thread->registers.rip < end;
}

/* A process that may not have new code is not guarded.  The borrowed space is not needed after the
 * next call. */
static struct guard make_guard(struct tracee *tracee)
{
    uint64_t bytes = guard_bytes(tracee->count);
    (void)guard_borrow(&tracee->guard, tracee->pid, tracee->vdso, tracee->vdso_end);
    const struct guard borrowed = tracee->guard;
    long page = TRACEE_CALL(tracee, 0, SYS_mmap, 0, bytes, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    tracee->guard = (struct guard){.start = 0};
    if ((page > 0 || page < -4095) &&
        !guard_make(&tracee->guard, tracee->pid, (uint64_t)page, tracee->count)) {
        (void)TRACEE_CALL(tracee, 0, SYS_munmap, (uint64_t)page, bytes);
    }
    return borrowed;
}

int tracee_prepare(struct tracee *tracee, const struct maps *maps, const struct tracee_code *lent,
                   struct err *err)
{
    const struct map *vdso = maps_named(maps, "[vdso]");
    for (size_t i = 0; vdso != NULL && i < tracee->count; i++) {
        if (is_inside(&tracee->threads[i], vdso->start, vdso->end) ||
            is_inside(&tracee->threads[i], lent->start, lent->end)) {
            return err_set(err, -EBUSY,
                           "process %d: thread %d is inside the kernel's vdso; try again",
                           (int)tracee->pid, (int)tracee->threads[i].tid);
        }
    }
    tracee->vdso = vdso != NULL ? vdso->start : 0;
    tracee->vdso_end = vdso != NULL ? vdso->end : 0;
    bool found = vdso != NULL && find_call(tracee, vdso);
    for (size_t i = 0; !found && i < maps->count; i++) {
        found = (maps->items[i].prot & PROT_EXEC) != 0 && find_call(tracee, &maps->items[i]);
    }
    if (!found) {
        return err_set(err, -ENOEXEC, "process %d: no system call instruction found in its memory",
                       (int)tracee->pid);
    }
    struct guard borrowed = make_guard(tracee);
    long page = TRACEE_CALL(tracee, 0, SYS_mmap, 0, CKPT_PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    guard_fini(&borrowed);
    if (page < 0 && page >= -4095) {
        return err_set(err, (int)page, "process %d: no room for a page in its memory: %s",
                       (int)tracee->pid, err_code_text((int)page));
    }
    tracee->scratch = (uint64_t)page;
    tracee_find_waits(tracee, maps);
    return 0;
}

ssize_t tracee_xstate(const struct tracee_thread *thread, void *to)
{
    struct iovec room = {to, CKPT_XSTATE_MAX};
    uint64_t in_use = XSTATE_LEGACY;
    if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)NT_X86_XSTATE, &room) == 0) {
        return (ssize_t)room.iov_len;
    }
    if (errno != ENODEV) {
        return -errno;
    }
    room.iov_len = XSTATE_HEADER; /* a processor without XSAVE */
    if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)NT_PRFPREG, &room) != 0) {
        return -errno;
    }
    memset((char *)to + XSTATE_HEADER, 0, XSTATE_MIN - XSTATE_HEADER);
    memcpy((char *)to + XSTATE_HEADER, &in_use, sizeof in_use);
    return XSTATE_MIN;
}
