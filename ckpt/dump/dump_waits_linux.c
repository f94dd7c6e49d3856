/* ckpt/dump/dump_waits_linux.c - threads that wait: see struct ckpt_wait.
 *
 * Only the kernel knows what is left of a sleep that nobody has interrupted yet: when the job is
 * resumed it sleeps in full.  From then on the rest is known, so that a job which is moved again
 * and again still reaches the end of its sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "ckpt/dump/dump.h"
#include "ckpt/image/image.h"
#include "ckpt/proc_linux.h"
#include "ckpt/rest.h"

#define MS_PER_S   1000
#define NS_PER_MS  1000000
#define MOV_BYTES  5
#define MOV_TO_EAX 0xb8

static uint64_t wait_code(const struct image *before)
{
    return image_head(before)->window + CKPT_STUB_OFFSET + CKPT_WAIT_AT;
}

bool dump_is_waiting(const struct image *before, uint64_t rip)
{
    return before != NULL && rip - wait_code(before) < CKPT_WAIT_BYTES;
}

const struct ckpt_thread *dump_halted(const struct subject *subject,
                                      const struct tracee_thread *held)
{
    const struct image *before = subject->before;
    uint64_t rip = held->registers.rip;
    if (before == NULL || (subject->process.flags & CKPT_STOPPED) == 0 ||
        rip - image_head(before)->window >= image_head(before)->window_bytes ||
        dump_is_waiting(before, rip)) {
        return NULL;
    }
    pid_t tid = proc_innermost(subject->tracee.pid, held->tid, "NSpid:");
    for (uint32_t i = 0; i < image_count(before, CKPT_PROCESSES); i++) {
        const struct ckpt_process *process = image_process(before, i);
        bool is_it = process->pid == subject->process.pid && (process->flags & CKPT_STOPPED) != 0;
        for (uint32_t j = 0; is_it && j < process->threads.count; j++) {
            const struct ckpt_thread *thread = image_thread(before, process->threads.first + j);
            if (thread->tid == tid) {
                return thread;
            }
        }
    }
    return NULL;
}

/* Finds what is left of the call that the registers will issue, by what the call itself reports. */
static void ask_call(const struct dump *dump, struct ckpt_thread *thread, bool is_mended)
{
    struct timespec left;
    int64_t value = 0;
    enum rest_limit limit = rest_limit_of(&thread->registers, &value);
    if (limit == REST_NONE || (rest_is_told_program(thread->registers.rax) && !is_mended)) {
        return; /* what it is told is in its memory */
    }
    if (limit == REST_MS) {
        thread->left_s = value / MS_PER_S;
        thread->left_ns = value % MS_PER_S * NS_PER_MS;
    } else if (tracee_read(&dump->now->tracee, (uint64_t)value, &left, sizeof left) ==
               (ssize_t)sizeof left) {
        thread->left_s = left.tv_sec;
        thread->left_ns = left.tv_nsec;
    }
}

/* Returns the address of the code that continues waits in which the thread is: that of its window,
 * or of our page; 0: none. */
static uint64_t code_of(const struct dump *dump, uint64_t rip)
{
    uint64_t waits = dump->now->tracee.waits;
    if (dump_is_waiting(dump->now->before, rip)) {
        return wait_code(dump->now->before);
    }
    return waits != 0 && rip - waits < CKPT_WAIT_BYTES ? waits : 0;
}

/* Reads the job's clock. */
static bool ask_clock(const struct dump *dump, int64_t *ret_ns)
{
    struct tracee *tracee = &dump->now->tracee;
    struct timespec now;
    if (TRACEE_CALL(tracee, 0, SYS_clock_gettime, CLOCK_MONOTONIC, tracee->scratch) != 0 ||
        tracee_read(tracee, tracee->scratch, &now, sizeof now) != (ssize_t)sizeof now) {
        return false;
    }
    *ret_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    return true;
}

