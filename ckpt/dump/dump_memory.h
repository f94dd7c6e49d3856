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

#define READER_CHUNK (256U * 1024) /* fits into a processor's cache */

struct reader { /* reads one region, or one piece of shared memory, at a time */
    struct dump *dump;
    bool is_shared; /* index is of the table of files (shared memory), not of regions */
    uint32_t index;
    uint64_t shift; /* from an address to its offset in shared memory; else 0 */
    int pagemap;    /* descriptor of /proc/PID/pagemap */
    struct ckpt_extent extent;
    bool is_open; /* extent has been begun */
    /* Nobody but the process itself can change this memory, so the process may write it
     * (self_write_linux.h).  Otherwise the bytes written might differ from the bytes summed. */
    bool is_its_own;
    struct self_write self;
    /* Where the kernel writes the number of the processor on which the writing thread runs
     * (rseq). */
    uint64_t noted_from, noted_to;
    uint64_t *pages;
    unsigned char *chunk; /* of READER_CHUNK bytes */
    struct err *err;
};

/* Prepares to read the memory of dump->now.  0 or -errno. */
int reader_open(struct reader *reader);
void reader_close(struct reader *reader);
/* Returns the list of extents of the region, or shared memory, that is being read. */
struct ckpt_span *reader_extents(const struct reader *reader);
/* Ends the current extent: the next bytes begin another. */
void reader_close_extent(struct reader *reader);
/* Saves whole pages, except those that are all zeroes.  0 or -errno. */
int reader_put(struct reader *reader, uint64_t address, const unsigned char *data, size_t bytes);
/* Sets err: the process's memory cannot be read.  Returns rc. */
int reader_failed(struct reader *reader, int rc);
/* Saves the source's memory from start to end.  0 or -errno. */
int reader_copy(struct reader *reader, uint64_t start, uint64_t end);

/* ---- dump_delta_linux.c */
/* Saves of that region what the page runs of its process say.  0 or -errno. */
int delta_copy(struct reader *reader, const struct ckpt_region *region);
struct subject;
/* Reads the contents of the changed runs from `first` to before `end`, each to its place
 * (page_run.at) in `to`; these places must follow each other without holes.  Pages that are not
 * present are zeroes.  0 or -errno. */
int delta_read(const struct subject *subject, size_t first, size_t end, unsigned char *to);

#endif
