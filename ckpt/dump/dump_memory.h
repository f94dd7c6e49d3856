/* ckpt/dump/dump_memory.h - reads the memory of a process into its image.
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

/* Bytes of a process's memory that are read at once: they fit into a processor's cache. */
#define READER_CHUNK (256U * 1024)
/* Entries of the pagemap that are read at once. */
#define READER_PAGES 32768U

/* reads the memory of a process: one region, or one shared memory object, at a time */
struct reader {
    struct dump *dump;
    bool is_shared; /* true: index is an index in the table of files; false: of regions */
    uint32_t index;
    /* If is_shared: the number to be added to an address to get its offset in the shared memory;
     * otherwise 0. */
    uint64_t shift;
    int pagemap; /* descriptor of /proc/PID/pagemap */
    struct ckpt_extent extent;
    bool is_open; /* true: `extent` has been begun and is not in the table of extents yet */
    /* True: only the process itself can change this memory, so the process itself may write it to
     * the image (self_write_linux.h).  Otherwise the bytes written might differ from those of the
     * checksum. */
    bool is_its_own;
    struct self_write self;
    /* Addresses (from, to) of the first thread's rseq area, which the kernel changes whenever that
     * thread runs.  The dumper writes it to the image, not the process itself. */
    uint64_t noted_from, noted_to;
    uint64_t *pages;
    unsigned char *chunk; /* a buffer of READER_CHUNK bytes, owned by the reader */
    struct err *err;
};

/* Prepares to read the memory of the process reader->dump->now.  Returns 0 or -errno. */
int reader_open(struct reader *reader);
void reader_close(struct reader *reader);
/* Returns the list of extents of the region, or shared memory, that is being read. */
struct ckpt_span *reader_extents(const struct reader *reader);
/* Ends the current extent, if one was begun: the next bytes that are saved begin a new extent. */
void reader_close_extent(struct reader *reader);
/* Saves data[0..bytes), whole pages that lie at `address` in the process, except pages that are all
 * zeroes.  Returns 0 or -errno. */
int reader_put(struct reader *reader, uint64_t address, const unsigned char *data, size_t bytes);
/* Sets reader->err to a message that the process's memory cannot be read, with the text of the
 * negative errno rc.  Returns rc. */
int reader_failed(struct reader *reader, int rc);
/* Saves the memory of the process that is being read, from address `start` to `end`.  Returns 0 or
 * -errno. */
int reader_copy(struct reader *reader, uint64_t start, uint64_t end);

/* ---- dump_delta_linux.c */
/* Saves a region in a delta: the contents of its changed page runs, and for its other page runs
 * only a note that the base image has them (CKPT_IN_BASE).  Returns 0 or -errno. */
int delta_copy(struct reader *reader, const struct ckpt_region *region);
struct subject;
/* Reads the contents of those page runs of the process, from index `first` to before index `end`,
 * that have changed.  Each is read to offset page_run.at of the buffer `to`; there must be no gaps
 * between these runs in the buffer.  Missing pages are read as zeroes.  Returns 0 or -errno. */
int delta_read(const struct subject *subject, size_t first, size_t end, unsigned char *to);

#endif
