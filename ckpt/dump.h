/* ckpt/dump.h - what the parts of a dump share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_H
#define CKPT_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/maps_linux.h"
#include "ckpt/tables.h"
#include "ckpt/tracee_linux.h"

struct err;
struct image;

struct dump {
    struct tracee tracee;
    struct tracee copy;    /* of it; without one: pid 0 */
    struct tracee *source; /* whose memory is read: one of these */
    int inner;             /* the image's descriptor in the source; -1: it has none */
    struct maps maps;
    struct tables tables;
    struct ckpt_head head;
    struct ckpt_process process;
    const struct image *before; /* the image that it was resumed from; NULL: none */
    int out;                    /* the new image */
    uint64_t at;                /* where its next contents go */
};

/* ---- dump_process_linux.c: threads, signals, timers, limits */
int dump_threads(struct dump *dump, struct err *err);
int dump_process(struct dump *dump, struct err *err);
/* ---- dump_files_linux.c */
int dump_files(struct dump *dump, struct err *err);
/* ---- dump_memory_linux.c */
/* What would be saved of each mapping: fills the table of regions, refuses what cannot be. */
int dump_regions(struct dump *dump, struct err *err);
/* The contents of the regions, to the image: of those that a copy has not, before it is made; of
 * all others. */
int dump_memory(struct dump *dump, bool uncopied, struct err *err);
/* The sums of all that was written, at the end: nobody has to stand still for them. */
int dump_sums(struct dump *dump, struct err *err);
/* Is it the mapping of the kernel's that holds code, or its data? */
bool dump_is_vdso(const struct dump *dump, const struct map *map);
bool dump_is_vvar(const struct map *map);

/* ---- dump_linux.c: contents */
/* These bytes, at the image's next page; from there on more of the same extent follow on. */
int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err);
uint64_t dump_next_page(const struct dump *dump); /* where an extent would begin */
/* The next extent begins on a page of its own. */
void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start);

#endif
