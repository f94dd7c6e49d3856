/* ckpt/stub/memory.c - the job's memory.
 *
 * What the kernel mapped for this process is of no use to the job but for the vdso, code of the
 * kernel's that programs call, and the data that it reads: these are moved aside, and later to
 * where the job knows them.  All else but the window is unmapped.
 *
 * Contents are read into anonymous memory.  --lazy maps them from the image instead, privately, and
 * the kernel reads what is touched: that takes no time, but a program that gives pages back and
 * counts on zeroes after (MADV_DONTNEED: Go, jemalloc) would find the image's bytes again.  Memory
 * that was a private mapping of a file has that property anyway, and is always mapped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"
#include "ckpt/sum.h"

#define SPACE_END 0x7ffffffff000UL
/* A mapping for each run of pages: below this size they are read even so, or a fragmented heap
 * would need more mappings than a process may have. */
#define LAZY_MIN   (64U * 1024)
#define READ_BYTES (256U * 1024) /* and summed while they are in the cache */

/* ---- the kernel's own pages */

#define RANGES_MAX 4

struct kernel_pages { /* all of them lie together, the code last */
    struct {
        uint64_t start, end;
    } ranges[RANGES_MAX];
    unsigned count;
    uint64_t start, end;
    uint64_t vdso, vdso_bytes; /* the code */
};

/* Reads a line of /proc/self/maps: "START-END rwxp OFFSET DEV INODE NAME". */
static void see_line(struct kernel_pages *pages, const char *line)
{
    const char *at = line;
    uint64_t start = text_number(&at, 16);
    at++;
    uint64_t end = text_number(&at, 16);
    while (*at != '\0' && *at != '[') {
        at++;
    }
    bool is_code = text_is(at, "[vdso]");
    if (pages->count == RANGES_MAX ||
        (!is_code && !text_is(at, "[vvar]") && !text_is(at, "[vvar_vclock]"))) {
        return;
    }
    if (is_code) {
        pages->vdso = start;
        pages->vdso_bytes = end - start;
    }
    pages->ranges[pages->count].start = start;
    pages->ranges[pages->count++].end = end;
    pages->start = pages->start == 0 || start < pages->start ? start : pages->start;
    pages->end = end > pages->end ? end : pages->end;
}

static void find_kernel_pages(const struct stub *stub, struct kernel_pages *pages)
{
    char buffer[1024], line[256];
    size_t length = 0;
    long got;
    long fd = stub_must(stub, SYS4(openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0),
                        "/proc/self/maps");
    *pages = (struct kernel_pages){.start = 0};
    while ((got = SYS3(read, fd, buffer, sizeof buffer)) > 0) {
        for (long i = 0; i < got; i++) {
            if (buffer[i] == '\n') {
                line[length] = '\0';
                see_line(pages, line);
                length = 0;
            } else if (length + 1 < sizeof line) {
                line[length++] = buffer[i];
            }
        }
    }
    (void)SYS1(close, fd);
}

/* Moves the kernel's pages to that address.  They keep their distances, because the code finds its
 * data by them. */
static void move_kernel_pages(const struct stub *stub, struct kernel_pages *pages, uint64_t to)
{
    uint64_t from = pages->start;
    for (unsigned i = 0; i < pages->count && to != from; i++) {
        uint64_t start = pages->ranges[i].start, bytes = pages->ranges[i].end - start;
        long rc =
            SYS5(mremap, start, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start - from + to);
        if (SYS_FAILED(rc)) {
            stub_fail_at(stub, "moving the kernel's own pages at", start, rc);
        }
        pages->ranges[i].start = start - from + to;
        pages->ranges[i].end = start - from + to + bytes;
    }
    pages->vdso = pages->vdso - from + to;
    pages->end = pages->end - from + to;
    pages->start = to;
}

/* ---- regions */

