/* ckpt/dump/dump_shared_linux.c - saves memory that processes share: once, while all of them stand
 * still.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"

struct shown { /* a part of it that somebody maps */
    struct subject *subject;
    uint64_t address, from, to; /* in it */
};

static void add_shown(struct shown **all, size_t *count, const struct shown *one)
{
    *all = mem_realloc(*all, (*count + 1) * sizeof **all);
    (*all)[(*count)++] = *one;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct shown *)a)->from, y = ((const struct shown *)b)->from;
    return x < y ? -1 : x > y;
}

static void find_shown(struct dump *dump, uint32_t file, struct shown **all, size_t *count)
{
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        for (uint32_t j = 0; j < subject->process.regions.count; j++) {
            const struct ckpt_region *region =
                tables_at(&dump->tables, CKPT_REGIONS, subject->process.regions.first + j);
            if (region->kind == CKPT_SHARED_MEMORY && region->id == file) {
                const struct shown one = {.subject = subject,
                                          .address = region->start,
                                          .from = region->map_offset,
                                          .to = region->map_offset + region->end - region->start};
                add_shown(all, count, &one);
            }
        }
    }
    if (*count > 0) {
        qsort(*all, *count, sizeof **all, by_place);
    }
}

static const struct map *map_at(const struct maps *maps, uint64_t address)
{
    for (size_t i = 0; i < maps->count; i++) {
        if (maps->items[i].start <= address && address < maps->items[i].end) {
            return &maps->items[i];
        }
    }
    return NULL;
}

/* Returns whether mincore() tells which pages are present: for memory without a file, except huge
 * pages. */
static bool is_told(struct dump *dump, uint32_t file, uint64_t address)
{
    const struct ckpt_file *object = tables_at(&dump->tables, CKPT_FILES, file);
    const struct map *map = map_at(&dump->now->maps, address);
    return object->detail == CKPT_IN_MEMORY && map != NULL && !map->is_huge;
}

/* mincore() reports pages that are swapped out as not present. */
static bool is_any_swapped(void)
{
    struct sysinfo system;
    return sysinfo(&system) != 0 || system.freeswap != system.totalswap;
}

/* Asks mincore() for a byte for each page.  False: all pages may be present. */
static bool ask_resident(struct dump *dump, uint64_t start, uint64_t count, unsigned char *pages)
{
    struct tracee *tracee = &dump->now->tracee;
    return TRACEE_CALL(tracee, 0, SYS_mincore, start, count * CKPT_PAGE, tracee->scratch) == 0 &&
           tracee_read(tracee, tracee->scratch, pages, (size_t)count) == (ssize_t)count &&
           !is_any_swapped();
}

/* Saves only present pages: to read another one would create it in the job's memory. */
static int copy_resident(struct reader *reader, uint64_t start, uint64_t end)
{
    unsigned char pages[CKPT_PAGE];
    int rc = 0;
    for (uint64_t at = start, count; rc == 0 && at < end; at += count * CKPT_PAGE) {
        count = (end - at) / CKPT_PAGE;
        count = count < sizeof pages ? count : sizeof pages;
        if (!ask_resident(reader->dump, at, count, pages)) {
            memset(pages, 1, sizeof pages);
        }
        for (uint64_t i = 0; rc == 0 && i < count; i++) {
            uint64_t first = i;
            while (i < count && (pages[i] & 1) != 0) {
                i++;
            }
            rc = i > first ? reader_copy(reader, at + first * CKPT_PAGE, at + i * CKPT_PAGE) : 0;
        }
    }
    return rc;
}

static int copy_shown(struct dump *dump, uint32_t file, const struct shown *shown, uint64_t done,
                      struct err *err)
{
    struct reader reader = {.dump = dump,
                            .err = err,
                            .is_shared = true,
                            .index = file,
                            .shift = shown->from - shown->address};
    dump->now = shown->subject;
    int rc = reader_open(&reader);
    if (rc == 0) {
        uint64_t skipped = done > shown->from ? done - shown->from : 0;
        uint64_t start = shown->address + skipped;
        uint64_t end = shown->address + (shown->to - shown->from);
        rc = is_told(dump, file, start) ? copy_resident(&reader, start, end)
                                        : reader_copy(&reader, start, end);
        reader_close_extent(&reader);
        reader_close(&reader);
    }
    return rc;
}

int dump_shared(struct dump *dump, struct err *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < dump->tables.counts[CKPT_FILES]; i++) {
        struct ckpt_file *file = tables_at(&dump->tables, CKPT_FILES, i);
        struct shown *all = NULL;
        size_t count = 0;
        uint64_t done = 0;
        if (file->kind != CKPT_MEMORY_FILE || dump_is_whole(dump, i)) {
            continue;
        }
        file->extents.first = dump->tables.counts[CKPT_EXTENTS];
        find_shown(dump, i, &all, &count);
        for (size_t j = 0; rc == 0 && j < count; j++) {
            if (all[j].to > done) {
                rc = copy_shown(dump, i, &all[j], done, err);
                done = all[j].to;
            }
        }
        file = tables_at(&dump->tables, CKPT_FILES, i);
        file->bytes = file->bytes > done ? file->bytes : done;
        mem_free(all);
    }
    return rc;
}
