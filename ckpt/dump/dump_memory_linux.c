/* ckpt/dump/dump_memory_linux.c - the memory of a process, to its image.
 *
 * The image stands alone: what was mapped privately of a file (the program, its libraries) is in it
 * too, for another machine has other libraries.  Only shared mappings of files that have a name are
 * mapped again from there.  Of anonymous memory there is what has pages, without those that are all
 * zeroes: an untouched gigabyte takes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"
#include "ckpt/image/image.h"
#include "ckpt/sum.h"
#include "ckpt/follow/written_linux.h"

#define SYSTEMS_MAX  (1U << 20)
#define UNCHANGED_S  (24 * 60 * 60)
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

/* ---- which mappings */

/* Returns whether it is the kernel's mapping with the data of its code. */
static bool dump_is_vvar(const struct map *map)
{
    return strcmp(map->name, "[vvar]") == 0 || strcmp(map->name, "[vvar_vclock]") == 0;
}

/* Returns whether it is the kernel's mapping with code. */
static bool dump_is_vdso(const struct subject *subject, const struct map *map)
{
    return strcmp(map->name, "[vdso]") == 0 ||
           (subject->was != NULL && map->start == subject->was->vdso);
}

static bool is_in_window(const struct dump *dump, const struct map *map)
{
    if (dump->now->before == NULL) {
        return false;
    }
    const struct ckpt_head *head = image_head(dump->now->before);
    return map->start >= head->window && map->end <= head->window + head->window_bytes;
}

static bool is_path(const char *name)
{
    return name[0] == '/';
}

static bool is_removed(const char *name)
{
    static const char *const END = " (deleted)";
    size_t length = strlen(name);
    return length > strlen(END) && strcmp(name + length - strlen(END), END) == 0;
}

static int refuse_mapping(const struct dump *dump, const struct map *map, const char *why,
                          struct err *err)
{
    return err_set(err, -EOPNOTSUPP, "process %d: mapping %llx-%llx%s%s: %s",
                   (int)dump->now->tracee.pid, (unsigned long long)map->start,
                   (unsigned long long)map->end, map->name[0] != '\0' ? " of " : "", map->name,
                   why);
}

/* True for a small file that the job only reads and nobody writes: a table of the system, such as
 * glibc's gconv-modules.cache, which another machine may have in another form or not at all. */
