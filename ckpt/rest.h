/* ckpt/rest.h - system calls that wait for a limited time: going on with what is left of it.
 *
 * A call that is issued again waits in full again.  So it is issued by the code at CKPT_WAIT_AT
 * instead (struct ckpt_wait in format.h), with the time that is left, by the stub for a job that is
 * resumed, by the dumper for one that goes on: the dumper knows when it found the call the first
 * time, and what there is left from then on.
 *
 * Some calls tell what is left when they are interrupted, and keep it up to date in the record.
 * Of the others the record knows when they are to end.
 *
 * Pure, and part of the stub, too: no C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_REST_H
#define CKPT_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/format.h"

#define REST_MAX_S INT64_C(1000000000) /* who waits longer waits for ever */

enum rest_limit {
    REST_NONE, /* it does not wait, or for ever, or till a time that does not move */
    REST_MS,   /* for so many milliseconds */
    REST_AT    /* for the time in the struct timespec at that address */
};

/* The limit of the call that these registers are to issue: rax is its number, rip the place of the
 * instruction.  *ret: milliseconds, or the address. */
enum rest_limit rest_limit_of(const struct ckpt_registers *registers, int64_t *ret);
/* Does that call write what is left to where it found the limit, for the program to see? */
bool rest_is_told_program(uint64_t number);
/* Changes them to those that issue the call by the code at that address, with so much time. *ret is
 * the record, which is to be put to where rsp points then.  now_ns: on the job's CLOCK_MONOTONIC.
 * Only of a call that has a limit. */
void rest_begin(struct ckpt_registers *registers, uint64_t code, int64_t left_s, int64_t left_ns,
                int64_t now_ns, struct ckpt_wait *ret);
/* Of a call that waits in that code, and that the kernel does not keep up to date: what is left at
 * that time, put into record and registers.  false: the kernel does. */
bool rest_update(struct ckpt_registers *registers, int64_t now_ns, struct ckpt_wait *record);

#endif