/* Finds what is left by the record. */
static void ask_record(const struct dump *dump, struct ckpt_thread *thread,
                       struct ckpt_wait *record)
{
    struct ckpt_registers call = {.rax = record->number, .rsi = record->rsi, .r10 = record->r10};
    struct timespec told;
    int64_t now_ns = 0, value = 0;
    bool to_program = (record->number == SYS_nanosleep && record->rsi != 0) ||
                      (record->number == SYS_clock_nanosleep && record->r10 != 0);
    if (record->until_ns != 0 && ask_clock(dump, &now_ns)) {
        (void)rest_update(&call, now_ns, record);
    } else if (to_program && rest_limit_of(&call, &value) == REST_AT &&
               tracee_read(&dump->now->tracee, (uint64_t)value, &told, sizeof told) ==
                   (ssize_t)sizeof told) {
        record->left_s = told.tv_sec;
        record->left_ns = told.tv_nsec;
    }
    thread->left_s = record->left_s;
    thread->left_ns = record->left_ns;
}

/* The thread is in the code that continues a wait: restores the registers of the job's own call, to
 * be issued again or done. */
static int leave_code(const struct dump *dump, struct ckpt_thread *thread, uint64_t code,
                      bool again)
{
    struct ckpt_registers *registers = &thread->registers;
    struct ckpt_wait record;
    if (registers->rip - code == CKPT_WAIT_BYTES - CKPT_WAIT_JUMP) {
        registers->rip = registers->r11;
        return 0;
    }
    if (tracee_read(&dump->now->tracee, registers->rsp, &record, sizeof record) != sizeof record) {
        return -EFAULT;
    }
    registers->rdi = record.rdi;
    registers->rsi = record.rsi;
    registers->rdx = record.rdx;
    registers->r10 = record.r10;
    registers->r8 = record.r8;
    registers->r9 = record.r9;
    registers->rsp += CKPT_WAIT_ROOM;
    registers->rip = record.rip;
    if (again) {
        registers->rip -= CKPT_SYSCALL_BYTES;
        registers->rax = record.number;
        ask_record(dump, thread, &record);
    }
    return 0;
}

/* ---- a wait that was interrupted before */

static bool is_timespec(const struct dump *dump, uint64_t at)
{
    struct timespec time;
    return at != 0 && tracee_read(&dump->now->tracee, at, &time, sizeof time) == sizeof time &&
           time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < MS_PER_S * (long)NS_PER_MS;
}

static bool is_readable(const struct dump *dump, uint64_t at)
{
    char byte;
    return tracee_read(&dump->now->tracee, at, &byte, sizeof byte) == sizeof byte;
}

/* Looks for "mov $NUMBER, %eax" right before the instruction. */
static int64_t number_in_code(const struct dump *dump, uint64_t rip)
{
    uint8_t code[MOV_BYTES];
    int32_t number = -1;
    if (tracee_read(&dump->now->tracee, rip - CKPT_SYSCALL_BYTES - MOV_BYTES, code, sizeof code) ==
            sizeof code &&
        code[0] == MOV_TO_EAX) {
        memcpy(&number, code + 1, sizeof number);
    }
    return number;
}

int64_t dump_interrupted_call(const struct dump *dump, const struct ckpt_registers *registers)
{
    int64_t number = number_in_code(dump, registers->rip);
    if (number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_poll ||
        number == SYS_futex) {
        return number;
    }
    if (code_of(dump, registers->rip) != 0) { /* the record tells */
        return SYS_restart_syscall;
    }
    uint64_t futex = registers->rsi & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    if (registers->rsi == 0 && !is_readable(dump, registers->rdi) &&
        is_timespec(dump, registers->rdx)) {
        return SYS_clock_nanosleep;
    }
    if ((futex == FUTEX_WAIT || futex == FUTEX_WAIT_BITSET) && is_timespec(dump, registers->r10) &&
        is_readable(dump, registers->rdi)) {
        return SYS_futex;
    }
    if (is_timespec(dump, registers->rdi) &&
        (registers->rsi == 0 || is_readable(dump, registers->rsi))) {
        return SYS_nanosleep;
    }
    return (int32_t)registers->rdx > 0 ? SYS_poll : -1;
}

int dump_wait(const struct dump *dump, struct ckpt_thread *thread, bool again, bool is_mended)
{
    uint64_t code = code_of(dump, thread->registers.rip);
    thread->left_s = -1;
    thread->left_ns = 0;
    if (code != 0) {
        return leave_code(dump, thread, code, again && thread->registers.rip == code);
    }
    if (again) {
        ask_call(dump, thread, is_mended);
    }
    return 0;
}