static bool is_the_systems(const struct dump *dump, const struct map *map, const char *name)
{
    char path[PATH_MAX + 64];
    struct stat file, job;
    (void)snprintf(path, sizeof path, "/proc/%d", (int)dump->now->tracee.pid);
    if (map->may_write || map->end - map->start > SYSTEMS_MAX || stat(path, &job) != 0) {
        return false;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/root%s", (int)dump->now->tracee.pid, name);
    if (stat(path, &file) != 0 || file.st_ino != map->inode ||
        (file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return false;
    }
    return file.st_uid != job.st_uid || file.st_mtime < time(NULL) - UNCHANGED_S;
}

/* Decides how a shared mapping is saved: by its name, if it has one.  The name by which it was
 * mapped may have been removed.  Some file systems report other inodes for mappings: then the name
 * is believed. */
static void judge_shared(struct dump *dump, const struct map *map, struct ckpt_region *region)
{
    char path[PATH_MAX];
    bool is_named = is_path(map->name) &&
                    (dump_mapped_name(dump->now, map, path, sizeof path) || !is_removed(map->name));
    if (!is_named) {
        region->kind = CKPT_SHARED_MEMORY;
        region->id = dump_shared_memory(dump, map);
        return;
    }
    if (is_the_systems(dump, map, path)) {
        region->flags = (region->flags & ~CKPT_SHARED) | CKPT_WAS_FILE;
    } else {
        region->kind = CKPT_MAPPED;
        region->file = tables_text(&dump->tables, path);
    }
}

/* Decides how a mapping is saved.  0, or -EOPNOTSUPP. */
static int judge_mapping(struct dump *dump, const struct map *map, struct ckpt_region *region,
                         struct err *err)
{
    bool shared = (map->flags & CKPT_SHARED) != 0;
    region->kind = CKPT_MEMORY;
    if (dump_is_vdso(dump->now, map)) {
        region->kind = CKPT_VDSO;
    } else if (dump_is_vvar(map)) {
        region->kind = CKPT_VVAR;
    } else if (strncmp(map->name, "anon_inode:", strlen("anon_inode:")) == 0 ||
               strcmp(map->name, "[uprobes]") == 0) {
        return refuse_mapping(dump, map, "memory of the kernel is not supported", err);
    } else if (map->is_odd) {
        return refuse_mapping(dump, map, "memory of a device is not supported", err);
    } else if (map->is_shadow_stack) { /* only the processor writes there */
        return refuse_mapping(dump, map, "shadow stacks are not supported", err);
    } else if (strncmp(map->name, "/SYSV", strlen("/SYSV")) == 0) {
        return refuse_mapping(dump, map, "System V shared memory is not supported", err);
    } else if (strncmp(map->name, "/[aio]", strlen("/[aio]")) == 0) {
        return refuse_mapping(dump, map, "kernel asynchronous I/O (io_setup) is not supported",
                              err);
    } else if (strncmp(map->name, "/secretmem", strlen("/secretmem")) == 0) {
        return refuse_mapping(dump, map, "secret memory (memfd_secret) is not supported", err);
    } else if (shared) {
        judge_shared(dump, map, region);
    } else if (is_path(map->name)) {
        region->flags |= CKPT_WAS_FILE;
    }
    return 0;
}

static bool is_kept_out(const struct dump *dump, const struct map *map)
{
    return strcmp(map->name, "[vsyscall]") == 0 || is_in_window(dump, map) ||
           map->start == dump->now->tracee.scratch;
}

int dump_regions(struct dump *dump, struct err *err)
{
    struct ckpt_process *process = &dump->now->process;
    process->regions.first = dump->tables.counts[CKPT_REGIONS];
    for (size_t i = 0; i < dump->now->maps.count; i++) {
        const struct map *map = &dump->now->maps.items[i];
        struct ckpt_region region = {.start = map->start,
                                     .end = map->end,
                                     .map_offset = map->offset,
                                     .prot = map->prot,
                                     .flags = map->flags};
        if (is_kept_out(dump, map)) {
            continue;
        }
        int rc = judge_mapping(dump, map, &region, err);
        if (rc != 0) {
            return rc;
        }
        (void)tables_add(&dump->tables, CKPT_REGIONS, &region);
    }
    process->regions.count = dump->tables.counts[CKPT_REGIONS] - process->regions.first;
    return 0;
}

/* ---- which pages, and their contents */

static int copy_present(struct reader *reader, uint64_t start, uint64_t end)
{
    uint64_t count = (end - start) / CKPT_PAGE;
    count = count < READER_PAGES ? count : READER_PAGES;
    size_t bytes = (size_t)count * sizeof reader->pages[0];
    ssize_t got = pread(reader->pagemap, reader->pages, bytes,
                        (off_t)(start / CKPT_PAGE * sizeof reader->pages[0]));
    if (got != (ssize_t)bytes) {
        return err_set(reader->err, got < 0 ? -errno : -EIO,
                       "process %d: cannot find out which of its pages are present",
                       (int)reader->dump->now->source->pid);
    }
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i;
        while (i < count && (reader->pages[i] & (PAGE_PRESENT | PAGE_SWAPPED)) != 0) {
            i++;
        }
        int rc =
            i > first ? reader_copy(reader, start + first * CKPT_PAGE, start + i * CKPT_PAGE) : 0;
        if (rc != 0) {
            return rc;
        }
        i += i == first ? 1 : 0;
    }
    return 0;
}

/* For a large mapping the kernel is asked which pages are present: a sanitizer's shadow of 16 TiB
 * has 32 GiB of pagemap.  -ENOTTY: it does not know that request. */
static int copy_sparse(struct reader *reader, uint64_t start, uint64_t end)
{
    struct page_ranges present = {.count = 0};
    int rc = written_present(reader->pagemap, start, end, &present);
    for (size_t i = 0; rc == 0 && i < present.count; i++) {
        rc = reader_copy(reader, present.items[i].start, present.items[i].end);
    }
    mem_free(present.items);
    return rc;
}

static bool is_of_file(const struct ckpt_region *region)
{
    return (region->flags & CKPT_WAS_FILE) != 0 || region->kind == CKPT_VDSO;
}

static int copy_region(struct reader *reader, const struct ckpt_region *region)
{
    if (reader->dump->is_delta) {
        return delta_copy(reader, region);
    }
    bool all = is_of_file(region);
    int rc = 0;
    if (all) {
        return reader_copy(reader, region->start, region->end);
    }
    if (region->end - region->start > (uint64_t)READER_PAGES * CKPT_PAGE) {
        rc = copy_sparse(reader, region->start, region->end);
        if (rc != -ENOTTY && rc != -EINVAL) {
            return rc;
        }
        rc = 0;
    }
    for (uint64_t at = region->start; rc == 0 && at < region->end;
         at += (uint64_t)READER_PAGES * CKPT_PAGE) {
        rc = copy_present(reader, at, region->end);
    }
    return rc;
}

static int note_vdso(struct dump *dump, const struct ckpt_region *region, const unsigned char *code)
{
    struct ckpt_process *process = &dump->now->process;
    process->vdso = region->start;
    process->vdso_bytes = region->end - region->start;
    process->vdso_sum = ckpt_sum(0, code, (size_t)process->vdso_bytes);
    return 0;
}

static int sum_vdso(struct dump *dump, const struct ckpt_region *region, struct err *err)
{
    size_t bytes = (size_t)(region->end - region->start);
    unsigned char *code = mem_try_alloc(bytes);
    int rc = code == NULL ? -ENOMEM
             : tracee_read(dump->now->source, region->start, code, bytes) != (ssize_t)bytes
                 ? -EIO
                 : note_vdso(dump, region, code);
    mem_free(code);
    return rc != 0 ? err_set(err, rc, "cannot read the kernel's vdso") : 0;
}

/* Saves the kernel's own pages, while the process stands still. */
static int note_kernel_pages(struct dump *dump, struct err *err)
{
    struct ckpt_process *process = &dump->now->process;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < process->regions.count; i++) {
        const struct ckpt_region *region =
            tables_at(&dump->tables, CKPT_REGIONS, process->regions.first + i);
        if (region->kind == CKPT_VVAR) {
            process->vvar = process->vvar == 0 ? region->start : process->vvar;
            process->vvar_bytes += region->end - region->start;
        } else if (region->kind == CKPT_VDSO) {
            rc = sum_vdso(dump, region, err);
        }
    }
    return rc;
}

