/* ckpt/rest.c - system calls that wait, continued with the rest of their time: see rest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/rest.h"

#include <linux/futex.h>
#include <linux/time.h>
#include <sys/syscall.h>

#define MS_PER_S  1000
#define NS_PER_MS 1000000
#define NS_PER_S  1000000000

/* Returns whether a futex call waits for a duration; the others wait until a time. */
static bool is_futex_wait(uint64_t operation)
{
    return (operation & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)) == FUTEX_WAIT;
}

static enum rest_limit limit_in_ms(uint64_t argument, int64_t *ret)
{
    *ret = (int32_t)argument;
    return *ret > 0 ? REST_MS : REST_NONE;
}

static enum rest_limit limit_at(uint64_t argument, int64_t *ret)
{
    *ret = (int64_t)argument;
    return argument != 0 ? REST_AT : REST_NONE;
}

enum rest_limit rest_limit_of(const struct ckpt_registers *registers, int64_t *ret)
{
    switch (registers->rax) {
    case SYS_poll:
        return limit_in_ms(registers->rdx, ret);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return limit_in_ms(registers->r10, ret);
    case SYS_nanosleep: /* interrupted, it has written what is left to the second one */
        return limit_at(registers->rsi != 0 ? registers->rsi : registers->rdi, ret);
    case SYS_clock_nanosleep:
        return registers->rsi != 0
                   ? REST_NONE
                   : limit_at(registers->r10 != 0 ? registers->r10 : registers->rdx, ret);
    case SYS_ppoll:
    case SYS_rt_sigtimedwait:
        return limit_at(registers->rdx, ret);
    case SYS_pselect6:
        return limit_at(registers->r8, ret);
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
        return limit_at(registers->r10, ret);
    case SYS_futex:
        return is_futex_wait(registers->rsi) ? limit_at(registers->r10, ret) : REST_NONE;
    default:
        return REST_NONE;
    }
}

bool rest_is_told_program(uint64_t number)
{
    return number == SYS_ppoll || number == SYS_pselect6;
}

/* Returns the rest in milliseconds, rounded up. */
static uint64_t rounded_up(const struct ckpt_wait *record)
{
    int64_t ms = record->left_s * MS_PER_S + (record->left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return (uint64_t)(ms < INT32_MAX ? ms : INT32_MAX);
}

/* Sets the registers to those of the record's call, with its limit.  True: the kernel keeps the
 * record up to date. */
static bool point_registers(struct ckpt_registers *registers, uint64_t place,
                            const struct ckpt_wait *record)
{
    registers->rax = record->number;
    switch (record->number) {
    case SYS_poll:
        registers->rax = SYS_ppoll;
        registers->rdx = place;
        registers->r10 = 0;
        registers->r8 = sizeof(uint64_t);
        return true;
    case SYS_ppoll:
        registers->rdx = place;
        return true;
    case SYS_pselect6:
        registers->r8 = place;
        return true;
    case SYS_nanosleep:
        registers->rax = SYS_clock_nanosleep;
        registers->r10 = record->rsi != 0 ? record->rsi : place;
        registers->rdi = CLOCK_MONOTONIC;
        registers->rsi = 0;
        registers->rdx = place;
        return true;
    case SYS_clock_nanosleep:
        registers->r10 = record->r10 != 0 ? record->r10 : place;
        registers->rdx = place;
        return true;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        registers->r10 = rounded_up(record);
        return false;
    case SYS_rt_sigtimedwait:
        registers->rdx = place;
        return false;
    default:
        registers->r10 = place;
        return false;
    }
}

void rest_begin(struct ckpt_registers *registers, uint64_t code, int64_t left_s, int64_t left_ns,
                int64_t now_ns, struct ckpt_wait *ret)
{
    *ret = (struct ckpt_wait){.left_s = left_s < REST_MAX_S ? left_s : REST_MAX_S,
                              .left_ns = left_ns,
                              .rdi = registers->rdi,
                              .rsi = registers->rsi,
                              .rdx = registers->rdx,
                              .r10 = registers->r10,
                              .r8 = registers->r8,
                              .r9 = registers->r9,
                              .rip = registers->rip + CKPT_SYSCALL_BYTES,
                              .number = registers->rax};
    registers->rsp -= CKPT_WAIT_ROOM;
    registers->rip = code;
    bool told = point_registers(registers, registers->rsp, ret);
    ret->until_ns = told ? 0 : now_ns + ret->left_s * NS_PER_S + left_ns;
}

bool rest_update(struct ckpt_registers *registers, int64_t now_ns, struct ckpt_wait *record)
{
    if (record->until_ns == 0) {
        return false;
    }
    int64_t left_ns = record->until_ns > now_ns ? record->until_ns - now_ns : 0;
    record->left_s = left_ns / NS_PER_S;
    record->left_ns = left_ns % NS_PER_S;
    (void)point_registers(registers, registers->rsp, record);
    return true;
}
