/* ckpt/dump/self_write_linux.h - lets a stopped process write its own pages to the image, while we
 * read the next ones.
 *
 * As with any write() the pages are copied once, not twice.  While one processor does that, another
 * one looks at the next pages, for zeroes and checksums.  Each such call costs several switches
 * between the process and us, so short pieces are written by us.
 *
 * What the process did not write completely we write ourselves: the result of our own call tells
 * what is wrong, a full disk or something else.
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

struct self_write {                 /* state of one process that writes itself */
    struct tracee *source;          /* NULL: the process does not write itself */
    int inner;                      /* number of the image's descriptor in the process */
    int out;                        /* our descriptor of the image */
    struct self_part next, running; /* collected, and being written */
};

/* Returns whether the process should write these bytes: they are enough, or continue what it will
 * write next. */
bool self_write_takes(const struct self_write *self, uint64_t from, size_t bytes, uint64_t at);
/* Gives it bytes to write: now, or together with later ones.  0 or -errno. */
int self_write_add(struct self_write *self, uint64_t from, size_t bytes, uint64_t at,
                   struct err *err);
/* Waits until all is written.  The process is stopped afterwards, also on failure.  0 or -errno. */
int self_write_finish(struct self_write *self, struct err *err);

#endif
