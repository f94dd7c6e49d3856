/* ckpt/dump/dump_reader_linux.c - copies pages of a process to its image: see dump_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"

int reader_open(struct reader *reader)
{
    char path[64];
    reader->pagemap = -1;
    if (!reader->dump->is_delta || reader->is_shared) {
        (void)snprintf(path, sizeof path, "/proc/%d/pagemap", (int)reader->dump->now->source->pid);
        reader->pagemap = open(path, O_RDONLY | O_CLOEXEC);
        if (reader->pagemap < 0) {
            return err_set(reader->err, -errno, "%s: %s", path, err_code_text(-errno));
        }
    }
    reader->pages = mem_alloc(READER_PAGES * sizeof reader->pages[0]);
    reader->chunk = mem_alloc(READER_CHUNK);
    return 0;
}

void reader_close(struct reader *reader)
{
    mem_free(reader->pages);
    mem_free(reader->chunk);
    if (reader->pagemap >= 0) {
        (void)close(reader->pagemap);
    }
}

struct ckpt_span *reader_extents(const struct reader *reader)
{
    struct tables *tables = &reader->dump->tables;
    if (reader->is_shared) {
        return &((struct ckpt_file *)tables_at(tables, CKPT_FILES, reader->index))->extents;
    }
    return &((struct ckpt_region *)tables_at(tables, CKPT_REGIONS, reader->index))->extents;
}

void reader_close_extent(struct reader *reader)
{
    if (reader->is_open) {
        (void)tables_add(&reader->dump->tables, CKPT_EXTENTS, &reader->extent);
        reader_extents(reader)->count++;
        reader->dump->head.memory_bytes += reader->extent.bytes;
        reader->is_open = false;
    }
}

static bool is_zero(const unsigned char *page)
{
    /* Each byte is the one before it, and the first one is zero. */
    return page[0] == 0 && memcmp(page, page + 1, CKPT_PAGE - 1) == 0;
}

static int put_pages(struct reader *reader, uint64_t address, const unsigned char *data,
                     size_t bytes)
{
    if (reader->is_open && reader->extent.start + reader->extent.bytes != address + reader->shift) {
        reader_close_extent(reader);
    }
    if (!reader->is_open) {
        dump_begin_extent(reader->dump, &reader->extent, address + reader->shift);
        reader->is_open = true;
    }
    uint64_t at = reader->dump->at;
    bool noted = address < reader->noted_to && address + bytes > reader->noted_from;
    if (!reader->is_its_own || noted || !self_write_takes(&reader->self, address, bytes, at)) {
        return dump_put(reader->dump, &reader->extent, data, bytes, reader->err);
    }
    dump_count(reader->dump, &reader->extent, data, bytes);
    return self_write_add(&reader->self, address, bytes, at, reader->err);
}

int reader_put(struct reader *reader, uint64_t address, const unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        while (end < bytes && !is_zero(data + end)) {
            end += CKPT_PAGE;
        }
        int rc = end > at ? put_pages(reader, address + at, data + at, end - at) : 0;
        if (rc != 0) {
            return rc;
        }
        at = end;
        while (at < bytes && is_zero(data + at)) {
            at += CKPT_PAGE;
        }
    }
    return 0;
}

int reader_failed(struct reader *reader, int rc)
{
    return err_set(reader->err, rc, "process %d: cannot read its memory: %s",
                   (int)reader->dump->now->source->pid, err_code_text(rc));
}

/* Behind the end of a file there is nothing to read. */
int reader_copy(struct reader *reader, uint64_t start, uint64_t end)
{
    while (start < end) {
        size_t bytes = end - start < READER_CHUNK ? (size_t)(end - start) : READER_CHUNK;
        ssize_t got = tracee_read(reader->dump->now->source, start, reader->chunk, bytes);
        if (got <= 0 && bytes > CKPT_PAGE) { /* page by page */
            bytes = CKPT_PAGE;
            got = tracee_read(reader->dump->now->source, start, reader->chunk, bytes);
        }
        if (got < 0 && got != -EIO) { /* the kernel's word for a page that is not there */
            return reader_failed(reader, (int)got);
        }
        if (got > 0) {
            size_t rest = (CKPT_PAGE - (size_t)got % CKPT_PAGE) % CKPT_PAGE;
            memset(reader->chunk + got, 0, rest);
            got += (ssize_t)rest;
            int rc = reader_put(reader, start, reader->chunk, (size_t)got);
            if (rc != 0) {
                return rc;
            }
        }
        start += got > 0 ? (uint64_t)got : CKPT_PAGE;
    }
    return 0;
}
