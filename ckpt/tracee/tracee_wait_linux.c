/* ckpt/tracee/tracee_wait_linux.c - waits that end when a process is stopped: see tracee_linux.h.
 *
 * Most system calls that a stop interrupts are issued again by the kernel.  Some are not: the
 * program would see EINTR where no signal came.  Their result is made one of those codes that the
 * kernel, when the thread goes on, issues them again for; if a signal is handled first, the program
 * gets its EINTR, and misses nothing.
 *
 * Issued again, they would wait in full again, and a program that is asked for an image all the
 * time would never come to the end of a wait.  So they are issued by code that waits for the rest
 * (rest.h): that of the window, if the process was resumed, else on a page that is made for it and
 * stays, as a handler may have to return to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/maps_linux.h"
#include "ckpt/rest.h"
#include "ckpt/stub_code.h"
#include "ckpt/tracee/tracee_linux.h"

#define NS_PER_S INT64_C(1000000000)

/* As in signal(7), "Interruption of system calls and library functions by stop signals": those of
 * sockets end so when a time limit is set for the socket; poll's and select's, when it is in memory
 * that the kernel cannot write to. */
static bool ends_by_a_stop(int64_t number)
{
    static const long CALLS[] = {
        SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2,    SYS_semop,    SYS_semtimedop,
        SYS_recvfrom,   SYS_recvmsg,     SYS_rt_sigtimedwait, SYS_recvmmsg, SYS_io_getevents,
        SYS_sendto,     SYS_sendmsg,     SYS_sendmmsg,        SYS_read,     SYS_readv,
        SYS_write,      SYS_writev,      SYS_accept,          SYS_accept4,  SYS_connect,
        SYS_ppoll,      SYS_pselect6,    SYS_select};
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        if (number == CALLS[i]) {
            return true;
        }
    }
    return false;
}

void tracee_mend_wait(struct tracee_thread *thread)
{
    struct user_regs_struct *registers = &thread->registers;
    thread->is_mended = (int64_t)registers->rax == -EINTR && (int64_t)registers->orig_rax >= 0 &&
                        ends_by_a_stop((int64_t)registers->orig_rax);
    if (thread->is_mended) {
        registers->rax = (unsigned long long)-ERESTARTNOHAND;
        thread->is_used = true; /* to be written back */
    }
}

/* ---- the code */

/* Returns whether the code of such a call is at that address. */
static bool tracee_is_wait_code(const struct tracee *tracee, uint64_t address)
{
    unsigned char code[CKPT_WAIT_BYTES];
    return tracee_read(tracee, address, code, sizeof code) == (ssize_t)sizeof code &&
           memcmp(code, stub_code + CKPT_WAIT_AT, sizeof code) == 0;
}

void tracee_find_waits(struct tracee *tracee, const struct maps *maps)
{
    for (size_t i = 0; i < maps->count && tracee->waits == 0; i++) {
        const struct map *map = &maps->items[i];
        if (map->prot == (PROT_READ | PROT_EXEC) && map->name[0] == '\0' &&
            (map->flags & CKPT_SHARED) == 0 && tracee_is_wait_code(tracee, map->start)) {
            tracee->waits = map->start;
        }
    }
}

/* Writes memory that the process itself cannot write. */
static bool write_code(const struct tracee *tracee, uint64_t address)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)tracee->pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t done =
        fd < 0 ? -1 : pwrite(fd, stub_code + CKPT_WAIT_AT, CKPT_WAIT_BYTES, (off_t)address);
    if (fd >= 0) {
        (void)close(fd);
    }
    return done == (ssize_t)CKPT_WAIT_BYTES;
}

static bool have_code(struct tracee *tracee)
{
    if (tracee->waits == 0 && tracee->scratch != 0) { /* else it was not prepared */
        long page = TRACEE_CALL(tracee, 0, SYS_mmap, 0, CKPT_PAGE, PROT_READ | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
        if (page > 0 && write_code(tracee, (uint64_t)page)) {
            tracee->waits = (uint64_t)page;
        } else if (page > 0) {
            (void)TRACEE_CALL(tracee, 0, SYS_munmap, (uint64_t)page, CKPT_PAGE);
        }
    }
    return tracee->waits != 0;
}

/* ---- the rest */

/* Reads the job's CLOCK_MONOTONIC, which is not ours if it is in a time namespace; uses the place
 * of the record, which the job must be able to write to. */
static bool ask_clock(struct tracee *tracee, size_t index, uint64_t place, int64_t *ret_ns)
{
    struct timespec now;
    if (TRACEE_CALL(tracee, index, SYS_clock_gettime, CLOCK_MONOTONIC, place) != 0 ||
        tracee_read(tracee, place, &now, sizeof now) != (ssize_t)sizeof now) {
        return false;
    }
    *ret_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
    return true;
}

/* Returns the registers with which the call is to be issued. */
static struct ckpt_registers of_call(const struct user_regs_struct *registers)
{
    return (struct ckpt_registers){.rax = registers->orig_rax,
                                   .rdi = registers->rdi,
                                   .rsi = registers->rsi,
                                   .rdx = registers->rdx,
                                   .r10 = registers->r10,
                                   .r8 = registers->r8,
                                   .r9 = registers->r9,
                                   .rsp = registers->rsp,
                                   .rip = registers->rip - CKPT_SYSCALL_BYTES};
}

static bool limit_of(const struct tracee *tracee, const struct ckpt_registers *call,
                     struct timespec *ret)
{
    int64_t value = 0;
    enum rest_limit limit = rest_limit_of(call, &value);
    if (limit == REST_AT) {
        return tracee_read(tracee, (uint64_t)value, ret, sizeof *ret) == (ssize_t)sizeof *ret &&
               ret->tv_sec >= 0;
    }
    *ret = (struct timespec){.tv_sec = value / 1000, .tv_nsec = value % 1000 * 1000000};
    return limit == REST_MS;
}

static void shorten_wait(struct tracee *tracee, size_t index)
{
    struct user_regs_struct *registers = &tracee->threads[index].registers;
    struct ckpt_registers call = of_call(registers);
    struct ckpt_wait record;
    struct timespec limit;
    int64_t now_ns;
    if (tracee_is_wait_code(tracee, call.rip)) {
        if (tracee_read(tracee, call.rsp, &record, sizeof record) != (ssize_t)sizeof record ||
            record.until_ns == 0 || !ask_clock(tracee, index, call.rsp, &now_ns) ||
            !rest_update(&call, now_ns, &record)) {
            return;
        }
    } else if (!limit_of(tracee, &call, &limit) || !have_code(tracee) ||
               !ask_clock(tracee, index, call.rsp - CKPT_WAIT_ROOM, &now_ns)) {
        return;
    } else {
        rest_begin(&call, tracee->waits, limit.tv_sec, limit.tv_nsec, now_ns, &record);
    }
    if (tracee_write(tracee, call.rsp, &record, sizeof record) == (ssize_t)sizeof record) {
        registers->orig_rax = call.rax;
        registers->rdi = call.rdi;
        registers->rsi = call.rsi;
        registers->rdx = call.rdx;
        registers->r10 = call.r10;
        registers->r8 = call.r8;
        registers->rsp = call.rsp;
        registers->rip = call.rip + CKPT_SYSCALL_BYTES;
    }
}

void tracee_shorten_waits(struct tracee *tracee)
{
    for (size_t i = 0; i < tracee->count && tracee->call != 0; i++) {
        if (tracee->threads[i].is_mended) {
            shorten_wait(tracee, i);
        }
    }
}
