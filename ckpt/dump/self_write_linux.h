/* ckpt/dump/self_write_linux.h - lets a stopped process write its own pages to the image, while we
 * read the next ones.
 *
 * If the process itself calls write(), its pages are copied once; if we read and write them, they
 * are copied twice.  While the process writes on one processor, we examine the next pages on
 * another one: are they all zeroes, and what is their checksum?  Each write() of the process
 * costs several switches between the process and us, so we write short pieces ourselves.
 *
 * What the process did not write completely, we write again ourselves: the result of our own call
 * tells what is wrong, a full disk or something else.
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
    uint64_t from, bytes, at; /* address in the process; length; offset in the image */
};

struct self_write {        /* state of one process that writes its own pages */
    struct tracee *source; /* the process; NULL: it does not write its own pages */
    int inner;             /* descriptor by which the process has the image open */
    int out;               /* our descriptor of the image */
    /* next: bytes collected for the next write; running: bytes that the process is writing. */
    struct self_part next, running;
};

/* Returns whether the process should write these bytes itself: they are many enough to be worth a
 * system call of the process, or they directly follow the bytes that were collected for its next
 * write. */
bool self_write_takes(const struct self_write *self, uint64_t from, size_t bytes, uint64_t at);
/* Adds bytes to those that the process will write; many bytes make it begin to write them.  Returns
 * 0 or -errno. */
int self_write_add(struct self_write *self, uint64_t from, size_t bytes, uint64_t at,
                   struct err *err);
/* Makes the process write the rest of the bytes, and waits until all are written.  Afterwards the
 * process is stopped, also on failure.  Returns 0 or -errno. */
int self_write_finish(struct self_write *self, struct err *err);

#endif