static void read_extent(const struct stub *stub, const struct ckpt_extent *extent)
{
    uint64_t done = 0;
    uint32_t sum = 0;
    while (done < extent->bytes) {
        uint64_t left = extent->bytes - done;
        long got = SYS4(pread64, stub->image, extent->start + done,
                        left < READ_BYTES ? left : READ_BYTES, extent->offset + done);
        if (got <= 0) {
            stub_fail_at(stub, "reading the image for memory at", extent->start + done,
                         got < 0 ? got : -EIO);
        }
        if (stub->sums) {
            sum = ckpt_sum_fast(sum, (const void *)(extent->start + done), (size_t)got);
        }
        done += (uint64_t)got;
    }
    if (stub->sums && sum != extent->sum) {
        stub_fail_at(stub, "damaged image: bad checksum of the bytes at", extent->offset, -EIO);
    }
}

/* With --lazy the pages are mapped, read later, and not checked. */
static void map_extent(const struct stub *stub, const struct ckpt_extent *extent, uint32_t prot)
{
    bool sums = stub->sums && !stub->lazy;
    long rc = SYS6(mmap, extent->start, extent->bytes, sums ? PROT_READ : prot,
                   MAP_PRIVATE | MAP_FIXED, stub->image, extent->offset);
    if (SYS_FAILED(rc)) {
        stub_fail_at(stub, "mapping the image to memory at", extent->start, rc);
    }
    if (sums && ckpt_sum_fast(0, (const void *)extent->start, extent->bytes) != extent->sum) {
        stub_fail_at(stub, "damaged image: bad checksum of the bytes at", extent->offset, -EIO);
    }
    if (sums && prot != PROT_READ && SYS3(mprotect, extent->start, extent->bytes, prot) != 0) {
        stub_fail_at(stub, "protecting memory at", extent->start, -EACCES);
    }
}

static void advise_kernel(const struct ckpt_region *region)
{
    static const struct {
        uint32_t flag;
        int advice;
    } ADVICE[] = {{CKPT_DONTFORK, MADV_DONTFORK},
                  {CKPT_WIPEONFORK, MADV_WIPEONFORK},
                  {CKPT_DONTDUMP, MADV_DONTDUMP},
                  {CKPT_HUGE, MADV_HUGEPAGE},
                  {CKPT_NOHUGE, MADV_NOHUGEPAGE}};
    uint64_t bytes = region->end - region->start;
    for (size_t i = 0; i < sizeof ADVICE / sizeof ADVICE[0]; i++) {
        if ((region->flags & ADVICE[i].flag) != 0) {
            (void)SYS3(madvise, region->start, bytes, ADVICE[i].advice); /* an advice */
        }
    }
    if ((region->flags & CKPT_LOCKED) != 0) {
        (void)SYS2(mlock, region->start, bytes); /* as far as this machine lets it */
    }
}

