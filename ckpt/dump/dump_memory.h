/* ckpt/dump/dump_memory.h - what reads the memory of a process into its image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_DUMP_MEMORY_H
#define CKPT_DUMP_DUMP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"
#include "ckpt/dump/self_write_linux.h"

struct dump;
struct err;

#define READER_CHUNK (256U * 1024) /* what stays in a processor's cache */

struct reader {
    struct dump *dump;
    bool is_shared; /* what is read is memory that processes share: index is a file's, else a
                       region's */
    uint32_t index;
    uint64_t shift; /* from an address to where that is in what is shared; else 0 */
    int pagemap;
    struct ckpt_extent extent;
    bool is_open; /* the extent is begun */
    /* What nobody but the process can change, it writes itself; else what is written were not what
     * was summed. */
    bool is_its_own;
    struct self_write self;
    /* Where the kernel notes for the thread that writes on which processor it is. */
    uint64_t noted_from, noted_to;
    uint64_t *pages;
    unsigned char *chunk; /* of READER_CHUNK bytes */
    struct err *err;
};

/* Of the process whose turn it is. */
int reader_open(struct reader *reader);
void reader_close(struct reader *reader);
/* The extents of what is read now: of a region, or of memory that processes share. */
struct ckpt_span *reader_extents(const struct reader *reader);
void reader_close_extent(struct reader *reader);
/* These bytes, whole pages, without those that are all zeroes. */
int reader_put(struct reader *reader, uint64_t address, const unsigned char *data, size_t bytes);
/* The source's memory cannot be read: that, with err saying so. */
int reader_failed(struct reader *reader, int rc);
/* From the source, from that address to that one. */
int reader_copy(struct reader *reader, uint64_t start, uint64_t end);

/* ---- dump_delta_linux.c */
/* Of that region what its process's runs say. */
int delta_copy(struct reader *reader, const struct ckpt_region *region);
/* The contents of changed runs from `first` to before `end`, each to its place (page_run.at) in
 * that memory; one behind the other, and without holes.  A page that is not there is
 * zeroes; one that cannot be read for another reason is an error. */
struct subject;
int delta_read(const struct subject *subject, size_t first, size_t end, unsigned char *to);

#endif
