/* ckpt/rest.h - continues a system call that waits for a limited time (a sleep) with the rest of
 * that time.
 *
 * A dump interrupts system calls.  If such a call were simply issued again, it would wait for its
 * full time again.  So it is issued by the code at CKPT_WAIT_AT instead (struct ckpt_wait in
 * format.h), with the time that is left.  The stub arranges that for a resumed job, the dumper for
 * a job that continues.  The dumper knows when it first saw the call, and so how much time is left.
 *
 * Some calls report the time that is left when they are interrupted: the kernel then keeps the
 * record (struct ckpt_wait) up to date.  For other calls, the record says when they must end.
 *
 * Pure, and part of the stub, the program at the head of an image: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_REST_H
#define CKPT_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/format.h"

#define REST_MAX_S INT64_C(1000000000) /* seconds; a longer wait counts as endless */

/* How a system call limits its wait. */
enum rest_limit {
    REST_NONE, /* no limit of duration: no wait, an endless wait, or one until a fixed time */
    REST_MS,   /* an argument is the limit in milliseconds */
    REST_AT    /* an argument is the address of a struct timespec with the limit */
};

/* Returns how the system call that these registers would issue limits its wait (rax: number of the
 * call, rip: address of the instruction). *ret: for REST_MS the milliseconds, for REST_AT the
 * address. */
enum rest_limit rest_limit_of(const struct ckpt_registers *registers, int64_t *ret);
/* Returns whether the system call with that number, when it ends, replaces its time limit in the
 * program's memory by the time that is left (ppoll() and pselect6() do). */
bool rest_is_told_program(uint64_t number);
/* Changes the registers so that they issue their system call by the code at address `code`, with
 * the time left_s, left_ns as its limit.  The caller must write *ret, the record, to the address
 * that is in rsp afterwards. now_ns: the job's CLOCK_MONOTONIC.  Only for a call for which
 * rest_limit_of() is not REST_NONE. */
void rest_begin(struct ckpt_registers *registers, uint64_t code, int64_t left_s, int64_t left_ns,
                int64_t now_ns, struct ckpt_wait *ret);
/* For a system call that rest_begin() has prepared: computes the time that is left at now_ns,
 * and writes it to record and registers.  Returns false if there was nothing to do, because the
 * kernel keeps the record up to date. */
bool rest_update(struct ckpt_registers *registers, int64_t now_ns, struct ckpt_wait *record);

#endif