static void map_region(const struct stub *stub, const struct ckpt_region *region)
{
    uint64_t bytes = region->end - region->start;
    uint32_t flags = MAP_FIXED | ((region->flags & CKPT_SHARED) != 0 ? MAP_SHARED : MAP_PRIVATE);
    long fd = -1;
    flags |= (region->flags & CKPT_NORESERVE) != 0 ? MAP_NORESERVE : 0;
    flags |= (region->flags & CKPT_GROWSDOWN) != 0 ? MAP_GROWSDOWN : 0;
    if (region->kind == CKPT_MAPPED) {
        const char *path = stub_text(stub, region->file);
        bool shared = (region->flags & CKPT_SHARED) != 0;
        bool writes = shared && (region->prot & PROT_WRITE) != 0;
        bool may_write = shared && (region->flags & CKPT_MAY_WRITE) != 0;
        fd = SYS4(openat, AT_FDCWD, path, (writes || may_write ? O_RDWR : O_RDONLY) | O_CLOEXEC, 0);
        if (fd < 0 && may_write && !writes) {
            fd = SYS4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        }
        if (fd < 0) {
            stub_fail(stub, "opening the mapped file", path, fd);
        }
    } else if (region->kind == CKPT_SHARED_MEMORY) {
        fd = stub_memory_file(stub, (uint32_t)region->id);
    } else {
        flags |= MAP_ANONYMOUS;
    }
    bool fills = region->extents.count > 0;
    uint32_t prot = fills && region->kind != CKPT_MAPPED ? PROT_READ | PROT_WRITE : region->prot;
    long rc = SYS6(mmap, region->start, bytes, prot, flags, fd, region->map_offset);
    if (SYS_FAILED(rc)) {
        stub_fail_at(stub, "mapping memory at", region->start, rc);
    }
    if (region->kind == CKPT_MAPPED) {
        (void)SYS1(close, fd);
    }
    bool maps = (region->flags & CKPT_SHARED) == 0 && region->kind != CKPT_MAPPED;
    bool was_file = (region->flags & CKPT_WAS_FILE) != 0;
    for (uint32_t i = 0; i < region->extents.count; i++) {
        const struct ckpt_extent *extent =
            STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, region->extents.first + i);
        if (maps && (was_file || (stub->lazy && extent->bytes >= LAZY_MIN))) {
            map_extent(stub, extent, region->prot);
        } else {
            read_extent(stub, extent);
        }
    }
    if (prot != region->prot) {
        rc = SYS3(mprotect, region->start, bytes, region->prot);
        if (rc != 0) {
            stub_fail_at(stub, "protecting memory at", region->start, rc);
        }
    }
    advise_kernel(region);
}

/* Maps them as ordinary memory, writable for now. */
void stub_map_kept(const struct stub *stub, const struct ckpt_region *region)
{
    struct ckpt_region kept = *region;
    kept.kind = CKPT_MEMORY;
    kept.flags = 0;
    kept.prot = PROT_READ | PROT_WRITE;
    map_region(stub, &kept);
}

static void put_kernel_pages_back(const struct stub *stub, struct kernel_pages *pages)
{
    const struct ckpt_process *process = stub->process;
    if (process->vdso == 0) {
        return;
    }
    uint64_t before = pages->vdso - pages->start;
    bool same = pages->vdso_bytes == process->vdso_bytes &&
                pages->end - pages->start == process->vdso_bytes + process->vvar_bytes &&
                ckpt_sum(0, (const void *)pages->vdso, pages->vdso_bytes) == process->vdso_sum;
    if (!same) {
        stub_patch_vdso(stub, pages->vdso);
        return;
    }
    move_kernel_pages(stub, pages, process->vdso - before);
}

static bool is_the_kernels(const struct ckpt_region *region)
{
    return region->kind == CKPT_VDSO || region->kind == CKPT_VVAR;
}

void stub_make_memory(struct stub *stub)
{
    const struct ckpt_head *head = stub->head;
    const struct ckpt_process *process = stub->process;
    struct kernel_pages pages;
    find_kernel_pages(stub, &pages);
    if (pages.end - pages.start > CKPT_PARKING) {
        stub_fail_at(stub, "this kernel's own pages (vdso) are too large for the image, at",
                     pages.start, -ENOMEM);
    }
    move_kernel_pages(stub, &pages, head->parking);
    stub_must(stub, SYS2(munmap, 0, head->window), "unmapping the memory below the stub");
    uint64_t end = head->window + head->window_bytes;
    stub_must(stub, SYS2(munmap, end, SPACE_END - end), "unmapping the memory above the stub");
    for (uint32_t i = 0; i < process->regions.count; i++) {
        const struct ckpt_region *region =
            STUB_ENTRY(stub, CKPT_REGIONS, struct ckpt_region, process->regions.first + i);
        if (!is_the_kernels(region)) {
            map_region(stub, region);
        }
    }
    put_kernel_pages_back(stub, &pages);
}
