/* ckpt/dump/dump_delta_linux.c - saves what has changed of the memory of a process: see
 * dump_memory.h.
 *
 * In a heap single pages here and there change: they are read by hundreds with one system call, and
 * lie one after the other in the image.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"

#define VECTORS 512U
#define LONG    (64U * 1024) /* a run that is copied by itself */

static uint64_t bytes_of(const struct page_run *run)
{
    return run->end - run->start;
}

/* Reads page by page: some pages may lie behind the end of a file. */
static int read_pages(const struct tracee *source, const struct page_run *run, unsigned char *to)
{
    for (uint64_t done = 0; done < bytes_of(run); done += CKPT_PAGE) {
        ssize_t got = tracee_read(source, run->start + done, to + done, CKPT_PAGE);
        if (got < 0 && got != -EIO) { /* the kernel's word for a page that is not there */
            return (int)got;
        }
        size_t seen = got > 0 ? (size_t)got : 0;
        memset(to + done + seen, 0, CKPT_PAGE - seen);
    }
    return 0;
}

static int read_runs(const struct tracee *source, const struct iovec *there, size_t count,
                     unsigned char *to, size_t bytes)
{
    struct iovec here = {to, bytes};
    ssize_t got = process_vm_readv(source->pid, &here, 1, there, count, 0);
    size_t done = got > 0 ? (size_t)got : 0, at = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count && done < bytes; i++) {
        if (at + there[i].iov_len > done) {
            struct page_run run = {.start = (uint64_t)(uintptr_t)there[i].iov_base};
            run.end = run.start + there[i].iov_len;
            rc = read_pages(source, &run, to + at);
        }
        at += there[i].iov_len;
    }
    return rc;
}

int delta_read(const struct subject *subject, size_t first, size_t end, unsigned char *to)
{
    struct iovec there[VECTORS];
    const struct page_run *from = NULL;
    size_t count = 0, bytes = 0;
    int rc = 0;
    for (size_t i = first; rc == 0 && i < end; i++) {
        const struct page_run *run = &subject->runs.items[i];
        if (!run->is_changed) {
            continue;
        }
        from = count == 0 ? run : from;
        there[count++] = (struct iovec){(void *)(uintptr_t)run->start, (size_t)bytes_of(run)};
        bytes += (size_t)bytes_of(run);
        if (count == VECTORS) {
            rc = read_runs(subject->source, there, count, to + from->at, bytes);
            count = bytes = 0;
        }
    }
    return rc == 0 && count > 0 ? read_runs(subject->source, there, count, to + from->at, bytes)
                                : rc;
}

/* Reads the changed runs from `first` on that lie before address `end`, as many as fit, and sets
 * the place of each. *ret: index of the first run that was not read. */
static int gather_runs(struct subject *subject, size_t first, uint64_t end, unsigned char *to,
                       size_t size, size_t *ret)
{
    size_t at = 0, i = first;
    for (; i < subject->runs.count && subject->runs.items[i].start < end; i++) {
        struct page_run *run = &subject->runs.items[i];
        if (run->is_changed && at + bytes_of(run) > size) {
            break;
        }
        run->at = at;
        at += run->is_changed ? bytes_of(run) : 0;
    }
    *ret = i;
    return delta_read(subject, first, i, to);
}

static void put_in_base(struct reader *reader, const struct page_run *run)
{
    const struct ckpt_extent extent = {.start = run->start,
                                       .bytes = bytes_of(run),
                                       .flags = CKPT_IN_BASE};
    reader_close_extent(reader);
    (void)tables_add(&reader->dump->tables, CKPT_EXTENTS, &extent);
    reader_extents(reader)->count++;
}

static size_t first_run(const struct page_runs *runs, uint64_t start)
{
    size_t low = 0, high = runs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs->items[middle].end <= start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int delta_copy(struct reader *reader, const struct ckpt_region *region)
{
    struct subject *subject = reader->dump->now;
    const struct page_runs *runs = &subject->runs;
    const unsigned char *data = subject->taken != NULL ? subject->taken : reader->chunk;
    size_t first = first_run(runs, region->start);
    size_t gathered = subject->taken != NULL ? runs->count : first; /* runs before it are in data */
    int rc = 0;
    for (size_t i = first; rc == 0 && i < runs->count && runs->items[i].start < region->end; i++) {
        const struct page_run *run = &runs->items[i];
        if (!run->is_changed) {
            put_in_base(reader, run);
            continue;
        }
        if (i >= gathered && bytes_of(run) < LONG) {
            rc = gather_runs(subject, i, region->end, reader->chunk, READER_CHUNK, &gathered);
            rc = rc != 0 ? reader_failed(reader, rc) : 0;
        }
        rc = rc != 0        ? rc
             : i < gathered ? reader_put(reader, run->start, data + run->at, (size_t)bytes_of(run))
                            : reader_copy(reader, run->start, run->end);
    }
    return rc;
}
