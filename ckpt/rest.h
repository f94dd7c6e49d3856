/* ckpt/rest.h - system calls that wait for a limited time, continued with the rest of that time.
 *
 * A system call that is issued again would wait in full again.  So it is issued by the code at
 * CKPT_WAIT_AT instead (struct ckpt_wait in format.h), with the time that is left: by the stub for
 * a resumed job, by the dumper for a job that continues.  The dumper knows when it first saw the
 * call, and so what is left.
 *
 * Some calls report the time that is left when they are interrupted, and keep the record up to
 * date.  For the others the record says when they must end.
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

#define REST_MAX_S INT64_C(1000000000) /* a longer wait counts as endless */

/* How a system call limits its wait. */
enum rest_limit {
    REST_NONE, /* it does not wait, or waits for ever, or until a time of the day */
    REST_MS,   /* milliseconds */
    REST_AT    /* a struct timespec at an address */
};

/* Returns the kind of limit of the call that these registers would issue (rax: its number, rip: the
 * address of the instruction), and in *ret the milliseconds or the address. */
enum rest_limit rest_limit_of(const struct ckpt_registers *registers, int64_t *ret);
/* Returns whether that call writes the time that is left to the place of its limit, where the
 * program sees it. */
bool rest_is_told_program(uint64_t number);
/* Changes the registers so that they issue the call by the code at address `code`, with the given
 * time.  The caller must write *ret, the record, to the address in rsp. now_ns: the job's
 * CLOCK_MONOTONIC.  Only for a call that has a limit. */
void rest_begin(struct ckpt_registers *registers, uint64_t code, int64_t left_s, int64_t left_ns,
                int64_t now_ns, struct ckpt_wait *ret);
/* For a call that waits in that code: computes what is left at now_ns and writes it to record and
 * registers.  False: nothing to do, because the kernel keeps the record up to date. */
bool rest_update(struct ckpt_registers *registers, int64_t now_ns, struct ckpt_wait *record);

#endif
