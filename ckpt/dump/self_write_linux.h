/* ckpt/dump/self_write_linux.h - lets a stopped process write its own pages to the image, while the
 * dumper reads the next ones.
 *
 * If the process itself calls write(), its pages are copied once; if the dumper reads and writes
 * them, they are copied twice.  While the process writes on one processor, the dumper examines the
 * next pages on another one: are they all zeroes, and what is their checksum?  Each write() of the
 * process costs several switches between the process and the dumper, so the dumper itself writes
 * short ranges of memory.
 *
 * If a write() of the process fails or writes less than it should, the dumper writes the rest of
 * those bytes.  If that fails as well, its error tells what is wrong: a full disk or something
 * else.
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
    /* from: address of the first byte in the process; bytes: length; at: offset in the image */
    uint64_t from, bytes, at;
};

struct self_write {        /* state of one process that writes its own pages */
    struct tracee *source; /* the process; NULL: it does not write its own pages */
    int inner;             /* descriptor of the image in the process */
    int out;               /* descriptor of the image in the dumper */
    /* next: bytes collected for the process's next write(); running: bytes that the process is
     * writing now.  bytes 0: none. */
    struct self_part next, running;
};

/* Returns whether the process, not the dumper, should write these bytes (from: their address in the
 * process; at: their offset in the image): they are many enough to be worth a system call of the
 * process, or they directly follow the bytes that were collected for its next write. */
bool self_write_takes(const struct self_write *self, uint64_t from, size_t bytes, uint64_t at);
/* Adds bytes to those that the process will write (from: their address in the process; at: their
 * offset in the image).  If many bytes are collected, makes the process begin to write them.
 * Returns 0 or -errno. */
int self_write_add(struct self_write *self, uint64_t from, size_t bytes, uint64_t at,
                   struct err *err);
/* Makes the process write the rest of the bytes that self_write_add() has collected, and waits
 * until all are written.  Afterwards the process is stopped, also on failure.  Returns 0 or
 * -errno. */
int self_write_finish(struct self_write *self, struct err *err);

#endif