/* Returns whether a copy of the process lacks this region. */
static bool is_uncopied(const struct ckpt_region *region)
{
    return (region->flags & (CKPT_DONTFORK | CKPT_WIPEONFORK)) != 0;
}

static int copy_all(struct reader *reader, bool uncopied)
{
    struct dump *dump = reader->dump;
    struct ckpt_span regions = dump->now->process.regions;
    int rc = uncopied ? note_kernel_pages(dump, reader->err) : 0;
    for (uint32_t i = 0; rc == 0 && i < regions.count; i++) {
        reader->index = regions.first + i;
        struct ckpt_region *region = tables_at(&dump->tables, CKPT_REGIONS, reader->index);
        struct ckpt_region seen = *region;
        if (is_uncopied(&seen) != uncopied) {
            continue;
        }
        region->extents.first = dump->tables.counts[CKPT_EXTENTS];
        reader->is_its_own = !is_of_file(&seen);
        if (seen.kind == CKPT_MEMORY || seen.kind == CKPT_VDSO) {
            rc = copy_region(reader, &seen);
            reader_close_extent(reader);
        }
    }
    return rc;
}

static void begin_self_write(struct reader *reader)
{
    struct dump *dump = reader->dump;
    const struct ckpt_thread *first =
        tables_at(&dump->tables, CKPT_THREADS, dump->now->process.threads.first);
    reader->self = (struct self_write){.source = dump->now->source,
                                       .inner = dump->now->inner,
                                       .out = dump->out};
    reader->noted_from = first->rseq;
    reader->noted_to = first->rseq + first->rseq_bytes;
}

int dump_memory(struct dump *dump, bool uncopied, struct err *err)
{
    struct reader reader = {.dump = dump, .err = err};
    int rc = reader_open(&reader);
    if (rc == 0) {
        if (dump->now->inner >= 0) {
            begin_self_write(&reader);
        }
        rc = copy_all(&reader, uncopied);
        int last = self_write_finish(&reader.self, rc == 0 ? err : NULL);
        rc = rc != 0 ? rc : last;
        reader_close(&reader);
    }
    return rc;
}
