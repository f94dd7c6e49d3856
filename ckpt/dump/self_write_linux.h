/* ckpt/dump/self_write_linux.h - a process that is held writes its pages to the image itself, while
 * we look at the next ones.
 *
 * Its pages are copied once, not twice, as by any write(); and while one processor does that,
 * another one reads what comes next, for zeroes and sums.  Such a call costs several changes
 * between the process and us: what is short we write ourselves.
 *
 * What it did not write, or not all of it, is written by us: whether the disk is full, or what else
 * it is, our own call tells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_SELF_WRITE_LINUX_H
#define CKPT_DUMP_SELF_WRITE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct tracee;

struct self_part {
    uint64_t from, bytes, at; /* address in the process; place in the image */
};

struct self_write {
    struct tracee *source; /* NULL: nobody writes itself */
    int inner;             /* the image's descriptor in there */
    int out;               /* and ours */
    struct self_part next, running;
};

/* Is it worth it for these bytes, or are they the continuation of what it is to write next? */
bool self_write_takes(const struct self_write *self, uint64_t from, size_t bytes, uint64_t at);
/* It will write them: at once, or when there are more. */
int self_write_add(struct self_write *self, uint64_t from, size_t bytes, uint64_t at,
                   struct err *err);
/* All is written, and the process held, whatever is returned. */
int self_write_finish(struct self_write *self, struct err *err);

#endif
